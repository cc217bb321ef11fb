"""Careful."""

from __future__ import annotations

import numpy as np

from agents.base import CAREFUL
from agents.weighing import (
    CHANCE,
    COST,
    FEW,
    FITS,
    IN_HAND,
    KNOWN,
    LATE,
    NEAR,
    OUT,
    PROGRESS,
    SPARE,
    SWAPS,
    Weigher,
    line_of,
)

_TWO_PLAYERS = line_of(
    (
        {OUT: 80, NEAR: 50, SPARE: 3000, COST: -800, CHANCE: 100},
        {OUT: 45, NEAR: 20, SPARE: 800, COST: 400, LATE: 200, CHANCE: 30, FITS: 5000, SWAPS: 10_000, KNOWN: 500},
        {OUT: 110, NEAR: 150, LATE: 200, CHANCE: 80, PROGRESS: 5, FITS: 5000, SWAPS: 10_000, KNOWN: 500},
    ),
    {IN_HAND: 20, FEW: 6},
)
_MORE_PLAYERS = _TWO_PLAYERS
CAREFUL_WEIGHTS = np.array([_TWO_PLAYERS, _MORE_PLAYERS], dtype=np.int64)


class Careful(Weigher):
    """Looks at the next draw, the table and the other hands; see the module."""

    bot = CAREFUL
    name = "careful"

    def __init__(self) -> None:
        super().__init__(CAREFUL_WEIGHTS)
