"""The action mask: one function per phase, and the question whether a turn can still be completed.

An action is legal if and only if, after it, some sequence of plays clears every obligation and ends the turn.  With no
obligation that is a matter of counting cards.  With one, cheap sufficient conditions come first, then an exact search:
``packing`` for an opening, ``_search`` (every play that could help, each position once) for the rest.

``work`` is a stack of scratch rows (``WORK_ROWS`` of them): a search copies the position one row up, plays there, and
looks.  ``seen`` is a table of positions already searched, of ``SEEN_SIZE`` words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import actions, packing, rules
from scala40_env.core.actions import (
    DISCARD,
    DRAW,
    HIGH,
    JOKER_HIGH,
    JOKER_LOW,
    LAY_OFF,
    LAY_RUN,
    LAY_SET,
    LEAVE,
    LOW,
    MAX_SLOTS,
    NO_SUIT,
    NUM_ENDS,
    NUM_RUN_STARTS,
    NUM_SET_PATTERNS,
    NUM_SPLITS,
    REENTER,
    SET_JOKER,
    SET_SUITS,
    SPLIT,
    SWAP,
    TAKE,
)
from scala40_env.core.cards import (
    ALL_RANKS,
    HIGH_ACE,
    JOKER,
    LANE_BITS,
    NO_KIND,
    NUM_RANKS,
    NUM_SUITS,
    ONE,
    ZERO,
    bit_count,
    kind_bit,
    lowest_bit_index,
    lowest_kind,
    without_lowest,
)
from scala40_env.core.deal import add_card, count_seats, mix
from scala40_env.core.jit import kernel
from scala40_env.core.melds import (
    NOTHING,
    end_rank,
    fitting_kind,
    has_extra_suit,
    holds,
    joker_fits,
    joker_kind,
    kind_of,
    layable_kinds,
    ranks_with,
    run_cards,
    run_starts,
    swap_kind,
)
from scala40_env.core.rules import R_OPENING_MIN, R_OVERFLOW, R_SWAP, R_TAKE_AFTER, R_TAKE_BEFORE, R_TAKEN_USES
from scala40_env.core.state import (
    DUTY_NONE,
    DUTY_OPEN_WITH,
    DUTY_PLAY,
    MATCH_OVER,
    NO_JOKER,
    NO_SLOT,
    PLAY,
    ROUND_OVER,
    RUN,
)
from scala40_env.core.state import DRAW as PHASE_DRAW
from scala40_env.core.transition import (
    can_recycle,
    cards_needed,
    duty_of_take,
    has_obligation,
    has_opened,
    is_new,
    jokers_may_be_laid,
    may_close,
    may_lay_off_joker,
    only_goes_out,
    play,
    split_lengths,
    split_run,
)

WORK_ROWS = 34
"""A turn has at most 14 plays that shed a card and some swaps and splits; the search never goes deeper than this."""
SEEN_SIZE = 1 << 12


# --- which plays there are, before asking whether the turn can be completed ------------------------------------------


@kernel
def _lays(s: Any, R: NDArray[np.int64], out: NDArray[np.int16], count: int) -> int:
    seat = np.int64(s.seat)
    one = s.hand_one[seat]
    jokers = s.hand_jokers[seat] > 0 and jokers_may_be_laid(s, R)
    for pattern in range(NUM_SET_PATTERNS if jokers else packing.NUM_PURE_PATTERNS):
        if SET_JOKER[pattern] != NO_SUIT and SET_JOKER[pattern] >= R[rules.R_SUITS]:
            continue
        ranks = ranks_with(one, SET_SUITS[pattern])
        while ranks != ZERO:
            out[count] = LAY_SET + pattern * NUM_RANKS + lowest_bit_index(ranks)
            count += 1
            ranks = without_lowest(ranks)
    x = run_cards(one, R)
    for place in range(4 if jokers else 1):
        starts = run_starts(x, place, R)
        while starts != ZERO:
            index = lowest_bit_index(starts)
            starts = without_lowest(starts)
            suit, start = index >> 4, index & (LANE_BITS - 1)
            out[count] = LAY_RUN + (place * NUM_SUITS + suit) * NUM_RUN_STARTS + start
            count += 1
    return count


@kernel
def _slots_for_lay_off(s: Any, R: NDArray[np.int64]) -> np.uint64:
    """The slots on which the seat to act may lay off."""
    seat = np.int64(s.seat)
    if not has_opened(s, seat):
        return s.new_slots
    if s.opened_now == 0:
        return s.used_slots
    how = R[rules.R_OPENING_OFF]
    if how == rules.OFF_NONE:
        return ZERO if s.last_slot == NO_SLOT else ONE << np.uint64(s.last_slot)
    return s.new_slots if how == rules.OFF_OWN or s.duty == DUTY_OPEN_WITH else s.used_slots


@kernel
def _lay_offs(s: Any, R: NDArray[np.int64], slots: np.uint64, out: NDArray[np.int16], count: int) -> int:
    seat = np.int64(s.seat)
    one = s.hand_one[seat]
    jokers = s.hand_jokers[seat] > 0
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        base = LAY_OFF + slot * NUM_ENDS
        low = fitting_kind(s, R, slot, False)
        if low != NOTHING and holds(one, low):
            out[count] = base + LOW
            count += 1
        high = fitting_kind(s, R, slot, True)
        if high != NOTHING and holds(one, high):
            out[count] = base + HIGH
            count += 1
        if jokers and s.meld_joker[slot] == NO_JOKER and may_lay_off_joker(s, R, slot):
            if joker_fits(s, R, slot, False):
                out[count] = base + JOKER_LOW
                count += 1
            if joker_fits(s, R, slot, True):
                out[count] = base + JOKER_HIGH
                count += 1
    return count


@kernel
def _may_swap(s: Any, R: NDArray[np.int64]) -> bool:
    if R[R_SWAP] == rules.SWAP_OFF or s.duty == DUTY_OPEN_WITH:
        return False
    return has_opened(s, np.int64(s.seat)) or not R[rules.R_SWAP_OPENED]


@kernel
def _swaps(s: Any, R: NDArray[np.int64], out: NDArray[np.int16], count: int) -> int:
    if not _may_swap(s, R):
        return count
    one = s.hand_one[s.seat]
    slots = s.used_slots
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        if swap_kind(s, R, slot, one) != NOTHING:
            out[count] = SWAP + slot
            count += 1
    return count


@kernel
def _splits(s: Any, out: NDArray[np.int16], count: int) -> int:
    slot = np.int64(s.split_slot)
    shortest, longest = split_lengths(np.int64(s.meld_size[slot]))
    for first in range(shortest, longest + 1):
        out[count] = SPLIT + slot * NUM_SPLITS + first - actions.SHORTEST_RUN
        count += 1
    return count


@kernel
def plays(s: Any, R: NDArray[np.int64], room: int, out: NDArray[np.int16]) -> int:
    """The plays of the seat to act, by the cards, the table and the rules alone, ascending; how many there are.

    Args:
        room: the most cards that a play may take out of the hand.
    """
    if s.split_slot != NO_SLOT:
        slot = np.int64(s.split_slot)
        count = 0
        if room >= 1:
            count = _lay_offs(s, R, ONE << np.uint64(slot), out, count)
        return _splits(s, out, count)
    count = 0
    if room >= 3:
        count = _lays(s, R, out, count)
    if room >= 1:
        count = _lay_offs(s, R, _slots_for_lay_off(s, R), out, count)
    return _swaps(s, R, out, count)


# --- whether the turn can be completed -------------------------------------------------------------------------------


@kernel
def can_finish(work: Any, depth: int, R: NDArray[np.int64], seen: NDArray[np.uint64]) -> bool:
    """Whether the turn in ``work[depth]`` can be ended by some sequence of plays; exact."""
    s = work[depth]
    room = np.int64(s.hand_size[s.seat]) - cards_needed(s, R)
    if room < 0:
        return False
    if not has_obligation(s):
        return True
    if not has_opened(s, np.int64(s.seat)):
        if _is_plain_opening(s, R):
            return _can_open(work, depth, R, 0)
    elif _can_settle_at_once(s, R, room):
        return True
    elif _is_plain_debt(s, R):
        return False
    seen[:] = ZERO
    return _search(work, depth, R, seen)


@kernel
def _is_plain_opening(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether an opening can only be made by cards of the hand, in melds of this turn."""
    if s.jokers_owed != 0 or s.split_slot != NO_SLOT:
        return False
    if not R[rules.R_IN_HAND_MIN] and may_close(s, R):
        return False
    if R[R_SWAP] == rules.SWAP_OFF or R[rules.R_SWAP_OPENED]:
        return True
    slots = s.used_slots
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        if s.meld_joker[slot] != NO_JOKER:
            return False
    return True


@kernel
def _can_open(work: Any, depth: int, R: NDArray[np.int64], first_slot: int) -> bool:
    """Whether an opening can be completed: by melds from the hand, after lay-offs on this turn's melds or none.

    Lay-offs are tried in the order of slots from ``first_slot``, so that no set of them is tried twice.
    """
    s = work[depth]
    seat = np.int64(s.seat)
    room = np.int64(s.hand_size[seat]) - cards_needed(s, R)
    if room < 0:
        return False
    target = 0 if has_opened(s, seat) else R[R_OPENING_MIN] - s.laid_points
    if has_opened(s, seat) and s.duty != DUTY_OPEN_WITH:
        return True
    pure = R[rules.R_OPENING_JOKER] == rules.OPENING_JOKER_IF_CLEAN and R[R_OPENING_MIN] > 0
    if s.laid_any == 0 and target <= 0:
        target = 1  # an opening is at least one meld
    how = R[rules.R_OPENING_JOKER]
    one, two = s.hand_one[seat], s.hand_two[seat]
    jokers = 0 if how == rules.OPENING_JOKER_FORBIDDEN else np.int64(s.hand_jokers[seat])
    if s.duty == DUTY_OPEN_WITH:
        kind = np.int64(s.taken)
        if kind == JOKER:
            if jokers > 0 and packing.reaches_with_joker(one, two, jokers, R, target, room, pure):
                return True
        elif packing.reaches_with(one, two, jokers, R, target, room, kind // NUM_RANKS, kind % NUM_RANKS, pure):
            return True
    elif packing.reaches(one, two, 0 if pure else jokers, R, target, room):
        return True
    if room == 0:
        return False
    slots = _slots_for_lay_off(s, R) & (~ZERO << np.uint64(first_slot))
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        for end in range(NUM_ENDS):
            if _may_extend(s, R, slot, end):
                work[depth + 1] = work[depth]
                play(work[depth + 1], R, LAY_OFF + slot * NUM_ENDS + end)
                if work[depth + 1].split_slot != NO_SLOT:  # which way it is split changes no points
                    split_first, _ = split_lengths(np.int64(work[depth + 1].meld_size[slot]))
                    split_run(work[depth + 1], slot, split_first)
                if _can_open(work, depth + 1, R, slot):
                    return True
    return False


@kernel
def _may_extend(s: Any, R: NDArray[np.int64], slot: int, end: int) -> bool:
    high = (end & HIGH) != 0
    seat = np.int64(s.seat)
    if end >= JOKER_LOW:
        return s.hand_jokers[seat] > 0 and may_lay_off_joker(s, R, slot) and joker_fits(s, R, slot, high)
    kind = fitting_kind(s, R, slot, high)
    return kind != NOTHING and holds(s.hand_one[seat], kind)


@kernel
def _can_settle_at_once(s: Any, R: NDArray[np.int64], room: int) -> bool:
    """Whether the one thing owed can be done by one play that is there now: sufficient, not necessary."""
    if s.split_slot != NO_SLOT:
        return False
    seat = np.int64(s.seat)
    owes_card = s.duty != DUTY_NONE
    if owes_card and s.jokers_owed != 0 or s.jokers_owed > 1:
        return False
    kind = np.int64(s.taken) if owes_card else JOKER
    uses = rules.USE_LAY | rules.USE_LAY_OFF
    if s.duty == DUTY_PLAY:
        uses = R[R_TAKEN_USES]
    slots = _slots_for_lay_off(s, R)
    if s.duty == DUTY_OPEN_WITH:
        slots &= s.new_slots
    if uses & rules.USE_LAY_OFF and room >= 1 and _fits_somewhere(s, R, slots, kind):
        return True
    if not uses & rules.USE_LAY or room < 3:
        return False
    jokers = s.hand_jokers[seat] if jokers_may_be_laid(s, R) else 0
    return is_in_meld(s.hand_one[seat], np.int64(jokers), R, kind)


@kernel
def _fits_somewhere(s: Any, R: NDArray[np.int64], slots: np.uint64, kind: int) -> bool:
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        if kind == JOKER:
            if may_lay_off_joker(s, R, slot) and (joker_fits(s, R, slot, False) or joker_fits(s, R, slot, True)):
                return True
        elif fitting_kind(s, R, slot, False) == kind or fitting_kind(s, R, slot, True) == kind:
            return True
    return False


@kernel
def is_in_meld(one: np.uint64, jokers: int, R: NDArray[np.int64], kind: int) -> bool:
    """Whether a card of a hand is in any three-card meld that the hand could lay (with one joker at most)."""
    x = run_cards(one, R)
    if kind == JOKER:
        if jokers == 0:
            return False
        for place in range(1, 4):
            if run_starts(x, place, R) != ZERO:
                return True
        return R[rules.R_SUITS] >= 3 and packing.pair_ranks(one) != ZERO
    suit, rank = kind // NUM_RANKS, kind % NUM_RANKS
    suits = packing.suits_with(one, rank)
    if count_seats(suits) >= 3 or (jokers > 0 and count_seats(suits) == 2 and R[rules.R_SUITS] >= 3):
        return True
    lane = x >> np.uint64(suit * LANE_BITS)
    for place in range(4 if jokers > 0 else 1):
        starts = (run_starts(x, place, R) >> np.uint64(suit * LANE_BITS)) & packing.LANE
        while starts != ZERO:
            start = lowest_bit_index(starts)
            starts = without_lowest(starts)
            for i in range(3):
                if i != place - 1 and (start + i == rank or (start + i == HIGH_ACE and rank == 0)):
                    return True
    return False


@kernel
def _is_plain_debt(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether what ``_can_settle_at_once`` denies is impossible, since nothing could prepare it.

    One joker owed: no play makes room for a joker that is not there, unless runs split.  The upcard: a card that fits
    nowhere comes to fit where a run grows towards it, or where a swap brings a joker for a meld with it.
    """
    if s.split_slot != NO_SLOT or R[R_OVERFLOW] == rules.OVERFLOW_SPLIT:
        return False
    if s.duty == DUTY_NONE:
        return s.jokers_owed == 1
    if s.jokers_owed != 0:
        return False
    seat = np.int64(s.seat)
    kind = np.int64(s.taken)
    slots = s.used_slots
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        if s.meld_type[slot] == RUN and s.meld_suits[slot] == kind // NUM_RANKS:
            return False
        if s.meld_joker[slot] != NO_JOKER and swap_kind(s, R, slot, s.hand_one[seat]) != NOTHING:
            return False
    return True


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
    return x | ONE


@kernel
def _was_seen(seen: NDArray[np.uint64], key: np.uint64) -> bool:
    """Note a position; whether it had been noted.  A full table forgets, which costs time only."""
    mask = np.uint64(SEEN_SIZE - 1)
    place = np.int64(key & mask)
    for _ in range(32):
        if seen[place] == key:
            return True
        if seen[place] == ZERO:
            seen[place] = key
            return False
        place = (place + 1) & (SEEN_SIZE - 1)
    seen[np.int64(key & mask)] = key
    return False


@kernel
def _could_help(s: Any, R: NDArray[np.int64], action: int) -> bool:
    """Whether a play can be part of settling what is owed by a seat that has opened.

    A meld of natural cards without the upcard takes three cards and offers no place that the meld of two of them with
    the joker owed, or with the upcard, does not offer for less.
    """
    if action >= LAY_OFF or not has_opened(s, np.int64(s.seat)):
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


@kernel
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
    ace = R[rules.R_POINTS + HIGH_ACE]
    return (
        s.laid_points
        + packing.sum_of_points(s.hand_one[seat], R, ace)
        + packing.sum_of_points(s.hand_two[seat], R, ace)
        + jokers * best
    )


@kernel
def _search(work: Any, depth: int, R: NDArray[np.int64], seen: NDArray[np.uint64]) -> bool:
    """Whether some sequence of plays ends the turn: the search of last resort, each position once."""
    s = work[depth]
    size = np.int64(s.hand_size[s.seat])
    room = size - cards_needed(s, R)
    if room < 0:
        return False
    if not has_obligation(s):
        return True
    if only_goes_out(s, R) and s.laid_any and size <= 1:
        return size == 1 or not R[rules.R_CLOSE_DISCARD]
    if not has_opened(s, np.int64(s.seat)) and (R[rules.R_IN_HAND_MIN] or not may_close(s, R)):
        if _most_points(s, R) < R[R_OPENING_MIN]:
            return False
    if _was_seen(seen, _key(s)) or depth + 1 >= WORK_ROWS:
        return False
    moves = np.empty(actions.NUM_ACTIONS, dtype=np.int16)
    count = plays(s, R, room, moves)
    for i in range(count):
        if _could_help(s, R, np.int64(moves[i])):
            work[depth + 1] = work[depth]
            play(work[depth + 1], R, np.int64(moves[i]))
            if _search(work, depth + 1, R, seen):
                return True
    return False


# --- one function per phase ------------------------------------------------------------------------------------------


@kernel
def draw_actions(s: Any, work: Any, R: NDArray[np.int64], seen: NDArray[np.uint64], out: NDArray[np.int16]) -> int:
    """The legal actions of phase DRAW."""
    count = 0
    if s.stock_size > 0 or can_recycle(s, R):
        out[count] = DRAW
        count += 1
    if s.pile_size > 0 and _may_take(s, work, R, seen):
        out[count] = TAKE
        count += 1
    return count


@kernel
def _may_take(s: Any, work: Any, R: NDArray[np.int64], seen: NDArray[np.uint64]) -> bool:
    keeps = s.round_turns == 0 and R[rules.R_FIRST_KEEPS] != 0
    opened = has_opened(s, np.int64(s.seat))
    if keeps or (opened and R[R_TAKE_AFTER] == rules.TAKE_FREE):
        return True
    if not opened and R[R_TAKE_BEFORE] == rules.TAKE_NEVER:
        return False
    work[0] = s
    t = work[0]
    t.phase = PLAY
    t.taken = s.pile[s.pile_size - 1]
    t.duty = duty_of_take(s, R)
    add_card(t, np.int64(t.seat), np.int64(t.taken))
    return can_finish(work, 0, R, seen)


@kernel
def play_actions(s: Any, work: Any, R: NDArray[np.int64], seen: NDArray[np.uint64], out: NDArray[np.int16]) -> int:
    """The legal actions of phase PLAY."""
    seat = np.int64(s.seat)
    room = np.int64(s.hand_size[seat]) - cards_needed(s, R)
    opened = has_opened(s, seat)
    owes = has_obligation(s)
    if opened and not owes:
        count = plays(s, R, room, out)
        if R[R_SWAP] != rules.SWAP_TO_HAND and count > 0 and out[count - 1] >= SWAP:
            count = _keep_finishable(s, work, R, seen, out, count, SWAP)
    elif not opened and not owes and _cannot_open(s, R, room):
        count = 0
    else:
        count = plays(s, R, room, out)
        count = _keep_finishable(s, work, R, seen, out, count, 0)
    if not owes or (only_goes_out(s, R) and s.hand_size[seat] == 1 and s.laid_any):
        count = discards(s, R, out, count)
    return count


@kernel
def _cannot_open(s: Any, R: NDArray[np.int64], room: int) -> bool:
    """Whether a seat that has laid nothing this turn surely has no play: a quick answer to a common question."""
    if not _is_plain_opening(s, R):
        return False
    how, least = R[rules.R_OPENING_JOKER], R[R_OPENING_MIN]
    with_jokers = how == rules.OPENING_JOKER_ALLOWED or (how == rules.OPENING_JOKER_IF_CLEAN and least == 0)
    jokers = np.int64(s.hand_jokers[s.seat]) if with_jokers else 0
    return not packing.reaches(s.hand_one[s.seat], s.hand_two[s.seat], jokers, R, max(least, 1), room)


@kernel
def _keep_finishable(
    s: Any, work: Any, R: NDArray[np.int64], seen: NDArray[np.uint64], out: NDArray[np.int16], count: int, first: int
) -> int:
    """Of the plays in ``out`` from action ``first`` on, keep those after which the turn can be completed."""
    kept = 0
    for i in range(count):
        action = np.int64(out[i])
        legal = action < first
        if not legal:
            work[0] = s
            play(work[0], R, action)
            legal = can_finish(work, 0, R, seen)
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
    return layable_kinds(s, R)


@kernel
def reentry_actions(s: Any, out: NDArray[np.int16]) -> int:
    """The choices of a seat that is over the limit, between rounds."""
    if s.pending_reentry == 0:
        return 0
    out[0] = REENTER
    out[1] = LEAVE
    return 2


@kernel
def legal_actions(s: Any, work: Any, R: NDArray[np.int64], seen: NDArray[np.uint64], out: NDArray[np.int16]) -> int:
    """The legal actions of the seat to act, ascending, into ``out`` (``int16``, ``NUM_ACTIONS``); how many there are.

    None in an episode that is over, and none for a seat that can neither draw nor take.
    """
    if s.phase == PHASE_DRAW:
        return draw_actions(s, work, R, seen, out)
    if s.phase == PLAY:
        return play_actions(s, work, R, seen, out)
    if s.phase == ROUND_OVER:
        return reentry_actions(s, out)
    return 0
