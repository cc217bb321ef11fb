"""Quick answers to whether what a turn owes can be done: cheap conditions that come before the search.

Each says of what it is sufficient, or necessary; where none of them decides, ``completion`` searches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import rules
from scala40_env.core.cards import (
    ACES,
    HIGH_ACE,
    JOKER,
    NUM_RANKS,
    ONE,
    TWO,
    ZERO,
    kind_bit,
    lowest_bit_index,
    lowest_kind,
    suit_lane,
    without_lowest,
)
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.melds import (
    fitting_kind,
    holds,
    joker_fits,
    kind_of,
    pair_ranks,
    ranks_with,
    run_cards,
    run_starts,
    set_ranks,
)
from scala40_env.core.moves import (
    jokers_may_be_laid,
    may_lay_off_joker,
)
from scala40_env.core.plays import slots_for_lay_off
from scala40_env.core.rules import R_OVERFLOW, R_SWAP, R_TAKEN_USES
from scala40_env.core.state import DUTY_NONE, DUTY_OPEN_WITH, DUTY_PLAY, NO_SLOT, RUN


@kernel
def settles_at_once(s: Any, R: NDArray[np.int64], room: int) -> bool:
    """Whether the one thing owed can be done by one play that is there now: sufficient, not necessary."""
    if s.split_slot != NO_SLOT:
        return False
    seat = np.int64(s.seat)
    owes_card = s.duty != DUTY_NONE
    if (owes_card and s.jokers_owed != 0) or s.jokers_owed > 1:
        return False
    kind = np.int64(s.taken) if owes_card else JOKER
    uses = rules.USE_LAY | rules.USE_LAY_OFF
    if s.duty == DUTY_PLAY:
        uses = R[R_TAKEN_USES]
    held = s.hand_jokers[seat] > 0 if kind == JOKER else holds(s.hand_one[seat], kind)
    if not held:
        return False
    slots = slots_for_lay_off(s, R)
    if s.duty == DUTY_OPEN_WITH:
        slots &= s.new_slots
    if uses & rules.USE_LAY_OFF and room >= 1 and _fits_somewhere(s, R, slots, kind):
        return True
    if not uses & rules.USE_LAY or room < 3:
        return False
    jokers = s.hand_jokers[seat] if jokers_may_be_laid(s, R) else 0
    return is_in_meld(s.hand_one[seat], np.int64(jokers), R, kind)


@inlined
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
        if pair_ranks(one) != ZERO and R[rules.R_SUITS] >= 3:
            return True
        return run_starts(x, 1, R) | run_starts(x, 2, R) | run_starts(x, 3, R) != ZERO
    rank = np.uint64(kind % NUM_RANKS)
    suits = set_ranks(one)
    if jokers > 0 and R[rules.R_SUITS] >= 3:
        suits = pair_ranks(one) & ranks_with(one, 1 << (kind // NUM_RANKS))
    if (suits >> rank) & ONE != ZERO:
        return True
    starts = run_starts(x, 0, R)
    covered = starts | (starts << ONE) | (starts << TWO)
    if jokers > 0:
        first, second, third = run_starts(x, 1, R), run_starts(x, 2, R), run_starts(x, 3, R)
        covered |= (first << ONE) | (first << TWO) | second | (second << TWO) | third | (third << ONE)
    covered |= (covered >> np.uint64(HIGH_ACE)) & ACES
    return covered & kind_bit(kind) != ZERO


@inlined
def counts_when_laid(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether the upcard's duty is cleared by a lay and by a lay-off, as it usually is."""
    both = rules.USE_LAY | rules.USE_LAY_OFF
    return s.duty != DUTY_PLAY or (R[R_TAKEN_USES] & both) == both


@kernel
def is_plain_debt(s: Any, R: NDArray[np.int64]) -> bool:
    """Whether what ``settles_at_once`` denies is impossible, since nothing could prepare it.

    One joker owed: no play makes room for a joker that is not there, unless runs split.  The upcard: a card that fits
    nowhere comes to fit where a run grows towards it, or where a swap brings a joker for a meld with it.
    """
    if s.split_slot != NO_SLOT or R[R_OVERFLOW] == rules.OVERFLOW_SPLIT:
        return False
    if s.duty == DUTY_NONE:
        return s.jokers_owed == 1
    if s.jokers_owed != 0 or not counts_when_laid(s, R):
        return False
    seat = np.int64(s.seat)
    return not could_be_prepared(s, s.hand_one[seat], np.int64(s.hand_jokers[seat]), np.int64(s.taken))


@kernel
def may_buy_for_meld(s: Any, R: NDArray[np.int64], one: np.uint64, kind: int) -> bool:
    """Whether a card would be in a meld with a joker that another card of the hand buys: sufficient, not necessary."""
    if R[R_SWAP] == rules.SWAP_OFF or R[rules.R_IDENTITY] == rules.IDENTITY_ANY:
        return False
    bought = one & s.swappable & ~kind_bit(kind)
    while bought != ZERO:
        given = kind_bit(lowest_kind(bought))
        bought = without_lowest(bought)
        if is_in_meld(one & ~given, 1, R, kind):
            return True
    return False


@inlined
def could_be_prepared(s: Any, one: np.uint64, jokers: int, kind: int) -> bool:
    """Whether a hand has a play after which a card of it may come to fit where it does not yet.

    A run of its suit may grow towards it; a swap may bring a joker for a meld with it, or make room for it as a joker.
    """
    if one & s.swappable != ZERO:
        return True
    if kind == JOKER:
        return False
    joker = jokers > 0 and s.joker_room != ZERO
    return (joker or one & s.layable & suit_lane(kind) != ZERO) and _run_can_grow_to(s, one, kind, joker)


@kernel
def _run_can_grow_to(s: Any, one: np.uint64, kind: int, joker: bool) -> bool:
    """Whether a hand holds every card between a run of the table and a card of its suit, or all but a joker's."""
    slots = s.used_slots
    while slots != ZERO:
        slot = lowest_bit_index(slots)
        slots = without_lowest(slots)
        if s.meld_type[slot] != RUN or s.meld_suits[slot] != kind // NUM_RANKS:
            continue
        suit = np.int64(s.meld_suits[slot])
        low = np.int64(s.meld_rank[slot]) - 1
        high = low + np.int64(s.meld_size[slot]) + 1
        spare = joker
        while low >= 0 and (spare or holds(one, kind_of(suit, low))):
            if kind_of(suit, low) == kind:
                return True
            spare = spare and holds(one, kind_of(suit, low))
            low -= 1
        spare = joker
        while high <= HIGH_ACE and (spare or holds(one, kind_of(suit, high))):
            if kind_of(suit, high) == kind:
                return True
            spare = spare and holds(one, kind_of(suit, high))
            high += 1
    return False
