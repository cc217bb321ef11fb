"""Games played on from any position to their end inside one kernel: what a search, or a value of a position, needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.playout import GAME_WINNERS, PlayoutScratch, new_tallies, play_out
from scala40_env.core.game import is_episode_over
from scala40_env.core.jit import kernel


@kernel
def _play_rows(
    rows: Any,
    view: Any,
    work: Any,
    R: NDArray[np.int64],
    seen: NDArray[np.uint64],
    legal: NDArray[np.int16],
    bots: NDArray[np.int64],
    salts: NDArray[np.uint64],
    seed: np.uint64,
    first: np.uint64,
    turn_limit: int,
    seats: NDArray[np.int64],
    games: NDArray[np.int64],
) -> int:
    decisions = 0
    for i in range(len(games)):
        number = first + np.uint64(i)
        if is_episode_over(rows[i]):
            games[i, GAME_WINNERS] = rows[i].winners
            continue
        decisions += play_out(
            rows[i], view, work, R, seen, legal, bots, salts, seed, number, turn_limit, seats[i], games[i]
        )
    return decisions


def play_from(
    scratch: PlayoutScratch,
    rows: NDArray[Any],
    vector: NDArray[np.int64],
    bots: NDArray[np.int64],
    salts: NDArray[np.uint64],
    *,
    seed: int = 0,
    first: int = 0,
    turn_limit: int = 10_000,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Games played from any row to the end of their episodes by compiled bots.

    Args:
        scratch: what the games work in.
        rows: full rows, such as those of a batch or of ``determinize``: a record array, in which they end.
        vector: the rules' vector.
        bots, salts: the bot of each seat, by number, and its salt.
        seed, first: of the random numbers of the decisions: game ``first + i`` of a seed for row ``i``.
        turn_limit: turns of an episode after which it is broken off.

    Returns:
        The tallies, as ``new_tallies`` makes them; a row whose episode is over adds nothing.
    """
    seats, games = new_tallies(len(rows))
    _play_rows(
        rows,
        scratch.view,
        scratch.work,
        vector,
        scratch.seen,
        scratch.legal,
        bots,
        salts,
        np.uint64(seed),
        np.uint64(first),
        turn_limit,
        seats,
        games,
    )
    return seats, games
