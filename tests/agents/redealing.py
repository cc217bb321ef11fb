"""Deals the cards that a seat cannot know anew, among those who may hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from scala40_env.core.cards import JOKER
from scala40_env.core.game import Game


def _cards(one: int, two: int, jokers: int) -> list[int]:
    """The kinds of a hand, copies repeated."""
    bits = [(bit >> 4) * 13 + (bit & 15) for mask in (one, two) for bit in range(64) if mask >> bit & 1]
    return bits + [JOKER] * jokers


def redeal(game: Game, seed: int) -> Game:
    """A game that the seat to act cannot tell from this one."""
    rows = game.rows.copy().view(np.recarray)
    row: Any = rows[0]
    viewer = int(row.seat)
    others = [seat for seat in range(int(row.num_seats)) if seat != viewer]
    known = {
        seat: _cards(int(row.known_one[seat]), int(row.known_two[seat]), int(row.known_jokers[seat])) for seat in others
    }
    pool: list[int] = []
    for seat in others:
        hand = _cards(int(row.hand_one[seat]), int(row.hand_two[seat]), int(row.hand_jokers[seat]))
        for kind in known[seat]:
            hand.remove(kind)
        pool += hand
    bottom, size = int(row.stock_known), int(row.stock_size)
    pool += [int(kind) for kind in row.stock[bottom:size]]
    np.random.default_rng(seed).shuffle(pool)
    for seat in others:
        hidden = int(row.hand_size[seat]) - len(known[seat])
        cards = known[seat] + [pool.pop() for _ in range(hidden)]
        row.hand_one[seat] = row.hand_two[seat] = 0
        row.hand_jokers[seat] = row.hand_size[seat] = 0
        for kind in cards:
            _add(rows, seat, kind)
    row.stock[bottom:size] = pool
    return Game.from_rows(game.rules, rows)


def _add(rows: Any, seat: int, kind: int) -> None:
    row = rows[0]
    if kind == JOKER:
        row.hand_jokers[seat] += 1
    else:
        bit = np.uint64(1) << np.uint64(kind + 3 * (kind // 13))
        if row.hand_one[seat] & bit:
            row.hand_two[seat] |= bit
        row.hand_one[seat] |= bit
    row.hand_size[seat] += 1
