"""The plays of a turn: laying, laying off, swapping, splitting, and what they need to know of the turn.

Nothing here judges: a play is legal because ``legality`` says so.  ``play`` moves the cards of one play and keeps the
obligations of the turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import actions, rules
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
    NUM_RANKS,
    NUM_SUITS,
    ONE,
    ZERO,
    kind_bit,
    lowest_bit_index,
)
from scala40_env.core.deal import add_card
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
from scala40_env.core.rules import R_CLOSE_DISCARD, R_CLOSE_FIRST
from scala40_env.core.state import (
    DUTY_NONE,
    DUTY_OPEN,
    DUTY_OPEN_WITH,
    DUTY_PLAY,
    EMPTY,
    NO_JOKER,
    NO_SLOT,
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
