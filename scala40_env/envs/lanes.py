"""The kernels of a batch: each game is a lane, and one call takes every lane to its next decision.

A lane is the row of a game, a line of numbers beside it (``LANE_...``), and a line of each array that is shown.  What
a lane does depends on its own numbers alone, so that neither the size of a batch nor the threads that share it change
a game.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.completion import STACK
from scala40_env.core.deal import mix, start_match
from scala40_env.core.game import apply_action, is_episode_over, legal_or_stuck, redact
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.packing import STACK_WORDS
from scala40_env.core.state import NOBODY, PLAY
from scala40_env.envs.derived import derive
from scala40_env.envs.memory import rows_of
from scala40_env.envs.observe import hidden_part, observation_size, observe
from scala40_env.envs.rewards import pay_ends, round_rewards, winners_of

# What a lane is told to do instead of an action:
BEGIN, HOLD = -1, -2
"""Begin the lane's next game; leave the lane as it is."""
NONE_REFUSED = -1
NO_SEAT = -1

# The numbers of a lane:
(
    LANE_SEAT,  # the seat to act, or NO_SEAT
    LANE_COUNT,  # how many legal actions it has
    LANE_LEARNER,  # the seat of the learner; 0 where every seat is played from outside
    LANE_SEED,  # of its deals; a 64-bit word
    LANE_NEXT,  # the number of the game that it begins next; a 64-bit word
    LANE_GAME,  # the number of the game that it plays; a 64-bit word
    LANE_ACTIONS,  # actions of the episode, of all seats, forced ones too
    LANE_FORCED,  # forced actions that the lane has played by itself, since the batch was made
    LANE_SKIPPED,  # games that were over before the learner had a decision, since the batch was made
    LANE_DECIDED,  # 1: the learner (or, without one, any seat) has had a decision in the game
    LANE_WINNERS,  # who won the episode that ended last (mask); 0 where it was cut short
    LANE_VIEWER,  # whose observation is shown
    LANE_LAST_VIEWER,  # whose observation ended the episode that ended last
    LANE_OVER,  # 1: the episode has ended, in whatever way, and waits for the next one to begin
) = range(14)
LANE_NUMBERS = 14

# The options of a batch:
(
    OPT_PLAYERS,  # seats
    OPT_MATCH,  # 1: an episode is a match
    OPT_REWARD,  # which of rewards.REWARDS
    OPT_TURN_LIMIT,  # turns of an episode after which it is truncated
    OPT_FORCED,  # 1: an action that has no alternative is played inside
    OPT_AUTORESET,  # 1: a game that ends is followed at once by a new one
    OPT_STRIDE,  # by how much the number of a lane's game grows
    OPT_SEATING,  # the learner's seat, or SEATED_...
    OPT_HIDDEN,  # 1: what is hidden is written for a critic
    OPT_CLEAR,  # 1: masks are cleared whole, since their memory is new
) = range(10)
NUM_OPTIONS = 10
NO_LEARNER, SEATED_IN_TURN, SEATED_BY_LOT = -1, -2, -3
"""Every seat is played from outside; the learner's seat goes round with the games; it is drawn for each game."""

GOES_ON, TERMINATED, TRUNCATED = 0, 1, 2
_SEATING_STREAM = np.uint64(0x73656174696E6700)


@kernel
def first_refused(actions: NDArray[np.int64], masks: NDArray[np.int8], may_hold: bool) -> int:
    """The first lane whose action is not legal, or ``NONE_REFUSED``; ``HOLD`` is taken where it may be."""
    for i in range(len(actions)):
        action = actions[i]
        if action >= 0 and action < masks.shape[1] and masks[i, action] != 0:
            continue
        if not may_hold or action != HOLD:
            return i
    return NONE_REFUSED


@inlined
def _seat_of_learner(seating: int, seed: np.uint64, game: np.uint64, players: int) -> int:
    if seating == SEATED_IN_TURN:
        return np.int64(game % np.uint64(players))
    if seating == SEATED_BY_LOT:
        return np.int64((mix(mix(seed ^ _SEATING_STREAM) + game) >> np.uint64(33)) % np.uint64(players))
    return max(seating, 0)


@kernel
def begin(
    s: Any,
    work: Any,
    R: NDArray[np.int64],
    seen: NDArray[np.uint64],
    options: NDArray[np.int64],
    lane: NDArray[np.int64],
    legal: NDArray[np.int16],
) -> None:
    """Deal the lane's next game."""
    seed, game = np.uint64(lane[LANE_SEED]), np.uint64(lane[LANE_NEXT])
    lane[LANE_GAME] = lane[LANE_NEXT]
    lane[LANE_NEXT] += options[OPT_STRIDE]
    lane[LANE_ACTIONS] = 0
    lane[LANE_DECIDED] = 0
    lane[LANE_OVER] = 0
    lane[LANE_LEARNER] = _seat_of_learner(options[OPT_SEATING], seed, game, options[OPT_PLAYERS])
    start_match(s, R, seed, game, options[OPT_PLAYERS], options[OPT_MATCH])
    lane[LANE_COUNT] = legal_or_stuck(s, work, R, seen, legal)


@kernel
def act(
    s: Any,
    work: Any,
    R: NDArray[np.int64],
    seen: NDArray[np.uint64],
    options: NDArray[np.int64],
    lane: NDArray[np.int64],
    legal: NDArray[np.int16],
    action: int,
    rewards: NDArray[np.float32],
    carried: NDArray[np.float32],
    left: NDArray[np.bool_],
) -> int:
    """Do a legal action in a lane, pay for it, and find the legal actions after it.

    Args:
        rewards: what each seat is paid is added to it,
        carried: or to this, while the learner has not had a decision.
        left: the seats that leave the episode are marked in it.

    Returns:
        ``GOES_ON``, ``TERMINATED`` or ``TRUNCATED``.
    """
    in_play = s.phase <= PLAY
    number, members = np.int64(s["round"]), np.int64(s.in_match)
    lane[LANE_ACTIONS] += 1
    apply_action(s, R, action)
    lane[LANE_COUNT] = legal_or_stuck(s, work, R, seen, legal)
    if in_play and s.phase <= PLAY and s["round"] == number:
        return TRUNCATED if s.match_turns >= options[OPT_TURN_LIMIT] else GOES_ON
    paid = rewards if lane[LANE_DECIDED] != 0 else carried
    if in_play:
        round_rewards(options[OPT_REWARD], s.points, np.int64(s.ended_in_round), paid)
    over = is_episode_over(s)
    gone = members if over else members & ~np.int64(s.in_match)
    for seat in range(options[OPT_PLAYERS]):
        if (gone >> seat) & 1 and lane[LANE_DECIDED] != 0:
            left[seat] = True
    pay_ends(s, options[OPT_REWARD], gone, over, paid)
    if over or (options[OPT_SEATING] != NO_LEARNER and (gone >> lane[LANE_LEARNER]) & 1):
        return TERMINATED
    return TRUNCATED if s.match_turns >= options[OPT_TURN_LIMIT] else GOES_ON


@inlined
def clear(
    options: NDArray[np.int64], lane: NDArray[np.int64], legal: NDArray[np.int16], mask: NDArray[np.int8]
) -> None:
    """Take a lane's last actions out of its mask."""
    if options[OPT_CLEAR] != 0:
        for k in range(len(mask)):
            mask[k] = 0
    else:
        for k in range(lane[LANE_COUNT]):
            mask[legal[k]] = 0


@inlined
def viewer_of(s: Any, options: NDArray[np.int64], lane: NDArray[np.int64]) -> int:
    """Who looks: the seat to act, and where there is none the learner, or seat 0."""
    if s.seat == NOBODY or (options[OPT_SEATING] != NO_LEARNER and lane[LANE_COUNT] == 0):
        return lane[LANE_LEARNER]
    return np.int64(s.seat)


@kernel
def show(
    s: Any,
    R: NDArray[np.int64],
    shown: NDArray[np.uint8],
    options: NDArray[np.int64],
    lane: NDArray[np.int64],
    legal: NDArray[np.int16],
    observation: NDArray[np.uint8],
    hidden: NDArray[np.uint8],
    mask: NDArray[np.int8],
) -> None:
    """Write what the seat to act sees and may do; where the lane has ended, what its viewer sees, and no mask."""
    for k in range(lane[LANE_COUNT]):
        mask[legal[k]] = 1
    viewer = viewer_of(s, options, lane)
    lane[LANE_VIEWER] = viewer
    lane[LANE_SEAT] = viewer if lane[LANE_COUNT] > 0 else NO_SEAT
    observe(s, R, shown, viewer, observation)
    if options[OPT_HIDDEN] != 0:
        hidden_part(s, viewer, hidden)


@inlined
def note_end(
    s: Any,
    R: NDArray[np.int64],
    shown: NDArray[np.uint8],
    options: NDArray[np.int64],
    lane: NDArray[np.int64],
    final: NDArray[np.uint8],
    ended: Any,
    points: NDArray[np.int32],
) -> None:
    """Keep what an episode ended with: its row, its totals, and what the viewer saw last."""
    ended[0] = s
    for seat in range(options[OPT_PLAYERS]):
        points[seat] = s.totals[seat]
    lane[LANE_WINNERS] = winners_of(s) if is_episode_over(s) else 0
    lane[LANE_COUNT] = 0
    lane[LANE_OVER] = 1
    lane[LANE_LAST_VIEWER] = viewer_of(s, options, lane)
    observe(s, R, shown, lane[LANE_LAST_VIEWER], final)


@inlined
def open_step(
    options: NDArray[np.int64],
    lane: NDArray[np.int64],
    action: int,
    rewards: NDArray[np.float32],
    carried: NDArray[np.float32],
    ends: NDArray[np.bool_],
    left: NDArray[np.bool_],
) -> None:
    """Forget what the last step said, unless an opponent acts within the step of a learner."""
    if action >= 0 and options[OPT_SEATING] != NO_LEARNER and lane[LANE_SEAT] != lane[LANE_LEARNER]:
        return
    ends[0] = False
    ends[1] = False
    left[:] = False
    for seat in range(options[OPT_PLAYERS]):
        rewards[seat] = carried[seat] if action >= 0 else np.float32(0.0)
        carried[seat] = 0.0
    if action >= 0:
        lane[LANE_DECIDED] = 1


@inlined
def play_on(
    s: Any,
    work: Any,
    R: NDArray[np.int64],
    seen: NDArray[np.uint64],
    shown: NDArray[np.uint8],
    options: NDArray[np.int64],
    lane: NDArray[np.int64],
    legal: NDArray[np.int16],
    action: int,
    rewards: NDArray[np.float32],
    carried: NDArray[np.float32],
    ends: NDArray[np.bool_],
    left: NDArray[np.bool_],
    points: NDArray[np.int32],
    final: NDArray[np.uint8],
    ended: Any,
) -> bool:
    """Do an action, and where it ends the game begin the next one; whether there is a game that goes on.

    A game that ends before its learner had a decision is skipped: nothing is said of it.
    """
    end = act(s, work, R, seen, options, lane, legal, action, rewards, carried, left)
    if end == GOES_ON:
        return True
    if lane[LANE_DECIDED] == 0:
        lane[LANE_SKIPPED] += 1
        carried[:] = 0.0
    else:
        ends[end - 1] = True
        note_end(s, R, shown, options, lane, final, ended, points)
        if options[OPT_AUTORESET] == 0:
            return False
    begin(s, work, R, seen, options, lane, legal)
    return True


@kernel
def advance(
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
) -> None:
    """Take lanes ``first`` ... ``last - 1`` to their next decision; the arrays are those of ``batch.Batch``."""
    rows, work, ended = rows_of(memory), rows_of(scratch), rows_of(final_memory)
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
            if options[OPT_FORCED] == 0 or lane[LANE_COUNT] != 1:
                break
            lane[LANE_FORCED] += 1
            action = np.int64(moves[0])
        show(s, R, shown, options, lane, moves, observations[i], hidden[i], masks[i])


@kernel
def derive_lanes(
    first: int,
    last: int,
    memory: NDArray[np.uint8],
    final_memory: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    R: NDArray[np.int64],
    options: NDArray[np.int64],
    actions: NDArray[np.int64],
    lanes: NDArray[np.int64],
    ends: NDArray[np.bool_],
    observations: NDArray[np.uint8],
    final: NDArray[np.uint8],
) -> None:
    """Write the derived part behind the observations of the lanes that ``advance`` has taken on.

    It is a pass of its own, so that only who asks for it has it compiled.
    """
    rows, ended = rows_of(memory), rows_of(final_memory)
    at = observation_size(options[OPT_PLAYERS])
    stack = seen[STACK : STACK + STACK_WORDS]  # the rest of the memory belongs to the search for legal actions
    for i in range(first, last):
        if actions[i] == HOLD:
            continue
        if ends[i, 0] or ends[i, 1]:
            viewer = lanes[i, LANE_LAST_VIEWER]
            derive(ended[i], R, viewer, stack, final[i, at:])
        derive(rows[i], R, lanes[i, LANE_VIEWER], stack, observations[i, at:])


@kernel
def look(
    memory: NDArray[np.uint8],
    scratch: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    R: NDArray[np.int64],
    shown: NDArray[np.uint8],
    options: NDArray[np.int64],
    lanes: NDArray[np.int64],
    legal: NDArray[np.int16],
    observations: NDArray[np.uint8],
    hidden: NDArray[np.uint8],
    masks: NDArray[np.int8],
) -> None:
    """Find again what follows from the rows, which somebody has written; an episode that is over stays so."""
    rows, work = rows_of(memory), rows_of(scratch)
    for i in range(len(lanes)):
        s, lane, moves = rows[i], lanes[i], legal[i]
        clear(options, lane, moves, masks[i])
        over = lane[LANE_OVER] != 0 or is_episode_over(s)
        lane[LANE_COUNT] = 0 if over else legal_or_stuck(s, work, R, seen, moves)
        show(s, R, shown, options, lane, moves, observations[i], hidden[i], masks[i])


@kernel
def redact_lanes(memory: NDArray[np.uint8], seats: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
    """Write each row as one seat may know it: a seat a row, or ``NO_SEAT`` for the row of a seat that knows nothing."""
    rows, views = rows_of(memory), rows_of(out)
    for i in range(len(seats)):
        views[i] = rows[i]
        redact(rows[i], seats[i], views[i])


@kernel
def choose_uniformly(
    legal: NDArray[np.int16], counts: NDArray[np.int64], numbers: NDArray[np.uint64], actions: NDArray[np.int64]
) -> None:
    """Draw one legal action for each game; ``HOLD`` where there is none.

    Args:
        legal, counts: those of a batch.
        numbers: the state of the draws: one word, not 0 (xorshift64).
        actions: the answer.
    """
    x = numbers[0]
    for i in range(len(counts)):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        count = counts[i]
        actions[i] = (
            HOLD if count == 0 else legal[i, np.int64(((x >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))]
        )
    numbers[0] = x
