"""Rewards: what a round, a match, and an illegal action pay to each seat.  Points are paid in hundreds.

``points``    minus the penalty;
``zero_sum``  the mean of the others' penalties minus one's own, among the seats of the round;
``win``       1 to the winner, -1 / (n - 1) to the others, at the end of the episode, n being all seats of the game.

Where several share the win each is paid the mean of the ways in which the tie could be broken, so that the sum stays
zero.  A round that nobody closed is won by those who were charged least, as the rules of ``single_hand`` have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.deal import count_seats
from scala40_env.core.jit import kernel
from scala40_env.core.rules import Rules
from scala40_env.core.state import NOBODY

REWARDS = ("points", "zero_sum", "win")
POINTS, ZERO_SUM, WIN = range(3)
POINTS_PER_REWARD = 100.0


@kernel
def round_rewards(reward: int, points: NDArray[np.int32], in_round: int, paid: NDArray[Any]) -> None:
    """Add what the end of a round pays to each seat under ``points`` and ``zero_sum``; under ``win``, nothing.

    Args:
        reward: one of ``POINTS``, ``ZERO_SUM`` and ``WIN``.
        points: what each seat was charged.
        in_round: the seats (mask) that played the round.
        paid: floats, one a seat.
    """
    if reward == WIN:
        return
    total, others = 0, -1
    for seat in range(len(paid)):
        if (in_round >> seat) & 1:
            total += points[seat]
            others += 1
    for seat in range(len(paid)):
        if (in_round >> seat) & 1:
            charged = np.float64(points[seat])
            gained = (total - charged) / others - charged if reward == ZERO_SUM else -charged
            paid[seat] += gained / POINTS_PER_REWARD


@kernel
def win_share(is_winner: bool, num_winners: int, num_seats: int) -> float:
    """What ``win`` pays to one seat."""
    loss = -1.0 / (num_seats - 1)
    return (1.0 + (num_winners - 1) * loss) / num_winners if is_winner else loss


@kernel
def round_winners(points: NDArray[np.int32], in_round: int, closer: int) -> int:
    """The seats (mask) that won a round: the closer, or without one all who were charged least."""
    if closer != NOBODY and (in_round >> closer) & 1:
        return 1 << closer
    least, seats = np.int64(0), 0
    for seat in range(len(points)):
        if (in_round >> seat) & 1:
            charged = np.int64(points[seat])
            if seats == 0 or charged < least:
                least, seats = charged, 1 << seat
            elif charged == least:
                seats |= 1 << seat
    return seats


@kernel
def winners_of(s: Any) -> int:
    """The seats (mask) that won the episode that is over: the match, or its one round."""
    if s.whole_match:
        return np.int64(s.winners)
    return round_winners(s.points, np.int64(s.ended_in_round), np.int64(s.closer))


@kernel
def pay_ends(s: Any, reward: int, gone: int, over: bool, paid: NDArray[Any]) -> None:
    """Add what ``win`` pays to the seats that leave the episode; the other rewards pay rounds alone.

    Args:
        s: the row.
        reward: one of ``POINTS``, ``ZERO_SUM`` and ``WIN``.
        gone: the seats (mask) that leave; all who are left where it is over.
        over: whether the episode is over.
        paid: floats, one a seat.
    """
    if reward != WIN or gone == 0:
        return
    winners = winners_of(s) if over else 0
    shared = count_seats(winners)
    for seat in range(len(paid)):
        if (gone >> seat) & 1:
            paid[seat] += win_share((winners >> seat) & 1 != 0, shared, len(paid))


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
