"""One number for behaviour: what the engine does in many games, as sixteen hexadecimal digits.

The games are played at random, by numbers that come from counters, under every rulebook.  What goes into the number is
what a player can see the engine decide: the legal actions before every action, and the state at the end of every round,
field by field.  So it stays the same as long as the rules, the numbering and the deals do, on every platform, compiled
or not, whatever the layout of a row; a change of it is a change of behaviour, and belongs in the record of changes.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from scala40_env.core.game import Game
from scala40_env.core.rules import Rules, rulebook_names
from scala40_env.core.state import ROW

PLAYERS = (2, 4)
"""The tables at which the games are played, where the rulebook allows them."""

_DERIVED = ("layable", "swappable", "joker_room", "spare")
"""What a row keeps only so that it need not be found again."""
_FIELDS = tuple(str(name) for name in ROW.names or () if name not in _DERIVED)
_MASK_64 = (1 << 64) - 1


def signature(rounds: int = 12, *, rulebooks: tuple[str, ...] | None = None, players: tuple[int, ...] = PLAYERS) -> str:
    """The signature of the engine's behaviour, sixteen hexadecimal digits.

    Args:
        rounds: How many rounds are played for each rulebook and number of players.
        rulebooks: Their names; all that there are, where none are given.
        players: The numbers of seats; those that a rulebook does not allow are left out.
    """
    digest = hashlib.blake2b(digest_size=8)
    for name in rulebook_names() if rulebooks is None else rulebooks:
        rules = Rules.load(name)
        for seats in players:
            if rules.min_players <= seats <= rules.max_players:
                digest.update(f"{name} {seats}".encode())
                for number in range(rounds):
                    _add_round(digest, Game(rules, seats, seed=number, game=seats))
    return digest.hexdigest()


def _add_round(digest: Any, game: Game) -> None:
    """Play a round at random and add it to the digest."""
    count = int(game.row.seed) << 32
    while not game.is_over:
        legal = game.legal_actions()
        digest.update(legal.astype("<i2").tobytes())
        count += 1
        game.play(int(legal[_random_number(count) * len(legal) >> 64]))
    for name in sorted(_FIELDS):
        digest.update(np.asarray(game.row[name]).astype("<u8").tobytes())


def _random_number(count: int) -> int:
    """The number of a counter, in 0 ... 2**64 - 1: SplitMix64, as in ``deal``, but in Python's integers."""
    x = (count * 0x9E3779B97F4A7C15) & _MASK_64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK_64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK_64
    return x ^ (x >> 31)
