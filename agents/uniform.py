"""Uniform play: every legal action is equally likely."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import UNIFORM, rng_of
from scala40_env.core.deal import below, mix
from scala40_env.core.game import seed_word
from scala40_env.core.jit import kernel
from scala40_env.core.rules import Rules


@kernel
def choose_uniform(legal: NDArray[np.int16], count: int, rng: np.uint64, salt: np.uint64) -> int:
    """One of the first ``count`` actions of ``legal``, all equally likely.

    Args:
        legal: the legal actions.
        count: how many there are, at least one.
        rng: the start of the random numbers of this decision.
        salt: other salts draw other numbers.
    """
    start = rng if salt == np.uint64(0) else mix(rng ^ mix(salt))
    _, index = below(start, count)
    return np.int64(legal[index])


class Uniform:
    """Chooses among the legal actions, each as likely as the others.

    Args:
        seed: other seeds draw other numbers; 0 ... 2**64 - 1.
    """

    bot = UNIFORM

    def __init__(self, *, seed: int = 0) -> None:
        self.salt = int(seed_word(seed))
        self.name = f"uniform:seed={seed}" if seed else "uniform"

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> int:
        """One of the legal actions; see ``Agent.act``."""
        start = rng_of(rows) if rng is None else rng
        return int(choose_uniform(legal, len(legal), np.uint64(start), np.uint64(self.salt)))
