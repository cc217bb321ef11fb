"""What a compiled bot would do in each game of a batch: the labels of a learner that imitates it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.bots import choose_blind
from agents.playout import PlayoutScratch
from scala40_env.core.deal import stream
from scala40_env.core.jit import kernel
from scala40_env.envs.batch import Batch
from scala40_env.envs.memory import bytes_of, rows_of

_TEACH = 1 << 28


@kernel
def _teach(
    memory: NDArray[np.uint8],
    view: Any,
    work: Any,
    R: NDArray[np.int64],
    seen: NDArray[np.uint64],
    legal: NDArray[np.int16],
    counts: NDArray[np.int64],
    bot: int,
    salt: np.uint64,
    rng: np.uint64,
    out: NDArray[np.int64],
) -> None:
    rows = rows_of(memory)
    for i in range(len(out)):
        out[i] = 0
        if counts[i] > 0:
            state = stream(rng, np.uint64(i), 0, _TEACH)
            out[i] = choose_blind(bot, rows[i], view, work, R, seen, legal[i], counts[i], state, salt)


class Teacher:
    """A compiled bot that is asked for its choice in every game of a batch.

    Args:
        bot: a compiled agent.
    """

    def __init__(self, bot: Any) -> None:
        self.name = bot.name
        self._bot, self._salt = int(bot.bot), np.uint64(bot.salt)
        self._scratch = PlayoutScratch()

    def choices(self, batch: Batch, rng: int) -> NDArray[np.int64]:
        """Its action in each game, ``int64``, shape ``(num_games,)``; 0 in games that are over.

        It sees what the seat to act may know, and nothing more.

        Args:
            batch: the games.
            rng: of its random numbers, if it has any.
        """
        made = np.zeros(batch.num_games, dtype=np.int64)
        scratch, counts = self._scratch, np.ascontiguousarray(batch.counts, dtype=np.int64)
        fixed = bytes_of(batch.rows), scratch.view, scratch.work, batch.rules.vector(), scratch.seen
        _teach(*fixed, batch.legal, counts, self._bot, self._salt, np.uint64(rng), made)
        return made
