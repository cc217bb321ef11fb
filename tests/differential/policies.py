"""Which legal action is played next: ways to play that reach different corners of the game."""

from __future__ import annotations

import random
from collections.abc import Callable

from scala40_env.core import actions

Policy = Callable[[random.Random, list[int]], int]
"""Chooses one of the legal actions."""

_RANGES = (
    ("draw", actions.DRAW, actions.TAKE),
    ("take", actions.TAKE, actions.LAY_SET),
    ("lay", actions.LAY_SET, actions.LAY_OFF),
    ("lay_off", actions.LAY_OFF, actions.SWAP),
    ("swap", actions.SWAP, actions.DISCARD),
    ("discard", actions.DISCARD, actions.SPLIT),
    ("split", actions.SPLIT, actions.REENTER),
    ("reentry", actions.REENTER, actions.NUM_ACTIONS),
)


def sort_of(action: int) -> str:
    """Which sort of action it is: draw, take, lay, lay_off, swap, discard, split or reentry."""
    return next(name for name, first, end in _RANGES if first <= action < end)


def _weighted(**weights: float) -> Policy:
    """Chooses a sort of action by weight (1 where none is given), then one of that sort."""

    def choose(rng: random.Random, legal: list[int]) -> int:
        by_sort: dict[str, list[int]] = {}
        for action in legal:
            by_sort.setdefault(sort_of(action), []).append(action)
        sorts = list(by_sort)
        chosen = rng.choices(sorts, [weights.get(name, 1.0) for name in sorts])[0]
        return rng.choice(by_sort[chosen])

    return choose


def _keeps_jokers(policy: Policy) -> Policy:
    """The same, but a joker is not discarded while something else can be done."""

    def choose(rng: random.Random, legal: list[int]) -> int:
        others = [action for action in legal if action != actions.SPLIT - 1]
        return policy(rng, others or legal)

    return choose


POLICIES: dict[str, Policy] = {
    "uniform": lambda rng, legal: rng.choice(legal),
    "active": _keeps_jokers(_weighted(take=4.0, lay=6.0, lay_off=6.0, swap=10.0, split=3.0)),
    "swapper": _keeps_jokers(_weighted(take=2.0, lay=2.0, lay_off=0.4, swap=30.0, split=3.0)),
    "hoarder": _keeps_jokers(_weighted(take=6.0, lay=0.15, lay_off=0.1, swap=2.0)),
}
"""``active`` plays what it can, ``swapper`` goes for jokers, ``hoarder`` keeps full hands until late in the round."""
