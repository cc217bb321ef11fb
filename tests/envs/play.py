"""Play for the tests of the faces: positions of every phase, reached by random players that like to lay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from scala40_env.core.actions import DISCARD, NUM_ACTIONS, SPLIT, TAKE
from scala40_env.core.game import Game
from scala40_env.core.rules import Rules

SHORT_MATCH = {"match_limit": 60, "max_turns_per_round": 60}
"""Changes to a rulebook that make a match short enough for a test."""

CASES = [
    ("standard", 2),
    ("standard", 4),
    ("italian", 3),
    ("cerchio", 2),
    ("hops", 4),
    ("international", 2),
    ("international", 5),
]


def choose(legal: Any, rng: np.random.Generator, fondness: float = 0.7) -> int:
    """A legal action; with probability ``fondness`` one that is neither a discard nor a draw, where there is one."""
    if rng.random() < fondness:
        liked = [action for action in legal if action == TAKE or TAKE < action < DISCARD or action >= SPLIT]
        if liked:
            return int(rng.choice(liked))
    return int(rng.choice(legal))


def positions(rules: Any, players: int, seed: int, count: int, episode: str = "match") -> Iterator[tuple[Game, int]]:
    """``count`` positions of games under one seed, with the action chosen next (``NUM_ACTIONS`` at an end)."""
    rng = np.random.default_rng(seed)
    number = 0
    while True:
        game = Game(rules, players, seed=seed, game=number, episode=episode)
        number += 1
        while True:
            action = NUM_ACTIONS if game.is_over else choose(game.legal_actions(), rng)
            yield game, action
            count -= 1
            if count == 0:
                return
            if game.is_over:
                break
            game.play(action)


def short(name: str) -> Rules:
    """A rulebook with short matches."""
    return Rules.from_mapping({"base": name, **SHORT_MATCH})
