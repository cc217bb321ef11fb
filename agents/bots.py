"""The compiled bots by number, so that a compiled loop can play any of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import CAREFUL, GREEDY, SOLVER, UNIFORM
from agents.careful import CAREFUL_WEIGHTS
from agents.greedy import choose_greedy
from agents.solver import SOLVER_WEIGHTS
from agents.uniform import choose_uniform
from agents.weighing import choose_weighing
from scala40_env.core.completion import STACK
from scala40_env.core.game import redact
from scala40_env.core.jit import inlined
from scala40_env.core.packing import STACK_WORDS

NUM_BOTS = max(UNIFORM, GREEDY, SOLVER, CAREFUL) + 1


@inlined
def choose(
    bot: int,
    s: Any,
    work: Any,
    R: NDArray[np.int64],
    seen: NDArray[np.uint64],
    legal: NDArray[np.int16],
    count: int,
    rng: np.uint64,
    salt: np.uint64,
) -> int:
    """What a bot does: one of the first ``count`` actions of ``legal``.

    Args:
        bot: its number.
        s: a row as the seat to act may know it; never the full row.
        work, seen: scratch of the search for legal actions, as ``Scratch`` has it, lent between two searches: one row
            is written, and of ``seen`` only the stack of the packing search, in which nothing is kept.
        R: the rules' vector.
        legal: the legal actions, ascending.
        count: how many there are, at least one.
        rng: the start of the random numbers of this decision.
        salt: the bot's own, which changes them.
    """
    if bot == GREEDY:
        return choose_greedy(s, R, legal, count)
    if bot in (SOLVER, CAREFUL):
        weights = SOLVER_WEIGHTS if bot == SOLVER else CAREFUL_WEIGHTS
        return choose_weighing(s, work, R, seen[STACK : STACK + STACK_WORDS], legal, count, weights)
    return choose_uniform(legal, count, rng, salt)


@inlined
def choose_blind(
    bot: int,
    s: Any,
    view: Any,
    work: Any,
    R: NDArray[np.int64],
    seen: NDArray[np.uint64],
    legal: NDArray[np.int16],
    count: int,
    rng: np.uint64,
    salt: np.uint64,
) -> int:
    """What a bot does in a full row, of which it is shown what its seat may know.

    Args:
        bot: its number.
        s: the full row.
        view: scratch, a record array of one row; holds what the bot saw afterwards.
        work, R, seen, legal, count, rng, salt: as for ``choose``.
    """
    view[0] = s
    redact(s, np.int64(s.seat), view[0])
    return choose(bot, view[0], work, R, seen, legal, count, rng, salt)
