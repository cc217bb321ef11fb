"""Redealing what a seat cannot see: the law is that nothing the seat is shown changes.

``redeal(rows, viewer, rng)`` is a row with the same public facts, the same hand of the viewer, and all that is hidden
from the viewer dealt anew: the unknown cards of the other hands and the unknown cards of the stock among one another,
and the numbers from which the cards were dealt.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.cards import JOKER, NUM_KINDS, NUM_RANKS

Counts = NDArray[np.int64]


def bit_of(kind: int) -> int:
    """The bit of a natural kind in a hand mask, as a plain integer."""
    return 1 << (kind // NUM_RANKS * 16 + kind % NUM_RANKS)


def counts_of(one: Any, two: Any, jokers: Any) -> Counts:
    """How many of each kind the two masks and the jokers of a hand are: shape ``(53,)``."""
    made = np.zeros(NUM_KINDS, dtype=np.int64)
    for kind in range(JOKER):
        made[kind] = bool(int(one) & bit_of(kind)) + bool(int(two) & bit_of(kind))
    made[JOKER] = int(jokers)
    return made


def masks_of(counts: Counts) -> tuple[int, int, int]:
    """The two masks and the jokers of a hand, from its counts by kind."""
    one = sum(bit_of(kind) for kind in range(JOKER) if counts[kind] >= 1)
    two = sum(bit_of(kind) for kind in range(JOKER) if counts[kind] >= 2)
    return one, two, int(counts[JOKER])


def hand_of(row: Any, seat: int) -> Counts:
    """The hand of a seat by kind, as the row has it."""
    return counts_of(row.hand_one[seat], row.hand_two[seat], row.hand_jokers[seat])


def known_of(row: Any, seat: int) -> Counts:
    """What everybody knows of a hand, by kind."""
    return counts_of(row.known_one[seat], row.known_two[seat], row.known_jokers[seat])


def hidden_from(row: Any, viewer: int) -> list[int]:
    """The kinds that the viewer cannot place: in the other hands, and in the stock above what is known of it."""
    hidden: list[int] = []
    for seat in range(int(row.num_seats)):
        if seat != viewer:
            unknown = hand_of(row, seat) - known_of(row, seat)
            hidden += [kind for kind in range(NUM_KINDS) for _ in range(unknown[kind])]
    return hidden + [int(kind) for kind in row.stock[int(row.stock_known) : int(row.stock_size)]]


def redeal(rows: NDArray[Any], viewer: int, rng: np.random.Generator) -> NDArray[Any]:
    """A record array of one row, like ``rows`` in all that the viewer may know, the rest dealt anew."""
    made = rows.copy().view(np.recarray)
    row = made[0]
    cards = [int(kind) for kind in rng.permutation(hidden_from(row, viewer))]
    for seat in range(int(row.num_seats)):
        if seat == viewer:
            continue
        known = known_of(row, seat)
        hand = known.copy()
        for _ in range(int(row.hand_size[seat]) - int(known.sum())):
            hand[cards.pop()] += 1
        row.hand_one[seat], row.hand_two[seat], row.hand_jokers[seat] = masks_of(hand)
    for place in range(int(row.stock_known), int(row.stock_size)):
        row.stock[place] = cards.pop()
    assert not cards
    row.seed = rng.integers(2**63, dtype=np.uint64)
    row.game = rng.integers(2**63, dtype=np.uint64)
    return made
