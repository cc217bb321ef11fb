"""The state of a game: one structured row, ``ROW``; a batch is a record array of rows, one row a game.

Copying a game is assigning a row, saving it is ``numpy.save``.  Every field says its meaning, and when it holds.  A
row is complete: with the rules and the actions that follow, it decides everything that happens.

Card lists (``stock``, ``pile``) end with their top card.  Masks of cards are hand masks of ``cards``; masks of slots
and of seats have bit ``i`` for slot or seat ``i``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.actions import MAX_SLOTS
from scala40_env.core.cards import MAX_CARDS, MAX_SEATS, NO_KIND, NUM_KINDS

# phase
DRAW, PLAY, ROUND_OVER, MATCH_OVER = 0, 1, 2, 3
PHASE_NAMES = ("draw", "play", "round_over", "match_over")

# how the last round ended
(END_NONE, END_CLOSED, END_DEAD_POSITION, END_STOCK_OUT, END_TURN_CAP, END_STUCK, END_TRUNCATED) = range(7)
END_NAMES = ("none", "closed", "dead_position", "stock_out", "turn_cap", "stuck", "truncated")
"""``closed`` aside, all but ``truncated`` are ends by the rules, scored as ``dead_round_result`` says."""

# what was drawn this turn
DREW_NOTHING, DREW_STOCK, DREW_UPCARD = 0, 1, 2
# what the upcard that was taken obliges the seat to
DUTY_NONE, DUTY_PLAY, DUTY_OPEN_WITH, DUTY_OPEN = 0, 1, 2, 3
# what lies in a slot
EMPTY, SET, RUN = 0, 1, 2

NOBODY = 255
MOST_DISCARDS = 255
"""What the count of a seat's discards of a kind goes up to; more are not counted."""
NO_SLOT = 255
NO_JOKER = 255

_FIELDS: list[tuple[Any, ...]] = [
    # --- the match -------------------------------------------------------------------------------------------
    ("seed", np.uint64),  # with game, round and recycles it decides every card; 0 in a redacted row
    ("game", np.uint64),  # the game's number under the seed; 0 in a redacted row
    ("round", np.int32),  # rounds finished before this one
    ("num_seats", np.uint8),  # 2 ... 6
    ("whole_match", np.uint8),  # 1: an episode is a match; 0: it is one round
    ("in_match", np.uint8),  # mask of the seats still in the match
    ("in_round", np.uint8),  # mask of the seats dealt into this round
    ("dealer", np.uint8),
    ("totals", np.int32, (MAX_SEATS,)),  # points of the match so far
    ("reentries", np.int32, (MAX_SEATS,)),  # how often each seat has come back
    ("winners", np.uint8),  # mask, when phase is MATCH_OVER; else 0
    # --- the last round that ended ---------------------------------------------------------------------------
    ("end", np.uint8),  # END_...; END_NONE before the first round has ended
    ("closer", np.uint8),  # the seat that went out, or NOBODY
    ("closed_in_hand", np.uint8),  # 1: it opened and went out in the same turn
    ("points", np.int32, (MAX_SEATS,)),  # what each seat was charged
    ("ended_opened", np.uint8),  # mask of the seats that had opened
    ("ended_in_round", np.uint8),  # mask of the seats that played it
    ("ended_turns", np.int32),  # how many turns it took
    # --- the round -------------------------------------------------------------------------------------------
    ("phase", np.uint8),  # DRAW ... MATCH_OVER
    ("seat", np.uint8),  # the seat to act; in ROUND_OVER the seat that chooses re-entry, NOBODY where none does
    ("pending_reentry", np.uint8),  # mask of the seats that have yet to choose, in ROUND_OVER
    ("round_turns", np.int32),  # turns completed in this round, by all seats
    ("match_turns", np.int32),  # turns completed in this episode
    ("turns", np.int32, (MAX_SEATS,)),  # turns that each seat has completed in this round
    ("has_opened", np.uint8),  # mask of seats
    ("recycles", np.int32),  # how often the pile has become the stock in this round
    ("hand_one", np.uint64, (MAX_SEATS,)),  # kinds of which the seat holds at least one copy
    ("hand_two", np.uint64, (MAX_SEATS,)),  # kinds of which it holds two
    ("hand_jokers", np.uint8, (MAX_SEATS,)),
    ("hand_size", np.uint8, (MAX_SEATS,)),  # all cards, hidden ones too
    ("known_one", np.uint64, (MAX_SEATS,)),  # as the hand, but only what everybody saw the seat take
    ("known_two", np.uint64, (MAX_SEATS,)),
    ("known_jokers", np.uint8, (MAX_SEATS,)),
    ("used_slots", np.uint64),  # mask of the slots in which a meld lies
    ("meld_type", np.uint8, (MAX_SLOTS,)),  # EMPTY, SET, RUN
    ("meld_rank", np.uint8, (MAX_SLOTS,)),  # a set's rank; a run's lowest rank, 0 ... 11
    ("meld_suits", np.uint8, (MAX_SLOTS,)),  # a set's suits as bits, the joker's too; a run's suit, 0 ... 3
    ("meld_size", np.uint8, (MAX_SLOTS,)),  # cards in the meld
    ("meld_joker", np.uint8, (MAX_SLOTS,)),  # the suit (set) or rank 0 ... 13 (run) it stands for, or NO_JOKER
    # what fits onto the table, kept by ``melds.note_table``
    ("layable", np.uint64),  # the natural kinds that fit onto a meld, whoever may lay them off
    ("swappable", np.uint64),  # the natural kinds for which a meld would give its joker
    ("joker_room", np.uint64),  # mask of the slots to which a joker may be added
    ("stock_size", np.uint8),
    ("stock_known", np.uint8),  # how many cards from the bottom of the stock everybody knows
    ("stock", np.uint8, (MAX_CARDS,)),  # kinds; NO_KIND beyond the size, and where hidden
    ("pile_size", np.uint8),
    ("pile", np.uint8, (MAX_CARDS,)),
    ("discards", np.uint8, (MAX_SEATS, NUM_KINDS)),  # what each seat has discarded in this round, by kind
    # --- the turn (all zero, or the named "nothing", in DRAW) ------------------------------------------------
    ("drew", np.uint8),  # DREW_...
    ("taken", np.uint8),  # the kind taken as upcard, or NO_KIND
    ("taken_played", np.uint8),  # 1: a card of that kind has been played since
    ("duty", np.uint8),  # DUTY_..., while it is not cleared
    ("laid_points", np.int32),  # points towards the opening, while the seat has not opened before this turn
    ("laid_any", np.uint8),  # 1: the seat has laid a meld this turn
    ("opened_now", np.uint8),  # 1: the seat has opened this turn
    ("jokers_owed", np.uint8),  # jokers taken by swaps that must still be played
    ("new_slots", np.uint64),  # mask of the slots laid this turn
    ("last_slot", np.uint8),  # the slot laid last this turn, or NO_SLOT
    ("split_slot", np.uint8),  # the slot whose run is too long and must be split, or NO_SLOT
]


def _row_type() -> np.dtype[Any]:
    """The fields by falling size of their numbers, filled up to whole words: no byte of a row is undefined."""
    ordered = sorted(_FIELDS, key=lambda field: -np.dtype(field[1]).itemsize)
    size = np.dtype(ordered).itemsize
    return np.dtype([*ordered, ("spare", np.uint8, (-size % 8 + 8,))], align=True)


ROW = _row_type()
ROW_SIZE = ROW.itemsize


def allocate(num_games: int) -> NDArray[Any]:
    """Rows for so many games: a record array, all zero; nothing is dealt yet."""
    return np.zeros(num_games, dtype=ROW).view(np.recarray)


def blank() -> Any:
    """One row in which nobody sits and nothing lies on the table, as a record array of one."""
    rows = allocate(1)
    row = rows[0]
    row.closer = NOBODY
    row.meld_joker[:] = NO_JOKER
    row.stock[:] = NO_KIND
    row.pile[:] = NO_KIND
    row.taken = NO_KIND
    row.last_slot = NO_SLOT
    row.split_slot = NO_SLOT
    return rows
