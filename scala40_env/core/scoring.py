"""Points: of a hand, of a round and of a match; elimination.

Re-entry and the winner (rules reference, rows 48 to 60).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import rules
from scala40_env.core.cards import ACES, LANE_BITS, ZERO, bit_count, lowest_bit_index, without_lowest
from scala40_env.core.deal import clear_turn, count_seats, deal_round, next_seat
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.rules import R_POINTS
from scala40_env.core.state import END_CLOSED, MATCH_OVER, NOBODY, ROUND_OVER


@inlined
def hand_points(one: np.uint64, two: np.uint64, jokers: int, R: NDArray[np.int64]) -> int:
    """What the cards left in a hand cost."""
    aces = bit_count(one & ACES) + bit_count(two & ACES)
    if aces == 1 and jokers == 0 and (one & ~ACES) == ZERO:
        return R[rules.R_LONE_ACE]
    total = aces * R[rules.R_HAND_ACE] + jokers * R[rules.R_HAND_JOKER]
    total += _pips(one & ~ACES, R) + _pips(two & ~ACES, R)
    return total


@kernel
def _pips(cards: np.uint64, R: NDArray[np.int64]) -> int:
    total = 0
    while cards != ZERO:
        total += R[R_POINTS + (lowest_bit_index(cards) & (LANE_BITS - 1))]
        cards = without_lowest(cards)
    return total


@inlined
def seat_points(s: Any, R: NDArray[np.int64], seat: int, closer: int, in_hand: bool) -> int:
    """What a seat is charged for a round that ``closer`` closed, or nobody (``NOBODY``) did.

    A fixed penalty for not having opened is not multiplied.
    """
    if seat == closer:
        return 0
    if R[rules.R_UNOPENED] != rules.NO_LIMIT and not (s.has_opened >> seat) & 1:
        return R[rules.R_UNOPENED]
    points = hand_points(s.hand_one[seat], s.hand_two[seat], np.int64(s.hand_jokers[seat]), R)
    return points * R[rules.R_IN_HAND_TIMES] if in_hand else points


@inlined
def is_over(total: int, R: NDArray[np.int64]) -> bool:
    """Whether a total meets the limit of the match."""
    return total > R[rules.R_LIMIT] or (total == R[rules.R_LIMIT] and R[rules.R_LIMIT_TEST] != rules.LIMIT_GT)


@kernel
def end_round(s: Any, R: NDArray[np.int64], end: int) -> None:
    """Charge every seat, keep what the round was like, and go on with the match."""
    s.end = end
    closed = end == END_CLOSED
    if not closed:
        s.closer = NOBODY
        s.closed_in_hand = 0
    counts = closed or R[rules.R_DEAD_RESULT] == rules.DEAD_ALL_COUNT
    for seat in range(s.num_seats):
        charged = counts and (s.in_round >> seat) & 1 != 0
        s.points[seat] = seat_points(s, R, seat, np.int64(s.closer), s.closed_in_hand != 0) if charged else 0
        s.totals[seat] += s.points[seat]
    s.ended_opened = s.has_opened
    s.ended_in_round = s.in_round
    s.ended_turns = s.round_turns
    clear_turn(s)
    s.seat = NOBODY
    s.phase = ROUND_OVER
    if s.whole_match:
        _go_on(s, R)


@kernel
def _lowest(s: Any, points: NDArray[np.int32], among: int) -> int:
    """The seats (mask) that have the fewest points among some."""
    best = np.int64(0)
    seats = 0
    for seat in range(s.num_seats):
        if (among >> seat) & 1:
            total = np.int64(points[seat])
            if seats == 0 or total < best:
                best = total
                seats = 1 << seat
            elif total == best:
                seats |= 1 << seat
    return seats


@kernel
def seats_below(s: Any, R: NDArray[np.int64]) -> int:
    """The seats (mask) of the match whose totals do not meet its limit."""
    below = 0
    for seat in range(s.num_seats):
        if (s.in_match >> seat) & 1 and not is_over(np.int64(s.totals[seat]), R):
            below |= 1 << seat
    return below


@kernel
def reentry_total(s: Any, R: NDArray[np.int64]) -> int:
    """The total with which a seat comes back: the worst among those that do not meet the limit."""
    worst = np.int64(0)
    below = seats_below(s, R)
    for seat in range(s.num_seats):
        if (below >> seat) & 1:
            worst = max(worst, np.int64(s.totals[seat]))
    return worst


@inlined
def leaders(s: Any, R: NDArray[np.int64]) -> int:
    """The seats (mask) that win the match as it stands after a round, before ties are broken; 0 while it goes on."""
    mode = R[rules.R_MATCH_MODE]
    if mode == rules.MATCH_SINGLE:
        if s.end == END_CLOSED:
            return 1 << s.closer
        return _lowest(s, s.points, np.int64(s.in_match))
    below = seats_below(s, R)
    if mode == rules.MATCH_LOWEST:
        extra_hand = s.in_match != (1 << s.num_seats) - 1  # nobody leaves this kind of match but before an extra hand
        return 0 if below == s.in_match and not extra_hand else _lowest(s, s.totals, np.int64(s.in_match))
    if count_seats(below) == 1:
        return below
    return _lowest(s, s.totals, np.int64(s.in_match)) if below == 0 else 0


@inlined
def _go_on(s: Any, R: NDArray[np.int64]) -> None:
    """After a round of a match: it is over, or seats leave or come back and the next round is dealt."""
    first = leaders(s, R)
    if first != 0:
        if R[rules.R_TIE] == rules.TIE_EXTRA_HAND and count_seats(first) > 1:
            s.in_match = first
            _next_round(s, R)
        else:
            s.winners = first
            s.phase = MATCH_OVER
        return
    if R[rules.R_MATCH_MODE] == rules.MATCH_ELIMINATION:
        settle_totals(s, R)
    if s.pending_reentry == 0:
        _next_round(s, R)
    else:
        s.seat = next_seat(s, np.int64(s.dealer), np.int64(s.pending_reentry))


@inlined
def settle_totals(s: Any, R: NDArray[np.int64]) -> None:
    """Seats over the limit come back by themselves, may choose to, or leave the match; two or more are below it."""
    worst = reentry_total(s, R)
    for seat in range(s.num_seats):
        if not (s.in_match >> seat) & 1 or not is_over(np.int64(s.totals[seat]), R):
            continue
        limit = R[rules.R_REENTRY_MAX]
        again = R[rules.R_REENTRY] != rules.REENTRY_NONE and (limit == rules.NO_LIMIT or s.reentries[seat] < limit)
        if not again:
            s.in_match = np.int64(s.in_match) & ~(1 << seat)
        elif R[rules.R_REENTRY] == rules.REENTRY_AUTOMATIC:
            s.totals[seat] = worst
            s.reentries[seat] += 1
        else:
            s.pending_reentry |= 1 << seat


@inlined
def choose_reentry(s: Any, R: NDArray[np.int64], comes_back: bool) -> None:
    """The seat that is asked pays and comes back, or leaves the match; the next is asked, or the next round dealt."""
    seat = np.int64(s.seat)
    if comes_back:
        s.totals[seat] = reentry_total(s, R)
        s.reentries[seat] += 1
    else:
        s.in_match = np.int64(s.in_match) & ~(1 << seat)
    s.pending_reentry = np.int64(s.pending_reentry) & ~(1 << seat)
    if s.pending_reentry == 0:
        _next_round(s, R)
    else:
        s.seat = next_seat(s, seat, np.int64(s.pending_reentry))


@kernel
def _next_round(s: Any, R: NDArray[np.int64]) -> None:
    s["round"] += 1
    s.dealer = next_seat(s, np.int64(s.dealer), np.int64(s.in_match))
    deal_round(s, R)
