"""What a seat sees: a flat ``uint8`` observation, written by one kernel.

``observe`` reads only what the viewer may know, so that a full row and a redacted one give the same bytes.  The layout
is the same for every rulebook and depends on the number of seats alone: first what belongs to the viewer and to the
table, at offsets that are constants, then what there is by seat, the viewer's own first and then in the order of play.
``observation`` has the slices by name.

Counts by kind are 53 numbers, one a face (``suit * 13 + rank``, the joker last).  Seats are relative to the viewer: 0
is the viewer, 1 plays next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.actions import MAX_SLOTS
from scala40_env.core.cards import (
    JOKER,
    MAX_CARDS,
    NO_KIND,
    NUM_KINDS,
    ZERO,
    lowest_bit_index,
    lowest_kind,
    without_lowest,
)
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.melds import joker_kind
from scala40_env.core.rules import (
    FLAGS,
    NUM_FLAGS,
    R_LIMIT,
    Rules,
)
from scala40_env.core.state import NO_JOKER
from scala40_env.envs.memory import copy_bytes, rows_of

MOST = 255
"""The greatest number that an observation holds; what is greater is clipped."""

# --- offsets -----------------------------------------------------------------------------------------------------
# Written whole:
TABLE_TYPE = 0
TABLE_RANK = TABLE_TYPE + MAX_SLOTS
TABLE_SUITS = TABLE_RANK + MAX_SLOTS
TABLE_SIZE = TABLE_SUITS + MAX_SLOTS
TABLE_JOKER = TABLE_SIZE + MAX_SLOTS
RULES = TABLE_JOKER + MAX_SLOTS
SCALARS = RULES + NUM_FLAGS
(
    TAKEN_PLAYED,
    LAID_POINTS,
    LAID_ANY,
    OPENED_NOW,
    JOKERS_OWED,
    LAST_SLOT,
    SPLIT_SLOT,
    ROUND,
    ROUND_TURNS,
    RECYCLES,
    STOCK_SIZE,
    STOCK_KNOWN,
    PILE_SIZE,
) = range(SCALARS, SCALARS + 13)
# Written sparsely, after all of them, and what is known of each seat's hand, have been set to zero:
HAND = SCALARS + 13
UPCARD = HAND + NUM_KINDS
PILE = UPCARD + NUM_KINDS + 1
LAYABLE = PILE + NUM_KINDS
TABLE_JOKERS = LAYABLE + NUM_KINDS
KNOWN_STOCK = TABLE_JOKERS + NUM_KINDS
NEXT_CARD = KNOWN_STOCK + NUM_KINDS
TAKEN = NEXT_CARD + NUM_KINDS + 1
PHASE = TAKEN + NUM_KINDS + 1
DREW = PHASE + 4
DUTY = DREW + 3
TABLE_NEW = DUTY + 4
# By seat, the viewer first, and then in the order of play: what is known of the hands, then what has been discarded,
# then a block of numbers for each.
KNOWN = TABLE_NEW + MAX_SLOTS
SEAT_HAND_SIZE, SEAT_IN_MATCH, SEAT_IN_ROUND, SEAT_OPENED, SEAT_SCORE, SEAT_TURNS, SEAT_REENTRIES = range(7)
SEAT_TO_ACT, SEAT_DEALER, SEAT_REENTRY_DUE = 7, 8, 9
SEAT_SCALARS = 10


@inlined
def discards_offset(num_seats: int) -> int:
    """Where the discards by seat begin."""
    return KNOWN + num_seats * NUM_KINDS


@inlined
def seats_offset(num_seats: int) -> int:
    """Where the blocks of numbers by seat begin."""
    return KNOWN + 2 * num_seats * NUM_KINDS


@kernel
def observation_size(num_seats: int) -> int:
    """How many numbers an observation has."""
    return KNOWN + num_seats * (2 * NUM_KINDS + SEAT_SCALARS)


@inlined
def score_unit(R: NDArray[np.int64]) -> int:
    """How many points of the match one step of a score in an observation is, so that the limit fits: 1 up to 255."""
    return 1 + R[R_LIMIT] // (MOST + 1)


def shown_rules(rules: Rules) -> NDArray[np.uint8]:
    """The rules as every observation shows them: ``uint8``, one number a flag, prepared once for ``observe``.

    Flags that may be ``None``, which the vector holds as -1, are shown one higher; the limit of the match in the unit
    of the scores.
    """
    R = rules.vector()
    shown = R[:NUM_FLAGS] + np.array([flag.optional for flag in FLAGS], dtype=np.int64)
    shown[R_LIMIT] = R[R_LIMIT] // score_unit(R)
    return np.minimum(shown, MOST).astype(np.uint8)


@inlined
def _clipped(value: int) -> int:
    return min(max(value, 0), MOST)


@kernel
def _add_kinds(one: np.uint64, two: np.uint64, jokers: int, out: NDArray[np.uint8], offset: int) -> None:
    """Write the counts by kind of a hand into zeros."""
    while one != ZERO:
        out[offset + lowest_kind(one)] = 1
        one = without_lowest(one)
    while two != ZERO:
        out[offset + lowest_kind(two)] = 2
        two = without_lowest(two)
    out[offset + JOKER] = jokers


@inlined
def _write_table(s: Any, out: NDArray[np.uint8]) -> None:
    types, ranks, suits, sizes, jokers = s.meld_type, s.meld_rank, s.meld_suits, s.meld_size, s.meld_joker
    for slot in range(MAX_SLOTS):  # one loop, which is vectorised; five short ones would be unrolled instead
        out[TABLE_TYPE + slot] = types[slot]
        out[TABLE_RANK + slot] = ranks[slot]
        out[TABLE_SUITS + slot] = suits[slot]
        out[TABLE_SIZE + slot] = sizes[slot]
        out[TABLE_JOKER + slot] = (np.int64(jokers[slot]) + 1) & MOST  # NO_JOKER becomes 0
    slots = s.new_slots
    while slots != ZERO:
        out[TABLE_NEW + lowest_bit_index(slots)] = 1
        slots = without_lowest(slots)
    slots = s.used_slots
    _add_kinds(s.layable, ZERO, 0, out, LAYABLE)
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        if jokers[slot] != NO_JOKER:
            out[TABLE_JOKERS + joker_kind(s, slot)] += 1


@inlined
def _write_stock(s: Any, out: NDArray[np.uint8]) -> None:
    """The pile by kind, and what everybody knows of the stock: its lowest cards."""
    size, known = np.int64(s.pile_size), np.int64(s.stock_known)
    for i in range(size):
        out[PILE + np.int64(s.pile[i])] += 1
    out[UPCARD + (np.int64(s.pile[size - 1]) if size > 0 else NUM_KINDS)] = 1
    for i in range(known):
        out[KNOWN_STOCK + np.int64(s.stock[i])] += 1
    out[NEXT_CARD + (np.int64(s.stock[known - 1]) if 0 < known == s.stock_size else NUM_KINDS)] = 1
    out[STOCK_SIZE] = s.stock_size
    out[STOCK_KNOWN] = known
    out[PILE_SIZE] = size


@inlined
def _write_turn(s: Any, out: NDArray[np.uint8]) -> None:
    out[TAKEN + (np.int64(s.taken) if s.taken != NO_KIND else NUM_KINDS)] = 1
    out[PHASE + np.int64(s.phase)] = 1
    out[DREW + np.int64(s.drew)] = 1
    out[DUTY + np.int64(s.duty)] = 1
    out[TAKEN_PLAYED] = s.taken_played
    out[LAID_POINTS] = _clipped(np.int64(s.laid_points))
    out[LAID_ANY] = s.laid_any
    out[OPENED_NOW] = s.opened_now
    out[JOKERS_OWED] = s.jokers_owed
    out[LAST_SLOT] = (np.int64(s.last_slot) + 1) & MOST
    out[SPLIT_SLOT] = (np.int64(s.split_slot) + 1) & MOST
    out[ROUND] = _clipped(np.int64(s["round"]))
    out[ROUND_TURNS] = _clipped(np.int64(s.round_turns))
    out[RECYCLES] = _clipped(np.int64(s.recycles))


@inlined
def _write_seat(s: Any, seat: int, unit: int, place: int, out: NDArray[np.uint8]) -> None:
    """What is shown of the seat that sits ``place`` seats after the viewer."""
    n = np.int64(s.num_seats)
    _add_kinds(s.known_one[seat], s.known_two[seat], np.int64(s.known_jokers[seat]), out, KNOWN + place * NUM_KINDS)
    copy_bytes(s.discards[seat], out, discards_offset(n) + place * NUM_KINDS, NUM_KINDS)
    at = seats_offset(n) + place * SEAT_SCALARS
    total = np.int64(s.totals[seat])
    out[at + SEAT_HAND_SIZE] = s.hand_size[seat]
    out[at + SEAT_IN_MATCH] = (np.int64(s.in_match) >> seat) & 1
    out[at + SEAT_IN_ROUND] = (np.int64(s.in_round) >> seat) & 1
    out[at + SEAT_OPENED] = (np.int64(s.has_opened) >> seat) & 1
    out[at + SEAT_SCORE] = _clipped(total if unit == 1 else total // unit)
    out[at + SEAT_TURNS] = _clipped(np.int64(s.turns[seat]))
    out[at + SEAT_REENTRIES] = _clipped(np.int64(s.reentries[seat]))
    out[at + SEAT_TO_ACT] = s.seat == seat
    out[at + SEAT_DEALER] = s.dealer == seat
    out[at + SEAT_REENTRY_DUE] = (np.int64(s.pending_reentry) >> seat) & 1


@kernel
def observe(s: Any, R: NDArray[np.int64], shown: NDArray[np.uint8], viewer: int, out: NDArray[np.uint8]) -> None:
    """Write what a seat sees of a row.

    Args:
        s: the row, full or redacted for the viewer.
        R: the rules' vector.
        shown: the same rules, from ``shown_rules``.
        viewer: the seat that looks.
        out: ``uint8``, shape ``(observation_size(num_seats),)``; every number is written.
    """
    n = np.int64(s.num_seats)
    for i in range(HAND, KNOWN + n * NUM_KINDS):
        out[i] = 0
    _add_kinds(s.hand_one[viewer], s.hand_two[viewer], np.int64(s.hand_jokers[viewer]), out, HAND)
    _write_table(s, out)
    _write_stock(s, out)
    _write_turn(s, out)
    copy_bytes(shown, out, RULES, NUM_FLAGS)
    unit = score_unit(R)
    seat = viewer
    for place in range(n):
        _write_seat(s, seat, unit, place, out)
        seat = seat + 1 if seat + 1 < n else 0


@kernel
def hidden_size(num_seats: int) -> int:
    """How many numbers the hidden part of a position has."""
    return (num_seats - 1) * NUM_KINDS + MAX_CARDS


@kernel
def hidden_part(s: Any, viewer: int, out: NDArray[np.uint8]) -> None:
    """Write what a viewer does not see: the other hands by kind, then the stock from its top as kinds plus one.

    For a critic; no player may see it.

    Args:
        s: the full row.
        viewer: a seat; the hands are those of the seats after it, in the order of play.
        out: ``uint8``, ``hidden_size`` numbers, all of which are written.
    """
    n = np.int64(s.num_seats)
    for i in range(hidden_size(n)):
        out[i] = 0
    at = 0
    for place in range(1, n):
        seat = (viewer + place) % n
        _add_kinds(s.hand_one[seat], s.hand_two[seat], np.int64(s.hand_jokers[seat]), out, at)
        at += NUM_KINDS
    size = np.int64(s.stock_size)
    for i in range(size):
        out[at + i] = (np.int64(s.stock[size - 1 - i]) + 1) & MOST


@kernel
def state_size(num_seats: int) -> int:
    """How many numbers the state for a centralised critic has."""
    return observation_size(num_seats) + hidden_size(num_seats)


@kernel
def state_vector(s: Any, R: NDArray[np.int64], shown: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
    """Write all that there is, hidden cards too, into ``out``: ``uint8``, ``state_size`` numbers.

    It is what seat 0 sees, and then what is hidden from it (``hidden_part``).  For a centralised critic; no player may
    see it.
    """
    observe(s, R, shown, 0, out)
    hidden_part(s, 0, out[observation_size(np.int64(s.num_seats)) :])


@kernel
def observe_row(
    memory: NDArray[np.uint8],
    R: NDArray[np.int64],
    shown: NDArray[np.uint8],
    game: int,
    viewer: int,
    out: NDArray[np.uint8],
) -> None:
    """``observe`` for one row of the record array whose bytes are ``memory``, for callers from Python."""
    observe(rows_of(memory)[game], R, shown, viewer, out)


@kernel
def state_row(
    memory: NDArray[np.uint8], R: NDArray[np.int64], shown: NDArray[np.uint8], game: int, out: NDArray[np.uint8]
) -> None:
    """``state_vector`` for one row of the record array whose bytes are ``memory``, for callers from Python."""
    state_vector(rows_of(memory)[game], R, shown, out)


@kernel
def hidden_row(memory: NDArray[np.uint8], game: int, viewer: int, out: NDArray[np.uint8]) -> None:
    """``hidden_part`` for one row of the record array whose bytes are ``memory``, for callers from Python."""
    hidden_part(rows_of(memory)[game], viewer, out)
