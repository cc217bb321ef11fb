"""Whether a turn can still be completed: exact, and quick where that is easy.

With nothing owed it is a matter of counting cards.  Otherwise the cheap conditions of ``settling`` come first, then an
exact search: ``packing`` for an opening, ``_search`` (every play that could help, each position once) for the rest.

``work`` is a stack of scratch rows (``WORK_ROWS``): a search copies the position one row up and plays there.
``memory`` (``MEMORY_WORDS`` words) holds the positions already seen, the stack of the packing search, and the plays
still to try.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import actions, packing, rules
from scala40_env.core.actions import (
    HIGH,
    JOKER_LOW,
    LAY_OFF,
    LAY_RUN,
    LAY_SET,
    MAX_SLOTS,
    NO_SUIT,
    NUM_ENDS,
    NUM_RUN_STARTS,
    SET_JOKER,
    SET_SUITS,
)
from scala40_env.core.cards import (
    HIGH_ACE,
    JOKER,
    NUM_RANKS,
    NUM_SUITS,
    ONE,
    ZERO,
    lowest_bit_index,
    without_lowest,
)
from scala40_env.core.deal import mix
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.melds import (
    NOTHING,
    fitting_kind,
    holds,
    joker_fits,
    kind_of,
    note_table,
)
from scala40_env.core.moves import (
    cards_needed,
    has_opened,
    is_new,
    may_close,
    may_lay_off_joker,
    play,
    split_lengths,
    split_run,
)
from scala40_env.core.plays import plays, slots_for_lay_off
from scala40_env.core.rules import R_OPENING_MIN, R_SWAP
from scala40_env.core.settling import counts_when_laid, is_plain_debt, settles_at_once
from scala40_env.core.state import DUTY_OPEN_WITH, NO_JOKER, NO_SLOT
from scala40_env.core.transition import has_obligation, only_goes_out

WORK_ROWS = 34
"""A turn has at most 14 plays that shed a card and some swaps and splits; a search never goes deeper than this."""
TABLE_WORDS = 1 << 12
SEARCHES = np.uint64(0xFFF)
"""The bits of a word of the table that number the search that wrote it."""
STACK = TABLE_WORDS
CURSORS = STACK + packing.STACK_WORDS
MOVES = CURSORS + WORK_ROWS
MOVES_WORDS = (actions.NUM_ACTIONS + 3) // 4
MEMORY_WORDS = MOVES + WORK_ROWS * MOVES_WORDS
DEAD_END, GOES_ON, FINISHES = 0, 1, 2


@kernel
def can_finish(work: Any, depth: int, R: NDArray[np.int64], memory: NDArray[np.uint64]) -> bool:
    """Whether the turn in ``work[depth]`` can be ended by some sequence of plays; exact."""
    s = work[depth]
    room = np.int64(s.hand_size[s.seat]) - cards_needed(s, R)
    if room < 0:
        return False
    if not has_obligation(s):
        return True
    if not has_opened(s, np.int64(s.seat)):
        if is_plain_opening(s, R):
            return _can_open(work, depth, R, memory)
    elif settles_at_once(s, R, room):
        return True
    elif is_plain_debt(s, R):
        return False
    return _search(work, depth, R, memory)


@kernel
def is_plain_opening(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether an opening can only be made by cards of the hand, in melds of this turn."""
    if s.jokers_owed != 0 or s.split_slot != NO_SLOT:
        return False
    if not R[rules.R_IN_HAND_MIN] and may_close(s, R):
        return False
    if s.duty == DUTY_OPEN_WITH and R[rules.R_OPENING_JOKER] == rules.OPENING_JOKER_IF_CLEAN:
        return False  # a joker laid once the clean melds are enough may help the upcard into one of them
    if R[R_SWAP] == rules.SWAP_OFF or R[rules.R_SWAP_OPENED]:
        return True
    if s.hand_jokers[s.seat] > 0:  # it can be laid, bought back, and laid again
        return False
    slots = s.used_slots
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        if s.meld_joker[slot] != NO_JOKER:
            return False
    return True


@kernel
def _can_open(work: Any, base: int, R: NDArray[np.int64], memory: NDArray[np.uint64]) -> bool:
    """Whether an opening can be completed: by melds from the hand, after lay-offs on this turn's melds or none.

    Lay-offs are tried in the order of slots, so that no set of them is tried twice.
    """
    cursors = memory[CURSORS : CURSORS + WORK_ROWS]
    depth = base
    cursors[depth] = ZERO
    if _opens_from_hand(work[depth], R, memory):
        return True
    while depth >= base:
        found = _next_extension(work[depth], R, np.int64(cursors[depth]))
        if found == NOTHING or depth + 1 >= WORK_ROWS:
            depth -= 1
            continue
        cursors[depth] = np.uint64(found + 1)
        work[depth + 1] = work[depth]
        depth += 1
        s = work[depth]
        slot = found // NUM_ENDS
        play(s, R, LAY_OFF + found)
        if s.split_slot != NO_SLOT:  # which way it is split changes no points
            shortest, _ = split_lengths(np.int64(s.meld_size[slot]))
            split_run(s, slot, shortest)
            note_table(s, R)
        cursors[depth] = np.uint64(slot * NUM_ENDS)
        if _opens_from_hand(s, R, memory):
            return True
    return False


@inlined
def _next_extension(s: Any, R: NDArray[np.int64], first: int) -> int:
    """The first lay-off (counted from ``LAY_OFF``) at or after ``first`` on a meld of this turn, or ``NOTHING``."""
    if np.int64(s.hand_size[s.seat]) - cards_needed(s, R) < 1:
        return NOTHING
    slots = slots_for_lay_off(s, R)
    for code in range(first, MAX_SLOTS * NUM_ENDS):
        slot = code // NUM_ENDS
        if (slots >> np.uint64(slot)) == ZERO:
            return NOTHING
        if (slots >> np.uint64(slot)) & ONE != ZERO and _may_extend(s, R, slot, code % NUM_ENDS):
            return code
    return NOTHING


@kernel
def _opens_from_hand(s: Any, R: NDArray[np.int64], memory: NDArray[np.uint64]) -> bool:
    """Whether the opening is complete, or melds from the hand alone complete it."""
    seat = np.int64(s.seat)
    room = np.int64(s.hand_size[seat]) - cards_needed(s, R)
    if room < 0:
        return False
    opened = has_opened(s, seat)
    if opened and s.duty != DUTY_OPEN_WITH:
        return True
    least = R[R_OPENING_MIN]
    target = 0 if opened else least - s.laid_points
    if s.laid_any == 0 and target <= 0:
        target = 1  # an opening is at least one meld
    how = R[rules.R_OPENING_JOKER]
    pure = how == rules.OPENING_JOKER_IF_CLEAN and least > 0
    jokers = 0 if how == rules.OPENING_JOKER_FORBIDDEN else np.int64(s.hand_jokers[seat])
    one, two = s.hand_one[seat], s.hand_two[seat]
    stack = memory[STACK : STACK + packing.STACK_WORDS]
    if s.duty == DUTY_OPEN_WITH:
        return packing.reaches_with(one, two, jokers, R, target, room, stack, np.int64(s.taken))
    return packing.reaches(one, two, 0 if pure else jokers, R, target, room, stack)


@inlined
def _may_extend(s: Any, R: NDArray[np.int64], slot: int, end: int) -> bool:
    high = (end & HIGH) != 0
    seat = np.int64(s.seat)
    if end >= JOKER_LOW:
        return s.hand_jokers[seat] > 0 and may_lay_off_joker(s, R, slot) and joker_fits(s, R, slot, high)
    kind = fitting_kind(s, R, slot, high)
    return kind != NOTHING and holds(s.hand_one[seat], kind)


@kernel
def _key(s: Any) -> np.uint64:
    """A hash of all that a turn's plays can change."""
    seat = np.int64(s.seat)
    x = mix(s.hand_one[seat] ^ np.uint64(0x51))
    x = mix(x ^ s.hand_two[seat])
    small = np.int64(s.hand_jokers[seat]) | np.int64(s.duty) << 8 | np.int64(s.jokers_owed) << 16
    small |= np.int64(s.opened_now) << 24 | np.int64(s.last_slot) << 32 | np.int64(s.split_slot) << 40
    small |= np.int64(s.laid_any) << 48 | (np.int64(s.has_opened) >> seat & 1) << 56
    x = mix(x ^ np.uint64(small))
    x = mix(x ^ np.uint64(s.laid_points))
    slots = s.used_slots
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        meld = np.int64(slot) | np.int64(s.meld_type[slot]) << 8 | np.int64(s.meld_rank[slot]) << 16
        meld |= np.int64(s.meld_suits[slot]) << 24 | np.int64(s.meld_size[slot]) << 32
        meld |= np.int64(s.meld_joker[slot]) << 40 | np.int64(is_new(s, slot)) << 56
        x = mix(x ^ np.uint64(meld))
    return x


@kernel
def _was_seen(seen: NDArray[np.uint64], key: np.uint64) -> bool:
    """Note a position; whether it had been noted.  A full table forgets, which costs time only."""
    search = seen[TABLE_WORDS - 1]  # the last word is the number of the search; a word of another one is free
    word = (key & ~SEARCHES) | search
    home = np.int64((key >> np.uint64(20)) & np.uint64(TABLE_WORDS - 1))
    for step in range(32):
        place = (home + step) % (TABLE_WORDS - 1)
        if seen[place] == word:
            return True
        if seen[place] & SEARCHES != search:
            seen[place] = word
            return False
    seen[home % (TABLE_WORDS - 1)] = word
    return False


@kernel
def could_help(s: Any, R: NDArray[np.int64], action: int) -> bool:
    """Whether a play can be part of settling what is owed by a seat that has opened.

    A meld of natural cards without the upcard takes three cards and offers no place that the meld of two of them with
    the joker owed, or with the upcard, does not offer for less.
    """
    if action >= LAY_OFF or not has_opened(s, np.int64(s.seat)) or not counts_when_laid(s, R):
        return True
    if action >= LAY_RUN:
        code = action - LAY_RUN
        place = code // (NUM_RUN_STARTS * NUM_SUITS)
        if place > 0:
            return True
        suit, start = (code // NUM_RUN_STARTS) % NUM_SUITS, code % NUM_RUN_STARTS
        for i in range(3):
            if kind_of(suit, start + i) == s.taken:
                return True
        return False
    pattern, rank = (action - LAY_SET) // NUM_RANKS, (action - LAY_SET) % NUM_RANKS
    if SET_JOKER[pattern] != NO_SUIT:
        return True
    return s.taken < JOKER and s.taken % NUM_RANKS == rank and (SET_SUITS[pattern] >> (s.taken // NUM_RANKS)) & 1 != 0


@inlined
def _most_points(s: Any, R: NDArray[np.int64]) -> int:
    """No opening with what is in the hand, and the jokers of the table, is worth more."""
    seat = np.int64(s.seat)
    best = max(R[rules.R_POINTS + HIGH_ACE], max(R[rules.R_POINTS + NUM_RANKS - 1], 11))
    jokers = np.int64(s.hand_jokers[seat])
    slots = s.used_slots
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        if s.meld_joker[slot] != NO_JOKER:
            jokers += 1
    if R[R_SWAP] != rules.SWAP_OFF and not R[rules.R_SWAP_OPENED]:  # each card may buy a joker back, to be laid again
        return s.laid_points + (np.int64(s.hand_size[seat]) + jokers) * best
    ace = R[rules.R_POINTS + HIGH_ACE]
    naturals = packing.sum_of_points(s.hand_one[seat], R, ace) + packing.sum_of_points(s.hand_two[seat], R, ace)
    return s.laid_points + naturals + jokers * best


@kernel
def _search(work: Any, base: int, R: NDArray[np.int64], memory: NDArray[np.uint64]) -> bool:
    """Whether some sequence of plays ends the turn: the search of last resort, each position once."""
    seen = memory[:TABLE_WORDS]
    seen[TABLE_WORDS - 1] = (seen[TABLE_WORDS - 1] + ONE) & SEARCHES
    if seen[TABLE_WORDS - 1] == ZERO:  # the numbers begin anew
        seen[:] = ZERO
        seen[TABLE_WORDS - 1] = ONE
    cursors = memory[CURSORS : CURSORS + WORK_ROWS]
    depth = base
    while True:
        verdict = look(work[depth], R, seen)
        if verdict == FINISHES:
            return True
        if verdict == GOES_ON and depth + 1 < WORK_ROWS:
            moves = _moves_of(memory, depth)
            s = work[depth]
            room = np.int64(s.hand_size[s.seat]) - cards_needed(s, R)
            cursors[depth] = np.uint64(plays(s, R, room, moves))
        else:
            depth -= 1
        # the next play not yet tried, of this position or of the nearest above that has one
        action = NOTHING
        while depth >= base and action == NOTHING:
            moves = _moves_of(memory, depth)
            while cursors[depth] > ZERO and action == NOTHING:
                cursors[depth] -= ONE
                move = np.int64(moves[np.int64(cursors[depth])])
                if could_help(work[depth], R, move):
                    action = move
            if action == NOTHING:
                depth -= 1
        if depth < base:
            return False
        work[depth + 1] = work[depth]
        depth += 1
        play(work[depth], R, action)


@inlined
def _moves_of(memory: NDArray[np.uint64], depth: int) -> NDArray[np.int16]:
    """Where the plays at a depth of the search are kept."""
    start = MOVES + depth * MOVES_WORDS
    return memory[start : start + MOVES_WORDS].view(np.int16)


@kernel
def look(s: Any, R: NDArray[np.int64], seen: NDArray[np.uint64]) -> int:
    """What a position of the search is: one that ends the turn, a dead end, or one to go on from."""
    size = np.int64(s.hand_size[s.seat])
    if size < cards_needed(s, R):
        return DEAD_END
    if not has_obligation(s):
        return FINISHES
    if only_goes_out(s, R) and s.laid_any and size <= 1:
        return FINISHES if size == 1 or not R[rules.R_CLOSE_DISCARD] else DEAD_END
    must_reach = not has_opened(s, np.int64(s.seat)) and (R[rules.R_IN_HAND_MIN] != 0 or not may_close(s, R))
    if must_reach and _most_points(s, R) < R[R_OPENING_MIN]:
        return DEAD_END
    return DEAD_END if _was_seen(seen, _key(s)) else GOES_ON
