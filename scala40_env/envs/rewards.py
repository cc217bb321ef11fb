"""Rewards: what a round, a match, and an illegal action pay to each seat.  Points are paid in hundreds.

``points``    minus the penalty;
``zero_sum``  the mean of the others' penalties minus one's own, among the seats of the round;
``win``       1 to the winner, -1 / (n - 1) to the others, at the end of the episode, n being all seats of the game.

Where several share the win each is paid the mean of the ways in which the tie could be broken, so that the sum stays
zero.  A round that nobody closed is won by those who were charged least, as the rules of ``single_hand`` have it.
"""

from __future__ import annotations

from collections.abc import Sequence

from scala40_env.core.rules import Rules

REWARDS = ("points", "zero_sum", "win")
POINTS_PER_REWARD = 100.0


def round_rewards(reward: str, points: Sequence[int], in_round: Sequence[int], num_seats: int) -> list[float]:
    """What the end of a round pays to each seat under ``points`` and ``zero_sum``; under ``win``, nothing.

    Args:
        reward: one of ``REWARDS``.
        points: what each seat was charged.
        in_round: the seats that played the round.
        num_seats: seats of the game.
    """
    paid = [0.0] * num_seats
    if reward == "win":
        return paid
    total = sum(points[seat] for seat in in_round)
    others = len(in_round) - 1
    for seat in in_round:
        charged = points[seat]
        gained = (total - charged) / others - charged if reward == "zero_sum" else -charged
        paid[seat] = gained / POINTS_PER_REWARD
    return paid


def win_share(is_winner: bool, num_winners: int, num_seats: int) -> float:
    """What ``win`` pays to one seat."""
    loss = -1.0 / (num_seats - 1)
    return (1.0 + (num_winners - 1) * loss) / num_winners if is_winner else loss


def round_winners(points: Sequence[int], in_round: Sequence[int], closer: int) -> tuple[int, ...]:
    """The seats that won a round: the closer, or without one all who were charged least."""
    if closer in in_round:
        return (closer,)
    least = min(points[seat] for seat in in_round)
    return tuple(seat for seat in in_round if points[seat] == least)


def worst_hand(rules: Rules) -> int:
    """The most that a round can charge a seat that holds as many cards as were dealt."""
    scale = rules.rank_points
    natural = [rules.hand_ace_points] + [scale[rank] for rank in range(1, rules.ranks)]
    cards = sorted(natural * (rules.suits * rules.packs) + [rules.hand_joker_points] * rules.jokers, reverse=True)
    hand = max(sum(cards[: rules.hand_size]), rules.lone_ace_points)
    return max(hand * rules.close_in_hand_multiplier, rules.unopened_penalty or 0)


def forfeit_rewards(reward: str, rules: Rules, offender: int, seats: Sequence[int], num_seats: int) -> list[float]:
    """What an illegal action that ends the game pays: the worst to the offender, and what balances it to the others.

    The worst is the most that a round can charge, or under ``win`` a whole loss, -1.  Under ``points`` the others get
    nothing; else they share what the offender loses, and the sum is zero.
    """
    loss = 1.0 if reward == "win" else worst_hand(rules) / POINTS_PER_REWARD
    return penalty_rewards(reward, loss, offender, seats, num_seats)


def penalty_rewards(reward: str, penalty: float, offender: int, seats: Sequence[int], num_seats: int) -> list[float]:
    """What an illegal action costs: ``penalty``, which the other ``seats`` share unless the reward is ``points``."""
    paid = [0.0] * num_seats
    paid[offender] = -penalty
    others = [seat for seat in seats if seat != offender]
    if reward != "points":
        for seat in others:
            paid[seat] = penalty / len(others)
    return paid
