"""Players that weigh: every play is judged by the row that it leads to, every discard by what is lost with the card.

All that such a player is, is its weights: ``solver`` and ``careful`` are two tables of them.  A table has a line for
two players in the round and one for more.  A line has a block of weights for the discard in each of three situations
(``NOBODY_OPENED``, ``OTHERS_OPENED``, ``OPENED``), then those of the plays.  All are in thousandths of a point that
stays in the hand, ``POINT``.

- **Plays.**  What would stay in the hand once its best melds are laid and what fits onto the table is laid off
  (``hands.least_left``), and what the table would offer to others.  A seat that has opened plays while that is no loss;
  one that has not opens with the best opening, unless it waits to go out in hand.
- **The upcard** is taken where no more stays in the hand with it.
- **The discard.**  What would stay without the card, less what each unseen card would bring into a meld; the chance
  that the next draw opens, or goes out; and what the card is good for in the hands of the next seat, which alone may
  take it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.hands import arrange, least_left, near_unseen, next_draw, outs_worth
from scala40_env.core.actions import DISCARD, SPLIT
from scala40_env.core.cards import JOKER, NUM_RANKS, ZERO, bit_count, kind_bit
from scala40_env.core.deal import next_seat
from scala40_env.core.determinize import unseen_cards
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.moves import play
from scala40_env.core.packing_best import BEST_WORDS, hand_cost, rank_cost
from scala40_env.core.rules import OPENING_JOKER_ALLOWED, R_IN_HAND_TIMES, R_OPENING_JOKER, R_SWAP, SWAP_OFF, Rules
from scala40_env.core.state import DRAW, DUTY_OPEN, DUTY_OPEN_WITH, PLAY, allocate
from scala40_env.core.transition import duty_of_take

POINT = 1000
"""What a point that stays in the hand weighs."""

NOBODY_OPENED, OTHERS_OPENED, OPENED = range(3)
"""The situations of a discard: nobody has opened, others have, the seat itself has."""

(OUT, NEAR, COST, LATE, SPARE, KEEP, CHANCE, PROGRESS, FITS, SWAPS, LIVE, KNOWN) = range(12)
NUM_DISCARD_WEIGHTS = 12
DISCARD_WEIGHTS = (
    ("OUT", "a point that an unseen card would bring into a meld with what is left, for each such card"),
    ("NEAR", "an unseen card that could stand beside the discard in a meld of three"),
    ("COST", "a point of the discard gained by being rid of it, besides what it is worth as deadwood"),
    ("LATE", "the same, for each degree of threat (``threat_of``)"),
    ("SPARE", "gained where the other copy of the discard stays"),
    ("KEEP", "opened: each card that stays in the hand; else the discard, if it fits onto the table"),
    ("CHANCE", "a thousandth of chance that the next draw lets the seat open or, once opened, go out"),
    ("PROGRESS", "a thousandth of a point that the next draw brings towards the opening, or of a card it lets go"),
    ("FITS", "the discard fits onto the table, and the next seat may lay it off"),
    ("SWAPS", "the table gives a joker for the discard, and the next seat may swap"),
    ("LIVE", "an unseen card that could stand beside the discard, if the next seat has opened"),
    ("KNOWN", "a card that the next seat is known to hold and that could stand beside the discard"),
)
_PLAYS = 3 * NUM_DISCARD_WEIGHTS
(IN_HAND, THREATENED, ENDS, JOKERS, MARGIN, JOKER_KEPT, FEW, WAIT, WAIT_ON, TAKE) = range(_PLAYS, _PLAYS + 10)
PLAY_WEIGHTS = (
    ("IN_HAND", "a point of a card that is still in the hand, though it could be laid"),
    ("THREATENED", "the same, for each degree of threat"),
    ("ENDS", "an unseen kind that fits onto the table"),
    ("JOKERS", "an unseen kind for which the table gives a joker"),
    ("MARGIN", "what a play may cost a seat that has opened"),
    ("JOKER_KEPT", "what a joker that is in no meld is good for while the end is not near, in points"),
    ("FEW", "a count of cards: a seat that has opened and holds no more is a threat, and jokers are laid off"),
    ("WAIT", "a count of turns: an opening is held back so long while nobody has opened (``_waits``)"),
    ("WAIT_ON", "the same while others have, and none of them is a threat"),
    ("TAKE", "points that the upcard must take out of the hand"),
)
NUM_WEIGHTS = _PLAYS + 10

_NEVER = 1 << 60


@inlined
def _situation(s: Any, seat: int) -> int:
    if (np.int64(s.has_opened) >> seat) & 1:
        return OPENED
    return NOBODY_OPENED if s.has_opened == 0 else OTHERS_OPENED


@inlined
def _threat_of(s: Any, seat: int, few: int) -> int:
    """How soon another seat may go out: 0, 1 where one that has opened has few cards, 2 where half as many."""
    threat = np.int64(0)
    for other in range(s.num_seats):
        if other != seat and (s.in_round & s.has_opened) >> other & 1:
            size = np.int64(s.hand_size[other])
            threat = max(threat, np.int64(size <= few) + np.int64(2 * size <= few))
    return threat


@inlined
def _jokers_count(s: Any, R: NDArray[np.int64], seat: int) -> bool:
    """Whether melds with a joker bring a seat nearer to its end: it has opened, or may open with them."""
    return R[R_OPENING_JOKER] == OPENING_JOKER_ALLOWED or (np.int64(s.has_opened) >> seat) & 1 != 0


@kernel
def _stays(s: Any, R: NDArray[np.int64], memory: NDArray[np.uint64], joker: int) -> tuple[int, int]:
    """The least points that stay with the seat to act, and in how many cards.

    A joker that stays counts as so many points fewer.  Where that is 0 jokers are laid off; else those that are owed.
    """
    seat = np.int64(s.seat)
    one, two = s.hand_one[seat], s.hand_two[seat]
    jokers = np.int64(s.hand_jokers[seat]) if _jokers_count(s, R, seat) else np.int64(0)
    layable, places = ZERO, np.int64(0)
    if (np.int64(s.has_opened) >> seat) & 1:
        layable = s.layable
        if jokers > 0:
            places = bit_count(s.joker_room)
            if joker > 0:
                places = min(places, np.int64(s.jokers_owed))
    points, _, stay, cards = least_left(
        memory, arrange(one, two, jokers, R, memory), one, two, jokers, layable, places, R
    )
    return points - joker * stay, cards


# --- the upcard ------------------------------------------------------------------------------------------------------


@inlined
def _gain_of_take(s: Any, work: Any, R: NDArray[np.int64], memory: NDArray[np.uint64], joker: int) -> int:
    """How many points fewer stay in the hand with the upcard, which may be taken; below 0: more."""
    seat, kind = np.int64(s.seat), np.int64(s.pile[s.pile_size - 1])
    before = _stays(s, R, memory, joker)[0]
    t = work[0]
    work[0] = s
    if kind == JOKER:
        t.hand_jokers[seat] += 1
        return before - _stays(t, R, memory, joker)[0]
    bit = kind_bit(kind)
    t.hand_two[seat] |= t.hand_one[seat] & bit
    t.hand_one[seat] |= bit
    after = _stays(t, R, memory, joker)[0]
    if s.swappable & bit != ZERO and R[R_SWAP] != SWAP_OFF and _situation(s, seat) == OPENED:
        work[0] = s  # it may also be given for a joker, which must then find a place
        t.hand_jokers[seat] += 1
        t.jokers_owed += 1
        after = min(after, _stays(t, R, memory, joker)[0])
    return before - after


# --- plays -----------------------------------------------------------------------------------------------------------


@kernel
def _row_loss(
    s: Any,
    R: NDArray[np.int64],
    memory: NDArray[np.uint64],
    unseen: np.uint64,
    threat: int,
    joker: int,
    W: NDArray[np.int64],
) -> int:
    """What a row costs the seat to act, its discard aside: only differences mean anything."""
    seat = np.int64(s.seat)
    held = hand_cost(s.hand_one[seat], s.hand_two[seat], np.int64(s.hand_jokers[seat]), R)
    loss = POINT * _stays(s, R, memory, joker)[0] + (W[IN_HAND] + W[THREATENED] * threat) * held
    return loss + W[ENDS] * bit_count(s.layable & unseen) + W[JOKERS] * bit_count(s.swappable & unseen)


# --- the discard -----------------------------------------------------------------------------------------------------


@inlined
def _best_discard(
    s: Any,
    R: NDArray[np.int64],
    memory: NDArray[np.uint64],
    legal: NDArray[np.int16],
    count: int,
    situation: int,
    threat: int,
    W: NDArray[np.int64],
) -> int:
    """The discard with which least is lost, a joker if nothing else is legal; -1 where none is."""
    seat = np.int64(s.seat)
    after = np.int64(next_seat(s, seat, np.int64(s.in_round)))
    next_may_play = (np.int64(s.has_opened) >> after) & 1 != 0
    unseen, unseen_two, unseen_jokers, _ = unseen_cards(s, seat, R)
    layable = s.layable if situation == OPENED else ZERO
    jokers, size = np.int64(s.hand_jokers[seat]), np.int64(s.hand_size[seat])
    if not _jokers_count(s, R, seat):
        jokers, unseen_jokers = np.int64(0), np.int64(0)
    V = W[NUM_DISCARD_WEIGHTS * situation : NUM_DISCARD_WEIGHTS * (situation + 1)]
    choice, least = np.int64(-1), np.int64(0)
    for i in range(count):
        action = np.int64(legal[i])
        if action < DISCARD or action >= SPLIT:
            continue
        kind = action - DISCARD
        loss = np.int64(_NEVER)
        if kind != JOKER:
            bit = kind_bit(kind)
            spare = s.hand_two[seat] & bit
            one, two = s.hand_one[seat] & ~(bit & ~spare), s.hand_two[seat] & ~bit
            points, left, stay, cards = least_left(
                memory, arrange(one, two, jokers, R, memory), one, two, jokers, layable, 0, R
            )
            near = near_unseen(bit, unseen, unseen_two, R)
            loss = POINT * points + V[NEAR] * near
            loss -= V[OUT] * outs_worth(left, stay, unseen, unseen_two, unseen_jokers, R)
            loss -= (V[COST] + V[LATE] * threat) * rank_cost(R, kind % NUM_RANKS)
            fits = s.layable & bit != ZERO
            if spare != ZERO:
                loss -= V[SPARE]
            if situation == OPENED:
                loss += V[KEEP] * cards
            elif fits:
                loss += V[KEEP]
            if V[CHANCE] != 0 or V[PROGRESS] != 0:
                chance, progress = next_draw(
                    one,
                    two,
                    jokers,
                    size - 1,
                    layable,
                    situation == OPENED,
                    unseen,
                    unseen_two,
                    unseen_jokers,
                    R,
                    memory,
                )
                loss -= V[CHANCE] * chance + V[PROGRESS] * progress
            if next_may_play:
                loss += V[LIVE] * near
                if fits:
                    loss += V[FITS]
                if s.swappable & bit != ZERO:
                    loss += V[SWAPS]
            if s.known_one[after] != ZERO:
                loss += V[KNOWN] * near_unseen(bit, s.known_one[after], ZERO, R)
        if choice < 0 or loss < least:
            choice, least = action, loss
    return choice


# --- the choice ------------------------------------------------------------------------------------------------------


@inlined
def _waits(s: Any, R: NDArray[np.int64], seat: int, situation: int, threat: int, W: NDArray[np.int64]) -> bool:
    """Whether a seat that has not opened waits to go out in hand, where the rules make the others pay more for that."""
    turns = np.int64(0)
    if situation == NOBODY_OPENED:
        turns = W[WAIT]
    elif situation == OTHERS_OPENED and threat == 0:
        turns = W[WAIT_ON]
    return s.turns[seat] < turns * (R[R_IN_HAND_TIMES] - 1)


@kernel
def choose_weighing(
    s: Any,
    work: Any,
    R: NDArray[np.int64],
    memory: NDArray[np.uint64],
    legal: NDArray[np.int16],
    count: int,
    weights: NDArray[np.int64],
) -> int:
    """The choice of a player that weighs among the first ``count`` actions of ``legal``.

    Args:
        s: a row as the seat to act may know it.
        work: scratch, one row.
        R: the rules' vector.
        memory: for the search, ``BEST_WORDS`` words.
        legal: the legal actions, ascending.
        count: how many there are, at least one.
        weights: what the player is: ``int64``, shape ``(2, NUM_WEIGHTS)``.
    """
    if count == 1 or (s.phase != DRAW and s.phase != PLAY):
        return np.int64(legal[0])
    seat = np.int64(s.seat)
    W = weights[0 if bit_count(np.uint64(s.in_round)) == 2 else 1]
    threat = _threat_of(s, seat, W[FEW])
    joker = np.int64(0) if threat > 0 or s.hand_size[seat] <= W[FEW] else W[JOKER_KEPT]
    situation = _situation(s, seat)
    waits = _waits(s, R, seat, situation, threat, W)
    if s.phase == DRAW:
        duty = duty_of_take(s, R)
        if duty in (DUTY_OPEN, DUTY_OPEN_WITH):
            return np.int64(legal[0 if waits else 1])
        return np.int64(legal[1 if _gain_of_take(s, work, R, memory, joker) >= W[TAKE] else 0])
    choice, least, fewest = np.int64(-1), np.int64(_NEVER), np.int64(0)
    if legal[0] < DISCARD or legal[count - 1] >= SPLIT:
        unseen, _, _, _ = unseen_cards(s, seat, R)
        t = work[0]
        for i in range(-1, count):
            work[0] = s
            if i >= 0:
                action = np.int64(legal[i])
                if DISCARD <= action < SPLIT:
                    continue
                play(t, R, action)
            loss, size = _row_loss(t, R, memory, unseen, threat, joker, W), np.int64(t.hand_size[seat])
            if i < 0:
                now = loss + W[MARGIN]
            elif loss < least or (loss == least and size < fewest):
                choice, least, fewest = action, loss, size
        holds_back = least > now if situation == OPENED else waits and _stays(s, R, memory, joker)[1] > 1
        if not holds_back or legal[count - 1] < DISCARD:
            return choice
    discard = _best_discard(s, R, memory, legal, count, situation, threat, W)
    return discard if discard >= 0 else choice


# --- the agents ------------------------------------------------------------------------------------------------------


@kernel
def _choose_one(
    rows: Any,
    work: Any,
    R: NDArray[np.int64],
    memory: NDArray[np.uint64],
    legal: NDArray[np.int16],
    weights: NDArray[np.int64],
) -> int:
    return choose_weighing(rows[0], work, R, memory, legal, len(legal), weights)


def line_of(discards: Sequence[dict[int, int]], plays: dict[int, int]) -> list[int]:
    """A line of weights: by situation those of the discard that are not 0, and those of the plays that are not 0."""
    line = [0] * NUM_WEIGHTS
    for situation, weights in enumerate(discards):
        for weight, value in weights.items():
            line[NUM_DISCARD_WEIGHTS * situation + weight] = value
    for weight, value in plays.items():
        line[weight] = value
    return line


class Weigher:
    """A player that weighs.

    Args:
        weights: ``int64``, shape ``(2, NUM_WEIGHTS)``.
    """

    salt = 0

    def __init__(self, weights: NDArray[np.int64]) -> None:
        self._weights = weights
        self._work = allocate(1)
        self._memory = np.zeros(BEST_WORDS, dtype=np.uint64)

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> int:
        """The action that costs least; draws nothing at random.  See ``Agent.act``."""
        return int(_choose_one(rows, self._work, rules.vector(), self._memory, legal, self._weights))
