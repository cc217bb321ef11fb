"""Which worlds are likely: what the last seat to move did says something about its hand.

``core.determinize`` deals the hidden cards without asking what the players did.  But a seat that holds an opening
opens, and a seat that holds two kings does not discard the third.  Here a world is put to the test of the last move:
the discard goes back into the hand that the world gives to the seat before, and a compiled bot is asked what it would
do with it.  Where it would have laid something, or discarded another card, the world is kept only sometimes.  The
worlds that are left are drawn from Bayes' rule for a player who does what the bot does or, less often, anything else.

What it leaves out: earlier moves, since a row does not keep the hands of then; with more than two players, all seats
but the last to move; and what the searching seat has laid itself since, which the bot sees on the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.bots import choose_blind
from scala40_env.core.actions import DISCARD
from scala40_env.core.cards import JOKER, NO_KIND, kind_bit
from scala40_env.core.deal import add_card, below, stream
from scala40_env.core.determinize import determinize
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.legality import legal_actions
from scala40_env.core.state import DREW_STOCK, DREW_UPCARD, NOBODY, PLAY
from scala40_env.core.transition import clear_turn

NO_BELIEF = -1
"""In place of a bot's number: every world is as likely as another."""
MOST_TRIES = 64
"""Worlds that are looked at for one that is kept; the last is kept in any case."""
_WORLDS, _KEEPS = 1 << 24, 1 << 27


@inlined
def _last_mover(s: Any, seat: int) -> int:
    """The seat of the round whose turn came before that of ``seat``, if it has had one; else ``NOBODY``."""
    n = np.int64(s.num_seats)
    for step in range(1, n):
        other = (seat + n - step) % n
        if (s.in_round >> other) & 1:
            return other if s.turns[other] > 0 else NOBODY
    return NOBODY


@inlined
def _forget_one(s: Any, seat: int, kind: int) -> None:
    """Take one copy of a card out of a hand and, where everybody saw it, out of what is known of the hand."""
    s.hand_size[seat] -= 1
    if kind == JOKER:
        s.hand_jokers[seat] -= 1
        s.known_jokers[seat] -= min(np.int64(s.known_jokers[seat]), 1)
        return
    bit = kind_bit(kind)
    s.hand_one[seat] &= ~(bit & ~s.hand_two[seat])
    s.hand_two[seat] &= ~bit
    s.known_one[seat] &= ~(bit & ~s.known_two[seat])
    s.known_two[seat] &= ~bit


@kernel
def before_last_discard(s: Any, seat: int) -> int:
    """Make a whole row what it was, as far as it says, when the seat before ``seat`` was about to discard.

    Args:
        s: the row, in the turn of ``seat``; changed.
        seat: the seat that has the turn.

    Returns:
        The kind that was discarded; ``NO_KIND`` where the row does not say, and then it is not changed.
    """
    mover = _last_mover(s, seat)
    if mover == NOBODY:
        return NO_KIND
    if s.drew == DREW_UPCARD:
        kind = np.int64(s.taken)
        if s.taken_played == 0:
            _forget_one(s, seat, kind)
    elif s.pile_size > 0:
        s.pile_size -= 1
        kind = np.int64(s.pile[s.pile_size])
        s.pile[s.pile_size] = NO_KIND
    else:
        return NO_KIND
    clear_turn(s)
    add_card(s, mover, kind)
    s.seat, s.phase, s.drew = mover, PLAY, DREW_STOCK
    s.turns[mover] -= 1
    s.round_turns -= 1
    s.match_turns -= 1
    return kind


@kernel
def draw_world(
    s: Any,
    seat: int,
    R: NDArray[np.int64],
    rng: np.uint64,
    number: int,
    believed: int,
    doubt: float,
    salt: np.uint64,
    scratch: tuple[Any, ...],
) -> bool:
    """Write a world into the first of the scratch's rows: a whole row that agrees with what a seat knows.

    Args:
        s: the row, full or redacted for the seat.
        seat: whose turn it is.
        R: the rules' vector.
        rng, number: where the world is drawn from.
        believed: the number of the bot that the others are believed to play like; ``NO_BELIEF``: all worlds are
            equally likely.
        doubt: how likely a world is, against others, in which that bot would not have done what was done: 0 to 1.
        salt: the bot's.
        scratch: of ``agents.pimc.SearchScratch``.

    Returns:
        Whether there is one.
    """
    work, seen, legal, world, game, view, _, _ = scratch
    state = stream(rng, np.uint64(number), 0, _KEEPS)
    for attempt in range(MOST_TRIES):
        draws = stream(rng, np.uint64(number), np.int64(attempt), _WORLDS)
        if determinize(s, seat, R, draws, work, seen, legal, world) <= 0:
            return False
        if believed == NO_BELIEF:
            break
        game[0] = world[0]
        t = game[0]
        kind = before_last_discard(t, seat)
        if kind == NO_KIND:
            break
        count = legal_actions(t, work, R, seen, legal)
        if count > 0 and choose_blind(believed, t, view, work, R, seen, legal, count, state, salt) == DISCARD + kind:
            break
        state, drawn = below(state, 1 << 20)
        if drawn < doubt * (1 << 20):
            break
    world[0].whole_match = 0
    return True
