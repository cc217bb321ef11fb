"""The engine's surface: kernels that step one game, and ``Game``, one game for humans and tests.

``apply_action`` and ``legal_actions`` are the whole of the rules; ``advance`` puts them together.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import actions, state
from scala40_env.core.cards import MAX_SEATS, NO_KIND, ZERO
from scala40_env.core.completion import MEMORY_WORDS, WORK_ROWS
from scala40_env.core.deal import start_match
from scala40_env.core.determinize import determinized
from scala40_env.core.first_run import prepare
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.legality import legal_actions
from scala40_env.core.melds import note_tables
from scala40_env.core.notation import num_actions
from scala40_env.core.quoting import brief
from scala40_env.core.reasons import why_not
from scala40_env.core.rules import Rules
from scala40_env.core.scoring import choose_reentry, end_round
from scala40_env.core.state import DRAW, END_STUCK, MATCH_OVER, PLAY, ROUND_OVER, allocate
from scala40_env.core.transition import apply_draw, apply_play

EPISODES = ("round", "match")
NO_ACTION = -1


class IllegalActionError(ValueError):
    """An action that is not legal now; the message names the action and the reason."""


@kernel
def apply_action(s: Any, R: NDArray[np.int64], action: int) -> None:
    """Do a legal action: the cards move, and the turn, the round and the match go on."""
    if s.phase == DRAW:
        apply_draw(s, R, action)
    elif s.phase == PLAY:
        apply_play(s, R, action)
    else:
        choose_reentry(s, R, action == actions.REENTER)


@inlined
def legal_or_stuck(s: Any, work: Any, R: NDArray[np.int64], seen: NDArray[np.uint64], out: NDArray[np.int16]) -> int:
    """The legal actions; a round in which the seat to act can neither draw nor take is ended first."""
    while True:
        count = legal_actions(s, work, R, seen, out)
        if count > 0 or s.phase != DRAW:
            return count
        end_round(s, R, END_STUCK)


@kernel
def is_episode_over(s: Any) -> bool:
    """Whether nothing more can happen in the episode: its one round, or its match, is over."""
    return s.phase == MATCH_OVER or (s.phase == ROUND_OVER and s.pending_reentry == 0)


@kernel
def redact(s: Any, seat: int, out: Any) -> None:
    """Write the row as a seat may know it.

    The other hands keep what everybody saw them take, the stock what the rules make public; all else that is hidden
    becomes a count.  Seed and game are gone, since they decide every card.
    """
    out.seed = ZERO
    out.game = ZERO
    for other in range(MAX_SEATS):
        if other != seat:
            out.hand_one[other] = s.known_one[other]
            out.hand_two[other] = s.known_two[other]
            out.hand_jokers[other] = s.known_jokers[other]
    for i in range(s.stock_known, s.stock_size):
        out.stock[i] = NO_KIND


@kernel
def _start(rows: Any, R: NDArray[np.int64], seed: np.uint64, game: np.uint64, seats: int, whole_match: int) -> None:
    start_match(rows[0], R, seed, game, seats, whole_match)


@kernel
def _act(
    rows: Any, work: Any, R: NDArray[np.int64], memory: NDArray[np.uint64], action: int, out: NDArray[np.int16]
) -> int:
    """Do an action (none where it is ``NO_ACTION``); the legal actions after it, and how many."""
    s = rows[0]
    if action != NO_ACTION:
        apply_action(s, R, action)
    while True:
        count = legal_actions(s, work, R, memory, out)
        if count > 0 or s.phase != DRAW or action == NO_ACTION:
            return count
        end_round(s, R, END_STUCK)


@kernel
def _redact(rows: Any, seat: int, out: Any) -> None:
    out[0] = rows[0]
    redact(rows[0], seat, out[0])


class Scratch:
    """What the search for legal actions works in; one for each thread."""

    def __init__(self) -> None:
        self.work = allocate(WORK_ROWS)
        self.seen = np.zeros(MEMORY_WORDS, dtype=np.uint64)


def seed_word(seed: int, name: str = "seed") -> np.uint64:
    """A seed or the number of a game as the engine keeps it; raises ``ValueError`` outside 0 ... 2**64 - 1."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= int(seed) < 2**64:
        raise ValueError(f"{name}: expected an integer from 0 to 2**64 - 1, got {brief(seed)}")
    return np.uint64(seed)


def action_number(action: Any) -> int:
    """The integer that a caller gives as an action; raises ``ValueError`` where it is none."""
    try:
        return operator.index(action)
    except TypeError:
        raise ValueError(f"action: expected an integer, got {brief(action)}") from None


class Game:
    """One game: a match, or a single round.

    Args:
        rules: rules, the name of a rulebook, or flags by name.
        players: how many seats, as the rules allow.
        seed, game: which deals; the same two give the same cards whoever plays.
        episode: ``"round"`` or ``"match"``.

    Raises:
        RulesError: rules that do not exist, or players that they do not allow.
        ValueError: another episode, or a seed that is not a 64-bit integer.
    """

    def __init__(
        self, rules: Any = "standard", players: int = 2, *, seed: int = 0, game: int = 0, episode: str = "round"
    ) -> None:
        self.rules = Rules.of(rules)
        self.rules.check_players(players)
        if not isinstance(episode, str) or episode not in EPISODES:
            raise ValueError(f"episode: expected 'round' or 'match', got {brief(episode)}")
        seed, game = seed_word(seed), seed_word(game, "game")
        prepare()
        self.vector = self.rules.vector()
        self.rows = state.blank()
        self._scratch = Scratch()
        _start(self.rows, self.vector, seed, game, players, EPISODES.index(episode))
        self._act(NO_ACTION)

    @classmethod
    def from_rows(cls, rules: Any, rows: NDArray[Any]) -> Game:
        """The game that a record array of one row holds; the row is copied."""
        self = cls.__new__(cls)
        self.rules = Rules.of(rules)
        self.vector = self.rules.vector()
        self.rows = rows.copy().view(np.recarray)
        note_tables(self.rows, self.vector)
        self._scratch = Scratch()
        self._act(NO_ACTION)
        return self

    @property
    def row(self) -> Any:
        """The state, its fields as attributes; see ``state.ROW``."""
        return self.rows[0]

    @property
    def num_actions(self) -> int:
        """The size of the action space."""
        return num_actions(self.rules)

    @property
    def phase(self) -> int:
        """``DRAW``, ``PLAY``, ``ROUND_OVER`` or ``MATCH_OVER``."""
        return int(self.row.phase)

    @property
    def seat(self) -> int:
        """The seat to act, or ``NOBODY``."""
        return int(self.row.seat)

    @property
    def is_over(self) -> bool:
        """Whether the episode has ended."""
        row = self.row
        return bool(row.phase == MATCH_OVER or (row.phase == ROUND_OVER and row.pending_reentry == 0))

    def legal_actions(self) -> NDArray[np.int16]:
        """The legal actions of the seat to act, ascending; none once the episode is over."""
        return self._legal.copy()

    def action_mask(self) -> NDArray[np.int8]:
        """1 for each legal action of the seat to act: ``int8``, shape ``(num_actions,)``."""
        mask = np.zeros(self.num_actions, dtype=np.int8)
        mask[self._legal] = 1
        return mask

    def is_legal(self, action: int) -> bool:
        """Whether the seat to act may do this."""
        return bool(np.any(self._legal == action))

    def play(self, action: int) -> None:
        """Do an action.

        Raises:
            ValueError: it is no integer.
            IllegalActionError: it is not legal; nothing has changed.
        """
        number = action_number(action)
        if not self.is_legal(number):
            raise IllegalActionError(self._why_not(number))
        self._act(number)

    def redacted(self, seat: int) -> NDArray[Any]:
        """The row as a seat may know it, as a record array of one."""
        out = allocate(1)
        _redact(self.rows, seat, out)
        return out

    def determinized(self, seat: int, rng: int) -> Game:
        """A game that the seat cannot tell from this one, the cards hidden from it drawn from ``rng``.

        Raises ``ValueError`` and ``RuntimeError`` as ``determinize.determinized`` does.
        """
        return Game.from_rows(self.rules, determinized(self.rows, self.rules, seat, rng))

    def copy(self) -> Game:
        """A game of its own in the same state."""
        return Game.from_rows(self.rules, self.rows)

    def _act(self, action: int) -> None:
        out = np.empty(actions.NUM_ACTIONS, dtype=np.int16)
        count = _act(self.rows, self._scratch.work, self.vector, self._scratch.seen, action, out)
        self._legal = out[:count].copy()

    def _why_not(self, action: int) -> str:
        return f"action {brief(action)}: {why_not(self.row, self.rules, action)}"
