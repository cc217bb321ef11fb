"""One game stepped, judged and observed in one compiled call: what the PettingZoo face does each step.

Rows are passed as their bytes (see ``memory``), and what happened comes back as one integer, since that is quick.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.deal import start_match
from scala40_env.core.game import apply_action, is_episode_over, legal_or_stuck
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.state import NOBODY, PLAY
from scala40_env.envs.memory import rows_of
from scala40_env.envs.observe import observe

ILLEGAL = -1
"""The answer to an action that is not legal; nothing has changed."""
LOOK = -1
"""Stands for an action: do nothing."""

# The bits of an outcome, from the lowest:
SEAT_BITS = 0b111
NO_SEAT = 7
PHASE_SHIFT, PHASE_BITS = 3, 0b11
NEWS = 1 << 5
"""A round has ended, or a seat has chosen between rounds: scores and seats may have changed."""
ROUND_ENDED = 1 << 6
OVER = 1 << 7
"""The episode is over."""
COUNT_SHIFT, COUNT_BITS = 8, 0x3FF
STOCK_SHIFT, STOCK_BITS = 18, 0x7F
TURNS_SHIFT = 25


@inlined
def _outcome(s: Any, count: int, events: int) -> int:
    """What the position is like, and what has happened, in one integer."""
    seat = NO_SEAT if s.seat == NOBODY else np.int64(s.seat)
    if is_episode_over(s):
        events |= OVER
    return (
        seat
        | events
        | np.int64(s.phase) << PHASE_SHIFT
        | count << COUNT_SHIFT
        | np.int64(s.stock_size) << STOCK_SHIFT
        | np.int64(s.match_turns) << TURNS_SHIFT
    )


@kernel
def deal(
    memory: NDArray[np.uint8], R: NDArray[np.int64], seed: np.uint64, game: np.uint64, num_seats: int, whole_match: int
) -> None:
    """Deal a game into the only row."""
    start_match(rows_of(memory)[0], R, seed, game, num_seats, whole_match)


@kernel
def advance(
    memory: NDArray[np.uint8],
    work: NDArray[np.uint8],
    R: NDArray[np.int64],
    shown: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    legal: NDArray[np.int16],
    count: int,
    action: int,
    observation: NDArray[np.uint8],
    mask: NDArray[np.int8],
) -> int:
    """Do an action if it is legal, and look; with ``LOOK``, only look.  Returns the outcome, or ``ILLEGAL``.

    Args:
        memory: the bytes of a record array of one row.
        work: the bytes of the rows that the search for legal actions works in.
        R: the rules' vector.
        shown: the rules as ``observe.shown_rules`` gives them.
        seen: as for ``legality.legal_actions``.
        legal: the legal actions; those after the action are written here.
        count: how many there are now.
        action: 0 or more, or ``LOOK``.
        observation: where what the seat to act sees is written; left as it is where nobody is to act.
        mask: zeros, in which the legal actions become 1.
    """
    s = rows_of(memory)[0]
    in_play = s.phase <= PLAY
    number = np.int64(s["round"])
    if action != LOOK:
        found = False
        for i in range(count):
            if legal[i] == action:
                found = True
        if not found:
            return ILLEGAL
        apply_action(s, R, action)
    count = legal_or_stuck(s, rows_of(work), R, seen, legal)
    events = 0
    if not in_play:
        events = NEWS
    elif s.phase > PLAY or s["round"] != number:
        events = NEWS | ROUND_ENDED
    if s.seat != NOBODY:
        observe(s, R, shown, np.int64(s.seat), observation)
    for i in range(count):
        mask[legal[i]] = 1
    return _outcome(s, count, events)
