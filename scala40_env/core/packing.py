"""The packing search: can melds worth so many points be laid from a hand, leaving cards enough?

Exact.  A cheap bound comes first, which most hands fail: the natural cards that are in any meld at all, and the best
meld that a joker could make.  Then a search by pivot: the lowest card that is in a meld is either in one of the melds
that hold it, or in none.  Runs are searched in pieces of three to five cards, since every longer run falls into such
pieces with the same points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.actions import SET_JOKER
from scala40_env.core.cards import (
    ACE,
    ACES,
    HIGH_ACE,
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
from scala40_env.core.jit import kernel
from scala40_env.core.melds import (
    has_extra_suit,
    joker_points,
    points_at,
    points_in_set,
    run_cards,
    top_rank,
    window_starts,
)
from scala40_env.core.rules import JOKER_FIXED_11, R_JOKER_VALUE, R_MAX_RUN, R_POINTS, R_RANKS

NUM_PURE_PATTERNS = 4
"""The first patterns of a set of three are those without a joker."""
LONGEST_PIECE = 5
LANE = np.uint64(0xFFFF)
THREE, FOUR = np.uint64(3), np.uint64(4)
ONE_MORE_JOKER = 10
"""What a joker that always counts 11 may add to the points of the card that it stands for."""


@kernel
def longest_piece(R: NDArray[np.int64]) -> int:
    """The longest piece of a run that the search lays at once."""
    return min(LONGEST_PIECE, R[R_MAX_RUN])


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


@kernel
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


@kernel
def _window_points(R: NDArray[np.int64], start: int, length: int) -> int:
    total = 0
    for rank in range(start, start + length):
        total += points_at(R, rank)
    return total


@kernel
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
def take_one(one: np.uint64, two: np.uint64, cards: np.uint64) -> np.uint64:
    """The first mask of a hand after one copy of each of some cards has left it."""
    return one & ~(cards & ~two)


@kernel
def run_piece(start: int, length: int) -> np.uint64:
    """The cards of a run in lane 0, the high ace as the ace that it is."""
    cards = ((ONE << np.uint64(length)) - ONE) << np.uint64(start)
    if start + length - 1 == HIGH_ACE:
        cards = (cards & RANKS_LANE) | ONE
    return cards


@kernel
def natural_reaches(one: np.uint64, two: np.uint64, R: NDArray[np.int64], target: int, room: int) -> bool:
    """Whether melds without jokers can be worth ``target`` points, of at most ``room`` cards."""
    if target <= 0:
        return room >= 0
    if room < 3 or natural_bound(one, two, R) < target:
        return False
    cards = in_melds(one, R)
    bit = cards & (~cards + ONE)
    index = lowest_bit_index(cards)
    suit, rank = index >> 4, index & (LANE_BITS - 1)
    # the pivot in a set: its suit is the lowest, since it is the lowest card that is in a meld at all
    if (set_ranks(one) >> np.uint64(rank)) & ONE != ZERO:
        suits = suits_with(one, rank)
        worth = points_in_set(R, rank)
        for others in range(1, 8):
            members = ((others << 1) << suit) & 15 | (1 << suit)
            if (members & ~suits) == 0 and ((others << 1) << suit) <= 15:
                size = _count_suits(members)
                if size >= 3 and size <= room:
                    meld = _rank_in_suits(members, rank)
                    if natural_reaches(
                        take_one(one, two, meld), two & ~meld, R, target - size * worth, room - size
                    ):
                        return True
    # in a run: the pivot is the lowest card, or the high ace
    lane = run_cards(one, R) >> np.uint64(suit * LANE_BITS)
    longest = min(longest_piece(R), room)
    for length in range(3, longest + 1):
        starts = 2 if rank == ACE else 1
        for which in range(starts):
            start = rank if which == 0 else HIGH_ACE - length + 1
            if start + length - 1 > top_rank(R):
                continue
            window = ((ONE << np.uint64(length)) - ONE) << np.uint64(start)
            if (lane & window) == window:
                meld = run_piece(start, length) << np.uint64(suit * LANE_BITS)
                if natural_reaches(
                    take_one(one, two, meld),
                    two & ~meld,
                    R,
                    target - _window_points(R, start, length),
                    room - length,
                ):
                    return True
    # in none
    return natural_reaches(take_one(one, two, bit), two & ~bit, R, target, room)


@kernel
def suits_with(one: np.uint64, rank: int) -> int:
    suits = 0
    for suit in range(NUM_SUITS):
        if (one >> np.uint64(suit * LANE_BITS + rank)) & ONE != ZERO:
            suits |= 1 << suit
    return suits


@kernel
def _count_suits(suits: int) -> int:
    return (suits & 1) + ((suits >> 1) & 1) + ((suits >> 2) & 1) + ((suits >> 3) & 1)


@kernel
def _rank_in_suits(suits: int, rank: int) -> np.uint64:
    cards = ZERO
    for suit in range(NUM_SUITS):
        if (suits >> suit) & 1:
            cards |= card_bit(suit, rank)
    return cards


@kernel
def reaches(one: np.uint64, two: np.uint64, jokers: int, R: NDArray[np.int64], target: int, room: int) -> bool:
    """Whether melds from a hand can be worth ``target`` points towards the opening, of at most ``room`` cards.

    Args:
        one, two: the hand's masks.
        jokers: how many jokers the melds may use, each in a meld of its own.
        R: the rules' vector.
        target: points; 0 or less is reached by laying nothing.
        room: the most cards that may leave the hand.
    """
    if target <= 0:
        return room >= 0
    if room < 3:
        return False
    if jokers == 0:
        return natural_reaches(one, two, R, target, room)
    natural = natural_bound(one, two, R)
    with_joker = joker_bound(one, R)
    if natural + jokers * with_joker < target:
        return False
    if natural >= target and natural_reaches(one, two, R, target, room):
        return True
    spare = target - natural - (jokers - 1) * with_joker
    # what a joker's meld must at least be worth; sets first
    for suits in range(3, 16):
        size = _count_suits(suits) + 1
        if size < 3 or size > 4 or size > room or not has_extra_suit(suits, R):
            continue
        ranks = _ranks_in_suits(one, suits)
        while ranks != ZERO:
            rank = lowest_bit_index(ranks)
            ranks = without_lowest(ranks)
            worth = (size - 1) * points_in_set(R, rank) + joker_points(R, points_in_set(R, rank))
            if worth >= spare:
                meld = _rank_in_suits(suits, rank)
                if reaches(take_one(one, two, meld), two & ~meld, jokers - 1, R, target - worth, room - size):
                    return True
    x = run_cards(one, R)
    for length in range(3, min(longest_piece(R), room) + 1):
        windows = window_starts(R, length)
        for place in range(length):
            starts = windows
            for i in range(length):
                if i != place:
                    starts &= x >> np.uint64(i)
            while starts != ZERO:
                index = lowest_bit_index(starts)
                starts = without_lowest(starts)
                suit, start = index >> 4, index & (LANE_BITS - 1)
                natural_joker = points_at(R, start + place)
                worth = _window_points(R, start, length) - natural_joker + joker_points(R, natural_joker)
                if worth >= spare:
                    meld = joker_run_naturals(start, length, place) << np.uint64(suit * LANE_BITS)
                    if reaches(take_one(one, two, meld), two & ~meld, jokers - 1, R, target - worth, room - length):
                        return True
    return False


@kernel
def joker_run_naturals(start: int, length: int, place: int) -> np.uint64:
    """The natural cards, in lane 0, of a run whose joker is at ``place`` (0 ...)."""
    cards = ((ONE << np.uint64(length)) - ONE) << np.uint64(start)
    cards &= ~(ONE << np.uint64(start + place))
    if cards >> np.uint64(HIGH_ACE) != ZERO:
        cards = (cards & RANKS_LANE) | ONE
    return cards


@kernel
def _ranks_in_suits(one: np.uint64, suits: int) -> np.uint64:
    m = RANKS_LANE
    for suit in range(NUM_SUITS):
        if (suits >> suit) & 1:
            m &= one >> np.uint64(suit * LANE_BITS)
    return m


@kernel
def reaches_with(
    one: np.uint64, two: np.uint64, jokers: int, R: NDArray[np.int64], target: int, room: int, suit: int, rank: int, pure: bool
) -> bool:
    """As ``reaches``, with one copy of a natural card in one of the melds (a rank 0 ... 12).

    Args:
        pure: only melds without a joker count points (the card's own meld may have a joker and counts nothing then).
    """
    others = 0 if pure else jokers
    for suits in range(1, 16):
        if not (suits >> suit) & 1 or (_ranks_in_suits(one, suits) >> np.uint64(rank)) & ONE == ZERO:
            continue
        for joker in range(min(jokers, 1) + 1):
            size = _count_suits(suits) + joker
            if size < 3 or size > 4 or size > room or (joker and not has_extra_suit(suits, R)):
                continue
            worth = (size - joker) * points_in_set(R, rank)
            if joker:
                worth = 0 if pure else worth + joker_points(R, points_in_set(R, rank))
            meld = _rank_in_suits(suits, rank)
            if reaches(
                take_one(one, two, meld), two & ~meld, max(others - joker, 0), R, target - worth, room - size
            ):
                return True
    lane = run_cards(one, R) >> np.uint64(suit * LANE_BITS)
    card = ONE << np.uint64(rank)
    for length in range(3, min(longest_piece(R), room) + 1):
        for start in range(top_rank(R) - length + 2):
            for place in range(-1, length):
                if place >= 0 and jokers == 0:
                    break
                joker = 1 if place >= 0 else 0
                window = ((ONE << np.uint64(length)) - ONE) << np.uint64(start)
                if joker:
                    window &= ~(ONE << np.uint64(start + place))
                if (lane & window) != window:
                    continue
                low = window if window >> np.uint64(HIGH_ACE) == ZERO else (window & RANKS_LANE) | ONE
                if low & card == ZERO:
                    continue
                worth = _window_points(R, start, length)
                if joker:
                    natural_joker = points_at(R, start + place)
                    worth = 0 if pure else worth - natural_joker + joker_points(R, natural_joker)
                meld = low << np.uint64(suit * LANE_BITS)
                if reaches(
                    take_one(one, two, meld), two & ~meld, max(others - joker, 0), R, target - worth, room - length
                ):
                    return True
    return False


@kernel
def reaches_with_joker(one: np.uint64, two: np.uint64, jokers: int, R: NDArray[np.int64], target: int, room: int, pure: bool) -> bool:
    """As ``reaches``, with a joker in one of the melds; there is a joker in the hand."""
    others = 0 if pure else jokers - 1
    for suits in range(3, 16):
        size = _count_suits(suits) + 1
        if size < 3 or size > 4 or size > room or not has_extra_suit(suits, R):
            continue
        ranks = _ranks_in_suits(one, suits)
        while ranks != ZERO:
            rank = lowest_bit_index(ranks)
            ranks = without_lowest(ranks)
            worth = 0 if pure else (size - 1) * points_in_set(R, rank) + joker_points(R, points_in_set(R, rank))
            meld = _rank_in_suits(suits, rank)
            if reaches(take_one(one, two, meld), two & ~meld, others, R, target - worth, room - size):
                return True
    x = run_cards(one, R)
    for length in range(3, min(longest_piece(R), room) + 1):
        windows = window_starts(R, length)
        for place in range(length):
            starts = windows
            for i in range(length):
                if i != place:
                    starts &= x >> np.uint64(i)
            while starts != ZERO:
                index = lowest_bit_index(starts)
                starts = without_lowest(starts)
                suit, start = index >> 4, index & (LANE_BITS - 1)
                natural_joker = points_at(R, start + place)
                worth = _window_points(R, start, length) - natural_joker + joker_points(R, natural_joker)
                if pure:
                    worth = 0
                meld = joker_run_naturals(start, length, place) << np.uint64(suit * LANE_BITS)
                if reaches(take_one(one, two, meld), two & ~meld, others, R, target - worth, room - length):
                    return True
    return False
