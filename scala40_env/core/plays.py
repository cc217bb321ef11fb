"""Which plays a turn offers by the cards, the table and the rules, before asking whether the turn can be completed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import actions, rules
from scala40_env.core.actions import (
    HIGH,
    JOKER_HIGH,
    JOKER_LOW,
    LAY_OFF,
    LAY_RUN,
    LAY_SET,
    LOW,
    NO_SUIT,
    NUM_ENDS,
    NUM_RUN_STARTS,
    NUM_SET_PATTERNS,
    NUM_SPLITS,
    SET_JOKER,
    SET_SUITS,
    SPLIT,
    SWAP,
)
from scala40_env.core.cards import LANE_BITS, NUM_RANKS, NUM_SUITS, ONE, ZERO, lowest_bit_index, without_lowest
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.melds import (
    NOTHING,
    fitting_kind,
    holds,
    joker_fits,
    pair_ranks,
    ranks_with,
    run_cards,
    run_starts,
    set_ranks,
    swap_kind,
)
from scala40_env.core.moves import has_opened, jokers_may_be_laid, may_lay_off_joker, split_lengths
from scala40_env.core.rules import R_SWAP
from scala40_env.core.state import DUTY_OPEN_WITH, NO_JOKER, NO_SLOT

NUM_PURE_PATTERNS = 4
"""The first patterns of a set of three are those without a joker."""


@kernel
def _lays(s: Any, R: NDArray[np.int64], out: NDArray[np.int16], count: int) -> int:
    seat = np.int64(s.seat)
    one = s.hand_one[seat]
    jokers = s.hand_jokers[seat] > 0 and jokers_may_be_laid(s, R)
    first = 0 if set_ranks(one) != ZERO else NUM_PURE_PATTERNS
    last = NUM_SET_PATTERNS if jokers and pair_ranks(one) != ZERO else NUM_PURE_PATTERNS
    for pattern in range(first, last):
        if SET_JOKER[pattern] != NO_SUIT and SET_JOKER[pattern] >= R[rules.R_SUITS]:
            continue
        ranks = ranks_with(one, SET_SUITS[pattern])
        while ranks != ZERO:
            out[count] = LAY_SET + pattern * NUM_RANKS + lowest_bit_index(ranks)
            count += 1
            ranks = without_lowest(ranks)
    x = run_cards(one, R)
    for place in range(4 if jokers else 1):
        starts = run_starts(x, place, R)
        while starts != ZERO:
            index = lowest_bit_index(starts)
            starts = without_lowest(starts)
            suit, start = index >> 4, index & (LANE_BITS - 1)
            out[count] = LAY_RUN + (place * NUM_SUITS + suit) * NUM_RUN_STARTS + start
            count += 1
    return count


@kernel
def slots_for_lay_off(s: Any, R: NDArray[np.int64]) -> np.uint64:
    """The slots on which the seat to act may lay off."""
    seat = np.int64(s.seat)
    if not has_opened(s, seat):
        return s.new_slots
    if s.opened_now == 0:
        return s.used_slots
    how = R[rules.R_OPENING_OFF]
    if how == rules.OFF_NONE:
        return ZERO if s.last_slot == NO_SLOT else ONE << np.uint64(s.last_slot)
    return s.new_slots if how == rules.OFF_OWN or s.duty == DUTY_OPEN_WITH else s.used_slots


@kernel
def _lay_offs(s: Any, R: NDArray[np.int64], slots: np.uint64, out: NDArray[np.int16], count: int) -> int:
    seat = np.int64(s.seat)
    one = s.hand_one[seat]
    jokers = s.hand_jokers[seat] > 0 and (slots & s.joker_room) != ZERO
    if one & s.layable == ZERO:
        if not jokers:
            return count
        slots &= s.joker_room
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        base = LAY_OFF + slot * NUM_ENDS
        low = fitting_kind(s, R, slot, False)
        if low != NOTHING and holds(one, low):
            out[count] = base + LOW
            count += 1
        high = fitting_kind(s, R, slot, True)
        if high != NOTHING and holds(one, high):
            out[count] = base + HIGH
            count += 1
        if jokers and s.meld_joker[slot] == NO_JOKER and may_lay_off_joker(s, R, slot):
            if joker_fits(s, R, slot, False):
                out[count] = base + JOKER_LOW
                count += 1
            if joker_fits(s, R, slot, True):
                out[count] = base + JOKER_HIGH
                count += 1
    return count


@inlined
def _may_swap(s: Any, R: NDArray[np.int64]) -> bool:
    if R[R_SWAP] == rules.SWAP_OFF or s.duty == DUTY_OPEN_WITH:
        return False
    return has_opened(s, np.int64(s.seat)) or not R[rules.R_SWAP_OPENED]


@inlined
def _swaps(s: Any, R: NDArray[np.int64], out: NDArray[np.int16], count: int) -> int:
    if not _may_swap(s, R):
        return count
    one = s.hand_one[s.seat]
    if one & s.swappable == ZERO:
        return count
    slots = s.used_slots
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        if swap_kind(s, R, slot, one) != NOTHING:
            out[count] = SWAP + slot
            count += 1
    return count


@inlined
def _splits(s: Any, out: NDArray[np.int16], count: int) -> int:
    slot = np.int64(s.split_slot)
    shortest, longest = split_lengths(np.int64(s.meld_size[slot]))
    for first in range(shortest, longest + 1):
        out[count] = SPLIT + slot * NUM_SPLITS + first - actions.SHORTEST_RUN
        count += 1
    return count


@kernel
def plays(s: Any, R: NDArray[np.int64], room: int, out: NDArray[np.int16]) -> int:
    """The plays of the seat to act, by the cards, the table and the rules alone, ascending; how many there are.

    Args:
        room: the most cards that a play may take out of the hand.
    """
    if s.split_slot != NO_SLOT:
        slot = np.int64(s.split_slot)
        count = 0
        if room >= 1:
            count = _lay_offs(s, R, ONE << np.uint64(slot), out, count)
        return _splits(s, out, count)
    count = 0
    if room >= 3:
        count = _lays(s, R, out, count)
    if room >= 1:
        count = _lay_offs(s, R, slots_for_lay_off(s, R), out, count)
    return _swaps(s, R, out, count)
