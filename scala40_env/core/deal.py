"""Shuffling and dealing, by counters: the cards depend on the seed, the game, the round and the reshuffle alone.

No agent ever draws from these numbers, so that deal ``k`` is the same deal whoever plays it.  The mixing function is
SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014); bounded numbers are by
Lemire's multiplication with rejection ("Fast random integer generation in an interval", 2019).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.cards import JOKER, NO_KIND, NUM_RANKS, ONE, ZERO, kind_bit
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.rules import (
    R_DECK_SIZE,
    R_HAND_SIZE,
    R_JOKERS,
    R_PACKS,
    R_RANKS,
    R_SUITS,
    R_UPCARD_JOKER,
    UPCARD_REDRAW,
)
from scala40_env.core.state import (
    DRAW,
    DREW_NOTHING,
    DUTY_NONE,
    EMPTY,
    NO_JOKER,
    NO_SLOT,
    NOBODY,
)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_LOW_32 = np.uint64(0xFFFFFFFF)
_BITS_32 = np.uint64(32)
_DEALER_STREAM = 1 << 20
_UPCARD_STREAM = 1 << 21
_DECISIONS = np.uint64(0x6167656E74730000)
"""Parts the streams of those who decide from those of the cards, which have the same seed."""


@kernel
def mix(x: np.uint64) -> np.uint64:
    """SplitMix64's finaliser: a bijection of 64 bits that looks random."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def stream(seed: np.uint64, game: np.uint64, round_number: int, number: int) -> np.uint64:
    """The start of a stream of random numbers that belongs to these four."""
    x = mix(seed + _GOLDEN)
    x = mix((x ^ game) + _GOLDEN)
    x = mix((x ^ np.uint64(round_number)) + _GOLDEN)
    return mix((x ^ np.uint64(number)) + _GOLDEN)


@kernel
def decision_rng(seed: np.uint64, game: np.uint64, seat: int, decision: int) -> np.uint64:
    """The start of the random numbers of one decision.

    They depend on the seat and not on who sits there, so that in a deal that is played again with the seats exchanged
    each seat has the same luck, as it has the same cards.

    Args:
        seed, game: of the deal.
        seat: the seat to act.
        decision: how many decisions came before it in the episode.

    Returns:
        A 64-bit number: ``uint64`` in a kernel, ``int`` where Python asks.
    """
    return stream(mix(seed ^ _DECISIONS), game, seat, decision)


@kernel
def below(state: np.uint64, bound: int) -> tuple[np.uint64, int]:
    """A number in [0, bound), without bias, and the stream's next state; ``bound`` is below 2**32."""
    n = np.uint64(bound)
    while True:
        state += _GOLDEN
        product = (mix(state) & _LOW_32) * n
        rest = product & _LOW_32
        # the division is slow, and nearly always needless: what is refused is less than the bound
        if rest >= n or rest >= ((_LOW_32 + ONE) - n) % n:
            return state, np.int64(product >> _BITS_32)


@kernel
def shuffle(cards: NDArray[np.uint8], size: int, state: np.uint64) -> np.uint64:
    """Shuffle the first ``size`` cards in place (Fisher and Yates); returns the stream's next state."""
    for i in range(size - 1, 0, -1):
        state, j = below(state, i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return state


@inlined
def first_dealer(s: Any) -> int:
    """The dealer of a match's first round, by lot."""
    _, seat = below(stream(s.seed, s.game, 0, _DEALER_STREAM), np.int64(s.num_seats))
    return seat


@kernel
def next_seat(s: Any, seat: int, among: int) -> int:
    """The first seat to the left of ``seat`` that is in the mask ``among``; ``among`` is not empty."""
    n = np.int64(s.num_seats)
    for step in range(1, n + 1):
        other = (seat + step) % n
        if (among >> other) & 1:
            return other
    return seat


@kernel
def count_seats(seats: int) -> int:
    """How many seats a mask has."""
    count = 0
    while seats != 0:
        seats &= seats - 1
        count += 1
    return count


@kernel
def clear_turn(s: Any) -> None:
    """Forget everything that belongs to a turn."""
    s.drew = DREW_NOTHING
    s.taken = NO_KIND
    s.taken_played = 0
    s.duty = DUTY_NONE
    s.laid_points = 0
    s.laid_any = 0
    s.opened_now = 0
    s.jokers_owed = 0
    s.new_slots = ZERO
    s.last_slot = NO_SLOT
    s.split_slot = NO_SLOT


@kernel
def add_card(s: Any, seat: int, kind: int) -> None:
    """Put a card into a hand."""
    if kind == JOKER:
        s.hand_jokers[seat] += 1
    else:
        bit = kind_bit(kind)
        s.hand_two[seat] |= s.hand_one[seat] & bit
        s.hand_one[seat] |= bit
    s.hand_size[seat] += 1


@kernel
def _clear_round(s: Any) -> None:
    for seat in range(s.hand_one.shape[0]):
        s.turns[seat] = 0
        s.hand_one[seat] = ZERO
        s.hand_two[seat] = ZERO
        s.hand_jokers[seat] = 0
        s.hand_size[seat] = 0
        s.known_one[seat] = ZERO
        s.known_two[seat] = ZERO
        s.known_jokers[seat] = 0
    s.discards[:] = 0
    s.round_turns = 0
    s.has_opened = 0
    s.recycles = 0
    s.used_slots = ZERO
    s.layable = ZERO
    s.swappable = ZERO
    s.joker_room = ZERO
    s.meld_type[:] = EMPTY
    s.meld_rank[:] = 0
    s.meld_suits[:] = 0
    s.meld_size[:] = 0
    s.meld_joker[:] = NO_JOKER
    s.stock[:] = NO_KIND
    s.pile[:] = NO_KIND
    s.stock_known = 0
    s.pending_reentry = 0
    clear_turn(s)


@inlined
def _fill_deck(deck: NDArray[np.uint8], R: NDArray[np.int64]) -> None:
    size = 0
    for _ in range(R[R_PACKS]):
        for suit in range(R[R_SUITS]):
            for rank in range(R[R_RANKS]):
                deck[size] = suit * NUM_RANKS + rank
                size += 1
    for _ in range(R[R_JOKERS]):
        deck[size] = JOKER
        size += 1


@kernel
def deal_round(s: Any, R: NDArray[np.int64]) -> None:
    """Shuffle and deal a round to the seats of the match: one card at a time.

    From the left of the dealer, then the upcard.
    """
    _clear_round(s)
    size = R[R_DECK_SIZE]
    _fill_deck(s.stock, R)
    state = shuffle(s.stock, size, stream(s.seed, s.game, np.int64(s["round"]), 0))
    s.in_round = s.in_match
    first = next_seat(s, np.int64(s.dealer), np.int64(s.in_round))
    seat = first
    for _ in range(R[R_HAND_SIZE] * count_seats(np.int64(s.in_round))):
        size -= 1
        add_card(s, seat, np.int64(s.stock[size]))
        s.stock[size] = NO_KIND
        seat = next_seat(s, seat, np.int64(s.in_round))
    if R[R_UPCARD_JOKER] == UPCARD_REDRAW:
        _bury_jokers(s, size, state ^ np.uint64(_UPCARD_STREAM))
    size -= 1
    s.pile[0] = s.stock[size]
    s.pile_size = 1
    s.stock[size] = NO_KIND
    s.stock_size = size
    s.seat = first
    s.phase = DRAW


@inlined
def _bury_jokers(s: Any, size: int, state: np.uint64) -> None:
    """Put a joker on top of the stock back into it, until another card is on top."""
    for _ in range(64):  # four jokers at most: the stock would have to be jokers only to need so many
        if s.stock[size - 1] != JOKER:
            return
        state, j = below(state, size)
        s.stock[size - 1], s.stock[j] = s.stock[j], s.stock[size - 1]


@inlined
def reshuffle_stock(s: Any) -> None:
    """Shuffle the stock, for the recycle whose number is ``s.recycles``."""
    shuffle(s.stock, np.int64(s.stock_size), stream(s.seed, s.game, np.int64(s["round"]), np.int64(s.recycles)))


@kernel
def start_match(
    s: Any, R: NDArray[np.int64], seed: np.uint64, game: np.uint64, num_seats: int, whole_match: int
) -> None:
    """Begin a match (or the one round that is the episode): everything is set and the first round is dealt."""
    s.seed = seed
    s.game = game
    s["round"] = 0
    s.num_seats = num_seats
    s.whole_match = whole_match
    s.in_match = (1 << num_seats) - 1
    s.totals[:] = 0
    s.reentries[:] = 0
    s.winners = 0
    s.end = 0
    s.closer = NOBODY
    s.closed_in_hand = 0
    s.points[:] = 0
    s.ended_opened = 0
    s.ended_in_round = 0
    s.ended_turns = 0
    s.match_turns = 0
    s.dealer = first_dealer(s)
    deal_round(s, R)
