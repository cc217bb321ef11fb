"""The suits of a game given other names: rows and actions under a permutation of the suits.

Written for the fields of ``ROW`` by their documented meaning, with no function of the engine's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scala40_env.core import actions
from scala40_env.core.cards import JOKER, LANE_BITS, NUM_RANKS, NUM_SUITS
from scala40_env.core.state import NO_JOKER, RUN, SET

Permutation = Sequence[int]
"""For each suit, the suit that takes its place; suits that the deck does not have stay."""

_LANE = (1 << LANE_BITS) - 1


def renamed_row(rows: Any, permutation: Permutation) -> Any:
    """A copy of a record array of one row in which each suit is another."""
    made = rows.copy().view(np.recarray)
    row = made[0]
    for name in ("hand_one", "hand_two", "known_one", "known_two"):
        for seat, mask in enumerate(rows[0][name]):
            getattr(row, name)[seat] = _renamed_mask(int(mask), permutation)
    for name in ("layable", "swappable"):
        row[name] = _renamed_mask(int(rows[0][name]), permutation)
    for name in ("stock", "pile"):
        for i, kind in enumerate(rows[0][name]):
            getattr(row, name)[i] = renamed_kind(int(kind), permutation)
    for seat in range(row.discards.shape[0]):
        for kind in range(JOKER):
            row.discards[seat, renamed_kind(kind, permutation)] = rows[0].discards[seat, kind]
    row.taken = renamed_kind(int(row.taken), permutation)
    for slot, meld_type in enumerate(rows[0].meld_type):
        suits, joker = int(rows[0].meld_suits[slot]), int(rows[0].meld_joker[slot])
        if meld_type == RUN:
            row.meld_suits[slot] = permutation[suits]
        elif meld_type == SET:
            row.meld_suits[slot] = _renamed_suits(suits, permutation)
            row.meld_joker[slot] = joker if joker == NO_JOKER else permutation[joker]
    return made


def fields_of(rows: Any) -> list[bytes]:
    """The fields of a record array of one row, to be compared: what lies between the fields means nothing."""
    return [np.ascontiguousarray(rows[name]).tobytes() for name in rows.dtype.names]


def renamed_kind(kind: int, permutation: Permutation) -> int:
    """A kind under another suit; the joker, and "no card", are their own."""
    if kind >= JOKER:
        return kind
    suit, rank = divmod(kind, NUM_RANKS)
    return permutation[suit] * NUM_RANKS + rank


def renamed_action(action: int, permutation: Permutation) -> int:
    """The action that does the same once the suits have their other names."""
    if actions.LAY_SET <= action < actions.LAY_RUN:
        pattern, rank = divmod(action - actions.LAY_SET, NUM_RANKS)
        suits = _renamed_suits(int(actions.SET_SUITS[pattern]), permutation)
        joker = int(actions.SET_JOKER[pattern])
        joker = joker if joker == actions.NO_SUIT else permutation[joker]
        same = (suits == actions.SET_SUITS) & (joker == actions.SET_JOKER)
        return actions.lay_set(int(np.flatnonzero(same)[0]), rank)
    if actions.LAY_RUN <= action < actions.LAY_OFF:
        rest, start = divmod(action - actions.LAY_RUN, actions.NUM_RUN_STARTS)
        place, suit = divmod(rest, NUM_SUITS)
        return actions.lay_run(place, permutation[suit], start)
    if actions.DISCARD <= action < actions.SPLIT:
        return actions.DISCARD + renamed_kind(action - actions.DISCARD, permutation)
    return action  # the others name a slot, or nothing


def _renamed_mask(mask: int, permutation: Permutation) -> int:
    return sum((mask >> (LANE_BITS * suit) & _LANE) << (LANE_BITS * permutation[suit]) for suit in range(NUM_SUITS))


def _renamed_suits(suits: int, permutation: Permutation) -> int:
    return sum(1 << permutation[suit] for suit in range(NUM_SUITS) if suits >> suit & 1)
