"""Batches in which compiled bots have seats: ``scala40_env.envs.lanes.advance``, and they act inside the kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.bots import choose_blind
from scala40_env.core.deal import decision_rng
from scala40_env.core.jit import kernel
from scala40_env.envs.lanes import (
    BEGIN,
    HOLD,
    LANE_ACTIONS,
    LANE_COUNT,
    LANE_FORCED,
    LANE_GAME,
    LANE_LEARNER,
    LANE_SEED,
    OPT_FORCED,
    OPT_PLAYERS,
    begin,
    clear,
    open_step,
    play_on,
    show,
)
from scala40_env.envs.memory import rows_of


@kernel
def advance_with_bots(
    first: int,
    last: int,
    memory: NDArray[np.uint8],
    scratch: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    R: NDArray[np.int64],
    shown: NDArray[np.uint8],
    options: NDArray[np.int64],
    actions: NDArray[np.int64],
    lanes: NDArray[np.int64],
    legal: NDArray[np.int16],
    observations: NDArray[np.uint8],
    hidden: NDArray[np.uint8],
    masks: NDArray[np.int8],
    rewards: NDArray[np.float32],
    carried: NDArray[np.float32],
    ends: NDArray[np.bool_],
    left: NDArray[np.bool_],
    points: NDArray[np.int32],
    final: NDArray[np.uint8],
    final_memory: NDArray[np.uint8],
    bots: NDArray[np.int64],
    salts: NDArray[np.uint64],
) -> None:
    """Take lanes ``first`` ... ``last - 1`` to their next decision that no bot makes.

    Args:
        bots, salts: by lane and place after the learner: the number of a bot, or a negative one for a seat that is
            played from outside, and what changes the bot's random numbers.
        The others are those of ``advance``.
    """
    rows, work, ended = rows_of(memory), rows_of(scratch), rows_of(final_memory)
    players = options[OPT_PLAYERS]
    for i in range(first, last):
        action = actions[i]
        if action == HOLD:
            continue
        s, lane, moves = rows[i], lanes[i], legal[i]
        clear(options, lane, moves, masks[i])
        open_step(options, lane, action, rewards[i], carried[i], ends[i], left[i])
        if action == BEGIN:
            begin(s, work, R, seen, options, lane, moves)
        while True:
            if action >= 0 and not play_on(
                s,
                work,
                R,
                seen,
                shown,
                options,
                lane,
                moves,
                action,
                rewards[i],
                carried[i],
                ends[i],
                left[i],
                points[i],
                final[i],
                ended[i : i + 1],
            ):
                break
            place = (np.int64(s.seat) - lane[LANE_LEARNER] + players) % players
            count = lane[LANE_COUNT]
            if bots[i, place] >= 0:
                rng = decision_rng(
                    np.uint64(lane[LANE_SEED]), np.uint64(lane[LANE_GAME]), np.int64(s.seat), lane[LANE_ACTIONS]
                )
                action = choose_blind(bots[i, place], s, work, work[1:], R, seen, moves, count, rng, salts[i, place])
            elif options[OPT_FORCED] != 0 and count == 1:
                lane[LANE_FORCED] += 1
                action = np.int64(moves[0])
            else:
                break
        show(s, R, shown, options, lane, moves, observations[i], hidden[i], masks[i])
