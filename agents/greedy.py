"""Greedy play: open and lay as soon as it can, take what can be played, discard what costs most and helps least.

It looks one action ahead and models nobody: an anchor for measuring better players.  In a turn it prefers

1. melds without a joker, those that shed most points first, counting what can still be laid after them;
2. swaps that bring a joker for which a meld is ready, then melds with a joker;
3. lay-offs of natural cards, then swaps whose joker must be placed, then splits;
4. a joker on a meld of the table, where a hand is nearly empty: until then it waits for a meld of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import GREEDY
from scala40_env.core.actions import (
    DISCARD,
    JOKER_LOW,
    LAY_OFF,
    LAY_RUN,
    LAY_SET,
    NO_SUIT,
    NUM_ENDS,
    NUM_RUN_STARTS,
    SET_JOKER,
    SET_SUITS,
    SPLIT,
    SWAP,
)
from scala40_env.core.cards import (
    ACE,
    HIGH_ACE,
    JOKER,
    LANE_BITS,
    NUM_RANKS,
    NUM_SUITS,
    ZERO,
    card_bit,
    kind_bit,
    lowest_bit_index,
    rank_suits,
    without_lowest,
)
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.melds import NOTHING, fitting_kind, joker_kind, run_cards, run_starts
from scala40_env.core.packing import in_melds, pair_ranks, sum_of_points
from scala40_env.core.rules import R_HAND_ACE, R_POINTS, R_SUITS, R_SWAP, SWAP_OFF, SWAP_TO_HAND, Rules
from scala40_env.core.state import DRAW, DUTY_NONE, DUTY_OPEN, NO_JOKER, PLAY
from scala40_env.core.transition import duty_of_take

# How much each kind of play is wanted; what it sheds decides between plays of one kind and is far below the steps.
_NATURAL_MELD = 7000
_SWAP_FOR_MELD = 6000
_JOKER_MELD = 5000
_LAY_OFF_CARD = 4000
_SWAP_OWED = 3000
_SPLIT = 2000
_JOKER_OFF = 1000
_NOT_NOW = 0
_FEW_CARDS = 3
_WITH_THE_REST = 4

# What a card is worth keeping for, in quarters of a point of its cost in the hand.
_COST = 4
_IN_MELD = 400
_SPARE_COPY = 20
_PAIR = 18
_NEIGHBOUR = 16
_GAP = 10
_FITS_TABLE = 3
_KEEP_JOKER = 100_000


@kernel
def choose_greedy(s: Any, R: NDArray[np.int64], legal: NDArray[np.int16], count: int) -> int:
    """The greedy choice among the first ``count`` actions of ``legal``.

    Args:
        s: a row as the seat to act may know it.
        R: the rules' vector.
        legal: the legal actions, ascending.
        count: how many there are, at least one.
    """
    if count == 1 or (s.phase != DRAW and s.phase != PLAY):
        return np.int64(legal[0])
    if s.phase == DRAW:
        return np.int64(legal[1]) if _wants_upcard(s, R) else np.int64(legal[0])
    best, choice = -1, -1
    for i in range(count):
        action = np.int64(legal[i])
        if action < DISCARD or action >= SPLIT:
            value = _play_value(s, R, action)
            if value > best:
                best, choice = value, action
    if best > _NOT_NOW:
        return choice
    discard = _best_discard(s, R, legal, count)
    return discard if discard >= 0 else choice


# --- the upcard ------------------------------------------------------------------------------------------------------


@inlined
def _wants_upcard(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether the upcard, which may be taken, is worth more than a card of the stock."""
    kind = np.int64(s.pile[s.pile_size - 1])
    duty = duty_of_take(s, R)
    if kind == JOKER or (duty != DUTY_NONE and duty != DUTY_OPEN):
        return True  # where it must be played, it can be: else it could not be taken
    seat = np.int64(s.seat)
    one = s.hand_one[seat]
    bit = kind_bit(kind)
    opened = (s.has_opened >> seat) & 1 != 0
    if opened and s.layable & bit != ZERO:
        return True
    if opened and R[R_SWAP] != SWAP_OFF and _has_joker_meld(one, R) and _frees_joker(s, kind):
        return True
    if one & bit != ZERO:
        return False
    if opened and s.hand_jokers[seat] > 0 and _links(one, R, kind) > 0:
        return True
    return in_melds(one | bit, R) & bit != ZERO


@kernel
def _has_joker_meld(one: np.uint64, R: NDArray[np.int64]) -> bool:
    """Whether a joker makes a meld with two cards of a hand."""
    if R[R_SUITS] >= 3 and pair_ranks(one) != ZERO:
        return True
    x = run_cards(one, R)
    return (run_starts(x, 1, R) | run_starts(x, 2, R) | run_starts(x, 3, R)) != ZERO


@inlined
def _frees_joker(s: Any, kind: int) -> bool:
    """Whether a joker of the table stands for a kind."""
    slots = s.used_slots
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        if s.meld_joker[slot] != NO_JOKER and joker_kind(s, slot) == kind:
            return True
    return False


# --- plays -----------------------------------------------------------------------------------------------------------


@inlined
def _play_value(s: Any, R: NDArray[np.int64], action: int) -> int:
    """How much a play that is not a discard is wanted; above 0 where it is better than none."""
    if action < LAY_RUN:
        pattern, rank = (action - LAY_SET) // NUM_RANKS, (action - LAY_SET) % NUM_RANKS
        naturals = ZERO
        for suit in range(NUM_SUITS):
            if (SET_SUITS[pattern] >> suit) & 1:
                naturals |= card_bit(suit, rank)
        return _meld_value(s, R, naturals, SET_JOKER[pattern] != NO_SUIT)
    if action < LAY_OFF:
        code = action - LAY_RUN
        place = code // (NUM_RUN_STARTS * NUM_SUITS)
        suit, start = (code // NUM_RUN_STARTS) % NUM_SUITS, code % NUM_RUN_STARTS
        naturals = ZERO
        for i in range(3):
            if i != place - 1:
                rank = start + i
                naturals |= card_bit(suit, ACE if rank == HIGH_ACE else rank)
        return _meld_value(s, R, naturals, place > 0)
    if action < SWAP:
        return _lay_off_value(s, R, action - LAY_OFF)
    if action < DISCARD:
        return _swap_value(s, R, action - SWAP)
    return _SPLIT


@kernel
def _meld_value(s: Any, R: NDArray[np.int64], naturals: np.uint64, with_joker: bool) -> int:
    """Of a meld: the points that it sheds and those of the cards that are in melds without it, then the first alone."""
    seat = np.int64(s.seat)
    one, two = s.hand_one[seat], s.hand_two[seat]
    shed = sum_of_points(naturals, R, R[R_HAND_ACE])
    rest = one & ~(naturals & ~two)
    left = sum_of_points(in_melds(rest, R), R, R[R_HAND_ACE])
    return _WITH_THE_REST * (shed + left) + shed + (_JOKER_MELD if with_joker else _NATURAL_MELD)


@inlined
def _lay_off_value(s: Any, R: NDArray[np.int64], code: int) -> int:
    slot, end = code // NUM_ENDS, code % NUM_ENDS
    if end >= JOKER_LOW:
        owes = s.jokers_owed > 0 or s.duty != DUTY_NONE
        return _JOKER_OFF if owes or _is_near_the_end(s) else _NOT_NOW
    return _LAY_OFF_CARD + _cost(R, fitting_kind(s, R, slot, (end & 1) != 0))


@inlined
def _swap_value(s: Any, R: NDArray[np.int64], slot: int) -> int:
    """Of a swap: whether the joker that it brings finds a meld, or must find a place and so does."""
    seat = np.int64(s.seat)
    given = joker_kind(s, slot)
    rest = s.hand_one[seat]
    if s.hand_two[seat] & kind_bit(given) == ZERO:
        rest &= ~kind_bit(given)
    if _has_joker_meld(rest, R):
        return _SWAP_FOR_MELD + _cost(R, given)
    if R[R_SWAP] != SWAP_TO_HAND or _is_near_the_end(s):
        return _SWAP_OWED + _cost(R, given)
    return _NOT_NOW


@kernel
def _is_near_the_end(s: Any) -> bool:
    """Whether some hand is so small that the round may end soon."""
    for seat in range(s.num_seats):
        if (s.in_round >> seat) & 1 and s.hand_size[seat] <= _FEW_CARDS:
            return True
    return False


@kernel
def _cost(R: NDArray[np.int64], kind: int) -> int:
    """What a natural card costs in the hand; 0 for none."""
    if kind == NOTHING:
        return 0
    rank = kind % NUM_RANKS
    return R[R_HAND_ACE] if rank == ACE else R[R_POINTS + rank]


# --- the discard -----------------------------------------------------------------------------------------------------


@inlined
def _best_discard(s: Any, R: NDArray[np.int64], legal: NDArray[np.int16], count: int) -> int:
    """The discard that costs most and helps least, or -1 where none is legal."""
    seat = np.int64(s.seat)
    melds = in_melds(s.hand_one[seat], R)
    layable = s.layable if (np.int64(s.has_opened) & ~(1 << seat)) != 0 else ZERO
    choice, best = -1, 0
    for i in range(count):
        action = np.int64(legal[i])
        if DISCARD <= action < SPLIT:
            kind = action - DISCARD
            value = -_KEEP_JOKER if kind == JOKER else _discard_value(s, R, kind, melds, layable)
            if choice < 0 or value > best:
                choice, best = action, value
    return choice


@inlined
def _discard_value(s: Any, R: NDArray[np.int64], kind: int, melds: np.uint64, layable: np.uint64) -> int:
    """What a natural card costs, less what it may still be good for."""
    seat = np.int64(s.seat)
    bit = kind_bit(kind)
    value = _COST * _cost(R, kind)
    if layable & bit != ZERO:
        value -= _FITS_TABLE
    if s.hand_two[seat] & bit != ZERO:
        return value + _SPARE_COPY  # the other copy stays
    if melds & bit != ZERO:
        value -= _IN_MELD
    return value - _links(s.hand_one[seat], R, kind)


@kernel
def _links(one: np.uint64, R: NDArray[np.int64], kind: int) -> int:
    """How near a card is to melds with the others of a hand: pairs, neighbours, gaps of one."""
    suit, rank = kind // NUM_RANKS, kind % NUM_RANKS
    links = 0
    if (rank_suits(one, rank) & ~(1 << suit)) != 0:
        links += _PAIR
    lane = np.int64((run_cards(one, R) >> np.uint64(suit * LANE_BITS)) & np.uint64(0x3FFF))
    links += _side_links(lane, rank)
    if rank == ACE:
        links += _side_links(lane, HIGH_ACE)
    return links


@inlined
def _side_links(lane: int, rank: int) -> int:
    around = lane << 2 >> rank  # bits 0, 1: two and one below; 2: the card; 3, 4: one and two above
    links = 0
    if around & 0b01010:
        links += _NEIGHBOUR
    if around & 0b10001:
        links += _GAP
    return links


# --- the agent -------------------------------------------------------------------------------------------------------


@kernel
def _choose_one(rows: Any, R: NDArray[np.int64], legal: NDArray[np.int16]) -> int:
    return choose_greedy(rows[0], R, legal, len(legal))


class Greedy:
    """Opens and lays as soon as it can; see the module."""

    bot = GREEDY
    salt = 0
    name = "greedy"

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> int:
        """The greedy choice; draws nothing at random.  See ``Agent.act``."""
        return int(_choose_one(rows, rules.vector(), legal))
