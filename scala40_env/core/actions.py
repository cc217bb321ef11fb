"""The action numbering: contiguous ranges, laid out once, and what each action means.

The first 635 are all that rules without splits and without a choice of re-entry can use.

====================  =====  =====================================================================
range                 count  action
====================  =====  =====================================================================
``DRAW``                  1  draw from the stock
``TAKE``                  1  take the upcard
``LAY_SET + ...``       208  lay a set of three: ``pattern * 13 + rank``
``LAY_RUN + ...``       192  lay a run of three: ``(joker_place * 4 + suit) * 12 + start``
``LAY_OFF + ...``       144  lay off on a slot: ``slot * 4 + end``
``SWAP + slot``          36  give the card that the slot's joker stands for, take the joker
``DISCARD + kind``       53  discard a kind; ends the turn
``SPLIT + ...``         108  split the run in a slot: ``slot * 3 + (length of its first part - 3)``
``REENTER, LEAVE``        2  between rounds: pay and come back, or leave the match
====================  =====  =====================================================================

Patterns of a set (16): the four triples of suits, HDC HDS HCS DCS; then for each of the six pairs of suits, HD HC HS DC
DS CS, the joker as each of the two other suits, in the order of suits.

A run of three starts at A ... Q (12; QKA is the last); its joker is at none, the first, second or third place (0 ...
3).

Ends of a lay-off (4): the low end, the high end, the joker at the low end, the joker at the high end.  A set has no
ends and uses the low ones; where ``joker_identity`` is ``any_missing``, the high one lays the very card that the
joker was
declared as, and the joker stands for the other missing suit from then on.

A slot has one swap.  Where ``joker_identity`` is ``any_missing`` it gives the card that the joker was declared as, or
the other missing one where only that is in hand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.cards import NUM_KINDS, NUM_RANKS, NUM_SUITS

MAX_SLOTS = 36
NUM_SET_PATTERNS = 16
NUM_RUN_STARTS = 12
NUM_ENDS = 4
LOW, HIGH, JOKER_LOW, JOKER_HIGH = 0, 1, 2, 3
NUM_SPLITS = 3
SHORTEST_RUN = 3

DRAW = 0
TAKE = DRAW + 1
LAY_SET = TAKE + 1
LAY_RUN = LAY_SET + NUM_SET_PATTERNS * NUM_RANKS
LAY_OFF = LAY_RUN + 4 * NUM_SUITS * NUM_RUN_STARTS
SWAP = LAY_OFF + MAX_SLOTS * NUM_ENDS
DISCARD = SWAP + MAX_SLOTS
SPLIT = DISCARD + NUM_KINDS
REENTER = SPLIT + MAX_SLOTS * NUM_SPLITS
LEAVE = REENTER + 1
NUM_ACTIONS = LEAVE + 1
NUM_COMMON_ACTIONS = SPLIT
"""The action space of rules without splits and without a choice of re-entry."""

NO_SUIT = 4


def _set_patterns() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By pattern: the suits of the natural cards (as bits), and the suit of the joker or ``NO_SUIT``."""
    triples = [(a, b, c) for a in range(NUM_SUITS) for b in range(a + 1, NUM_SUITS) for c in range(b + 1, NUM_SUITS)]
    pairs = [(a, b) for a in range(NUM_SUITS) for b in range(a + 1, NUM_SUITS)]
    made = [(sum(1 << suit for suit in triple), NO_SUIT) for triple in triples]
    for pair in pairs:
        made += [(sum(1 << suit for suit in pair), suit) for suit in range(NUM_SUITS) if suit not in pair]
    suits, jokers = zip(*made, strict=True)
    return np.array(suits, dtype=np.int64), np.array(jokers, dtype=np.int64)


SET_SUITS, SET_JOKER = _set_patterns()


def lay_set(pattern: int, rank: int) -> int:
    """The action that lays a set of three."""
    return LAY_SET + pattern * NUM_RANKS + rank


def lay_run(joker_place: int, suit: int, start: int) -> int:
    """The action that lays a run of three; ``joker_place`` 0 is none, else 1 ... 3."""
    return LAY_RUN + (joker_place * NUM_SUITS + suit) * NUM_RUN_STARTS + start


def lay_off(slot: int, end: int) -> int:
    """The action that lays a card or a joker off on a slot."""
    return LAY_OFF + slot * NUM_ENDS + end


def split(slot: int, first_length: int) -> int:
    """The action that splits the run in a slot after its third, fourth or fifth card."""
    return SPLIT + slot * NUM_SPLITS + first_length - SHORTEST_RUN
