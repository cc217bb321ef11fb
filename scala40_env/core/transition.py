"""Applying an action: one function per phase, and the verbs that move cards.

Nothing here judges: an action is legal because ``legality`` says so.  ``play`` moves the cards of one play of a turn
and
keeps its obligations; ``apply`` also ends the turn, the round and the match.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import actions, rules, state
from scala40_env.core.actions import (
    DISCARD,
    HIGH,
    LAY_OFF,
    LAY_RUN,
    LAY_SET,
    NO_SUIT,
    SET_JOKER,
    SET_SUITS,
    SPLIT,
    SWAP,
)
from scala40_env.core.cards import (
    JOKER,
    NO_KIND,
    NUM_RANKS,
    NUM_SUITS,
    ONE,
    ZERO,
    kind_bit,
    lowest_bit_index,
)
from scala40_env.core.deal import add_card, clear_turn, next_seat, reshuffle_stock
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.melds import (
    NOTHING,
    end_rank,
    holds,
    joker_points,
    kind_of,
    note_table,
    points_at,
    points_in_set,
    set_card,
    swap_kind,
)
from scala40_env.core.rules import R_CLOSE_DISCARD, R_CLOSE_FIRST, R_MAX_RECYCLES, R_MAX_TURNS, R_RECYCLE
from scala40_env.core.scoring import end_round
from scala40_env.core.state import (
    DRAW,
    DUTY_NONE,
    DUTY_OPEN,
    DUTY_OPEN_WITH,
    DUTY_PLAY,
    EMPTY,
    MOST_DISCARDS,
    NO_JOKER,
    NO_SLOT,
    PLAY,
    RUN,
    SET,
)

_LONGEST_HALF = 5
_ALL_SLOTS = np.uint64((1 << actions.MAX_SLOTS) - 1)


@inlined
def has_opened(s: Any, seat: int) -> bool:
    """Whether a seat has opened."""
    return (s.has_opened >> seat) & 1 != 0


@inlined
def may_close(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether the seat to act may go out this turn."""
    return R[R_CLOSE_FIRST] != 0 or s.turns[s.seat] > 0


@kernel
def cards_needed(s: Any, R: NDArray[np.int64]) -> int:
    """How many cards must be in hand once the plays of the turn are over."""
    if not may_close(s, R):
        return 2
    return 1 if R[R_CLOSE_DISCARD] else 0


@inlined
def is_over_limit(s: Any) -> bool:
    """Whether a run is too long and must be split."""
    return s.split_slot != NO_SLOT


# --- verbs -------------------------------------------------------------------------------------------------------


@kernel
def remove_card(s: Any, seat: int, kind: int) -> None:
    """Take a card out of a hand, and out of what is known of it."""
    if kind == JOKER:
        s.hand_jokers[seat] -= 1
        if s.known_jokers[seat] > 0:
            s.known_jokers[seat] -= 1
    else:
        bit = kind_bit(kind)
        if s.hand_two[seat] & bit != ZERO:
            s.hand_two[seat] &= ~bit
        else:
            s.hand_one[seat] &= ~bit
        if s.known_two[seat] & bit != ZERO:
            s.known_two[seat] &= ~bit
        else:
            s.known_one[seat] &= ~bit
    s.hand_size[seat] -= 1


@kernel
def _note_known(s: Any, seat: int, kind: int) -> None:
    """Everybody has seen a seat take a card into its hand."""
    if kind == JOKER:
        s.known_jokers[seat] += 1
    else:
        bit = kind_bit(kind)
        s.known_two[seat] |= s.known_one[seat] & bit
        s.known_one[seat] |= bit


@kernel
def _free_slot(s: Any) -> int:
    return lowest_bit_index(_ALL_SLOTS & ~s.used_slots)


@kernel
def _put_meld(s: Any, slot: int, meld_type: int, rank: int, suits: int, size: int, joker: int) -> None:
    s.used_slots |= ONE << np.uint64(slot)
    s.meld_type[slot] = meld_type
    s.meld_rank[slot] = rank
    s.meld_suits[slot] = suits
    s.meld_size[slot] = size
    s.meld_joker[slot] = joker


@inlined
def _remove_meld(s: Any, slot: int) -> None:
    keep = ~(ONE << np.uint64(slot))
    s.used_slots &= keep
    s.new_slots &= keep
    if s.last_slot == slot:
        s.last_slot = NO_SLOT
    s.meld_type[slot] = EMPTY
    s.meld_rank[slot] = 0
    s.meld_suits[slot] = 0
    s.meld_size[slot] = 0
    s.meld_joker[slot] = NO_JOKER


@inlined
def is_new(s: Any, slot: int) -> bool:
    """Whether the meld in a slot was laid this turn."""
    return (s.new_slots >> np.uint64(slot)) & ONE != ZERO


@inlined
def _quartet_to_stock(s: Any, slot: int) -> None:
    """Put a set of four under the stock: the card of spades is the last of all."""
    size = np.int64(s.stock_size)
    for i in range(size - 1, -1, -1):
        s.stock[i + NUM_SUITS] = s.stock[i]
    for suit in range(NUM_SUITS):
        kind = JOKER if s.meld_joker[slot] == suit else kind_of(suit, np.int64(s.meld_rank[slot]))
        s.stock[NUM_SUITS - 1 - suit] = kind
    s.stock_size += NUM_SUITS
    s.stock_known += NUM_SUITS
    _remove_meld(s, slot)


# --- plays of a turn ---------------------------------------------------------------------------------------------


@inlined
def _note_play(s: Any, kind: int, counts_for_duty: bool) -> None:
    """A card of a kind has been played: clear what it clears, the upcard's duty before a joker owed."""
    cleared = False
    if s.taken == kind:
        s.taken_played = 1
        if counts_for_duty and (s.duty == DUTY_PLAY or s.duty == DUTY_OPEN_WITH):
            s.duty = DUTY_NONE
            cleared = True
    if kind == JOKER and not cleared and s.jokers_owed > 0:
        s.jokers_owed -= 1


@kernel
def _counts(s: Any, R: NDArray[np.int64], use: int, on_new: bool) -> bool:
    """Whether a play of the upcard that was taken clears its duty."""
    if s.duty == DUTY_OPEN_WITH:
        return on_new
    return (R[rules.R_TAKEN_USES] & use) != 0


@kernel
def _play_from_hand(s: Any, R: NDArray[np.int64], kind: int, use: int, on_new: bool) -> None:
    counts = _counts(s, R, use, on_new)
    remove_card(s, np.int64(s.seat), kind)
    _note_play(s, kind, counts)


@kernel
def _add_points(s: Any, R: NDArray[np.int64], points: int) -> None:
    """Count points towards the opening of a seat that has not opened; open it when they are enough."""
    if has_opened(s, np.int64(s.seat)):
        return
    s.laid_points += points
    if s.laid_points >= R[rules.R_OPENING_MIN]:
        s.has_opened |= 1 << s.seat
        s.opened_now = 1
        if s.duty == DUTY_OPEN:
            s.duty = DUTY_NONE


@kernel
def _worth(R: NDArray[np.int64], points: int, by_joker: bool) -> int:
    return joker_points(R, points) if by_joker else points


@kernel
def _lay(s: Any, R: NDArray[np.int64], slot: int, points: int, has_joker: bool) -> None:
    """What laying any meld does once its cards lie there."""
    s.new_slots |= ONE << np.uint64(slot)
    s.last_slot = slot
    s.laid_any = 1
    pure = R[rules.R_OPENING_JOKER] == rules.OPENING_JOKER_IF_CLEAN
    _add_points(s, R, 0 if pure and has_joker else points)


@kernel
def lay_set(s: Any, R: NDArray[np.int64], code: int) -> None:
    """Lay a set of three; ``code`` counts from ``LAY_SET``."""
    pattern, rank = code // NUM_RANKS, code % NUM_RANKS
    suits, joker = SET_SUITS[pattern], SET_JOKER[pattern]
    points = 0
    for suit in range(NUM_SUITS):
        if (suits >> suit) & 1:
            _play_from_hand(s, R, kind_of(suit, rank), rules.USE_LAY, True)
            points += points_in_set(R, rank)
    slot = _free_slot(s)
    if joker == NO_SUIT:
        _put_meld(s, slot, SET, rank, suits, 3, NO_JOKER)
    else:
        _play_from_hand(s, R, JOKER, rules.USE_LAY, True)
        points += joker_points(R, points_in_set(R, rank))
        _put_meld(s, slot, SET, rank, suits | (1 << joker), 3, joker)
    _lay(s, R, slot, points, joker != NO_SUIT)


@kernel
def lay_run(s: Any, R: NDArray[np.int64], code: int) -> None:
    """Lay a run of three; ``code`` counts from ``LAY_RUN``."""
    start = code % actions.NUM_RUN_STARTS
    suit = (code // actions.NUM_RUN_STARTS) % NUM_SUITS
    place = code // (actions.NUM_RUN_STARTS * NUM_SUITS)
    points = 0
    for i in range(3):
        by_joker = i == place - 1
        points += _worth(R, points_at(R, start + i), by_joker)
        _play_from_hand(s, R, JOKER if by_joker else kind_of(suit, start + i), rules.USE_LAY, True)
    slot = _free_slot(s)
    _put_meld(s, slot, RUN, start, suit, 3, start + place - 1 if place else NO_JOKER)
    _lay(s, R, slot, points, place != 0)


@kernel
def lay_off(s: Any, R: NDArray[np.int64], code: int) -> None:
    """Lay a card or a joker off on a slot; ``code`` counts from ``LAY_OFF``."""
    slot, end = code // actions.NUM_ENDS, code % actions.NUM_ENDS
    high = (end & HIGH) != 0
    by_joker = end >= actions.JOKER_LOW
    pure = R[rules.R_OPENING_JOKER] == rules.OPENING_JOKER_IF_CLEAN and s.meld_joker[slot] != NO_JOKER
    if s.meld_type[slot] == RUN:
        rank = end_rank(s, R, slot, high, by_joker)
        points = points_at(R, rank)
        kind = kind_of(np.int64(s.meld_suits[slot]), rank)
        if not high:
            s.meld_rank[slot] -= 1
        if by_joker:
            s.meld_joker[slot] = rank
    else:
        suit = set_card(s, R, slot, high, by_joker)
        points = points_in_set(R, np.int64(s.meld_rank[slot]))
        kind = kind_of(suit, np.int64(s.meld_rank[slot]))
        if high:  # the joker gives its place to the card, and stands for the other missing suit
            s.meld_joker[slot] = _other_missing(s, R, slot)
            s.meld_suits[slot] |= 1 << s.meld_joker[slot]
        elif by_joker:
            s.meld_joker[slot] = suit
        s.meld_suits[slot] |= 1 << suit
    s.meld_size[slot] += 1
    _play_from_hand(s, R, JOKER if by_joker else kind, rules.USE_LAY_OFF, is_new(s, slot))
    _add_points(s, R, 0 if pure else _worth(R, points, by_joker))
    _after_lay_off(s, R, slot)


@inlined
def _other_missing(s: Any, R: NDArray[np.int64], slot: int) -> int:
    missing = ((1 << R[rules.R_SUITS]) - 1) & ~np.int64(s.meld_suits[slot])
    for suit in range(NUM_SUITS):
        if (missing >> suit) & 1:
            return suit
    return NO_SUIT


@inlined
def _after_lay_off(s: Any, R: NDArray[np.int64], slot: int) -> None:
    size = np.int64(s.meld_size[slot])
    if s.meld_type[slot] == SET:
        if size == NUM_SUITS and R[rules.R_QUARTET] == rules.QUARTET_TO_STOCK:
            _quartet_to_stock(s, slot)
    elif R[rules.R_OVERFLOW] == rules.OVERFLOW_SPLIT and size > R[rules.R_MAX_RUN]:
        s.split_slot = slot
        shortest, longest = split_lengths(size)
        if shortest == longest and not can_grow(s, R, slot):
            split_run(s, slot, shortest)


@kernel
def split_lengths(size: int) -> tuple[int, int]:
    """The least and the greatest length of the first part of a run that is split in two runs of three to five."""
    return max(actions.SHORTEST_RUN, size - _LONGEST_HALF), min(_LONGEST_HALF, size - actions.SHORTEST_RUN)


@inlined
def can_grow(s: Any, R: NDArray[np.int64], slot: int) -> bool:
    """Whether the hand of the seat to act holds a card that would make the run in a slot longer still."""
    seat = np.int64(s.seat)
    for high in (False, True):
        rank = end_rank(s, R, slot, high, False)
        if rank != NOTHING and holds(s.hand_one[seat], kind_of(np.int64(s.meld_suits[slot]), rank)):
            return True
        if s.hand_jokers[seat] > 0 and may_lay_off_joker(s, R, slot) and end_rank(s, R, slot, high, True) != NOTHING:
            return True
    return False


@kernel
def jokers_may_be_laid(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether the seat to act may lay a meld with a joker now."""
    opening = s.opened_now != 0 or not has_opened(s, np.int64(s.seat))
    return not (opening and R[rules.R_OPENING_JOKER] == rules.OPENING_JOKER_FORBIDDEN)


@kernel
def may_lay_off_joker(s: Any, R: NDArray[np.int64], slot: int) -> bool:
    """Whether the seat to act may add a joker to the meld in a slot, if it fits there."""
    if has_opened(s, np.int64(s.seat)):
        return not (s.opened_now != 0 and is_new(s, slot) and R[rules.R_OPENING_JOKER] == rules.OPENING_JOKER_FORBIDDEN)
    return R[rules.R_OPENING_JOKER] == rules.OPENING_JOKER_ALLOWED


@kernel
def split_run(s: Any, slot: int, first: int) -> None:
    """Split the run in a slot after its first cards; the second part goes to the lowest free slot."""
    other = _free_slot(s)
    low, size, joker = np.int64(s.meld_rank[slot]), np.int64(s.meld_size[slot]), np.int64(s.meld_joker[slot])
    in_second = joker != NO_JOKER and joker >= low + first
    _put_meld(s, other, RUN, low + first, np.int64(s.meld_suits[slot]), size - first, joker if in_second else NO_JOKER)
    s.meld_size[slot] = first
    if in_second:
        s.meld_joker[slot] = NO_JOKER
    if is_new(s, slot):
        s.new_slots |= ONE << np.uint64(other)
    s.split_slot = NO_SLOT


@inlined
def swap(s: Any, R: NDArray[np.int64], slot: int) -> None:
    """Give the card that the joker of a slot stands for, and take the joker."""
    seat = np.int64(s.seat)
    kind = swap_kind(s, R, slot, s.hand_one[seat])
    _play_from_hand(s, R, kind, rules.USE_SWAP, False)
    if s.meld_type[slot] == SET:
        s.meld_suits[slot] &= ~(1 << s.meld_joker[slot])
        s.meld_suits[slot] |= 1 << (kind // NUM_RANKS)
    s.meld_joker[slot] = NO_JOKER
    add_card(s, seat, JOKER)
    _note_known(s, seat, JOKER)
    if R[rules.R_SWAP] != rules.SWAP_TO_HAND:
        s.jokers_owed += 1


@kernel
def play(s: Any, R: NDArray[np.int64], action: int) -> None:
    """Do one play of a turn: a lay, a lay-off, a swap or a split; the turn goes on."""
    if action < LAY_RUN:
        lay_set(s, R, action - LAY_SET)
    elif action < LAY_OFF:
        lay_run(s, R, action - LAY_RUN)
    elif action < SWAP:
        lay_off(s, R, action - LAY_OFF)
    elif action < DISCARD:
        swap(s, R, action - SWAP)
    else:
        code = action - SPLIT
        split_run(s, code // actions.NUM_SPLITS, code % actions.NUM_SPLITS + actions.SHORTEST_RUN)
    note_table(s, R)


# --- obligations -------------------------------------------------------------------------------------------------


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


# --- the stock ---------------------------------------------------------------------------------------------------


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


# --- the end of a turn -------------------------------------------------------------------------------------------


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
