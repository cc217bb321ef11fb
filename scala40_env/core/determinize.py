"""Whole rows that agree with what one seat knows, the hidden cards dealt at random: the worlds of a search.

A row is read as the seat's redacted row would be, so that a full row and a redacted one give the same worlds.  The
cards that the seat has not seen are the deck less its own hand, the table, the pile, what everybody knows of the other
hands, and the known bottom of the stock.  They are shuffled into the hidden places: every deal of the single cards is
equally likely, and so a hand is as likely as there are ways to make it of them.

What is public but not in a row cannot be honoured:

- **Which cards a shuffled stock was made of.**  When the pile is shuffled into the stock, everybody has seen its
  cards; so the hidden cards of the hands are known as a whole, and with two players the other hand is known entirely,
  until cards of the new stock are drawn.  A row keeps neither that pile nor who has drawn since.  ``discards`` does not
  replace them, since a card that was taken and discarded again counts twice.  A pile that is turned over unshuffled is
  kept (``stock_known``), and so are cards drawn from it.
- **Jokers put back into the stock** under ``upcard_joker = "redraw"``: they began there, not in a hand.
- **What earlier plays proved**: that a seat held nothing but forbidden discards when it discarded one, and that a run
  of six was split by itself because no card in hand could lengthen it.

One thing is in the row and not used: between rounds the points charged bound the hands that were counted.  Nothing
that follows depends on those hands.  And a deal is uniform whatever the players chose to do: that a seat discarded a
card, or did not open, makes no deal less likely.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.actions import NUM_ACTIONS
from scala40_env.core.cards import (
    HIGH_ACE,
    JOKER,
    LANE_BITS,
    NO_KIND,
    NUM_SUITS,
    ONE,
    RANKS_LANE,
    ZERO,
    bit_count,
    card_bit,
    kind_bit,
    lowest_bit_index,
    lowest_kind,
    without_lowest,
)
from scala40_env.core.completion import MEMORY_WORDS, WORK_ROWS
from scala40_env.core.deal import add_card, shuffle, stream
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.legality import legal_actions
from scala40_env.core.moves import can_grow, split_lengths
from scala40_env.core.rules import R_JOKERS, R_PACKS, R_RANKS, R_SUITS, Rules
from scala40_env.core.state import DRAW, NO_JOKER, NO_SLOT, PLAY, ROW, SET, allocate
from scala40_env.core.transition import can_recycle, has_obligation

MAX_TRIES = 10_000
"""Deals after which ``determinize`` gives up where another seat is in the middle of a turn."""
MISFIT = -1
"""The cards of a row are not those of the rules' deck."""

_WORLDS_STREAM = 1 << 23
_SEED, _GAME = 1, 2


@inlined
def _less(
    one: np.uint64, two: np.uint64, missing: np.uint64, cards: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Two masks of cards less one copy of some, and those that were not there."""
    return (one & ~cards) | (two & cards), two & ~cards, missing | (cards & ~one)


@inlined
def _natural_cards(s: Any, slot: int) -> np.uint64:
    """The cards of the meld in a slot but its joker, as a hand mask."""
    joker = np.int64(s.meld_joker[slot])
    cards = ZERO
    if s.meld_type[slot] == SET:
        for suit in range(NUM_SUITS):
            if (s.meld_suits[slot] >> suit) & 1 and suit != joker:
                cards |= card_bit(suit, np.int64(s.meld_rank[slot]))
        return cards
    cards = ((ONE << np.uint64(s.meld_size[slot])) - ONE) << np.uint64(s.meld_rank[slot])
    if joker != NO_JOKER:
        cards &= ~card_bit(0, joker)
    cards = (cards & RANKS_LANE) | (cards >> np.uint64(HIGH_ACE))
    return cards << np.uint64(LANE_BITS * np.int64(s.meld_suits[slot]))


@kernel
def unseen_cards(s: Any, viewer: int, R: NDArray[np.int64]) -> tuple[np.uint64, np.uint64, int, bool]:
    """What a seat has not seen: its masks, its jokers, and whether all that was seen is in the deck."""
    one = missing = ZERO
    for suit in range(R[R_SUITS]):
        one |= ((ONE << np.uint64(R[R_RANKS])) - ONE) << np.uint64(LANE_BITS * suit)
    two = one if R[R_PACKS] == 2 else ZERO
    jokers = R[R_JOKERS]
    for seat in range(np.int64(s.num_seats)):
        if seat == viewer:
            one, two, missing = _less(one, two, missing, s.hand_one[seat])
            one, two, missing = _less(one, two, missing, s.hand_two[seat])
            jokers -= np.int64(s.hand_jokers[seat])
        else:
            one, two, missing = _less(one, two, missing, s.known_one[seat])
            one, two, missing = _less(one, two, missing, s.known_two[seat])
            jokers -= np.int64(s.known_jokers[seat])
    slots = s.used_slots
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        one, two, missing = _less(one, two, missing, _natural_cards(s, slot))
        jokers -= 1 if s.meld_joker[slot] != NO_JOKER else 0
    pile, bottom = np.int64(s.pile_size), np.int64(s.stock_known)
    for i in range(pile + bottom):
        kind = np.int64(s.pile[i] if i < pile else s.stock[i - pile])
        if kind == JOKER:
            jokers -= 1
        else:
            one, two, missing = _less(one, two, missing, kind_bit(kind))
    return one, two, jokers, missing == ZERO and jokers >= 0


@inlined
def _known_cards(s: Any, seat: int) -> int:
    """How many cards of a hand everybody knows."""
    return bit_count(s.known_one[seat]) + bit_count(s.known_two[seat]) + np.int64(s.known_jokers[seat])


@inlined
def _hidden_places(s: Any, viewer: int) -> int:
    """How many cards a seat cannot see, or -1 where a hand has fewer cards than are known of it."""
    places = np.int64(s.stock_size) - np.int64(s.stock_known)
    for seat in range(np.int64(s.num_seats)):
        if seat != viewer:
            hidden = np.int64(s.hand_size[seat]) - _known_cards(s, seat)
            if hidden < 0:
                return -1
            places += hidden
    return places


@inlined
def _put(cards: NDArray[np.uint8], at: int, mask: np.uint64) -> int:
    """Put the kinds of a mask into a list of cards; returns where the next card belongs."""
    while mask != ZERO:
        cards[at] = lowest_kind(mask)
        at += 1
        mask = without_lowest(mask)
    return at


@kernel
def _fill(t: Any, viewer: int, one: np.uint64, two: np.uint64, jokers: int, state: np.uint64) -> np.uint64:
    """Shuffle the unseen cards into the hidden places; returns the stream's next state."""
    bottom, top = np.int64(t.stock_known), np.int64(t.stock_size)
    end = _put(t.stock, bottom, one)  # all of them lie on the stock first, and the hands are dealt from there
    end = _put(t.stock, end, two)
    for _ in range(jokers):
        t.stock[end] = JOKER
        end += 1
    state = shuffle(t.stock[bottom:], end - bottom, state)
    for seat in range(np.int64(t.num_seats)):
        if seat == viewer:
            continue
        known = _known_cards(t, seat)
        hidden = np.int64(t.hand_size[seat]) - known
        t.hand_one[seat] = t.known_one[seat]
        t.hand_two[seat] = t.known_two[seat]
        t.hand_jokers[seat] = t.known_jokers[seat]
        t.hand_size[seat] = known
        for _ in range(hidden):
            end -= 1
            add_card(t, seat, np.int64(t.stock[end]))
    for i in range(top, t.stock.shape[0]):
        t.stock[i] = NO_KIND
    return state


@inlined
def _could_be(
    t: Any, viewer: int, work: Any, R: NDArray[np.int64], memory: NDArray[np.uint64], legal: NDArray[np.int16]
) -> bool:
    """Whether what another seat has done in its turn was possible with the cards dealt to it."""
    if t.seat == viewer or t.phase > PLAY:
        return True
    if t.phase == DRAW:
        if t.stock_size > 0 or can_recycle(t, R):
            return True
    elif not has_obligation(t):
        return True
    elif t.split_slot != NO_SLOT:
        slot = np.int64(t.split_slot)
        shortest, longest = split_lengths(np.int64(t.meld_size[slot]))
        if shortest == longest and not can_grow(t, R, slot):
            return False  # it would have been split by itself
    return legal_actions(t, work, R, memory, legal) > 0


@inlined
def determinize(
    s: Any,
    viewer: int,
    R: NDArray[np.int64],
    state: np.uint64,
    work: Any,
    memory: NDArray[np.uint64],
    legal: NDArray[np.int16],
    out: Any,
) -> int:
    """Write a whole row that agrees with all that a seat's redacted row says, its hidden cards dealt uniformly.

    Where another seat is to act, only deals with which it can complete its turn agree: others are dealt again.  Seed
    and game are drawn as well, so that later shuffles and deals are not those of the row.

    Args:
        s: the row, full or redacted for the viewer; what is hidden from the viewer changes nothing.
        viewer: a seat of the round.
        R: the rules' vector.
        state: the start of a stream of random numbers.
        work, memory: scratch of the search for legal actions, ``WORK_ROWS`` rows and ``MEMORY_WORDS`` words.
        legal: scratch, ``int16``, ``NUM_ACTIONS``.
        out: record array; its first row is written.

    Returns:
        How many deals were tried, 1 ... ``MAX_TRIES``; 0 where none of so many agreed; ``MISFIT`` where the cards of
        the row are not those of the deck.  In the last two cases ``out`` holds nothing of use.
    """
    one, two, jokers, in_deck = unseen_cards(s, viewer, R)
    if not in_deck or bit_count(one) + bit_count(two) + jokers != _hidden_places(s, viewer):
        return MISFIT
    for tries in range(1, MAX_TRIES + 1):
        out[0] = s
        t = out[0]
        state = _fill(t, viewer, one, two, jokers, state)
        if _could_be(t, viewer, work, R, memory, legal):
            t.seed = stream(state, ZERO, 0, _SEED)
            t.game = stream(state, ZERO, 0, _GAME)
            return tries
    return 0


@kernel
def determinize_each(
    rows: Any,
    viewers: NDArray[np.int64],
    R: NDArray[np.int64],
    rng: np.uint64,
    work: Any,
    memory: NDArray[np.uint64],
    legal: NDArray[np.int16],
    out: Any,
) -> int:
    """A world for each row and its own viewer; a row whose viewer is negative is copied.

    Returns 1, or what ``determinize`` said of the first row that has none.
    """
    for i in range(len(out)):
        if viewers[i] < 0:
            out[i] = rows[i]
            continue
        state = stream(rng, np.uint64(i), 0, _WORLDS_STREAM)
        tries = determinize(rows[i], viewers[i], R, state, work, memory, legal, out[i : i + 1])
        if tries <= 0:
            return tries
    return 1


def determinized(rows: NDArray[Any], rules: Rules, viewer: int, rng: int, count: int = 1) -> NDArray[Any]:
    """Whole rows that agree with what a seat knows, each with hidden cards of its own; see ``determinize``.

    Args:
        rows: the state, full or redacted for the viewer: one row of ``ROW``; it is not changed.
        rules: its rules.
        viewer: a seat that plays the round.
        rng: where the cards are drawn from, 0 ... 2**64 - 1; row ``i`` is the same whatever ``count`` is.
        count: how many rows.

    Returns:
        A record array of ``count`` rows of ``ROW``.

    Raises:
        ValueError: one of these is something else, or the cards of the row are not those of the rules.
        RuntimeError: another seat is in the middle of a turn, and no deal was found with which it could complete it.
    """
    if rows.shape != (1,) or rows.dtype.names != ROW.names:
        raise ValueError(f"rows: expected one row of a game, got {rows.dtype.name} of shape {rows.shape}")
    in_round = int(rows["in_round"][0])
    _check_integer("viewer", viewer, int(rows["num_seats"][0]) - 1)
    if not in_round >> int(viewer) & 1:
        raise ValueError(f"viewer: seat {viewer} does not play this round")
    _check_integer("rng", rng, 2**64 - 1)
    _check_integer("count", count, 2**31 - 1)
    source, out = allocate(int(count)), allocate(int(count))
    source[:] = rows[0]
    work, memory, legal = allocate(WORK_ROWS), np.zeros(MEMORY_WORDS, np.uint64), np.zeros(NUM_ACTIONS, np.int16)
    viewers = np.full(int(count), viewer, dtype=np.int64)
    done = determinize_each(source, viewers, rules.vector(), np.uint64(rng), work, memory, legal, out)
    if done == MISFIT:
        raise ValueError("rows: the cards are not those of the rules' deck")
    if done == 0:
        raise RuntimeError(f"seat {rows['seat'][0]} could not complete its turn with any of {MAX_TRIES} deals")
    return out


def _check_integer(name: str, value: object, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= int(value) <= most:
        raise ValueError(f"{name}: expected an integer from 0 to {most}, got {value!r}")
