"""The packing search: can melds worth so many points be laid from a hand, leaving cards enough?

Exact.  A cheap bound comes first, which most hands fail: the natural cards that are in any meld at all, and the best
meld that a joker could make.  Then a search by pivot: the lowest card that is in a meld is either in one of the melds
that hold it, or in none.  Runs are searched in pieces of three to five cards, since every longer run falls into such
pieces with the same points.

The search keeps what it has yet to look at on a stack of nodes, in memory that the caller lends: kernels do not call
themselves, since Numba cannot load such a kernel from its cache.  A node is what is left after some melds: the two
masks of the
hand, and in one word the points still missing, the cards that may still leave, and the jokers that may still be used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.cards import (
    ACE,
    ACES,
    HIGH_ACE,
    JOKER,
    KING,
    LANE_BITS,
    NUM_RANKS,
    NUM_SUITS,
    ONE,
    RANK_LANE,
    RANKS_LANE,
    TWO,
    ZERO,
    bit_count,
    card_bit,
    lowest_bit_index,
    without_lowest,
)
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.melds import (
    has_extra_suit,
    joker_points,
    pair_ranks,
    points_at,
    points_in_set,
    run_cards,
    set_ranks,
    top_rank,
    window_starts,
)
from scala40_env.core.rules import JOKER_FIXED_11, R_JOKER_VALUE, R_MAX_RUN, R_POINTS, R_PREFIX

NUM_PURE_PATTERNS = 4
"""The first patterns of a set of three are those without a joker."""
LONGEST_PIECE = 5
SHORTEST = 3
LANE = np.uint64(0xFFFF)
THREE, FOUR = np.uint64(3), np.uint64(4)
ONE_MORE_JOKER = 10
"""What a joker that always counts 11 may add to the points of the card that it stands for."""


@inlined
def longest_piece(R: NDArray[np.int64]) -> int:
    """The longest piece of a run that the search lays at once."""
    return min(LONGEST_PIECE, R[R_MAX_RUN])


@kernel
def in_melds(one: np.uint64, R: NDArray[np.int64]) -> np.uint64:
    """The natural cards that are in any meld without a joker that the hand could lay."""
    x = run_cards(one, R)
    starts = x & (x >> ONE) & (x >> TWO) & window_starts(R, 3)
    runs = starts | (starts << ONE) | (starts << TWO)
    runs |= (runs >> np.uint64(HIGH_ACE)) & ACES
    return one & (runs | (set_ranks(one) * RANK_LANE))


@kernel
def sum_of_points(cards: np.uint64, R: NDArray[np.int64], ace: int) -> int:
    """Points of the cards of a mask, each ace counting ``ace``."""
    total = bit_count(cards & ACES) * ace
    cards &= ~ACES
    while cards != ZERO:
        total += R[R_POINTS + (lowest_bit_index(cards) & (LANE_BITS - 1))]
        cards = without_lowest(cards)
    return total


@inlined
def natural_bound(one: np.uint64, two: np.uint64, R: NDArray[np.int64]) -> int:
    """No packing of melds without jokers is worth more."""
    cards = in_melds(one, R)
    if cards == ZERO:
        return 0
    ace = R[R_POINTS + HIGH_ACE]
    if cards & ACES != ZERO and (set_ranks(one) & ONE) == ZERO:
        x = run_cards(one, R)
        if (x & (x >> ONE) & (x >> TWO) & (RANK_LANE << np.uint64(KING - 1))) == ZERO:
            ace = R[R_POINTS + ACE]
    return sum_of_points(cards, R, ace) + sum_of_points(cards & two, R, ace)


@kernel
def _highest_start(starts: np.uint64) -> int:
    """The highest rank at which any lane has a bit; there is one."""
    m = starts | (starts >> np.uint64(2 * LANE_BITS))
    m = (m | (m >> np.uint64(LANE_BITS))) & np.uint64(0xFFFF)
    rank = 0
    while m > ONE:
        m >>= ONE
        rank += 1
    return rank


@inlined
def _window_points(R: NDArray[np.int64], start: int, length: int) -> int:
    return R[R_PREFIX + start + length] - R[R_PREFIX + start]


@inlined
def joker_bound(one: np.uint64, R: NDArray[np.int64]) -> int:
    """No meld with one joker, in pieces of at most five cards, is worth more; 0 where there is none."""
    best = 0
    pairs = pair_ranks(one)
    if pairs != ZERO:
        if pairs & ONE != ZERO:
            best = points_in_set(R, ACE) * 3
        best = max(best, points_in_set(R, _highest_start(pairs)) * 3)
        triples = set_ranks(one)
        if triples != ZERO:
            if triples & ONE != ZERO:
                best = max(best, points_in_set(R, ACE) * 4)
            best = max(best, points_in_set(R, _highest_start(triples)) * 4)
    a = run_cards(one, R)
    b, c = a >> ONE, a >> TWO
    ab = a & b
    two_of_three = (ab | (a & c) | (b & c)) & window_starts(R, 3)
    if two_of_three != ZERO:
        best = max(best, _window_points(R, _highest_start(two_of_three), 3))
        d, e = a >> THREE, a >> FOUR
        cd = c & d
        three_of_four = ((ab & (c | d)) | (cd & (a | b))) & window_starts(R, 4)
        if three_of_four != ZERO:
            best = max(best, _window_points(R, _highest_start(three_of_four), 4))
            four_of_five = ((ab & cd) | (ab & e & (c | d)) | (cd & e & (a | b))) & window_starts(R, 5)
            if four_of_five != ZERO:
                best = max(best, _window_points(R, _highest_start(four_of_five), 5))
    if best > 0 and R[R_JOKER_VALUE] == JOKER_FIXED_11:
        best += ONE_MORE_JOKER
    return best


@kernel
def run_piece(start: int, length: int) -> np.uint64:
    """The cards of a run in lane 0, the high ace as the ace that it is."""
    cards = ((ONE << np.uint64(length)) - ONE) << np.uint64(start)
    if start + length - 1 == HIGH_ACE:
        cards = (cards & RANKS_LANE) | ONE
    return cards


NODE_WORDS = 3
STACK_WORDS = 1024 * NODE_WORDS
"""Each node adds at most some 60 others, and a search is at most a dozen melds deep."""
_BIAS = 1 << 12
"""Keeps what may fall below zero positive in a word."""


@kernel
def push(
    stack: NDArray[np.uint64], top: int, one: np.uint64, two: np.uint64, target: int, room: int, jokers: int
) -> int:
    """Put a node on the stack, if room may still be enough; returns the stack's new height in words."""
    if room < 0 or (target > 0 and room < SHORTEST) or top + NODE_WORDS > STACK_WORDS:
        return top
    stack[top] = one
    stack[top + 1] = two
    stack[top + 2] = np.uint64((target + _BIAS) << 16 | room << 8 | jokers)
    return top + NODE_WORDS


@kernel
def push_after(
    stack: NDArray[np.uint64],
    top: int,
    one: np.uint64,
    two: np.uint64,
    meld: np.uint64,
    target: int,
    room: int,
    jokers: int,
) -> int:
    """Put the node on the stack that is left when one copy of each card of ``meld`` has left the hand."""
    return push(stack, top, one & ~(meld & ~two), two & ~meld, target, room, jokers)


@kernel
def reaches_from_stack(stack: NDArray[np.uint64], top: int, R: NDArray[np.int64]) -> bool:
    """Whether any node on the stack can reach its target."""
    while top > 0:
        top -= NODE_WORDS
        one, two = stack[top], stack[top + 1]
        word = np.int64(stack[top + 2])
        target, room, jokers = (word >> 16) - _BIAS, (word >> 8) & 255, word & 255
        if target <= 0:
            return True
        natural = natural_bound(one, two, R)
        if jokers == 0:
            if natural >= target:
                top = _push_natural_melds(stack, top, one, two, R, target, room)
            continue
        with_joker = joker_bound(one, R)
        if natural + jokers * with_joker >= target:
            least = target - natural - (jokers - 1) * with_joker
            top = _push_joker_melds(stack, top, one, two, R, target, room, jokers, least)
            if natural >= target:
                top = push(stack, top, one, two, target, room, 0)
    return False


@kernel
def _push_natural_melds(
    stack: NDArray[np.uint64], top: int, one: np.uint64, two: np.uint64, R: NDArray[np.int64], target: int, room: int
) -> int:
    """Push what is left for each meld that holds the pivot, and for none of them."""
    cards = in_melds(one, R)
    pivot = cards & (~cards + ONE)
    index = lowest_bit_index(cards)
    suit, rank = index >> 4, index & (LANE_BITS - 1)
    top = push_after(stack, top, one, two, pivot, target, room, 0)
    lane = run_cards(one, R) >> np.uint64(suit * LANE_BITS)
    for length in range(SHORTEST, min(longest_piece(R), room) + 1):
        for high in range(2 if rank == ACE else 1):  # the pivot is a run's lowest card, or its high ace
            start = HIGH_ACE - length + 1 if high else rank
            if start + length - 1 > top_rank(R):
                continue
            window = ((ONE << np.uint64(length)) - ONE) << np.uint64(start)
            if (lane & window) == window:
                meld = run_piece(start, length) << np.uint64(suit * LANE_BITS)
                worth = _window_points(R, start, length)
                top = push_after(stack, top, one, two, meld, target - worth, room - length, 0)
    if (set_ranks(one) >> np.uint64(rank)) & ONE != ZERO:
        suits = suits_with(one, rank)
        for members in range(7, 16):
            size = count_suits(members)
            if (members >> suit) & 1 and (members & ~suits) == 0 and size >= SHORTEST:
                worth = size * points_in_set(R, rank)
                meld = _rank_in_suits(members, rank)
                top = push_after(stack, top, one, two, meld, target - worth, room - size, 0)
    return top


@kernel
def _push_joker_melds(
    stack: NDArray[np.uint64],
    top: int,
    one: np.uint64,
    two: np.uint64,
    R: NDArray[np.int64],
    target: int,
    room: int,
    jokers: int,
    least: int,
) -> int:
    """Push what is left for each meld with a joker that is worth at least ``least``."""
    ranks = pair_ranks(one)
    while ranks != ZERO:
        rank = lowest_bit_index(ranks)
        ranks = without_lowest(ranks)
        points = points_in_set(R, rank)
        if 3 * points + joker_points(R, points) < least:
            continue
        held = suits_with(one, rank)
        for suits in range(3, 16):
            size = count_suits(suits) + 1
            worth = (size - 1) * points + joker_points(R, points)
            if suits & ~held or size < SHORTEST or size > NUM_SUITS or worth < least or not has_extra_suit(suits, R):
                continue
            meld = _rank_in_suits(suits, rank)
            top = push_after(stack, top, one, two, meld, target - worth, room - size, jokers - 1)
    x = run_cards(one, R)
    for length in range(SHORTEST, min(longest_piece(R), room) + 1):
        windows = window_starts(R, length)
        for place in range(length):
            starts = windows
            for i in range(length):
                if i != place:
                    starts &= x >> np.uint64(i)
            while starts != ZERO:
                index = lowest_bit_index(starts)
                starts = without_lowest(starts)
                start = index & (LANE_BITS - 1)
                worth = _joker_run_points(R, start, length, place)
                if worth >= least:
                    meld = _run_naturals(start, length, place) << np.uint64(index - start)
                    top = push_after(stack, top, one, two, meld, target - worth, room - length, jokers - 1)
    return top


@inlined
def _joker_run_points(R: NDArray[np.int64], start: int, length: int, place: int) -> int:
    represented = points_at(R, start + place)
    return _window_points(R, start, length) - represented + joker_points(R, represented)


@kernel
def _run_naturals(start: int, length: int, place: int) -> np.uint64:
    """The natural cards, in lane 0, of a run whose joker is at ``place`` (0 ...), or that has none (-1)."""
    cards = run_piece(start, length)
    if place >= 0:
        rank = start + place
        cards &= ~(ONE << np.uint64(0 if rank == HIGH_ACE else rank))
    return cards


@kernel
def suits_with(one: np.uint64, rank: int) -> int:
    """The suits (bits) in which a hand mask holds a rank 0 ... 12."""
    suits = 0
    for suit in range(NUM_SUITS):
        if (one >> np.uint64(suit * LANE_BITS + rank)) & ONE != ZERO:
            suits |= 1 << suit
    return suits


@inlined
def count_suits(suits: int) -> int:
    """How many suits a set of suits has."""
    return (suits & 1) + ((suits >> 1) & 1) + ((suits >> 2) & 1) + ((suits >> 3) & 1)


@kernel
def _rank_in_suits(suits: int, rank: int) -> np.uint64:
    cards = ZERO
    for suit in range(NUM_SUITS):
        if (suits >> suit) & 1:
            cards |= card_bit(suit, rank)
    return cards


@kernel
def reaches(
    one: np.uint64,
    two: np.uint64,
    jokers: int,
    R: NDArray[np.int64],
    target: int,
    room: int,
    stack: NDArray[np.uint64],
) -> bool:
    """Whether melds from a hand can be worth ``target`` points towards the opening, of at most ``room`` cards.

    Args:
        one, two: the hand's masks.
        jokers: how many jokers the melds may use, each in a meld of its own.
        R: the rules' vector.
        target: points; 0 or less is reached by laying nothing.
        room: the most cards that may leave the hand.
        stack: memory for the search, ``STACK_WORDS`` words.
    """
    return reaches_from_stack(stack, push(stack, 0, one, two, target, room, jokers), R)


@kernel
def reaches_with(
    one: np.uint64,
    two: np.uint64,
    jokers: int,
    R: NDArray[np.int64],
    target: int,
    room: int,
    stack: NDArray[np.uint64],
    kind: int,
) -> bool:
    """As ``reaches``, with a card of ``kind`` (or a joker) in one of the melds."""
    if kind == JOKER:
        if jokers == 0:
            return False
        top = _push_joker_melds(stack, 0, one, two, R, target, room, jokers, 0)
        return reaches_from_stack(stack, top, R)
    suit, rank = kind // NUM_RANKS, kind % NUM_RANKS
    top = 0
    held = suits_with(one, rank)
    for suits in range(1, 16):
        if not (suits >> suit) & 1 or suits & ~held:
            continue
        for joker in range(min(jokers, 1) + 1):
            size = count_suits(suits) + joker
            if size < SHORTEST or size > NUM_SUITS or (joker and not has_extra_suit(suits, R)):
                continue
            worth = (size - joker) * points_in_set(R, rank)
            if joker:
                worth += joker_points(R, points_in_set(R, rank))
            meld = _rank_in_suits(suits, rank)
            top = push_after(stack, top, one, two, meld, target - worth, room - size, jokers - joker)
    lane = (one >> np.uint64(suit * LANE_BITS)) & LANE
    for length in range(SHORTEST, min(longest_piece(R), room) + 1):
        for start in range(top_rank(R) - length + 2):
            for place in range(-1, length if jokers else 0):
                naturals = _run_naturals(start, length, place)
                if (lane & naturals) != naturals or (naturals >> np.uint64(rank)) & ONE == ZERO:
                    continue
                joker = 1 if place >= 0 else 0
                worth = _joker_run_points(R, start, length, place) if joker else _window_points(R, start, length)
                meld = naturals << np.uint64(suit * LANE_BITS)
                top = push_after(stack, top, one, two, meld, target - worth, room - length, jokers - joker)
    return reaches_from_stack(stack, top, R)
