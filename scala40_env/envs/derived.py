"""What a rummy player works out from what its seat may know: a ``uint8`` block that may follow an observation.

Least deadwood and the cards to part with, the best opening, the cards worth waiting for.  All of it is exact, and all
of it follows from the plain observation: the block spares a network the search.  ``derive`` reads only what the viewer
may know, so that a full row and a redacted one give the same bytes.

Melds are those that the hand could lay by itself, a joker standing for anything, one joker a meld.  What a turn obliges
to, and what it forbids besides the flags of the opening, is the business of the mask.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import rules
from scala40_env.core.cards import (
    ACES,
    HIGH_ACE,
    JOKER,
    LANE_BITS,
    MAX_JOKERS,
    NUM_KINDS,
    ONE,
    RANK_LANE,
    RANKS_LANE,
    TWO,
    ZERO,
    bit_count,
    kind_bit,
    lowest_bit_index,
    lowest_kind,
    without_lowest,
)
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.melds import pair_ranks, run_cards, top_rank
from scala40_env.core.packing_best import (
    BEST_WORDS,
    BY_COST,
    BY_OPENING,
    CHOSEN,
    NO_LIMIT,
    chosen_cards,
    hand_cost,
    has_joker_at,
    list_melds,
    meld_at,
    most_natural,
    most_of_all,
    order_melds,
    rank_cost,
    search_best,
    set_cards,
    worth_at,
)
from scala40_env.core.rules import R_HAND_JOKER, R_OPENING_MIN
from scala40_env.core.state import NO_JOKER, PLAY, RUN
from scala40_env.envs.memory import rows_of
from scala40_env.envs.slices import Slice

MOST = 255
NOT_HELD = 255
"""In ``discard_leaves``: there is no such card to discard."""

DEADWOOD = 0
MELDED = DEADWOOD + 1
LEAVES = MELDED + NUM_KINDS
OPENING_POINTS = LEAVES + NUM_KINDS
OPENING_MISSING = OPENING_POINTS + 1
OPENING = OPENING_MISSING + 1
OUTS = OPENING + NUM_KINDS
OUTS_TOTAL = OUTS + NUM_KINDS
DERIVED_SIZE = OUTS_TOTAL + 1

_KEPT = BEST_WORDS
"""After the memory of the search: worth and cards of each meld of the best partition."""
_MOST_KEPT = 40
DERIVE_WORDS = _KEPT + 2 * _MOST_KEPT
"""The memory that ``derive`` needs; no more than ``packing.STACK_WORDS``."""


def derived_slices(offset: int) -> Iterator[Slice]:
    """The slices of the block, where it begins at an offset of an observation."""
    kinds = "by kind: suit (H D C S) * 13 + rank (A ... K), the joker last"
    parts = (
        ("deadwood", DEADWOOD, 1, MOST, "least points left in the hand once melds are taken out of it"),
        ("melded", MELDED, NUM_KINDS, MAX_JOKERS, f"cards of the hand in the melds that leave so little, {kinds}"),
        (
            "discard_leaves",
            LEAVES,
            NUM_KINDS,
            MOST,
            f"least deadwood (up to 254) once one such card is discarded, 255 for what is not held, {kinds}",
        ),
        (
            "opening_points",
            OPENING_POINTS,
            1,
            MOST,
            "the points laid this turn and the most that new melds from the hand add to them; 0 once opened",
        ),
        ("opening_missing", OPENING_MISSING, 1, MOST, "points that these lack of an opening; 0 once opened"),
        ("best_opening", OPENING, NUM_KINDS, MAX_JOKERS, f"cards of the hand in those melds, {kinds}"),
        (
            "outs",
            OUTS,
            NUM_KINDS,
            MAX_JOKERS,
            "unseen cards that would be in a new meld with cards of the hand, or, once opened, fit onto the table,"
            f" {kinds}",
        ),
        ("outs_total", OUTS_TOTAL, 1, MOST, "their number"),
    )
    for name, start, length, high, meaning in parts:
        yield Slice(name, offset + start, length, meaning, 0, high)


@kernel
def _write_counts(one: np.uint64, two: np.uint64, jokers: int, out: NDArray[np.uint8], offset: int) -> None:
    """Write cards by kind into zeros."""
    while one != ZERO:
        out[offset + lowest_kind(one)] = 1
        one = without_lowest(one)
    while two != ZERO:
        out[offset + lowest_kind(two)] = 2
        two = without_lowest(two)
    out[offset + JOKER] = jokers


# --- deadwood --------------------------------------------------------------------------------------------------------


@inlined
def _write_partition(
    one: np.uint64,
    two: np.uint64,
    jokers: int,
    R: NDArray[np.int64],
    listed: int,
    memory: NDArray[np.uint64],
    out: NDArray[np.uint8],
) -> None:
    """The best partition, and what is left when a card is discarded.

    A card of which the partition leaves a copy in the hand takes its own cost away and changes nothing else.  For every
    other the search is made again: what the other melds are worth is the least, what the whole hand had is enough.
    """
    cost = hand_cost(one, two, jokers, R)
    best, count, natural, every = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    melded_one, melded_two, melded_jokers = ZERO, ZERO, np.int64(0)
    if listed > 0:
        count = order_melds(memory, listed, BY_COST, jokers, two)
        natural = most_natural(memory, count, two, BY_COST, R)
        every = most_of_all(memory, count, two, jokers, BY_COST, R)
        best = search_best(memory, count, one, two, jokers, NO_LIMIT, natural, 0, every)
        melded_one, melded_two, melded_jokers = chosen_cards(memory)
        _write_counts(melded_one, melded_two, melded_jokers, out, MELDED)
    out[DEADWOOD] = min(cost - best, MOST)
    needed = (melded_one & ~two) | melded_two
    kept = _keep_melds(memory) if needed != ZERO else 0
    cards = one
    while cards != ZERO:
        index = lowest_bit_index(cards)
        bit = ONE << np.uint64(index)
        cards = without_lowest(cards)
        own = rank_cost(R, index & (LANE_BITS - 1))
        found = best
        if needed & bit != ZERO:
            least, enough = _worth_without(memory, kept, bit, best), min(best, every - own)
            found = search_best(
                memory, count, one & ~(bit & ~two), two & ~bit, jokers, NO_LIMIT, natural, least, enough
            )
        out[LEAVES + index - 3 * (index >> 4)] = min(cost - found - own, NOT_HELD - 1)
    if jokers > 0:
        own = R[R_HAND_JOKER]
        found = best
        if jokers == melded_jokers:
            least, enough = _worth_without(memory, kept, ZERO, best), min(best, every - own)
            found = search_best(memory, count, one, two, jokers - 1, NO_LIMIT, natural, least, enough)
        out[LEAVES + JOKER] = min(cost - found - own, NOT_HELD - 1)


@inlined
def _keep_melds(memory: NDArray[np.uint64]) -> int:
    """Keep the melds that a search has chosen, while others are made; returns how many there are."""
    count = np.int64(memory[CHOSEN])
    for k in range(count):
        place = np.int64(memory[CHOSEN + 1 + k])
        memory[_KEPT + 2 * k] = meld_at(memory, place)
        memory[_KEPT + 2 * k + 1] = np.uint64(worth_at(memory, place) << 1 | has_joker_at(memory, place))
    return count


@kernel
def _worth_without(memory: NDArray[np.uint64], kept: int, bit: np.uint64, best: int) -> int:
    """What the melds that were kept are worth, less the worst that holds a card (or, for no card, a joker)."""
    lost = best
    for k in range(kept):
        word = np.int64(memory[_KEPT + 2 * k + 1])
        holds_it = word & 1 != 0 if bit == ZERO else memory[_KEPT + 2 * k] & bit != ZERO
        if holds_it:
            lost = min(lost, word >> 1)
    return best - lost


# --- the opening -----------------------------------------------------------------------------------------------------


@inlined
def _write_opening(
    s: Any,
    R: NDArray[np.int64],
    viewer: int,
    listed: int,
    memory: NDArray[np.uint64],
    out: NDArray[np.uint8],
) -> None:
    """The best opening of a seat that has not opened, jokers in it as the rules allow, enough cards kept."""
    one, two = s.hand_one[viewer], s.hand_two[viewer]
    least = R[R_OPENING_MIN]
    jokers = np.int64(s.hand_jokers[viewer])
    how = R[rules.R_OPENING_JOKER]
    if how == rules.OPENING_JOKER_FORBIDDEN or (how == rules.OPENING_JOKER_IF_CLEAN and least > 0):
        jokers = np.int64(0)
    points = np.int64(0)
    room = np.int64(s.hand_size[viewer]) - _cards_needed(s, R, viewer)
    if s.seat == viewer and s.phase == PLAY:
        points += s.laid_points
    else:
        room += 1  # a card will be drawn before anything is laid
    if listed > 0:
        count = order_melds(memory, listed, BY_OPENING, jokers, two)
        if count > 0:
            natural = most_natural(memory, count, two, BY_OPENING, R)
            every = most_of_all(memory, count, two, jokers, BY_OPENING, R)
            points += search_best(memory, count, one, two, jokers, room, natural, 0, every)
            used_one, used_two, used_jokers = chosen_cards(memory)
            _write_counts(used_one, used_two, used_jokers, out, OPENING)
    out[OPENING_POINTS] = min(points, MOST)
    out[OPENING_MISSING] = max(least - points, 0)


@inlined
def _cards_needed(s: Any, R: NDArray[np.int64], viewer: int) -> int:
    """How many cards a seat must hold once the plays of its turn are over."""
    if R[rules.R_CLOSE_FIRST] == 0 and s.turns[viewer] == 0:
        return 2
    return 1 if R[rules.R_CLOSE_DISCARD] else 0


# --- outs ------------------------------------------------------------------------------------------------------------


@inlined
def cards_that_meld(one: np.uint64, with_joker: bool, R: NDArray[np.int64]) -> np.uint64:
    """The natural kinds that would be in a meld with cards of a hand, and a joker at will if it has one.

    Every meld that holds a card has three cards in it that are a meld and hold that card.
    """
    a = one & RANKS_LANE
    b = (one >> np.uint64(LANE_BITS)) & RANKS_LANE
    c = (one >> np.uint64(2 * LANE_BITS)) & RANKS_LANE
    d = (one >> np.uint64(3 * LANE_BITS)) & RANKS_LANE
    if with_joker and R[rules.R_SUITS] >= 3:
        ab, cd = a | b, c | d
        first, second, third, fourth = b | cd, a | cd, ab | d, ab | c
    else:
        ab, cd = a & b, c & d
        first, second, third, fourth = cd | (b & (c | d)), cd | (a & (c | d)), ab | (d & (a | b)), ab | (c & (a | b))
    lane = np.uint64(LANE_BITS)
    sets = first | second << lane | third << (lane + lane) | fourth << (lane + lane + lane)
    x = run_cards(one, R)
    up, up_two, down, down_two = x << ONE, x << TWO, x >> ONE, x >> TWO
    runs = up | up_two | down | down_two if with_joker else (up & (up_two | down)) | (down & down_two)
    runs &= RANK_LANE * ((TWO << np.uint64(top_rank(R))) - ONE)
    runs |= (runs >> np.uint64(HIGH_ACE)) & ACES
    return (sets | runs) & np.uint64(R[rules.R_DECK_MASK])


@inlined
def joker_melds(one: np.uint64, R: NDArray[np.int64]) -> bool:
    """Whether a joker would be in a meld with cards of a hand."""
    if pair_ranks(one) != ZERO and R[rules.R_SUITS] >= 3:
        return True
    x = run_cards(one, R)
    return x & ((x >> ONE) | (x >> TWO)) != ZERO


@inlined
def _add_table(s: Any, one: np.uint64, two: np.uint64) -> tuple[np.uint64, np.uint64, int]:
    """The masks of cards seen, with those of the table added, and the jokers of the table."""
    jokers = np.int64(0)
    slots = s.used_slots
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        rank, suits, joker = np.int64(s.meld_rank[slot]), np.int64(s.meld_suits[slot]), np.int64(s.meld_joker[slot])
        stands = joker != NO_JOKER
        jokers += stands
        if s.meld_type[slot] == RUN:
            cards = ((ONE << np.uint64(s.meld_size[slot])) - ONE) << np.uint64(rank)
            if stands:
                cards &= ~(ONE << np.uint64(joker))
            cards = (cards | cards >> np.uint64(HIGH_ACE)) & RANKS_LANE
            cards <<= np.uint64(suits * LANE_BITS)
        else:
            cards = set_cards(suits & ~(1 << joker) if stands else suits, rank)
        two |= one & cards
        one |= cards
    return one, two, jokers


@inlined
def _write_outs(s: Any, R: NDArray[np.int64], viewer: int, out: NDArray[np.uint8]) -> None:
    """The cards worth waiting for, less those that the viewer can place: hands, table, pile, known stock."""
    hand, held = s.hand_one[viewer], np.int64(s.hand_jokers[viewer])
    opened = (np.int64(s.has_opened) >> viewer) & 1 != 0
    wanted = cards_that_meld(hand, held > 0, R)
    joker_wanted = joker_melds(hand, R)
    if opened:
        wanted |= s.layable
        joker_wanted = joker_wanted or s.joker_room != ZERO
    if wanted == ZERO and not joker_wanted:
        return
    one, two, jokers = _add_table(s, hand, s.hand_two[viewer])
    jokers += held
    for seat in range(s.num_seats):
        if seat != viewer:
            known = s.known_one[seat]
            two |= (one & known) | s.known_two[seat]
            one |= known
            jokers += s.known_jokers[seat]
    for i in range(s.pile_size + s.stock_known):
        kind = np.int64(s.pile[i] if i < s.pile_size else s.stock[i - s.pile_size])
        if kind == JOKER:
            jokers += 1
        else:
            bit = kind_bit(kind)
            two |= one & bit
            one |= bit
    last = one if R[rules.R_PACKS] == 1 else two
    unseen_one = wanted & ~last
    unseen_two = ZERO if R[rules.R_PACKS] == 1 else wanted & ~one
    unseen_jokers = R[rules.R_JOKERS] - jokers if joker_wanted else 0
    _write_counts(unseen_one, unseen_two, unseen_jokers, out, OUTS)
    out[OUTS_TOTAL] = min(bit_count(unseen_one) + bit_count(unseen_two) + unseen_jokers, MOST)


# --- all of it -------------------------------------------------------------------------------------------------------


@kernel
def derive(s: Any, R: NDArray[np.int64], viewer: int, memory: NDArray[np.uint64], out: NDArray[np.uint8]) -> None:
    """Write what a seat can work out of a row.

    Args:
        s: the row, full or redacted for the viewer.
        R: the rules' vector.
        viewer: the seat that looks.
        memory: for the search, ``DERIVE_WORDS`` words.
        out: ``uint8``, ``DERIVED_SIZE`` numbers or more; the first ``DERIVED_SIZE`` are written.
    """
    for i in range(DERIVED_SIZE):
        out[i] = NOT_HELD if LEAVES <= i < OPENING_POINTS else 0
    one, two, jokers = s.hand_one[viewer], s.hand_two[viewer], np.int64(s.hand_jokers[viewer])
    listed = list_melds(one, jokers, R, memory)
    _write_partition(one, two, jokers, R, listed, memory, out)
    if (np.int64(s.has_opened) >> viewer) & 1 == 0:
        _write_opening(s, R, viewer, listed, memory, out)
    _write_outs(s, R, viewer, out)


@kernel
def derive_row(
    rows: NDArray[np.uint8],
    R: NDArray[np.int64],
    game: int,
    viewer: int,
    memory: NDArray[np.uint64],
    out: NDArray[np.uint8],
) -> None:
    """``derive`` for one row of the record array whose bytes are ``rows``, for callers from Python."""
    derive(rows_of(rows)[game], R, viewer, memory, out)
