"""Rules drawn at random: changes of a rulebook in the flags of names, and then in the numbers."""

from __future__ import annotations

import random
from typing import Any

from scala40_env.core.rules import Rules, RulesError
from tests.reference.random_play import random_rules

RULEBOOKS = ("standard", "italian", "cerchio", "hops", "international")
"""The rulebooks of the five source texts."""

_SMALL_DECKS: tuple[dict[str, Any], ...] = (
    {"suits": 4, "ranks": 7, "packs": 2, "hand_size": 7, "opening_min": 15},
    {"suits": 3, "ranks": 9, "packs": 2, "hand_size": 8, "opening_min": 20},
    {"suits": 2, "ranks": 13, "packs": 2, "hand_size": 9, "opening_min": 25},
    {"suits": 4, "ranks": 13, "packs": 1, "hand_size": 10, "opening_min": 30},
    {"suits": 4, "ranks": 13, "packs": 2, "hand_size": 5, "opening_min": 12},
    {"suits": 1, "ranks": 13, "packs": 2, "hand_size": 6, "opening_min": 10},
)


def wide_rules(rng: random.Random, players: int) -> Rules:
    """Rules for so many players that may differ from a rulebook in any flag.

    Args:
        rng: Where the choices come from.
        players: 2 ... 6; the rules drawn allow as many.
    """
    while True:
        changes = {**_numbers(rng), **(rng.choice(_SMALL_DECKS) if rng.random() < 0.35 else {})}
        try:
            rules = random_rules(rng, min_players=2, max_players=6, **_with_an_end(changes))
            rules.check_players(players)
        except (RulesError, TypeError):
            continue  # a deck too small for so many seats
        return rules


def _numbers(rng: random.Random) -> dict[str, Any]:
    """Values for the flags that are numbers, each with some chance; and which plays use up the taken card."""
    choices: dict[str, list[Any]] = {
        "jokers": [0, 1, 2, 3, 4, 4],
        "taken_card_uses": [("lay",), ("lay_off",), ("swap",), ("lay", "lay_off"), ("lay_off", "swap")],
        "max_stock_recycles": [0, 1, 2, None],
        "max_turns_per_round": [6, 15, 60, None],
        "hand_joker_points": [0, 14, 25],
        "hand_ace_points": [1, 11, 14],
        "lone_ace_points": [1, 11],
        "unopened_penalty": [None, 0, 100],
        "close_in_hand_multiplier": [1, 2, 3],
        "match_limit": [20, 60, 101],
        "reentry_max": [0, 1, 3, None],
        "playable_discard_min_players": [2, 3, 6],
    }
    return {name: rng.choice(values) for name, values in choices.items() if rng.random() < 0.4}


def _with_an_end(changes: dict[str, Any]) -> dict[str, Any]:
    """At least one of the two limits that end every round."""
    if changes.get("max_turns_per_round", 0) is None and changes.get("max_stock_recycles", 0) is None:
        changes["max_turns_per_round"] = 200
    return changes
