"""What an action's number says of it, as numbers for a network: one row an action, computed once.

The cards that leave the hand, what a joker among them stands for, the slot and the points.  What lies in the slot, and
so which card a lay-off lays, is the table's to say, and the network sees the table.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import actions as at
from scala40_env.core.cards import HIGH_ACE, JOKER, NUM_KINDS, NUM_RANKS, NUM_SUITS
from scala40_env.core.game import num_actions
from scala40_env.core.rules import Rules

RANGES = {
    "draw": at.DRAW,
    "take": at.TAKE,
    "lay_set": at.LAY_SET,
    "lay_run": at.LAY_RUN,
    "lay_off": at.LAY_OFF,
    "swap": at.SWAP,
    "discard": at.DISCARD,
    "split": at.SPLIT,
    "reenter": at.REENTER,
    "leave": at.LEAVE,
}
"""Where each sort of action begins, in ascending order."""
PARTS = {
    "sort": len(RANGES),
    "kinds": NUM_KINDS,
    "discard": NUM_KINDS,
    "ranks": NUM_RANKS,
    "suits": NUM_SUITS,
    "joker_rank": NUM_RANKS,
    "joker_suit": NUM_SUITS,
    "slot": at.MAX_SLOTS,
    "end": at.NUM_ENDS,
    "split": at.NUM_SPLITS,
    "points": 1,
}
"""The columns in their order.  ``kinds`` are the cards that leave the hand; a card that is discarded stands under
``discard`` too, since it goes to another place than one that is laid."""
_START = dict(zip(PARTS, accumulate(PARTS.values(), initial=0)))
NUM_FEATURES = sum(PARTS.values())
_CARDS, _POINTS = 3.0, 30.0
"""The most cards that one action lays, and the most points that they are commonly worth: what is divided by."""


def action_features(rules: Rules) -> NDArray[np.float32]:
    """A row for each action: ``float32``, shape ``(num_actions, NUM_FEATURES)``, within 0 ... 2."""
    made = np.zeros((num_actions(rules), NUM_FEATURES), dtype=np.float32)
    begins = list(RANGES.values())
    for action, row in enumerate(made):
        sort = int(np.searchsorted(begins, action, side="right")) - 1
        name, number = list(RANGES)[sort], action - begins[sort]
        row[_START["sort"] + sort] = 1
        if name == "lay_set":
            _lay_set(row, number, rules)
        elif name == "lay_run":
            _lay_run(row, number, rules)
        elif name == "lay_off":
            _mark(row, "slot", number // at.NUM_ENDS)
            _mark(row, "end", number % at.NUM_ENDS)
        elif name == "swap":
            _mark(row, "slot", number)
        elif name == "discard":
            _discard(row, number, rules)
        elif name == "split":
            _mark(row, "slot", number // at.NUM_SPLITS)
            _mark(row, "split", number % at.NUM_SPLITS)
    return made


def _lay_set(row: NDArray[np.float32], number: int, rules: Rules) -> None:
    pattern, rank = divmod(number, NUM_RANKS)
    for suit in range(NUM_SUITS):
        if int(at.SET_SUITS[pattern]) >> suit & 1:
            _natural(row, suit, rank)
    worth = rules.rank_points[rank or HIGH_ACE]  # an ace counts high in a set
    points = 3 * worth
    if at.SET_JOKER[pattern] != at.NO_SUIT:
        points = 2 * worth + _joker(row, int(at.SET_JOKER[pattern]), rank, worth, rules)
    row[_START["points"]] = points / _POINTS


def _lay_run(row: NDArray[np.float32], number: int, rules: Rules) -> None:
    rest, start = divmod(number, at.NUM_RUN_STARTS)
    joker_place, suit = divmod(rest, NUM_SUITS)
    points = 0
    for place, rank in enumerate(range(start, start + at.SHORTEST_RUN), start=1):
        worth = rules.rank_points[rank]
        if place == joker_place:
            points += _joker(row, suit, rank % NUM_RANKS, worth, rules)
        else:
            _natural(row, suit, rank % NUM_RANKS)
            points += worth
    row[_START["points"]] = points / _POINTS


def _discard(row: NDArray[np.float32], kind: int, rules: Rules) -> None:
    suit, rank = divmod(kind, NUM_RANKS)
    _mark(row, "discard", kind)
    if kind == JOKER:
        _mark(row, "kinds", JOKER)
        points = rules.hand_joker_points
    else:
        _natural(row, suit, rank)
        points = rules.rank_points[rank] if rank else rules.hand_ace_points
    row[_START["points"]] = points / _POINTS


def _natural(row: NDArray[np.float32], suit: int, rank: int) -> None:
    _mark(row, "kinds", suit * NUM_RANKS + rank)
    row[_START["ranks"] + rank] += 1 / _CARDS
    row[_START["suits"] + suit] += 1 / _CARDS


def _joker(row: NDArray[np.float32], suit: int, rank: int, worth: int, rules: Rules) -> int:
    """Mark a joker that stands for a card; returns its points."""
    _mark(row, "kinds", JOKER)
    _mark(row, "joker_rank", rank)
    _mark(row, "joker_suit", suit)
    return 11 if rules.joker_opening_value == "fixed_11" else worth


def _mark(row: NDArray[np.float32], part: str, index: int) -> None:
    row[_START[part] + index] = 1
