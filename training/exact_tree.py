"""Every way that a round of two seats can go, level by level, as one seat sees it: what an exact best response needs.

A *state* is a row with the chance that chance and the other seat bring it about.  The *viewer* tells states apart by
what it has seen so far: all actions, and its own cards after each.  States that it cannot tell apart make one
*group*, its information set with perfect recall.  A redacted row alone would not do, for it forgets: in which order
cards were discarded, what was in the hand when the other seat acted, and who drew what before the stock was renewed.

Chance is streamed.  The cards of the stock that nobody knows are in no order until one is drawn; each of them is then
as likely as the others.  So no order of the stock is enumerated, and a stock that is shuffled again changes nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.actions import DRAW, NUM_ACTIONS
from scala40_env.core.cards import JOKER, NO_KIND, ZERO
from scala40_env.core.deal import add_card, mix
from scala40_env.core.game import Game, Scratch, apply_action, legal_or_stuck, redact
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.rules import Rules
from scala40_env.core.rules_json import deck_counts
from scala40_env.core.state import ROW_SIZE, allocate
from scala40_env.envs.memory import bytes_of, rows_of

SEATS = 2
OVER = -1
"""The seat to act of a state in which the round is over."""
_TOP = -1
"""The place of a card that is drawn from where it lies: on top of the stock."""
_USUAL_LEGAL = 8
_ODD = np.uint64(0x9E3779B97F4A7C15)


class ExactError(ValueError):
    """What cannot be enumerated; the message is one line and says why."""


@dataclass(frozen=True)
class Level:
    """The states that are reached after so many actions.

    Attributes:
        rows: the states, record array of ``ROW``, shape ``(n,)``.
        seats: the seat to act, or ``OVER``; shape ``(n,)``.
        paid: where the round is over, the points that seat 0 has gained on seat 1; shape ``(n,)``.
        legal, starts: the legal actions of state ``i`` are ``legal[starts[i]:starts[i + 1]]``.
        histories: by seat, what stands for all that it has seen; ``uint64``, shape ``(n, SEATS)``.
        shown: what stands for the redacted row of the seat to act; ``uint64``, shape ``(n,)``.

    Where the round is over, ``histories`` and ``shown`` are 0.
    """

    rows: NDArray[Any]
    seats: NDArray[np.int64]
    paid: NDArray[np.float64]
    legal: NDArray[np.int16]
    starts: NDArray[np.int64]
    histories: NDArray[np.uint64]
    shown: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.seats)

    def counts(self) -> NDArray[np.int64]:
        """How many legal actions each state has."""
        return np.diff(self.starts)

    def some(self, which: NDArray[np.int64]) -> Level:
        """The level of some of its states."""
        counts = self.counts()[which]
        begins = np.concatenate([[0], np.cumsum(counts)])
        places = np.arange(begins[-1]) + np.repeat(self.starts[which] - begins[:-1], counts)
        return Level(
            self.rows[which],
            self.seats[which],
            self.paid[which],
            self.legal[places],
            begins,
            self.histories[which],
            self.shown[which],
        )

    def redacted(self, i: int) -> NDArray[Any]:
        """State ``i`` as the seat to act may know it, as a record array of one."""
        out = allocate(1)
        _redact_one(bytes_of(self.rows), i, bytes_of(out))
        return out


# --- kernels ---------------------------------------------------------------------------------------------------------


@kernel
def _redact_one(memory: NDArray[np.uint8], i: int, out_memory: NDArray[np.uint8]) -> None:
    rows, out = rows_of(memory), rows_of(out_memory)
    out[0] = rows[i]
    redact(rows[i], np.int64(rows[i].seat), out[0])


@inlined
def _digest(s: Any, seat: int, view: Any, words: NDArray[np.uint64]) -> np.uint64:
    """A number that stands for the row as a seat may know it; ``words`` is the memory of ``view``."""
    view[0] = s
    redact(s, seat, view[0])
    state = ZERO
    for word in words:
        state = (state ^ word) * _ODD
        state ^= state >> np.uint64(29)
    return mix(state)


@inlined
def _next_history(before: np.uint64, action: int, digest: np.uint64) -> np.uint64:
    """What stands for all that a seat has seen, from the same before the last action; ``action`` is -1 at the deal."""
    return mix(mix(before ^ np.uint64(action + 1)) ^ digest)


@kernel
def _history_of(
    memory: NDArray[np.uint8], seat: int, before: np.uint64, action: int, view_memory: NDArray[np.uint8]
) -> np.uint64:
    view = rows_of(view_memory)
    return _next_history(before, action, _digest(rows_of(memory)[0], seat, view, view_memory.view(np.uint64)))


@inlined
def _draw_at(s: Any, place: int) -> None:
    """Let the card at a place of the stock be the one on top."""
    top = np.int64(s.stock_size) - 1
    s.stock[top], s.stock[place] = s.stock[place], s.stock[top]


@kernel
def _grow(
    memory: NDArray[np.uint8],
    histories: NDArray[np.uint64],
    parents: NDArray[np.int64],
    actions: NDArray[np.int64],
    places: NDArray[np.int64],
    R: NDArray[np.int64],
    work_memory: NDArray[np.uint8],
    searched: NDArray[np.uint64],
    moves: NDArray[np.int16],
    view_memory: NDArray[np.uint8],
    view_words: NDArray[np.uint64],
    out_memory: NDArray[np.uint8],
    out_histories: NDArray[np.uint64],
    seats: NDArray[np.int64],
    paid: NDArray[np.float64],
    legal: NDArray[np.int16],
    starts: NDArray[np.int64],
    shown: NDArray[np.uint64],
) -> bool:
    """Do actions; returns whether ``legal`` had room for all legal actions after them.

    Args:
        memory, histories: the states before.
        parents: in which of them each action is done.
        actions: what is done; a negative one: nothing, the state is looked at.
        places: for a draw, the place of the card in the stock, or ``_TOP``.
        R: the rules' vector.
        work_memory, searched, moves, view_memory, view_words: scratch.
        out_memory, out_histories, seats, paid, legal, starts, shown: written, as ``Level`` has them.
    """
    rows, out, work, view = rows_of(memory), rows_of(out_memory), rows_of(work_memory), rows_of(view_memory)
    end = 0
    starts[0] = 0
    for j in range(len(parents)):
        out[j] = rows[parents[j]]
        s = out[j]
        if places[j] != _TOP:
            _draw_at(s, places[j])
        if actions[j] >= 0:
            apply_action(s, R, actions[j])
        count = legal_or_stuck(s, work, R, searched, moves)
        if end + count > len(legal):
            return False
        for k in range(count):
            legal[end + k] = moves[k]
        end += count
        starts[j + 1] = end
        seats[j] = np.int64(s.seat) if count > 0 else OVER
        paid[j] = np.float64(s.points[1]) - np.float64(s.points[0])
        out_histories[j] = ZERO
        shown[j] = ZERO
        if count > 0:
            for seat in range(SEATS):
                digest = _digest(s, seat, view, view_words)
                out_histories[j, seat] = _next_history(histories[parents[j], seat], actions[j], digest)
                if seat == seats[j]:
                    shown[j] = digest
    return True


@kernel
def _deal(
    memory: NDArray[np.uint8], viewer: int, first: int, hands: NDArray[np.uint8], stocks: NDArray[np.uint8]
) -> None:
    """Put cards into rows in which nothing has been dealt: own hand, other hand, upcard, stock.

    Args:
        memory: the rows, each a copy of any row of the first turn.
        viewer: whose hand comes first.
        first: the seat to act first.
        hands: kinds, shape ``(n, SEATS, hand size)``.
        stocks: the upcard, then the stock, shape ``(n, m)``.
    """
    rows = rows_of(memory)
    for i in range(len(rows)):
        s = rows[i]
        s.seed = ZERO
        s.game = ZERO
        s.seat = first
        s.dealer = 1 - first
        for k in range(SEATS):
            seat = viewer if k == 0 else 1 - viewer
            s.hand_one[seat] = ZERO
            s.hand_two[seat] = ZERO
            s.hand_jokers[seat] = 0
            s.hand_size[seat] = 0
            for card in range(hands.shape[2]):
                add_card(s, seat, np.int64(hands[i, k, card]))
        s.pile[0] = stocks[i, 0]
        s.stock[:] = NO_KIND
        for card in range(1, stocks.shape[1]):
            s.stock[card - 1] = stocks[i, card]


# --- growing ---------------------------------------------------------------------------------------------------------


class Grower:
    """Makes the levels of a tree; keeps what the kernels work in.

    Args:
        rules: the rules.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._vector = rules.vector()
        self._scratch = Scratch()
        self._moves = np.zeros(NUM_ACTIONS, dtype=np.int16)
        self._view = allocate(1)
        self._usual_legal = _USUAL_LEGAL

    def roots(self, viewer: int, first: int) -> Iterator[tuple[Level, NDArray[np.float64]]]:
        """The states after the deal, with their chances: a level for each hand of the viewer; the chances sum to 1."""
        rules, size = self.rules, self.rules.hand_size
        deck = np.repeat(np.arange(JOKER + 1, dtype=np.uint8), deck_counts(rules))
        template = Game(rules, SEATS).rows
        own_hands = math.comb(len(deck), size)
        for own in itertools.combinations(range(len(deck)), size):
            rest = np.delete(deck, own)
            hands, stocks, weights = [], [], []
            for other in itertools.combinations(range(len(rest)), size):
                left = np.delete(rest, other)
                upcards = range(len(left))
                if rules.upcard_joker == "redraw" and (left != JOKER).any():
                    upcards = np.flatnonzero(left != JOKER)
                for upcard in upcards:
                    hands.append((deck[list(own)], rest[list(other)]))
                    stocks.append((left[upcard], *np.delete(left, upcard)))
                    weights.append(1 / (own_hands * math.comb(len(rest), size) * len(upcards)))
            rows = allocate(len(weights))
            rows[:] = template[0]
            _deal(bytes_of(rows), viewer, first, np.array(hands), np.array(stocks, dtype=np.uint8))
            nothing = np.zeros((len(rows), SEATS), dtype=np.uint64)
            same, none = np.arange(len(rows)), np.full(len(rows), -1)
            yield self._grown(rows, nothing, same, none, none), np.array(weights)

    def after(
        self, level: Level, chances: NDArray[np.float64]
    ) -> tuple[Level, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """The level after one in which some actions are done.

        Args:
            level: the level.
            chances: how likely each action of ``level.legal`` is; those with 0 are not done.

        Returns:
            The next level; of each of its states the state that it comes from, the action, and the chance of it.
        """
        done = np.flatnonzero(chances > 0)
        parents = np.repeat(np.arange(len(level)), level.counts())[done]
        actions, chances = level.legal[done].astype(np.int64), chances[done]
        known, top = level.rows.stock_known[parents].astype(np.int64), level.rows.stock_size[parents].astype(np.int64)
        is_chance = (actions == DRAW) & (known < top)
        ways = np.where(is_chance, top - known, 1)
        index = np.repeat(np.arange(len(done)), ways)
        among = np.arange(len(index)) - np.repeat(np.cumsum(ways) - ways, ways)
        places = np.where(is_chance[index], known[index] + among, _TOP)
        parents, actions = parents[index], actions[index]
        grown = self._grown(level.rows, level.histories, parents, actions, places)
        return grown, parents, actions, chances[index] / ways[index]

    def _grown(
        self,
        rows: NDArray[Any],
        histories: NDArray[np.uint64],
        parents: NDArray[np.int64],
        actions: NDArray[np.int64],
        places: NDArray[np.int64],
    ) -> Level:
        n = len(parents)
        out = np.empty(n * ROW_SIZE, dtype=np.uint8)
        made = Level(
            rows=out.view(rows.dtype).view(np.recarray),
            seats=np.empty(n, dtype=np.int64),
            paid=np.empty(n, dtype=np.float64),
            legal=np.empty(max(NUM_ACTIONS, n * self._usual_legal), dtype=np.int16),
            starts=np.zeros(n + 1, dtype=np.int64),
            histories=np.empty((n, SEATS), dtype=np.uint64),
            shown=np.zeros(n, dtype=np.uint64),
        )
        view = bytes_of(self._view)
        fits = _grow(
            bytes_of(rows),
            histories,
            parents,
            actions,
            places,
            self._vector,
            bytes_of(self._scratch.work),
            self._scratch.seen,
            self._moves,
            view,
            view.view(np.uint64),
            out,
            made.histories,
            made.seats,
            made.paid,
            made.legal,
            made.starts,
            made.shown,
        )
        if not fits:
            self._usual_legal *= 2
            return self._grown(rows, histories, parents, actions, places)
        return made


def history_after(before: int, action: int, rows: NDArray[Any], seat: int) -> int:
    """What stands for all that a seat has seen, as ``Level.histories`` has it, in a game that is played elsewhere.

    Args:
        before: the same before the last action; 0 at the deal.
        action: the last action, whoever did it; -1 at the deal.
        rows: the row now, a record array of one, full or redacted for the seat.
        seat: the seat.
    """
    return int(_history_of(bytes_of(rows), seat, np.uint64(before), action, bytes_of(allocate(1))))


def check_enumerable(rules: Rules) -> None:
    """Raise ``ExactError`` where the chance of a round is not what this module makes of it."""
    rules.check_players(SEATS)
    if rules.stock_recycle != "end_hand" and rules.stock_recycle_when != "last_card_drawn":
        raise ExactError("exact: stock_recycle_when: only 'last_card_drawn', unless the stock is never renewed")


def num_deals(rules: Rules) -> int:
    """How many deals of two hands and an upcard there are, copies of a card told apart."""
    deck, size = rules.deck_size, rules.hand_size
    return math.comb(deck, size) * math.comb(deck - size, size) * (deck - 2 * size)
