"""How a network takes an observation: numbers of about the size 1, whatever they count.

The bytes of an observation are divided by what is usual, not by what is possible: a hand has thirteen cards and not
108, and a card is discarded once or twice and not 255 times.  What each discard leaves is told from the best one on,
since to the choice of a discard only the differences matter, and they are a few points among a hundred.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.rules import Rules
from scala40_env.envs.derived import NOT_HELD
from scala40_env.envs.observation import layout

BY_RANGE, BY_USE = "range", "use"
"""Ways of taking an observation, as cards of weights name them: divided by the range, or as this module does it."""

_USUAL = {
    "laid_points": 40,
    "last_slot": 10,
    "split_slot": 10,
    "round": 10,
    "round_turns": 40,
    "recycles": 2,
    "stock_size": 50,
    "stock_known": 50,
    "pile_size": 50,
    "deadwood": 50,
    "opening_points": 40,
    "opening_missing": 40,
    "outs_total": 20,
}
_USUAL_OF_A_SEAT = {"hand_size": 13, "score": 100, "turns": 20, "reentries": 2, "discards": 1}
_COUNT = 2
"""Cards of a kind."""
_SPREAD = 10.0
"""Points from the best discard to one that counts for nothing."""


class Inputs:
    """The inputs of a network from observations.

    Args:
        rules: the rules.
        players: how many seats.
        derived: whether observations end with the derived part.
        way: ``BY_RANGE`` or ``BY_USE``.

    Attributes:
        size: how many numbers an observation has, and how many inputs.
    """

    def __init__(self, rules: Rules, players: int, *, derived: bool, way: str = BY_USE) -> None:
        parts = layout(rules, players, derived=derived)
        self.size = parts.size
        self._gain = 1 / np.maximum(parts.high, 1).astype(np.float32)
        self._leaves: slice | None = None
        if way == BY_RANGE:
            return
        for part in parts.slices:
            where = slice(part.offset, part.offset + part.length)
            if part.name == "discard_leaves":
                self._leaves = where
            usual = _usual(part.name, part.high)
            if usual:
                self._gain[where] = 1 / usual

    def __call__(self, observations: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Inputs, ``float32``, from observations, ``uint8``, both of shape ``(n, size)``."""
        made = observations * self._gain
        if self._leaves is not None:
            left = observations[:, self._leaves].astype(np.float32)
            worse = left - left.min(axis=1, keepdims=True)
            made[:, self._leaves] = np.where(left == NOT_HELD, 0.0, 1 - np.minimum(worse, 2 * _SPREAD) / _SPREAD)
        return made


def _usual(name: str, high: int) -> int:
    """By what a part is divided; 0 for its range."""
    if name in _USUAL:
        return _USUAL[name]
    for ending, usual in _USUAL_OF_A_SEAT.items():
        if name.startswith(("own_", "opponent_")) and name.endswith(f"_{ending}"):
            return usual
    return _COUNT if high == 4 else 0
