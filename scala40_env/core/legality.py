"""The action mask: one function per phase.

An action is legal if and only if, after it, some sequence of plays clears every obligation and ends the turn.  Legality
moves no card of the game: it plays on scratch rows (``work`` and ``memory``; see ``completion``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import packing, rules
from scala40_env.core.actions import DISCARD, DRAW, LEAVE, NUM_ACTIONS, REENTER, SWAP, TAKE
from scala40_env.core.cards import JOKER, NO_KIND, ZERO, kind_bit, lowest_kind, without_lowest
from scala40_env.core.completion import STACK, can_finish, is_plain_opening
from scala40_env.core.deal import add_card, count_seats
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.moves import cards_needed, has_opened, may_close, play
from scala40_env.core.openings import keep_openings
from scala40_env.core.plays import plays
from scala40_env.core.rules import R_OPENING_MIN, R_OVERFLOW, R_SWAP, R_TAKE_AFTER, R_TAKE_BEFORE, R_TAKEN_USES
from scala40_env.core.settling import could_be_prepared, is_in_meld, may_buy_for_meld
from scala40_env.core.state import DRAW as PHASE_DRAW
from scala40_env.core.state import DUTY_PLAY, PLAY, ROUND_OVER
from scala40_env.core.transition import can_recycle, duty_of_take, has_obligation, only_goes_out

UNKNOWN = -1


@inlined
def draw_actions(s: Any, work: Any, R: NDArray[np.int64], memory: NDArray[np.uint64], out: NDArray[np.int16]) -> int:
    """The legal actions of phase DRAW."""
    count = 0
    if s.stock_size > 0 or can_recycle(s, R):
        out[count] = DRAW
        count += 1
    if s.pile_size > 0 and _may_take(s, work, R, memory):
        out[count] = TAKE
        count += 1
    return count


@inlined
def _may_take(s: Any, work: Any, R: NDArray[np.int64], memory: NDArray[np.uint64]) -> bool:
    keeps = s.round_turns == 0 and R[rules.R_FIRST_KEEPS] != 0
    opened = has_opened(s, np.int64(s.seat))
    if keeps or (opened and R[R_TAKE_AFTER] == rules.TAKE_FREE):
        return True
    if not opened and R[R_TAKE_BEFORE] == rules.TAKE_NEVER:
        return False
    duty = duty_of_take(s, R)
    if duty == DUTY_PLAY:
        known = judge_upcard(s, R)
        if known != UNKNOWN:
            return known == 1
    work[0] = s
    t = work[0]
    t.phase = PLAY
    t.taken = s.pile[s.pile_size - 1]
    t.duty = duty
    add_card(t, np.int64(t.seat), np.int64(t.taken))
    return can_finish(work, 0, R, memory)


@inlined
def play_actions(s: Any, work: Any, R: NDArray[np.int64], memory: NDArray[np.uint64], out: NDArray[np.int16]) -> int:
    """The legal actions of phase PLAY."""
    seat = np.int64(s.seat)
    room = np.int64(s.hand_size[seat]) - cards_needed(s, R)
    opened = has_opened(s, seat)
    owes = has_obligation(s)
    unsure = 0  # from which action on it takes a look ahead to tell
    if opened and not owes:
        # a joker that is bought can be laid off at once where any meld without one has room
        sure = R[R_SWAP] == rules.SWAP_TO_HAND or (s.opened_now == 0 and room >= 1 and s.joker_room != ZERO)
        unsure = NUM_ACTIONS if sure else SWAP
    starts = not opened and not owes
    count = 0 if starts and _cannot_open(s, R, memory, room) else plays(s, R, room, out)
    if count > 0 and out[count - 1] >= unsure:
        if starts and _is_plain_start(s, R):
            count = keep_openings(s, R, memory[STACK : STACK + packing.STACK_WORDS], out, count, room)
        else:
            count = _keep_finishable(s, work, R, memory, out, count, unsure)
    if not owes or (only_goes_out(s, R) and s.hand_size[seat] == 1 and s.laid_any):
        count = discards(s, R, out, count)
    return count


@inlined
def _is_plain_start(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether ``keep_openings`` knows all that there is to know of the opening that a seat might begin."""
    return R[R_OPENING_MIN] > 0 and R[rules.R_OPENING_JOKER] != rules.OPENING_JOKER_IF_CLEAN and is_plain_opening(s, R)


@inlined
def _cannot_open(s: Any, R: NDArray[np.int64], memory: NDArray[np.uint64], room: int) -> bool:
    """Whether a seat that has laid nothing this turn surely has no play: a quick answer to a common question."""
    if not is_plain_opening(s, R):
        return False
    stack = memory[STACK : STACK + packing.STACK_WORDS]
    how, least = R[rules.R_OPENING_JOKER], R[R_OPENING_MIN]
    with_jokers = how == rules.OPENING_JOKER_ALLOWED or (how == rules.OPENING_JOKER_IF_CLEAN and least == 0)
    jokers = np.int64(s.hand_jokers[s.seat]) if with_jokers else 0
    return not packing.reaches(s.hand_one[s.seat], s.hand_two[s.seat], jokers, R, max(least, 1), room, stack)


@kernel
def _keep_finishable(
    s: Any, work: Any, R: NDArray[np.int64], memory: NDArray[np.uint64], out: NDArray[np.int16], count: int, first: int
) -> int:
    """Of the plays in ``out`` from action ``first`` on, keep those after which the turn can be completed."""
    kept = 0
    for i in range(count):
        action = np.int64(out[i])
        legal = action < first
        if not legal:
            work[0] = s
            play(work[0], R, action)
            legal = can_finish(work, 0, R, memory)
        if legal:
            out[kept] = action
            kept += 1
    return kept


@kernel
def discards(s: Any, R: NDArray[np.int64], out: NDArray[np.int16], count: int) -> int:
    """The discards of a seat that owes nothing; if the rules forbid them all, all are allowed."""
    seat = np.int64(s.seat)
    closing = s.hand_size[seat] == 1
    if closing and not may_close(s, R):
        return count
    kinds = s.hand_one[seat]
    jokers = s.hand_jokers[seat] > 0
    forbidden = _forbidden_discards(s, R, closing)
    if s.taken != NO_KIND and not s.taken_played and not R[rules.R_REDISCARD]:
        if s.taken == JOKER:
            jokers = jokers and s.hand_jokers[seat] > 1
        elif s.hand_two[seat] & kind_bit(np.int64(s.taken)) == ZERO:
            forbidden |= kind_bit(np.int64(s.taken))
    if R[rules.R_JOKER_DISCARD] == rules.JOKER_CLOSING_ONLY and not closing:
        jokers = False
    allowed = kinds & ~forbidden
    if allowed == ZERO and not jokers:
        allowed = kinds
        jokers = s.hand_jokers[seat] > 0
    while allowed != ZERO:
        out[count] = DISCARD + lowest_kind(allowed)
        count += 1
        allowed = without_lowest(allowed)
    if jokers:
        out[count] = DISCARD + JOKER
        count += 1
    return count


@kernel
def judge_upcard(s: Any, R: NDArray[np.int64]) -> int:
    """Whether an opened seat can play the upcard: 1, 0, or ``UNKNOWN`` where it takes a search to tell."""
    seat = np.int64(s.seat)
    kind = np.int64(s.pile[s.pile_size - 1])
    one, jokers = s.hand_one[seat], np.int64(s.hand_jokers[seat])
    fits = s.joker_room != ZERO
    if kind == JOKER:
        jokers += 1
    else:
        one |= kind_bit(kind)
        fits = s.layable & kind_bit(kind) != ZERO
    room = np.int64(s.hand_size[seat]) + 1 - cards_needed(s, R)
    uses = R[R_TAKEN_USES]
    if fits and uses & rules.USE_LAY_OFF and room >= 1:
        return 1
    if uses & rules.USE_LAY and room >= 3 and is_in_meld(one, jokers, R, kind):
        return 1
    if uses & rules.USE_LAY and room >= 3 and kind != JOKER and may_buy_for_meld(s, R, one, kind):
        return 1
    usual = rules.USE_LAY | rules.USE_LAY_OFF
    if R[R_OVERFLOW] == rules.OVERFLOW_SPLIT or uses & usual != usual or could_be_prepared(s, one, jokers, kind):
        return UNKNOWN
    return 0


@inlined
def _forbidden_discards(s: Any, R: NDArray[np.int64], closing: bool) -> np.uint64:
    """The kinds that may not be discarded because they could be laid off."""
    if closing:
        rule = R[rules.R_PLAYABLE_CLOSING]
    elif has_opened(s, np.int64(s.seat)):
        rule = R[rules.R_PLAYABLE_OPENED]
    else:
        rule = R[rules.R_PLAYABLE_UNOPENED]
    if rule != rules.FORBIDDEN or count_seats(np.int64(s.in_round)) < R[rules.R_PLAYABLE_SEATS]:
        return ZERO
    return s.layable


@inlined
def reentry_actions(s: Any, out: NDArray[np.int16]) -> int:
    """The choices of a seat that is over the limit, between rounds."""
    if s.pending_reentry == 0:
        return 0
    out[0] = REENTER
    out[1] = LEAVE
    return 2


@kernel
def legal_actions(s: Any, work: Any, R: NDArray[np.int64], memory: NDArray[np.uint64], out: NDArray[np.int16]) -> int:
    """The legal actions of the seat to act, ascending, into ``out`` (``int16``, ``NUM_ACTIONS``); how many there are.

    None in an episode that is over, and none for a seat that can neither draw nor take.
    """
    if s.phase == PHASE_DRAW:
        return draw_actions(s, work, R, memory, out)
    if s.phase == PLAY:
        return play_actions(s, work, R, memory, out)
    if s.phase == ROUND_OVER:
        return reentry_actions(s, out)
    return 0
