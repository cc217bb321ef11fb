"""Applying an action: one function per phase; what a turn still owes, and how it ends.

Nothing here judges: an action is legal because ``legality`` says so.  ``moves`` has the plays of a turn; here are the
draw, the discard, and the ends of the turn, the round and the match.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import actions, rules, state
from scala40_env.core.actions import (
    DISCARD,
    SPLIT,
)
from scala40_env.core.cards import (
    NO_KIND,
    ZERO,
)
from scala40_env.core.deal import add_card, clear_turn, next_seat, reshuffle_stock
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.moves import _note_known, has_opened, is_over_limit, may_close, play, remove_card
from scala40_env.core.rules import R_CLOSE_DISCARD, R_MAX_RECYCLES, R_MAX_TURNS, R_RECYCLE
from scala40_env.core.scoring import end_round
from scala40_env.core.state import (
    DRAW,
    DUTY_NONE,
    DUTY_OPEN,
    DUTY_OPEN_WITH,
    DUTY_PLAY,
    MOST_DISCARDS,
    NO_SLOT,
    PLAY,
)


@kernel
def has_obligation(s: Any) -> bool:
    """Whether something must still be done before the turn may end."""
    if s.duty != DUTY_NONE or s.jokers_owed != 0 or s.split_slot != NO_SLOT:
        return True
    return s.laid_any != 0 and not has_opened(s, np.int64(s.seat))


@kernel
def only_goes_out(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether nothing is owed but the opening, and the rules let a seat without one go out in hand."""
    if R[rules.R_IN_HAND_MIN] or not may_close(s, R):
        return False
    if s.jokers_owed != 0 or s.split_slot != NO_SLOT or has_opened(s, np.int64(s.seat)):
        return False
    return s.duty == DUTY_NONE or s.duty == DUTY_OPEN


@kernel
def may_recycle(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether the rules let the pile become the stock once more in this round."""
    limit = R[R_MAX_RECYCLES]
    return R[R_RECYCLE] != rules.RECYCLE_END and (limit == rules.NO_LIMIT or s.recycles < limit)


@kernel
def can_recycle(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether the pile may become the stock now, and has cards for it."""
    kept = 1 if R[rules.R_RECYCLE_KEEPS] else 0
    return may_recycle(s, R) and s.pile_size > kept


@kernel
def _recycle(s: Any, R: NDArray[np.int64]) -> None:
    size = np.int64(s.pile_size)
    kept = 1 if R[rules.R_RECYCLE_KEEPS] else 0
    moved = size - kept
    for i in range(moved):
        s.stock[i] = s.pile[moved - 1 - i]  # turned over: the oldest discard is on top
    if kept:
        s.pile[0] = s.pile[size - 1]
    for i in range(kept, size):
        s.pile[i] = NO_KIND
    s.pile_size = kept
    s.stock_size = moved
    s.recycles += 1
    if R[R_RECYCLE] == rules.RECYCLE_SHUFFLE:
        s.stock_known = 0
        reshuffle_stock(s)
    else:
        s.stock_known = moved


@inlined
def apply_draw(s: Any, R: NDArray[np.int64], action: int) -> None:
    """Draw from the stock, or take the upcard."""
    seat = np.int64(s.seat)
    if action == actions.DRAW:
        if s.stock_size == 0:
            _recycle(s, R)
        top = np.int64(s.stock_size) - 1
        kind = np.int64(s.stock[top])
        s.stock[top] = NO_KIND
        s.stock_size = top
        add_card(s, seat, kind)
        if s.stock_known > top:
            s.stock_known = top
            _note_known(s, seat, kind)
        s.drew = state.DREW_STOCK
        if top == 0 and R[rules.R_RECYCLE_WHEN] == rules.RECYCLE_LAST_DRAWN and can_recycle(s, R):
            _recycle(s, R)
    else:
        top = np.int64(s.pile_size) - 1
        kind = np.int64(s.pile[top])
        s.pile[top] = NO_KIND
        s.pile_size = top
        add_card(s, seat, kind)
        _note_known(s, seat, kind)
        s.drew = state.DREW_UPCARD
        s.taken = kind
        s.duty = duty_of_take(s, R)
    s.phase = PLAY


@kernel
def duty_of_take(s: Any, R: NDArray[np.int64]) -> int:
    """What the seat to act owes for taking the upcard now."""
    if s.round_turns == 0 and R[rules.R_FIRST_KEEPS]:
        return DUTY_NONE
    if has_opened(s, np.int64(s.seat)):
        return DUTY_PLAY if R[rules.R_TAKE_AFTER] == rules.TAKE_MUST_USE else DUTY_NONE
    return DUTY_OPEN_WITH if R[rules.R_TAKE_BEFORE] == rules.TAKE_IN_OPENING else DUTY_OPEN


@inlined
def _is_dead(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether nobody can ever play again: all have opened, hold too few cards for a meld, and no meld has room."""
    if s.has_opened & s.in_round != s.in_round:
        return False
    most = 2 if R[R_CLOSE_DISCARD] else 1
    for seat in range(s.num_seats):
        if (s.in_round >> seat) & 1 and s.hand_size[seat] > most:
            return False
    return s.layable == ZERO and s.joker_room == ZERO


@inlined
def _end_turn(s: Any, R: NDArray[np.int64]) -> None:
    s.turns[s.seat] += 1
    s.round_turns += 1
    s.match_turns += 1
    clear_turn(s)
    if _is_dead(s, R):
        end_round(s, R, state.END_DEAD_POSITION)
    elif R[R_MAX_TURNS] != rules.NO_LIMIT and s.round_turns >= R[R_MAX_TURNS]:
        end_round(s, R, state.END_TURN_CAP)
    elif s.stock_size == 0 and not may_recycle(s, R):
        end_round(s, R, state.END_STOCK_OUT)
    else:
        s.seat = next_seat(s, np.int64(s.seat), np.int64(s.in_round))
        s.phase = DRAW


@kernel
def _go_out(s: Any, R: NDArray[np.int64]) -> None:
    s.closer = s.seat
    opened = has_opened(s, np.int64(s.seat))
    s.closed_in_hand = 1 if s.opened_now != 0 or not opened else 0
    s.round_turns += 1
    s.match_turns += 1
    s.turns[s.seat] += 1
    end_round(s, R, state.END_CLOSED)


@inlined
def apply_play(s: Any, R: NDArray[np.int64], action: int) -> None:
    """Do a play of a turn, or the discard that ends it."""
    seat = np.int64(s.seat)
    if DISCARD <= action < SPLIT:
        kind = action - DISCARD
        remove_card(s, seat, kind)
        s.pile[s.pile_size] = kind
        s.pile_size += 1
        s.discards[seat, kind] = min(np.int64(s.discards[seat, kind]) + 1, MOST_DISCARDS)
        if s.hand_size[seat] == 0:
            _go_out(s, R)
        else:
            _end_turn(s, R)
    else:
        play(s, R, action)
        if s.hand_size[seat] == 0 and not is_over_limit(s):
            _go_out(s, R)
