"""What an action is about: features of a legal action in what its seat sees, the same for a heart as for a spade.

A network that gives each action a row of weights of its own must learn fifty-three times that a card which fits
nothing is a good discard.  Here the card of an action is described by what a player looks at: what stays when it is
gone, whether it stands in a meld or near others, how many cards that it waits for are still unseen, whether it fits
onto the table, whether others threw such cards away.  All of it follows from the observation.

Points are those of the usual scale, aces and court cards ten, and a deck is two packs, whatever the rules say.
Features are about 0 ... 1.  ``NAMES`` says what they are, in their order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.actions import (
    DISCARD,
    DRAW,
    HIGH,
    JOKER_LOW,
    LAY_OFF,
    LAY_RUN,
    LAY_SET,
    NUM_ENDS,
    NUM_RUN_STARTS,
    SET_JOKER,
    SET_SUITS,
    SPLIT,
    SWAP,
    TAKE,
)
from scala40_env.core.cards import HIGH_ACE, JOKER, NUM_KINDS, NUM_RANKS, NUM_SUITS
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.rules import Rules
from scala40_env.core.state import RUN, SET
from scala40_env.envs.derived import NOT_HELD
from scala40_env.envs.observation import layout

_OF_A_CARD = (
    "points of the card, in tens",
    "copies in the hand, in twos",
    "it stands in the best melds of the hand",
    "it stands in the best opening",
    "kinds of the hand that it could stand beside, in threes",
    "unseen cards that it could stand beside, in eights",
    "it makes a meld with natural cards of the hand",
    "unseen cards that would make a meld of it and a card of the hand, in fours",
    "unseen copies, in twos",
    "it fits onto the table",
    "the table gives a joker for it",
    "cards that the next seat is known to hold and that it could stand beside, in twos",
    "cards that the next seat discarded and that it could stand beside, in fours",
    "copies that the next seat discarded",
)
_TYPES = ("draw", "take", "lay a set", "lay a run", "lay off", "swap", "discard", "another action")
_OF_A_DISCARD = ("points that it leaves beyond the best discard, from 1 down", "none leaves less", "it is a joker")
_OF_A_LAY = (
    "points, in thirties",
    "a joker is in it",
    "its cards are in the best melds",
    "they are in the best opening",
)
NAMES = (
    *_TYPES,
    *(f"take: {name}" for name in _OF_A_CARD),
    *(f"lay off: {name}" for name in _OF_A_CARD),
    *(f"discard: {name}" for name in (*_OF_A_CARD, *_OF_A_DISCARD)),
    *(f"lay: {name}" for name in _OF_A_LAY),
)
NUM_FEATURES = len(NAMES)

_CARD = len(_OF_A_CARD)
_AT_TAKE = len(_TYPES)
_AT_OFF = _AT_TAKE + _CARD
_AT_DISCARD = _AT_OFF + _CARD
_AT_LAY = _AT_DISCARD + _CARD + len(_OF_A_DISCARD)

_SLICES = (
    "hand",
    "pile",
    "upcard",
    "layable",
    "table_jokers",
    "table_type",
    "table_rank",
    "table_suits",
    "table_size",
    "table_joker",
    "opponent_1_known",
    "opponent_1_discards",
    "melded",
    "best_opening",
    "discard_leaves",
)
(
    _HAND,
    _PILE,
    _UPCARD,
    _LAYABLE,
    _JOKERS,
    _TYPE,
    _RANK,
    _SUITS,
    _SIZE,
    _JOKER_AT,
    _KNOWN,
    _THROWN,
    _MELDED,
    _OPENING,
) = range(14)
_LEAVES = 14
_SLOTS = 36
_SPREAD = np.float32(10)


def offsets_of(rules: Rules, players: int) -> NDArray[np.int64]:
    """Where in an observation with its derived part the slices begin that features are made of."""
    parts = layout(rules, players, derived=True)
    return np.array([parts[name].offset for name in _SLICES], dtype=np.int64)


@inlined
def _rank_below(rank: int) -> int:
    """A rank of a run as a rank of a card: the high ace is an ace."""
    return 0 if rank == HIGH_ACE else rank


@kernel
def _note_seen(x: NDArray[np.uint8], at: NDArray[np.int64], unseen: NDArray[np.int64]) -> None:
    """How many copies of each natural kind the seat has not seen, a deck having two."""
    for kind in range(NUM_KINDS - 1):
        unseen[kind] = 2 - x[at[_HAND] + kind] - x[at[_PILE] + kind]
    for slot in range(_SLOTS):
        rank, suits = np.int64(x[at[_RANK] + slot]), np.int64(x[at[_SUITS] + slot])
        joker = np.int64(x[at[_JOKER_AT] + slot]) - 1
        if x[at[_TYPE] + slot] == SET:
            for suit in range(NUM_SUITS):
                if (suits >> suit) & 1 and suit != joker:
                    unseen[suit * NUM_RANKS + rank] -= 1
        elif x[at[_TYPE] + slot] == RUN:
            for step in range(x[at[_SIZE] + slot]):
                if rank + step != joker:
                    unseen[suits * NUM_RANKS + _rank_below(rank + step)] -= 1
    for kind in range(NUM_KINDS - 1):
        unseen[kind] = max(unseen[kind], 0)


@inlined
def _run_kind(suit: int, rank: int) -> int:
    """The kind at a rank of a run, the ace below and above; -1 beyond."""
    if rank < 0 or rank > HIGH_ACE:
        return -1
    return suit * NUM_RANKS + _rank_below(rank)


@kernel
def _describe(
    kind: int, x: NDArray[np.uint8], at: NDArray[np.int64], unseen: NDArray[np.int64], out: NDArray[np.float32]
) -> None:
    """The features of a card, ``_OF_A_CARD``; nothing for a joker."""
    if kind < 0 or kind >= JOKER:
        return
    rank, suit = kind % NUM_RANKS, kind // NUM_RANKS
    hand, known, thrown = at[_HAND], at[_KNOWN], at[_THROWN]
    near_own, near_unseen, near_known, near_thrown, waits, melds = 0, 0, 0, 0, 0, 0
    same = 0
    for other in range(NUM_SUITS):
        beside = other * NUM_RANKS + rank
        if other != suit:
            same += x[hand + beside] > 0
            near_own += x[hand + beside] > 0
            near_unseen += unseen[beside]
            near_known += x[known + beside]
            near_thrown += x[thrown + beside]
    melds += same >= 2
    if same == 1:
        for other in range(NUM_SUITS):
            beside = other * NUM_RANKS + rank
            if other != suit and x[hand + beside] == 0:
                waits += unseen[beside]
    for place in range(2 if rank == 0 else 1):
        here = HIGH_ACE if place == 1 else rank
        for step in range(-2, 3):
            beside = _run_kind(suit, here + step)
            if step == 0 or beside < 0:
                continue
            near_own += x[hand + beside] > 0
            near_unseen += unseen[beside]
            near_known += x[known + beside]
            near_thrown += x[thrown + beside]
        for low in range(-2, 1):  # the runs of three that it can stand in
            held, missing, fits = 0, -1, True
            for step in range(low, low + 3):
                beside = _run_kind(suit, here + step)
                if beside < 0:
                    fits = False
                elif step != 0:
                    if x[hand + beside] > 0:
                        held += 1
                    else:
                        missing = beside
            if fits and held == 2:
                melds += 1
            elif fits and held == 1:
                waits += unseen[missing]
    worth = 10 if rank == 0 or rank >= 9 else rank + 1
    out[0] = worth / np.float32(10)
    out[1] = x[hand + kind] / np.float32(2)
    out[2] = x[at[_MELDED] + kind] > 0
    out[3] = x[at[_OPENING] + kind] > 0
    out[4] = near_own / np.float32(3)
    out[5] = near_unseen / np.float32(8)
    out[6] = melds > 0
    out[7] = waits / np.float32(4)
    out[8] = unseen[kind] / np.float32(2)
    out[9] = x[at[_LAYABLE] + kind]
    out[10] = x[at[_JOKERS] + kind] > 0
    out[11] = near_known / np.float32(2)
    out[12] = near_thrown / np.float32(4)
    out[13] = x[thrown + kind]


@inlined
def _laid_off(x: NDArray[np.uint8], at: NDArray[np.int64], slot: int, end: int) -> int:
    """The natural kind that a lay-off plays, -1 for a joker or where the slot does not say."""
    if end >= JOKER_LOW:
        return -1
    rank, suits = np.int64(x[at[_RANK] + slot]), np.int64(x[at[_SUITS] + slot])
    if x[at[_TYPE] + slot] == RUN:
        return _run_kind(suits, rank + np.int64(x[at[_SIZE] + slot]) if end == HIGH else rank - 1)
    for suit in range(NUM_SUITS):
        if not (suits >> suit) & 1:
            return suit * NUM_RANKS + rank
    return -1


@inlined
def _describe_lay(action: int, x: NDArray[np.uint8], at: NDArray[np.int64], out: NDArray[np.float32]) -> None:
    """The features of a new meld, ``_OF_A_LAY``."""
    points, jokers, melded, opening = 0, 0, 0, 0
    for place in range(4 if action < LAY_RUN else 3):
        kind, natural = -1, True
        if action < LAY_RUN:
            pattern, rank = (action - LAY_SET) // NUM_RANKS, (action - LAY_SET) % NUM_RANKS
            natural = (SET_SUITS[pattern] >> place) & 1 != 0
            if natural or SET_JOKER[pattern] == place:
                kind = place * NUM_RANKS + rank
        else:
            code = action - LAY_RUN
            suit, start = (code // NUM_RUN_STARTS) % NUM_SUITS, code % NUM_RUN_STARTS
            natural = code // (NUM_RUN_STARTS * NUM_SUITS) != place + 1
            kind = _run_kind(suit, start + place)
        if kind < 0:
            continue
        rank_of = kind % NUM_RANKS
        points += 10 if rank_of == 0 or rank_of >= 9 else rank_of + 1
        if natural:
            melded += x[at[_MELDED] + kind] > 0
            opening += x[at[_OPENING] + kind] > 0
        else:
            jokers += 1
    out[0] = points / np.float32(30)
    out[1] = jokers
    out[2] = melded / np.float32(3 - jokers)
    out[3] = opening / np.float32(3 - jokers)


@kernel
def describe_actions(
    observations: NDArray[np.uint8],
    legal: NDArray[np.int16],
    counts: NDArray[np.int64],
    at: NDArray[np.int64],
    unseen: NDArray[np.int64],
    out: NDArray[np.float32],
) -> None:
    """Write the features of the legal actions of many decisions, one after the other.

    Args:
        observations: with the derived part, ``uint8``, shape ``(n, size)``.
        legal, counts: the legal actions of each: ``legal[i, : counts[i]]``.
        at: what ``offsets_of`` made.
        unseen: scratch, ``int64``, ``NUM_KINDS``.
        out: zeros, ``float32``, shape ``(counts.sum(), NUM_FEATURES)``.
    """
    line = 0
    for i in range(len(counts)):
        x = observations[i]
        _note_seen(x, at, unseen)
        least = NOT_HELD
        for kind in range(NUM_KINDS):
            least = min(least, np.int64(x[at[_LEAVES] + kind]))
        for j in range(counts[i]):
            action, told = np.int64(legal[i, j]), out[line]
            line += 1
            if action == DRAW:
                told[0] = 1
            elif action == TAKE:
                told[1] = 1
                for kind in range(NUM_KINDS):
                    if x[at[_UPCARD] + kind]:
                        _describe(kind, x, at, unseen, told[_AT_TAKE:_AT_OFF])
            elif action < LAY_OFF:
                told[2 if action < LAY_RUN else 3] = 1
                _describe_lay(action, x, at, told[_AT_LAY:])
            elif action < SWAP:
                told[4] = 1
                slot, end = (action - LAY_OFF) // NUM_ENDS, (action - LAY_OFF) % NUM_ENDS
                _describe(_laid_off(x, at, slot, end), x, at, unseen, told[_AT_OFF:_AT_DISCARD])
            elif action < DISCARD:
                told[5] = 1
            elif action < SPLIT:
                kind = action - DISCARD
                told[6] = 1
                _describe(kind, x, at, unseen, told[_AT_DISCARD : _AT_DISCARD + _CARD])
                worse = np.float32(np.int64(x[at[_LEAVES] + kind]) - least)
                told[_AT_DISCARD + _CARD] = 1 - min(worse, 2 * _SPREAD) / _SPREAD
                told[_AT_DISCARD + _CARD + 1] = worse == 0
                told[_AT_DISCARD + _CARD + 2] = kind == JOKER
            else:
                told[7] = 1


class ActionFeatures:
    """The features of legal actions, for one set of rules.

    Args:
        rules: the rules.
        players: how many seats.
    """

    def __init__(self, rules: Rules, players: int) -> None:
        self._at = offsets_of(rules, players)
        self._unseen = np.zeros(NUM_KINDS, dtype=np.int64)

    def __call__(
        self, observations: NDArray[np.uint8], legal: NDArray[np.int16], counts: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The features of the legal actions of many decisions; see ``describe_actions``."""
        made = np.zeros((int(counts.sum()), NUM_FEATURES), dtype=np.float32)
        plain = np.ascontiguousarray(observations), np.ascontiguousarray(legal), counts.astype(np.int64)
        describe_actions(*plain, self._at, self._unseen, made)
        return made
