"""Which first melds begin an opening that can be completed: the packing search after each, without playing it.

For a seat that has laid nothing yet and owes nothing, under rules where an opening is made of cards of the hand alone,
and jokers count wherever they may be laid.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import packing, rules
from scala40_env.core.actions import LAY_RUN, LAY_SET, NO_SUIT, NUM_RUN_STARTS, SET_JOKER, SET_SUITS
from scala40_env.core.cards import ACE, HIGH_ACE, NUM_RANKS, NUM_SUITS, ZERO, kind_bit
from scala40_env.core.jit import kernel
from scala40_env.core.melds import holds, joker_points, kind_of, points_at, points_in_set, top_rank
from scala40_env.core.moves import jokers_may_be_laid

_IN_THREE = 3
_NOWHERE = -1


@kernel
def keep_openings(
    s: Any, R: NDArray[np.int64], stack: NDArray[np.uint64], out: NDArray[np.int16], count: int, room: int
) -> int:
    """Of the lays in ``out``, keep those after which the opening can be completed; how many they are."""
    seat = np.int64(s.seat)
    one, two = s.hand_one[seat], s.hand_two[seat]
    jokers = np.int64(s.hand_jokers[seat]) if jokers_may_be_laid(s, R) else 0
    kept = 0
    for i in range(count):
        action = np.int64(out[i])
        if action < LAY_RUN:
            top = _push_after_set(stack, one, two, jokers, R, action - LAY_SET, room)
        else:
            top = _push_after_run(stack, one, two, jokers, R, action - LAY_RUN, room)
        if packing.reaches_from_stack(stack, top, R):
            out[kept] = action
            kept += 1
    return kept


@kernel
def _push_after_set(
    stack: NDArray[np.uint64],
    one: np.uint64,
    two: np.uint64,
    jokers: int,
    R: NDArray[np.int64],
    code: int,
    room: int,
) -> int:
    """Push what is left of the hand after a set of three, and after each fourth card on it."""
    pattern, rank = code // NUM_RANKS, code % NUM_RANKS
    suits, joker = SET_SUITS[pattern], SET_JOKER[pattern]
    points = points_in_set(R, rank)
    meld = ZERO
    for suit in range(NUM_SUITS):
        if (suits >> suit) & 1:
            meld |= kind_bit(kind_of(suit, rank))
    one, two = one & ~(meld & ~two), two & ~meld
    room -= _IN_THREE
    target = R[rules.R_OPENING_MIN] - _IN_THREE * points
    if joker != NO_SUIT:
        jokers -= 1
        target += points - joker_points(R, points)
        if R[rules.R_IDENTITY] != rules.IDENTITY_ANY:
            suits |= 1 << joker
    top = packing.push(stack, 0, one, two, target, room, jokers)
    missing = R[rules.R_SUIT_BITS] & ~suits
    for suit in range(NUM_SUITS):
        if (missing >> suit) & 1 and holds(one, kind_of(suit, rank)):
            bit = kind_bit(kind_of(suit, rank))
            top = packing.push_after(stack, top, one, two, bit, target - points, room - 1, jokers)
    if joker == NO_SUIT and jokers > 0 and missing != 0:
        top = packing.push(stack, top, one, two, target - joker_points(R, points), room - 1, jokers - 1)
    return top


@kernel
def _push_after_run(
    stack: NDArray[np.uint64],
    one: np.uint64,
    two: np.uint64,
    jokers: int,
    R: NDArray[np.int64],
    code: int,
    room: int,
) -> int:
    """Push what is left of the hand after a run of three, and after each way to make it longer."""
    start = code % NUM_RUN_STARTS
    suit = (code // NUM_RUN_STARTS) % NUM_SUITS
    place = code // (NUM_RUN_STARTS * NUM_SUITS)
    meld, target = ZERO, R[rules.R_OPENING_MIN]
    for i in range(_IN_THREE):
        points = points_at(R, start + i)
        if i == place - 1:
            target -= joker_points(R, points)
        else:
            target -= points
            meld |= kind_bit(kind_of(suit, start + i))
    one, two = one & ~(meld & ~two), two & ~meld
    room -= _IN_THREE
    spare = 1 if place == 0 and jokers > 0 else 0  # a joker that may make this run longer
    if place > 0:
        jokers -= 1
    longest = NUM_RANKS if R[rules.R_OVERFLOW] == rules.OVERFLOW_SPLIT else min(R[rules.R_MAX_RUN], NUM_RANKS)
    top = 0
    for below in range(start + 1):
        if _missing(one, suit, start - below, start) > spare:
            break
        for above in range(longest - _IN_THREE - below + 1):
            last = start + _IN_THREE - 1 + above
            missing = _missing(one, suit, start - below, start) + _missing(one, suit, start + _IN_THREE, last + 1)
            if last > top_rank(R) or missing > spare or below + above > room:
                break
            if missing == 0:
                top = _push_longer(stack, top, one, two, jokers, R, target, room, suit, start, below, above, _NOWHERE)
            if spare:
                for rank in range(start - below, last + 1):
                    outside = rank < start or rank >= start + _IN_THREE
                    if outside and (missing == 0 or not holds(one, kind_of(suit, rank))):
                        top = _push_longer(
                            stack, top, one, two, jokers, R, target, room, suit, start, below, above, rank
                        )
    return top


@kernel
def _missing(one: np.uint64, suit: int, first: int, end: int) -> int:
    """How many of the ranks from ``first`` up to ``end`` a hand mask lacks in a suit."""
    count = 0
    for rank in range(first, end):
        if not holds(one, kind_of(suit, rank)):
            count += 1
    return count


@kernel
def _push_longer(
    stack: NDArray[np.uint64],
    top: int,
    one: np.uint64,
    two: np.uint64,
    jokers: int,
    R: NDArray[np.int64],
    target: int,
    room: int,
    suit: int,
    start: int,
    below: int,
    above: int,
    joker_rank: int,
) -> int:
    """Push what is left when a run of three has grown at both ends, with a joker at one rank or at none."""
    last = start + _IN_THREE - 1 + above
    if start - below == ACE and last == HIGH_ACE:
        return top
    meld = ZERO
    for rank in range(start - below, last + 1):
        if rank >= start and rank < start + _IN_THREE:
            continue
        points = points_at(R, rank)
        if rank == joker_rank:
            target -= joker_points(R, points)
            jokers -= 1
        else:
            target -= points
            meld |= kind_bit(kind_of(suit, rank))
    return packing.push_after(stack, top, one, two, meld, target, room - below - above, jokers)
