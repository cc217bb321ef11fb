"""How a network takes an observation: numbers of about the size 1, whatever they count.

The bytes of an observation are divided by what is usual, not by what is possible: a hand has thirteen cards and not
108, and a card is discarded once or twice and not 255 times.  What each discard leaves is told from the best one on,
since to the choice of a discard only the differences matter, and they are a few points among a hundred.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.jit import inlined, kernel
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
        self._leaves = slice(self.size, self.size)
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
        left = observations[:, self._leaves].astype(np.float32)
        worse = left - left.min(axis=1, keepdims=True, initial=NOT_HELD)
        made[:, self._leaves] = np.where(left == NOT_HELD, 0.0, 1 - np.minimum(worse, 2 * _SPREAD) / _SPREAD)
        return made

    def nonzero(
        self, observations: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32]]:
        """The inputs that are not zero, about one in nine, row by row.

        Returns:
            The column of each, its number, and where each row begins: shapes ``(k,)``, ``(k,)`` and ``(n,)``.
        """
        room = observations.size  # of which only what is written to takes memory
        columns, numbers = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.float32)
        starts = np.empty(len(observations), dtype=np.int32)
        given = np.ascontiguousarray(observations), self._gain, self._leaves.start, self._leaves.stop
        count = _take(*given, columns, numbers, starts)
        return columns[:count], numbers[:count], starts


@inlined
def _take_part(
    row: NDArray[np.uint8],
    begin: int,
    end: int,
    gain: NDArray[np.float32],
    columns: NDArray[np.int32],
    numbers: NDArray[np.float32],
    k: int,
) -> int:
    """Write what is not zero between two columns, from place ``k`` on; the place after it."""
    for column in range(begin, end):
        if row[column] != 0:
            columns[k] = column
            numbers[k] = row[column] * gain[column]
            k += 1
    return k


@kernel
def _take(
    observations: NDArray[np.uint8],
    gain: NDArray[np.float32],
    leaves: int,
    end: int,
    columns: NDArray[np.int32],
    numbers: NDArray[np.float32],
    starts: NDArray[np.int32],
) -> int:
    """Write what ``Inputs.nonzero`` returns; ``leaves`` and ``end``: where the points that discards leave stand."""
    k = 0
    spread, widest = np.float32(_SPREAD), np.float32(2 * _SPREAD)
    for i in range(len(observations)):
        row = observations[i]
        starts[i] = k
        k = _take_part(row, 0, leaves, gain, columns, numbers, k)
        least = NOT_HELD
        for column in range(leaves, end):
            least = min(least, np.int64(row[column]))
        for column in range(leaves, end):
            if row[column] != NOT_HELD:
                worse = np.float32(np.int64(row[column]) - least)
                columns[k] = column
                numbers[k] = np.float32(1) - min(worse, widest) / spread
                k += numbers[k] != 0
        k = _take_part(row, end, len(row), gain, columns, numbers, k)
    return k


def _usual(name: str, high: int) -> int:
    """By what a part is divided; 0 for its range."""
    if name in _USUAL:
        return _USUAL[name]
    for ending, usual in _USUAL_OF_A_SEAT.items():
        if name.startswith(("own_", "opponent_")) and name.endswith(f"_{ending}"):
            return usual
    return _COUNT if high == 4 else 0
