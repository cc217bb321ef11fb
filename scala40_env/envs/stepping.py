"""One game stepped, judged and observed in one compiled call: what the PettingZoo face does each step.

Rows are passed as their bytes (see ``memory``), and what happened comes back as one integer, since that is quick.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.deal import start_match
from scala40_env.core.game import apply_action, is_episode_over, legal_or_stuck
from scala40_env.core.jit import kernel
from scala40_env.core.legality import legal_actions
from scala40_env.core.state import NOBODY, PLAY
from scala40_env.envs.memory import rows_of
from scala40_env.envs.observe import observe

ILLEGAL = -1
"""The answer to an action that is not legal; nothing has changed."""

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


@kernel
def _outcome(
    s: Any,
    R: NDArray[np.int64],
    shown: NDArray[np.uint8],
    legal: NDArray[np.int16],
    count: int,
    events: int,
    observation: NDArray[np.uint8],
    mask: NDArray[np.int8],
) -> int:
    """Write what the seat to act sees and may do, and say what the position is like."""
    seat = np.int64(s.seat)
    if seat == NOBODY:
        seat = NO_SEAT
    else:
        observe(s, R, shown, seat, observation)
    for i in range(count):
        mask[legal[i]] = 1
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
def begin(
    memory: NDArray[np.uint8],
    work: NDArray[np.uint8],
    R: NDArray[np.int64],
    shown: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    legal: NDArray[np.int16],
    seed: np.uint64,
    game: np.uint64,
    num_seats: int,
    whole_match: int,
    observation: NDArray[np.uint8],
    mask: NDArray[np.int8],
) -> int:
    """Deal a game into the only row, and look at it as ``look`` does."""
    start_match(rows_of(memory)[0], R, seed, game, num_seats, whole_match)
    return look(memory, work, R, shown, seen, legal, observation, mask)


@kernel
def look(
    memory: NDArray[np.uint8],
    work: NDArray[np.uint8],
    R: NDArray[np.int64],
    shown: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    legal: NDArray[np.int16],
    observation: NDArray[np.uint8],
    mask: NDArray[np.int8],
) -> int:
    """The outcome of having done nothing.

    Args:
        memory: the bytes of a record array of one row.
        work: the bytes of the rows that the search for legal actions works in.
        R: the rules' vector.
        shown: the rules as ``observe.shown_rules`` gives them.
        seen: as for ``legality.legal_actions``.
        legal: where the legal actions go.
        observation: where the seat to act sees the position; not written where nobody is to act.
        mask: zeros, in which the legal actions become 1.
    """
    s = rows_of(memory)[0]
    count = legal_actions(s, rows_of(work), R, seen, legal)
    return _outcome(s, R, shown, legal, count, 0, observation, mask)


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
    """Do an action if it is among the first ``count`` of ``legal``; returns the outcome, or ``ILLEGAL``.

    The other arguments are those of ``look``.
    """
    found = False
    for i in range(count):
        if legal[i] == action:
            found = True
    if not found:
        return ILLEGAL
    s = rows_of(memory)[0]
    in_play = s.phase <= PLAY
    number = np.int64(s["round"])
    apply_action(s, R, action)
    count = legal_or_stuck(s, rows_of(work), R, seen, legal)
    events = 0
    if not in_play:
        events = NEWS
    elif s.phase > PLAY or s["round"] != number:
        events = NEWS | ROUND_ENDED
    return _outcome(s, R, shown, legal, count, events, observation, mask)
