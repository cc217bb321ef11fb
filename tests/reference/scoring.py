"""What a round costs each seat, and what becomes of the match."""

from __future__ import annotations

from scala40_env.core.cards import ACE, JOKER, NUM_RANKS
from scala40_env.core.rules import Rules
from tests.reference.state import CLOSED, MATCH_OVER, ROUND_OVER, Hand, State, Turn

# --- the round ----------------------------------------------------------------------------------------------------


def hand_points(hand: Hand, rules: Rules) -> int:
    """What the cards of a hand cost."""
    is_ace = [kind != JOKER and kind % NUM_RANKS == ACE for kind in range(len(hand))]
    if sum(hand) == 1 and is_ace[hand.index(1)]:
        return rules.lone_ace_points
    total = 0
    for kind, count in enumerate(hand):
        if kind == JOKER:
            total += count * rules.hand_joker_points
        elif is_ace[kind]:
            total += count * rules.hand_ace_points
        else:
            total += count * rules.rank_points[kind % NUM_RANKS]
    return total


def seat_points(state: State, seat: int, multiplier: int) -> int:
    """What a seat that did not go out is charged."""
    if seat not in state.has_opened and state.rules.unopened_penalty is not None:
        return state.rules.unopened_penalty
    return multiplier * hand_points(state.hands[seat], state.rules)


def round_points(state: State, end: str, closer: int | None, closed_in_hand: bool) -> list[int]:
    """What each seat is charged for the round; seats that did not play it, nothing."""
    charged = [0] * state.num_seats
    if end != CLOSED and state.rules.dead_round_result == "void":
        return charged
    multiplier = state.rules.close_in_hand_multiplier if closed_in_hand else 1
    for seat in state.in_round:
        if seat != closer:
            charged[seat] = seat_points(state, seat, multiplier)
    return charged


def end_round(state: State, end: str, closer: int | None = None) -> None:
    """Close the books of the round, and decide how the match goes on.

    Args:
        state: Changed in place; the seat to act is still the one whose turn ended the round.
        end: Why the round ended.
        closer: The seat that went out, if one did.
    """
    state.end, state.closer = end, closer
    state.closed_in_hand = closer is not None and (state.turn.opened_now or closer not in state.has_opened)
    state.points = round_points(state, end, closer, state.closed_in_hand)
    state.totals = [total + points for total, points in zip(state.totals, state.points, strict=True)]
    state.ended_opened = set(state.has_opened)
    state.ended_in_round = set(state.in_round)
    state.ended_turns = state.round_turns
    state.turn = Turn()
    state.phase, state.seat = ROUND_OVER, None
    if state.whole_match:
        _settle_match(state)


# --- the match ----------------------------------------------------------------------------------------------------


def is_over(total: int, rules: Rules) -> bool:
    """Whether a total has met the limit."""
    return total >= rules.match_limit if rules.limit_test == "ge" else total > rules.match_limit


def _settle_match(state: State) -> None:
    mode = state.rules.match_mode
    if mode == "single_hand":
        _settle_single_hand(state)
    elif mode == "lowest_at_target":
        _settle_lowest(state)
    else:
        _settle_elimination(state)


def _settle_single_hand(state: State) -> None:
    if state.closer is not None:
        _win(state, {state.closer})
        return
    least = min(state.points[seat] for seat in state.in_round)
    _win_or_play_on(state, {seat for seat in state.in_round if state.points[seat] == least})


def _settle_lowest(state: State) -> None:
    # Every seat's total is looked at: where tied seats play on alone, the seat that met the limit may be another.
    if any(is_over(total, state.rules) for total in state.totals):
        _win_or_play_on(state, _lowest(state))
    else:
        pass_deal(state)


def _settle_elimination(state: State) -> None:
    rules = state.rules
    below = seats_below(state)
    if len(below) == 1:
        _win(state, below)
        return
    if not below:
        _win_or_play_on(state, _lowest(state))
        return
    for seat in sorted(state.in_match - below):
        may_return = rules.reentry_max is None or state.reentries[seat] < rules.reentry_max
        if rules.reentry == "automatic" and may_return:
            reenter(state, seat)
        elif rules.reentry == "paid_optional" and may_return:
            state.pending_reentry.add(seat)
        else:
            state.in_match.discard(seat)
    ask_next_or_pass_deal(state)


def seats_below(state: State) -> set[int]:
    """The seats in the match that have not met the limit."""
    return {seat for seat in state.in_match if not is_over(state.totals[seat], state.rules)}


def reenter(state: State, seat: int) -> None:
    """A seat comes back with the highest total of those below the limit."""
    state.totals[seat] = max(state.totals[other] for other in seats_below(state))
    state.reentries[seat] += 1


def ask_next_or_pass_deal(state: State) -> None:
    """The next seat chooses re-entry, from the left of the dealer; after the last one the match goes on."""
    for seat in state.seats_after(state.dealer):
        if seat in state.pending_reentry:
            state.seat = seat
            return
    state.seat = None
    pass_deal(state)


def pass_deal(state: State) -> None:
    """The deal passes to the left among the seats still in the match; the cards are for the caller to deal."""
    state.dealer = next(seat for seat in state.seats_after(state.dealer) if seat in state.in_match)
    state.in_round = set(state.in_match)
    state.round += 1


def _lowest(state: State) -> set[int]:
    least = min(state.totals[seat] for seat in state.in_match)
    return {seat for seat in state.in_match if state.totals[seat] == least}


def _win_or_play_on(state: State, tied: set[int]) -> None:
    if len(tied) > 1 and state.rules.tie_break == "extra_hand":
        state.in_match = set(tied)
        pass_deal(state)
    else:
        _win(state, tied)


def _win(state: State, winners: set[int]) -> None:
    state.phase, state.seat, state.winners = MATCH_OVER, None, set(winners)
