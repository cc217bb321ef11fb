"""Kinds, hand masks, bit helpers and point values.

A *kind* is one of 53 faces: ``suit * 13 + rank`` for 0 ... 51, and 52 for the joker.  Suits H D C S are 0 ... 3,
ranks A 2 ... K are 0 ... 12.  The two copies of a kind are never told apart.

A hand is two 64-bit masks and a count of jokers.  In a mask each suit has a lane of 16 bits and the bit in a lane
is the rank; the first mask holds the kinds of which the hand has at least one copy, the second those of which it has
two.  In a lane bit 13 is the *high ace*: the same card as bit 0, one step above the king.

All bit tricks of the core are here, and always in ``uint64``: ``uint64 | int`` would silently become ``int64``.
"""

from __future__ import annotations

import numpy as np

from scala40_env.core.jit import inlined, kernel

NUM_SUITS = 4
NUM_RANKS = 13
NUM_KINDS = NUM_SUITS * NUM_RANKS + 1
JOKER = NUM_KINDS - 1
NO_KIND = 255
"""Stands in a ``uint8`` field for "no card" or "a hidden card"."""

MAX_SEATS = 6
MAX_CARDS = 108
MAX_JOKERS = 4

ACE, KING, HIGH_ACE = 0, 12, 13
RANK_NAMES = "A23456789TJQK"
SUIT_NAMES = "HDCS"
JOKER_NAME = "JK"

ZERO = np.uint64(0)
ONE = np.uint64(1)
TWO = np.uint64(2)
LANE_BITS = 16
RANK_LANE = np.uint64(0x0001_0001_0001_0001)
"""One rank in all four lanes, at bit 0: shift it by the rank."""
RANKS_LANE = np.uint64(0x1FFF)
"""The thirteen ranks of one suit, in lane 0."""
ALL_RANKS = np.uint64(0x1FFF_1FFF_1FFF_1FFF)
ACES = RANK_LANE
HIGH_ACES = np.uint64(0x2000_2000_2000_2000)


@kernel
def kind_bit(kind: int) -> np.uint64:
    """The bit of a natural kind (0 ... 51) in a hand mask."""
    suit = kind // NUM_RANKS
    return ONE << np.uint64(kind + 3 * suit)


@inlined
def suit_lane(kind: int) -> np.uint64:
    """All the ranks of the suit of a natural kind, as a hand mask."""
    return RANKS_LANE << np.uint64(kind // NUM_RANKS * LANE_BITS)


@inlined
def card_bit(suit: int, rank: int) -> np.uint64:
    """The bit of a card by suit and rank; rank 13 is the high ace's own bit."""
    return ONE << np.uint64(suit * LANE_BITS + rank)


@inlined
def lowest_kind(mask: np.uint64) -> int:
    """The kind of the lowest bit of a mask that is not empty (and holds no high aces)."""
    bit = lowest_bit_index(mask)
    return bit - 3 * (bit >> 4)


@kernel
def lowest_bit_index(mask: np.uint64) -> int:
    """The index of the lowest bit that is set; the mask is not empty."""
    return bit_count((mask & (~mask + ONE)) - ONE)


@kernel
def bit_count(mask: np.uint64) -> int:
    """How many bits are set."""
    m1 = np.uint64(0x5555555555555555)
    m2 = np.uint64(0x3333333333333333)
    m4 = np.uint64(0x0F0F0F0F0F0F0F0F)
    m = mask - ((mask >> ONE) & m1)
    m = (m & m2) + ((m >> TWO) & m2)
    m = (m + (m >> np.uint64(4))) & m4
    return np.int64((m * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def without_lowest(mask: np.uint64) -> np.uint64:
    """The mask less its lowest bit."""
    return mask & (mask - ONE)


@inlined
def with_high_aces(mask: np.uint64) -> np.uint64:
    """The mask with each ace also at bit 13 of its lane, above the king."""
    return mask | ((mask & ACES) << np.uint64(HIGH_ACE))


@kernel
def rank_suits(mask: np.uint64, rank: int) -> int:
    """The suits (bits 0 ... 3) in which the mask holds a rank."""
    m = (mask >> np.uint64(rank)) & RANK_LANE
    return np.int64((m | (m >> np.uint64(15)) | (m >> np.uint64(30)) | (m >> np.uint64(45))) & np.uint64(15))
