"""The exact best response again, the slow and obvious way: every order of the stock, histories as they are."""

from __future__ import annotations

import copy
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from scala40_env.core.cards import JOKER, NO_KIND, kind_bit
from scala40_env.core.game import Game
from scala40_env.core.rules import Rules
from scala40_env.core.rules_json import deck_counts

Policy = Callable[[Game], dict[int, float]]
"""How likely the seat to act does what; it looks at ``game.redacted(game.seat)`` alone."""
Worlds = list[tuple[Game, float]]


def deals(rules: Rules, first: int) -> Iterator[Game]:
    """Every deal of two hands, an upcard and a stock in every order, all equally likely; one card each of a kind."""
    deck = [kind for kind, count in enumerate(deck_counts(rules)) for _ in range(count)]
    size = rules.hand_size
    template = next(rows for rows in (Game(rules, 2, seed=seed).rows for seed in range(99)) if rows[0].seat == first)
    for hand_0 in itertools.combinations(deck, size):
        rest = [kind for kind in deck if kind not in hand_0]
        for hand_1 in itertools.combinations(rest, size):
            for order in itertools.permutations([kind for kind in rest if kind not in hand_1]):
                rows = template.copy().view(np.recarray)
                row = rows[0]
                for seat, hand in enumerate((hand_0, hand_1)):
                    row.hand_one[seat] = np.uint64(sum(int(kind_bit(kind)) for kind in hand if kind != JOKER))
                    row.hand_jokers[seat] = hand.count(JOKER)
                row.pile[0] = order[0]
                row.stock[:] = NO_KIND
                row.stock[: len(order) - 1] = order[1:]
                yield Game.from_rows(rules, rows)


def best_value(rules: Rules, policy: Policy, viewer: int, first: int) -> float:
    """What the best response in a seat gains on a policy in the other."""
    games = list(deals(rules, first))
    worlds = [(game, 1 / len(games)) for game in games]
    return sum(_best(same, policy, viewer) for same in _told_apart(((-1, *world) for world in worlds), viewer))


def _best(worlds: Worlds, policy: Policy, viewer: int) -> float:
    game = worlds[0][0]
    if game.is_over:
        return sum(weight * float(game.row.points[1 - viewer] - game.row.points[viewer]) for game, weight in worlds)
    if game.seat == viewer:
        return max(
            _sum(worlds, lambda _, a=action: {a: 1.0}, policy, viewer) for action in game.legal_actions().tolist()
        )
    return _sum(worlds, policy, policy, viewer)


def _sum(worlds: Worlds, mover: Policy, policy: Policy, viewer: int) -> float:
    """The values of all that follows when the seat to act moves in its way."""
    return sum(_best(same, policy, viewer) for same in _told_apart(_after(worlds, mover), viewer))


def _after(worlds: Worlds, mover: Policy) -> Iterator[tuple[int, Game, float]]:
    for game, weight in worlds:
        for action, chance in mover(game).items():
            after = copy.copy(game)
            after.rows = game.rows.copy().view(np.recarray)
            after.play(action)
            yield action, after, weight * chance


def _told_apart(steps: Any, viewer: int) -> list[Worlds]:
    """Worlds by what the viewer has seen since they were one: the action, and its own view."""
    seen: dict[tuple[int, bytes], Worlds] = defaultdict(list)
    for action, game, weight in steps:
        seen[action, game.redacted(viewer).tobytes()].append((game, weight))
    return list(seen.values())
