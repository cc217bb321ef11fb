"""The best packing: which melds of a hand are worth most, as cards that need not be paid or as points of an opening.

Exact.  ``packing`` asks whether a hand can reach so many points; here the most is found, and the cards that make it.
First every meld that the hand could lay is listed, once for all that is then asked about that hand: runs in pieces of
three to five cards, since every longer run falls into such pieces with the same points, and a joker as whatever it is
worth most as.  Then the list is put in order of worth, and melds that share no card are taken from it, best first, by
branch and bound: what is still to come is worth at most the natural cards that are in melds further down the list, and
for each joker the best meld with one further down.

``memory`` (``BEST_WORDS`` words, lent by the caller) holds the list, its order, and the melds that were chosen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.cards import (
    ACE,
    HIGH_ACE,
    LANE_BITS,
    ONE,
    RANK_LANE,
    RANKS_LANE,
    TWO,
    ZERO,
    lowest_bit_index,
    rank_suits,
    without_lowest,
)
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.melds import (
    has_extra_suit,
    joker_points,
    pair_ranks,
    points_in_set,
    run_cards,
    set_ranks,
    top_rank,
    window_starts,
)
from scala40_env.core.packing import (
    FOUR,
    LONGEST_PIECE,
    SHORTEST,
    THREE,
    count_suits,
    longest_piece,
    sum_of_points,
)
from scala40_env.core.rules import R_HAND_ACE, R_HAND_JOKER, R_POINTS

BY_COST, BY_OPENING = 0, 1
"""What a meld is worth: what its cards would cost in the hand, or its points towards the opening."""

MOST_MELDS = 736
"""A deck has 727 pieces of runs and sets that differ in their natural cards."""
_DEEPEST = 40
"""108 cards are 36 melds."""
_MELDS = 0
"""The natural cards of each meld, in the order in which they were found."""
_WORTHS = _MELDS + MOST_MELDS
"""Of each: by cost in bits 32 ..., by opening in bits 16 ..., then three bits of its size and one for a joker."""
_ORDER = _WORTHS + MOST_MELDS
"""The melds that may be used, the best first: see ``order_melds``."""
_PATH = _ORDER + MOST_MELDS
"""Of each meld taken by the search: its place in the order, and the hand's masks before it."""
CHOSEN = _PATH + 3 * _DEEPEST
"""How many melds the best packing has, then for each its place in the order."""
BEST_WORDS = CHOSEN + 1 + _DEEPEST

NO_LIMIT = 127
"""As room: every card may leave the hand."""
ENDLESS = 1 << 16
"""More than any hand is worth."""
_MANY = 8
"""So many melds are worth a look at the cards in them before the search."""
_LOW_16 = np.uint64(0xFFFF)
_LOW_12 = np.uint64(0xFFF)
_SIZE_AND_JOKER = np.uint64(0xF)
_SPREAD = np.uint64(0x0000_2000_4000_8001)
"""Times a set of suits: suit ``i`` comes to lane ``i``."""


@inlined
def rank_cost(R: NDArray[np.int64], rank: int) -> int:
    """What a natural card of rank 0 ... 13 costs in the hand."""
    return R[R_HAND_ACE] if rank in (ACE, HIGH_ACE) else R[R_POINTS + rank]


@inlined
def hand_cost(one: np.uint64, two: np.uint64, jokers: int, R: NDArray[np.int64]) -> int:
    """What the cards of a hand cost, each by itself: an ace that is alone counts like any other."""
    cost = jokers * R[R_HAND_JOKER]
    cost += sum_of_points(one, R, R[R_HAND_ACE])
    if two != ZERO:
        cost += sum_of_points(two, R, R[R_HAND_ACE])
    return cost


@inlined
def set_cards(suits: int, rank: int) -> np.uint64:
    """The cards of a rank 0 ... 12 in some suits, as a hand mask."""
    return ((np.uint64(suits) * _SPREAD) & RANK_LANE) << np.uint64(rank)


# --- the list of melds -----------------------------------------------------------------------------------------------


@inlined
def _note(
    memory: NDArray[np.uint64], count: int, cards: np.uint64, size: int, joker: int, cost: int, points: int
) -> int:
    memory[_MELDS + count] = cards
    memory[_WORTHS + count] = np.uint64(cost << 32 | points << 16 | size << 1 | joker)
    return count + 1


@kernel
def _note_runs(
    memory: NDArray[np.uint64], count: int, starts: np.uint64, pattern: int, joker: int, R: NDArray[np.int64]
) -> int:
    """Note a run for each start: its natural cards are the bits of ``pattern`` above the start."""
    width = LONGEST_PIECE
    while not (pattern >> (width - 1)) & 1:
        width -= 1
    hole = 0  # where a joker stands if it can: in the gap, or above
    while (pattern >> hole) & 1:
        hole += 1
    while starts != ZERO:
        index = lowest_bit_index(starts)
        starts = without_lowest(starts)
        start = index & (LANE_BITS - 1)
        cards = np.uint64(pattern) << np.uint64(start)
        if start + width - 1 == HIGH_ACE:
            cards = (cards & RANKS_LANE) | ONE
        cost, points, size = np.int64(0), np.int64(0), joker
        for i in range(width):
            if (pattern >> i) & 1:
                cost += rank_cost(R, start + i)
                points += R[R_POINTS + start + i]
                size += 1
        if joker:
            rank = start + hole
            if rank > top_rank(R):
                rank = start - 1
            cost += R[R_HAND_JOKER]
            points += joker_points(R, R[R_POINTS + rank])
        count = _note(memory, count, cards << np.uint64(index - start), size, joker, cost, points)
    return count


@inlined
def _note_all_runs(one: np.uint64, jokers: int, R: NDArray[np.int64], memory: NDArray[np.uint64], count: int) -> int:
    """Note the runs, by the pattern of their natural cards, bit 0 the lowest."""
    longest, top = longest_piece(R), top_rank(R)
    x = run_cards(one, R)
    ab, ac = x & (x >> ONE), x & (x >> TWO)
    if (ab if jokers == 0 else ab | ac) == ZERO:
        return count
    abc = ab & ac
    d = (x >> THREE) & window_starts(R, 4) if longest >= 4 else ZERO
    e = (x >> FOUR) & window_starts(R, 5) if longest >= 5 else ZERO
    if abc != ZERO:
        abcd = abc & d
        count = _note_runs(memory, count, abc, 0b111, 0, R)
        count = _note_runs(memory, count, abcd, 0b1111, 0, R)
        count = _note_runs(memory, count, abcd & e, 0b11111, 0, R)
        if jokers > 0:
            if longest >= 4 and top >= 3:
                count = _note_runs(memory, count, abc, 0b111, 1, R)
            if longest >= 5 and top >= 4:
                count = _note_runs(memory, count, abcd, 0b1111, 1, R)
            count = _note_runs(memory, count, abc & e, 0b10111, 1, R)
    if jokers > 0:
        count = _note_runs(memory, count, ab, 0b11, 1, R)
        count = _note_runs(memory, count, ac, 0b101, 1, R)
        if d != ZERO:
            count = _note_runs(memory, count, ab & d, 0b1011, 1, R)
            count = _note_runs(memory, count, ac & d, 0b1101, 1, R)
            count = _note_runs(memory, count, ab & d & e, 0b11011, 1, R)
            count = _note_runs(memory, count, ac & d & e, 0b11101, 1, R)
    return count


@inlined
def _note_all_sets(one: np.uint64, jokers: int, R: NDArray[np.int64], memory: NDArray[np.uint64], count: int) -> int:
    ranks = set_ranks(one) if jokers == 0 else pair_ranks(one)
    while ranks != ZERO:
        rank = lowest_bit_index(ranks)
        ranks = without_lowest(ranks)
        held = rank_suits(one, rank)
        cost, points = rank_cost(R, rank), points_in_set(R, rank)
        suits = held
        while suits != 0:
            size = count_suits(suits)
            cards = set_cards(suits, rank)
            if size >= SHORTEST:
                count = _note(memory, count, cards, size, 0, size * cost, size * points)
            if jokers > 0 and size >= 2 and has_extra_suit(suits, R):
                with_joker = size * cost + R[R_HAND_JOKER], size * points + joker_points(R, points)
                count = _note(memory, count, cards, size + 1, 1, with_joker[0], with_joker[1])
            suits = (suits - 1) & held
    return count


@kernel
def list_melds(one: np.uint64, jokers: int, R: NDArray[np.int64], memory: NDArray[np.uint64]) -> int:
    """List every meld of a hand in memory; returns how many there are.

    What is listed for a hand holds for any part of it: the search skips melds whose cards are gone.

    Args:
        one: the kinds that the hand has.
        jokers: how many jokers it has; one meld uses one at most.
        R: the rules' vector.
        memory: ``BEST_WORDS`` words.
    """
    return _note_all_sets(one, jokers, R, memory, _note_all_runs(one, jokers, R, memory, 0))


@kernel
def order_melds(memory: NDArray[np.uint64], count: int, by: int, jokers: int, two: np.uint64) -> int:
    """Put the melds of the list that may be used in order, the best first; returns how many they are.

    A word of the order is, from its highest bits: the worth of the meld (16 bits); the worth of all natural melds from
    it on, each as often as the hand can lay it (16); the worth of the best meld with a joker from it on (12); its place
    in the list (16); its size (3); whether it has a joker (1).

    Args:
        memory: as ``list_melds`` left it.
        count: what that returned.
        by: ``BY_COST`` or ``BY_OPENING``.
        jokers: 0 leaves the melds with a joker out.
        two: the kinds of which the hand has two.
    """
    shift = np.uint64(32 if by == BY_COST else 16)
    kept = 0
    for i in range(count):
        word = memory[_WORTHS + i]
        if jokers == 0 and word & ONE != ZERO:
            continue
        key = ((word >> shift) & _LOW_16) << np.uint64(48) | np.uint64(i << 4) | (word & _SIZE_AND_JOKER)
        place = _ORDER + kept
        while place > _ORDER and memory[place - 1] < key:
            memory[place] = memory[place - 1]
            place -= 1
        memory[place] = key
        kept += 1
    natural, with_joker = ZERO, ZERO
    for place in range(_ORDER + kept - 1, _ORDER - 1, -1):
        key = memory[place]
        worth = key >> np.uint64(48)
        if key & ONE != ZERO:
            with_joker = worth
        else:
            natural += worth
            if memory[_MELDS + np.int64((key >> FOUR) & _LOW_16)] & ~two == ZERO:
                natural += worth
            natural = min(natural, _LOW_16)
        memory[place] = key | natural << np.uint64(32) | with_joker << np.uint64(20)
    return kept


@inlined
def meld_at(memory: NDArray[np.uint64], place: int) -> np.uint64:
    """The natural cards of the meld at a place in the order."""
    return memory[_MELDS + np.int64((memory[_ORDER + place] >> FOUR) & _LOW_16)]


@inlined
def worth_at(memory: NDArray[np.uint64], place: int) -> int:
    """What the meld at a place in the order is worth."""
    return np.int64(memory[_ORDER + place] >> np.uint64(48))


@inlined
def has_joker_at(memory: NDArray[np.uint64], place: int) -> int:
    """1 where the meld at a place in the order has a joker, else 0."""
    return np.int64(memory[_ORDER + place] & ONE)


# --- the search ------------------------------------------------------------------------------------------------------


@kernel
def most_natural(memory: NDArray[np.uint64], count: int, two: np.uint64, by: int, R: NDArray[np.int64]) -> int:
    """No melds without jokers, of the ``count`` in order, are worth more than this together."""
    cards = ZERO
    melds = 0
    for i in range(count):
        if has_joker_at(memory, i) == 0:
            cards |= meld_at(memory, i)
            melds += 1
    if melds < 2:
        return ENDLESS  # the order itself tells
    return _cards_worth(cards, two, by, R)


@kernel
def most_of_all(
    memory: NDArray[np.uint64], count: int, two: np.uint64, jokers: int, by: int, R: NDArray[np.int64]
) -> int:
    """No melds, of the ``count`` in order, are worth more than this together: all cards that are in any."""
    if count < _MANY:
        return ENDLESS  # the search is as quick
    cards = ZERO
    for i in range(count):
        cards |= meld_at(memory, i)
    joker = R[R_HAND_JOKER] if by == BY_COST else joker_points(R, R[R_POINTS + HIGH_ACE])
    return _cards_worth(cards, two, by, R) + jokers * joker


@kernel
def _cards_worth(cards: np.uint64, two: np.uint64, by: int, R: NDArray[np.int64]) -> int:
    """The most that all copies of some natural cards are worth in melds."""
    ace = R[R_HAND_ACE] if by == BY_COST else R[R_POINTS + HIGH_ACE]
    return sum_of_points(cards, R, ace) + sum_of_points(cards & two, R, ace)


@kernel
def search_best(
    memory: NDArray[np.uint64],
    count: int,
    one: np.uint64,
    two: np.uint64,
    jokers: int,
    room: int,
    natural: int,
    least: int,
    enough: int,
) -> int:
    """The most that melds of a hand are worth together; the melds are noted from ``CHOSEN`` on.

    Args:
        memory: as ``order_melds`` left it.
        count: what that returned.
        one, two: the hand's masks: that for which the melds were listed, or a part of it.
        jokers: how many jokers it has.
        room: the most cards that may leave it.
        natural: from ``most_natural``.
        least: where nothing is worth more, or this is enough, it is returned and no meld is noted.
        enough: the search ends with the first packing that is worth so much.
    """
    best, value, used = least, np.int64(0), np.int64(0)
    depth, i = 0, 0
    memory[CHOSEN] = ZERO
    if best >= enough:
        return best
    while True:
        fits = False
        while i < count:
            key = memory[_ORDER + i]
            to_come = min(natural - used, np.int64((key >> np.uint64(32)) & _LOW_16))
            if value + to_come + jokers * np.int64((key >> np.uint64(20)) & _LOW_12) <= best:
                break
            if meld_at(memory, i) & ~one == ZERO and jokers >= has_joker_at(memory, i):
                fits = room >= np.int64((key >> ONE) & np.uint64(7))
                if fits:
                    break
            i += 1
        if fits:
            at = _PATH + 3 * depth
            memory[at], memory[at + 1], memory[at + 2] = np.uint64(i), one, two
            meld = meld_at(memory, i)
            one, two = one & ~(meld & ~two), two & ~meld
            value += worth_at(memory, i)
            if has_joker_at(memory, i):
                jokers -= 1
            else:
                used += worth_at(memory, i)
            room -= np.int64((memory[_ORDER + i] >> ONE) & np.uint64(7))
            depth += 1
            if value > best:
                best = value
                memory[CHOSEN] = np.uint64(depth)
                for k in range(depth):
                    memory[CHOSEN + 1 + k] = memory[_PATH + 3 * k]
                if best >= enough:
                    return best
        elif depth == 0:
            return best
        else:
            depth -= 1
            at = _PATH + 3 * depth
            i = np.int64(memory[at])
            one, two = memory[at + 1], memory[at + 2]
            value -= worth_at(memory, i)
            if has_joker_at(memory, i):
                jokers += 1
            else:
                used -= worth_at(memory, i)
            room += np.int64((memory[_ORDER + i] >> ONE) & np.uint64(7))
            i += 1


@kernel
def chosen_cards(memory: NDArray[np.uint64]) -> tuple[np.uint64, np.uint64, int]:
    """The masks, and the jokers, of the melds that a search has chosen."""
    one, two, jokers = ZERO, ZERO, np.int64(0)
    for k in range(np.int64(memory[CHOSEN])):
        place = np.int64(memory[CHOSEN + 1 + k])
        meld = meld_at(memory, place)
        two |= one & meld
        one |= meld
        jokers += has_joker_at(memory, place)
    return one, two, jokers


@kernel
def best_partition(
    one: np.uint64,
    two: np.uint64,
    jokers: int,
    R: NDArray[np.int64],
    by: int,
    room: int,
    memory: NDArray[np.uint64],
    out: NDArray[np.uint64],
) -> int:
    """The most that melds from a hand are worth together.

    With ``BY_COST`` the least deadwood is ``hand_cost`` less this.

    Args:
        one, two: the hand's masks.
        jokers: how many jokers the melds may use, each in a meld of its own.
        R: the rules' vector.
        by: ``BY_COST`` or ``BY_OPENING``.
        room: the most cards that may leave the hand, or ``NO_LIMIT``.
        memory: for the search, ``BEST_WORDS`` words.
        out: ``uint64``, three words: the masks of the cards in the melds, and how many jokers are in them.
    """
    count = list_melds(one, jokers, R, memory)
    count = order_melds(memory, count, by, jokers, two)
    natural = most_natural(memory, count, two, by, R)
    enough = most_of_all(memory, count, two, jokers, by, R)
    best = search_best(memory, count, one, two, jokers, room, natural, 0, enough)
    out[0], out[1], used = chosen_cards(memory)
    out[2] = np.uint64(used)
    return best
