"""Sets and runs: which three cards of a hand make one, what fits onto a meld of the table, and what cards are worth.

Rules: sets are three or four cards of a rank in different suits, runs are three or more of a suit in a row, the ace
low or high and never round the corner, one joker at most (rules reference, rows 8 to 16).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.cards import (
    ACE,
    HIGH_ACE,
    LANE_BITS,
    NUM_RANKS,
    NUM_SUITS,
    ONE,
    RANKS_LANE,
    TWO,
    ZERO,
    kind_bit,
    lowest_bit_index,
    without_lowest,
)
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.rules import (
    DOUBLE_ACE_WITH_JOKER,
    IDENTITY_ANY,
    JOKER_FIXED_11,
    OVERFLOW_SPLIT,
    R_DOUBLE_ACE,
    R_HIGH_ACES,
    R_IDENTITY,
    R_JOKER_VALUE,
    R_MAX_RUN,
    R_OVERFLOW,
    R_POINTS,
    R_SUIT_BITS,
    R_TOP_RANK,
    R_WINDOWS,
)
from scala40_env.core.state import NO_JOKER, RUN, SET

NOTHING = -1
"""No card fits, no rank, no kind."""
LONGEST_UNSPLIT = 10
"""A run that must be split in two halves of at most five cards never has more."""
THREE_STARTS = np.uint64(0x0FFF_0FFF_0FFF_0FFF)
"""Where a window of three ranks may start: A ... Q."""


@inlined
def kind_of(suit: int, rank: int) -> int:
    """The natural kind at a suit and a rank 0 ... 13 (13 is the ace)."""
    if rank == HIGH_ACE:
        return suit * NUM_RANKS
    return suit * NUM_RANKS + rank


@inlined
def points_at(R: NDArray[np.int64], rank: int) -> int:
    """Points in a run of the card at rank 0 ... 13."""
    return R[R_POINTS + rank]


@inlined
def points_in_set(R: NDArray[np.int64], rank: int) -> int:
    """Points in a set of a card of rank 0 ... 12: an ace counts high."""
    return R[R_POINTS + HIGH_ACE] if rank == ACE else R[R_POINTS + rank]


@inlined
def joker_points(R: NDArray[np.int64], represented: int) -> int:
    """Points towards the opening of a joker that stands for a card worth ``represented``."""
    return 11 if R[R_JOKER_VALUE] == JOKER_FIXED_11 else represented


@inlined
def run_cards(one: np.uint64, R: NDArray[np.int64]) -> np.uint64:
    """A hand mask with its aces also above the king, where the deck has a king."""
    return one | ((one & np.uint64(R[R_HIGH_ACES])) << np.uint64(HIGH_ACE))


@inlined
def top_rank(R: NDArray[np.int64]) -> int:
    """The highest rank that a card of a run can have: 13, the high ace, where the deck has a king."""
    return R[R_TOP_RANK]


@inlined
def window_starts(R: NDArray[np.int64], length: int) -> np.uint64:
    """Where a window of three, four or five ranks may start in the deck, in every lane of a suit that exists."""
    return np.uint64(R[R_WINDOWS + length - 3])


@kernel
def run_starts(x: np.uint64, joker_place: int, R: NDArray[np.int64]) -> np.uint64:
    """Where a run of three starts, its joker at none, the first, second or third place (0 ... 3).

    Args:
        x: the hand as ``run_cards`` gives it.
        joker_place: 0 for no joker.
        R: the rules' vector.
    """
    if joker_place == 0:
        m = x & (x >> ONE) & (x >> TWO)
    elif joker_place == 1:
        m = (x >> ONE) & (x >> TWO)
    elif joker_place == 2:
        m = x & (x >> TWO)
    else:
        m = x & (x >> ONE)
    return m & window_starts(R, 3)


@kernel
def ranks_with(one: np.uint64, suits: int) -> np.uint64:
    """The ranks (bits 0 ... 12) that a hand mask holds in every one of some suits (bits 0 ... 3)."""
    m = RANKS_LANE
    for suit in range(NUM_SUITS):
        if (suits >> suit) & 1:
            m &= one >> np.uint64(suit * LANE_BITS)
    return m


@kernel
def set_ranks(one: np.uint64) -> np.uint64:
    """The ranks (bits 0 ... 12) of which a hand mask has three suits or four."""
    a = one & RANKS_LANE
    b = (one >> np.uint64(LANE_BITS)) & RANKS_LANE
    c = (one >> np.uint64(2 * LANE_BITS)) & RANKS_LANE
    d = (one >> np.uint64(3 * LANE_BITS)) & RANKS_LANE
    ab, cd = a & b, c & d
    return (ab & (c | d)) | (cd & (a | b))


@kernel
def pair_ranks(one: np.uint64) -> np.uint64:
    """The ranks (bits 0 ... 12) of which a hand mask has two suits or more."""
    a = one & RANKS_LANE
    b = (one >> np.uint64(LANE_BITS)) & RANKS_LANE
    c = (one >> np.uint64(2 * LANE_BITS)) & RANKS_LANE
    d = (one >> np.uint64(3 * LANE_BITS)) & RANKS_LANE
    return (a & b) | (c & d) | ((a | b) & (c | d))


@kernel
def has_extra_suit(suits: int, R: NDArray[np.int64]) -> bool:
    """Whether the deck has a suit beside these, for a joker to stand for."""
    return (R[R_SUIT_BITS] & ~suits) != 0


@inlined
def length_limit(R: NDArray[np.int64]) -> int:
    """How long a run may become by lay-offs, counting what must then be split."""
    return LONGEST_UNSPLIT if R[R_OVERFLOW] == OVERFLOW_SPLIT else R[R_MAX_RUN]


@kernel
def end_rank(s: Any, R: NDArray[np.int64], slot: int, high: bool, by_joker: bool) -> int:
    """The rank (0 ... 13) that a natural card, or a joker, would take at an end of the run in a slot.

    Or ``NOTHING``.
    """
    low = np.int64(s.meld_rank[slot])
    size = np.int64(s.meld_size[slot])
    joker = s.meld_joker[slot]
    if size >= length_limit(R) or (by_joker and joker != NO_JOKER):
        return NOTHING
    top = low + size - 1
    rank = top + 1 if high else low - 1
    if rank < 0 or rank > top_rank(R):
        return NOTHING
    if (rank == HIGH_ACE and low == ACE) or (rank == ACE and top == HIGH_ACE):
        other = ACE if high else HIGH_ACE
        if R[R_DOUBLE_ACE] != DOUBLE_ACE_WITH_JOKER or not (by_joker or joker == other):
            return NOTHING
    return rank


@inlined
def missing_suits(s: Any, R: NDArray[np.int64], slot: int) -> int:
    """The suits (bits) that a set of three does not have; none for a set of four."""
    if s.meld_size[slot] >= NUM_SUITS:
        return 0
    return R[R_SUIT_BITS] & ~np.int64(s.meld_suits[slot])


@kernel
def lowest_suit(suits: int) -> int:
    """The lowest suit of a set of suits that is not empty."""
    for suit in range(NUM_SUITS):
        if (suits >> suit) & 1:
            return suit
    return NOTHING


@kernel
def set_card(s: Any, R: NDArray[np.int64], slot: int, high: bool, by_joker: bool) -> int:
    """The suit that a lay-off adds to the set in a slot, or ``NOTHING``.

    The high end is the joker's own declared suit, and exists only where jokers of sets stand for any missing card.
    """
    missing = missing_suits(s, R, slot)
    joker = s.meld_joker[slot]
    if missing == 0 or (by_joker and (joker != NO_JOKER or high)):
        return NOTHING
    if high:
        return np.int64(joker) if R[R_IDENTITY] == IDENTITY_ANY and joker != NO_JOKER else NOTHING
    return lowest_suit(missing)


@kernel
def fitting_kind(s: Any, R: NDArray[np.int64], slot: int, high: bool) -> int:
    """The natural kind that fits onto the meld in a slot, at its low or high end, or ``NOTHING``."""
    if s.meld_type[slot] == RUN:
        rank = end_rank(s, R, slot, high, False)
        return NOTHING if rank == NOTHING else kind_of(np.int64(s.meld_suits[slot]), rank)
    suit = set_card(s, R, slot, high, False)
    return NOTHING if suit == NOTHING else kind_of(suit, np.int64(s.meld_rank[slot]))


@kernel
def joker_fits(s: Any, R: NDArray[np.int64], slot: int, high: bool) -> bool:
    """Whether a joker may be added at the low or high end of the meld in a slot."""
    if s.meld_type[slot] == RUN:
        return end_rank(s, R, slot, high, True) != NOTHING
    return set_card(s, R, slot, high, True) != NOTHING


@inlined
def joker_kind(s: Any, slot: int) -> int:
    """The kind that the joker of the meld in a slot was declared as; the meld has a joker."""
    joker = np.int64(s.meld_joker[slot])
    if s.meld_type[slot] == RUN:
        return kind_of(np.int64(s.meld_suits[slot]), joker)
    return kind_of(joker, np.int64(s.meld_rank[slot]))


@kernel
def swap_kind(s: Any, R: NDArray[np.int64], slot: int, one: np.uint64) -> int:
    """The kind that a hand would give for the joker in a slot, or ``NOTHING`` if it holds none that will do."""
    if s.meld_joker[slot] == NO_JOKER:
        return NOTHING
    declared = joker_kind(s, slot)
    if holds(one, declared):
        return declared
    if s.meld_type[slot] == SET and R[R_IDENTITY] == IDENTITY_ANY:
        missing = missing_suits(s, R, slot)
        if missing != 0:
            other = kind_of(lowest_suit(missing), np.int64(s.meld_rank[slot]))
            if holds(one, other):
                return other
    return NOTHING


@inlined
def holds(one: np.uint64, kind: int) -> bool:
    """Whether a hand mask holds a natural kind."""
    return (one >> np.uint64(kind + 3 * (kind // NUM_RANKS))) & ONE != ZERO


@kernel
def note_table(s: Any, R: NDArray[np.int64]) -> None:
    """Bring up to date what a row keeps of its table: what fits where, so that it is not looked for each time."""
    layable, swappable, joker_room = ZERO, ZERO, ZERO
    slots = s.used_slots
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        low, high = fitting_kind(s, R, slot, False), fitting_kind(s, R, slot, True)
        if low != NOTHING:
            layable |= kind_bit(low)
        if high != NOTHING:
            layable |= kind_bit(high)
        if s.meld_joker[slot] != NO_JOKER:
            swappable |= kind_bit(joker_kind(s, slot))
            missing = missing_suits(s, R, slot) if s.meld_type[slot] == SET and R[R_IDENTITY] == IDENTITY_ANY else 0
            if missing != 0:
                swappable |= kind_bit(kind_of(lowest_suit(missing), np.int64(s.meld_rank[slot])))
        elif joker_fits(s, R, slot, False) or joker_fits(s, R, slot, True):
            joker_room |= ONE << np.uint64(slot)
    s.layable = layable
    s.swappable = swappable
    s.joker_room = joker_room


@kernel
def note_tables(rows: Any, R: NDArray[np.int64]) -> None:
    """``note_table`` for every row, for rows that no play has led to."""
    for i in range(len(rows)):
        note_table(rows[i], R)
