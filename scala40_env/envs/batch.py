"""Many games side by side: a batch, stepped, observed, masked and paid by one compiled call.

The arrays of a batch are written in place, without copies: look at them after ``step``, and copy what is to be kept,
or hand the batch arrays of your own (``use``) and find everything there.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.actions import NUM_ACTIONS
from scala40_env.core.deal import decision_rng
from scala40_env.core.determinize import determinize_each
from scala40_env.core.first_run import prepare
from scala40_env.core.game import EPISODES, IllegalActionError, Scratch, num_actions, seed_word
from scala40_env.core.reasons import why_not
from scala40_env.core.rules import Rules
from scala40_env.core.state import allocate
from scala40_env.envs import batch_state
from scala40_env.envs import lanes as at
from scala40_env.envs.derived import DERIVED_SIZE
from scala40_env.envs.lanes import choose_uniformly
from scala40_env.envs.memory import bytes_of
from scala40_env.envs.observe import hidden_size, observation_size, shown_rules
from scala40_env.envs.opponents import by_place, is_compiled, kernel_with_bots
from scala40_env.envs.options import check_choice, check_integer
from scala40_env.envs.rewards import REWARDS

__all__ = ["FROM_OUTSIDE", "SEATINGS", "Batch", "choose_uniformly"]

SEATINGS = {"rotate": at.SEATED_IN_TURN, "random": at.SEATED_BY_LOT}
"""Where a learner sits if not always in the same seat: in seat (game mod players), or drawn for each game."""
FROM_OUTSIDE = -1
"""The number of the bot of a seat that no bot plays."""
_NO_LIMIT = 2**62
_VIEWS = (
    "seats",
    "counts",
    "learners",
    "games",
    "deal_seeds",
    "forced",
    "skipped",
    "winners",
    "terminated",
    "truncated",
)
_MADE_AGAIN = (*_VIEWS, "_shape", "_fixed", "_written", "_pool", "_edges", "_advance")
"""What follows from the rest, and is made again by a copy."""
_BUFFERS = ("observations", "hidden", "masks", "rewards")


class Batch:
    """Games side by side.

    Without ``opponents`` every seat is played from outside, and ``step`` takes each game to its next decision, whoever
    has it.  With them one seat of each game is the learner's, and ``step`` returns at the learner's next decision.

    A game's number under its seed decides its cards: game ``i`` of the batch plays the numbers ``i``,
    ``i + num_games``, ``i + 2 * num_games`` ...  So a game depends on its seed and on the actions alone.

    Attributes:
        rows: the games, a record array of ``scala40_env.core.state.ROW``.  Copying a game is assigning a row; call
            ``look`` after writing one.
        seats: the seat to act in each game, -1 where its episode is over; ``int64``, shape ``(num_games,)``.
        observations: what it sees, ``uint8``, shape ``(num_games, observation size)``; ``observation.layout`` names
            its parts.  Where the episode is over, what the learner (or seat 0) sees then.
        masks: its legal actions as ones, ``int8``, shape ``(num_games, num_actions)``; zeros where it is over.
        legal, counts: the same as lists: ``legal[i, : counts[i]]``, ``int16``, ascending.
        rewards: what each seat has been paid: ``float32``, shape ``(num_games, players)``.  Without opponents, by the
            last step; with them, since the learner's last decision.  What is paid before the first decision of a game
            is paid by the step after it.
        terminated, truncated: whether the episode ended with the last step, ``bool``, shape ``(num_games,)``; for a
            learner also where its seat is out of the match and others play on.  ``ended`` is either.
        left: the seats whose end came with the last step, ``bool``, shape ``(num_games, players)``.
        points: the totals of the episode that ended last, ``int32``, shape ``(num_games, players)``.
        winners: the seats that won it, as bits; 0 where it was cut short; ``int64``, shape ``(num_games,)``.
        final_observations, final_rows: what was seen at the end of the episode that ended last, as ``observations``,
            and the game as it ended, as ``rows``.
        learners: the seat of the learner, ``int64``, shape ``(num_games,)``; 0 without one.
        games, deal_seeds: the number of each game and the seed of its deals, ``uint64``, shape ``(num_games,)``.
        forced: how many forced actions each game has played by itself, over all its episodes; ``int64``.
        skipped: how many episodes were over before the learner had a decision; they are dealt, but not shown.
        hidden: where asked for, what the seat to act does not see, for a critic and never for a player: ``uint8``,
            shape ``(num_games, hidden size)``; see ``observe.hidden_part``.
        bots, salts: with opponents, the number of the bot by game and place after the learner, or ``FROM_OUTSIDE``,
            and its salt; shapes ``(num_games, players)``.  They may be changed between steps.  With ``bots``, by seat.

    Args:
        rules: rules, the name of a rulebook, or flags by name.
        players: how many seats, as the rules allow.
        num_games: how many games, 1 or more.
        seed: of the deals: one for all, or one a game (then each game plays the numbers 0, 1 ... of its own).
        episode: ``"round"`` or ``"match"``.
        reward: ``"points"``, ``"zero_sum"`` or ``"win"``; see ``rewards``.
        turn_limit: after so many turns an episode is truncated; ``None`` leaves the end to the rules.
        auto_reset: whether a game that ends is followed, in the same step, by a new one.  Else ``reset`` begins it.
        play_forced: whether an action that has no alternative is played inside and is no decision.
        opponents: who sits after the learner, in the order of play: compiled bots by name (``"greedy"``) or as
            agents, or ``None`` for a seat that is played from outside; one for all, or ``players - 1``.
        seat: the learner's: a number, ``"rotate"`` or ``"random"``; only with opponents.
        bots: instead of opponents, the numbers of the compiled bots by game and seat, or ``FROM_OUTSIDE``, shape
            ``(num_games, players)``: for self-play in which some seats of some games are theirs.  There is no learner.
        derived: whether observations end with the derived part, what a player would work out; see ``derived``.
        hidden: whether to write ``hidden``.
        threads: how many threads share a step; the games are the same.  It pays from about a thousand games on.

    Raises:
        RulesError: rules that do not exist, or players that they do not allow.
        ValueError: any other option with a value that it cannot have, in one line that names it.
    """

    def __init__(
        self,
        rules: Any = "standard",
        players: int = 2,
        num_games: int = 256,
        *,
        seed: Any = 0,
        episode: str = "round",
        reward: str = "points",
        turn_limit: int | None = None,
        auto_reset: bool = True,
        play_forced: bool = False,
        opponents: Any = None,
        seat: int | str = 0,
        bots: NDArray[np.int64] | None = None,
        derived: bool = False,
        hidden: bool = False,
        threads: int = 1,
    ) -> None:
        self.rules = Rules.of(rules)
        self.rules.check_players(players)
        self.num_games = check_integer("num_games", num_games, 1, 2**31 - 1)
        self.players = int(players)
        self.num_actions = num_actions(self.rules)
        self.threads = check_integer("threads", threads, 1, 1024)
        check_choice("episode", episode, EPISODES)
        check_choice("reward", reward, REWARDS)
        if turn_limit is not None:
            check_integer("turn_limit", turn_limit, 1, 2**31 - 1, " or None")
        seating = self._seating(seat) if opponents is not None else at.NO_LEARNER
        self._options = np.zeros(at.NUM_OPTIONS, dtype=np.int64)
        self._options[at.OPT_PLAYERS] = self.players
        self._options[at.OPT_MATCH] = EPISODES.index(episode)
        self._options[at.OPT_REWARD] = REWARDS.index(reward)
        self._options[at.OPT_TURN_LIMIT] = _NO_LIMIT if turn_limit is None else turn_limit
        self._options[at.OPT_FORCED] = bool(play_forced)
        self._options[at.OPT_AUTORESET] = bool(auto_reset)
        self._options[at.OPT_SEATING] = seating
        self._options[at.OPT_HIDDEN] = bool(hidden)
        self.derived = bool(derived)
        self.bots: NDArray[np.int64] | None = None
        self.salts: NDArray[np.uint64] | None = None
        if opponents is not None:
            self._seat_bots(opponents)
        elif bots is not None:
            self.bots = self._checked_bots(bots)
            self.salts = np.zeros((self.num_games, self.players), dtype=np.uint64)
        prepare()
        self._allocate()
        self.reset(seed)

    def _seating(self, seat: int | str) -> int:
        if isinstance(seat, str):
            check_choice("seat", seat, tuple(SEATINGS), f" or a number below {self.players}")
            return SEATINGS[seat]
        return check_integer("seat", seat, 0, self.players - 1, f", {' or '.join(map(repr, SEATINGS))}")

    def _seat_bots(self, opponents: Any) -> None:
        self.bots = np.full((self.num_games, self.players), FROM_OUTSIDE, dtype=np.int64)
        self.salts = np.zeros((self.num_games, self.players), dtype=np.uint64)
        for place, agent in enumerate(by_place(opponents, self.players), start=1):
            if agent is None:
                continue
            if not is_compiled(agent):
                raise ValueError(f"opponents: {getattr(agent, 'name', agent)!r} is not a compiled bot")
            self.bots[:, place] = agent.bot
            self.salts[:, place] = agent.salt

    def _checked_bots(self, bots: NDArray[np.int64]) -> NDArray[np.int64]:
        made, shape = np.array(bots), (self.num_games, self.players)
        if made.shape != shape or made.dtype.kind not in "iu":
            raise ValueError(f"bots: expected integers of shape {shape}, got {made.dtype} of shape {made.shape}")
        if (made >= 0).all(axis=1).any():
            raise ValueError("bots: expected a seat in each game that is played from outside")
        return made.astype(np.int64)

    def _allocate(self) -> None:
        n, seats = self.num_games, self.players
        size = observation_size(seats) + (DERIVED_SIZE if self.derived else 0)
        self.rows = allocate(n)
        self.final_rows = allocate(n)
        self._lanes = np.zeros((n, at.LANE_NUMBERS), dtype=np.int64)
        self.observations = np.zeros((n, size), dtype=np.uint8)
        self.hidden = np.zeros((n, hidden_size(seats) if self._options[at.OPT_HIDDEN] else 0), dtype=np.uint8)
        self.masks = np.zeros((n, self.num_actions), dtype=np.int8)
        self.legal = np.zeros((n, NUM_ACTIONS), dtype=np.int16)
        self.rewards = np.zeros((n, seats), dtype=np.float32)
        self._carried = np.zeros((n, seats), dtype=np.float32)
        self._ends = np.zeros((n, 2), dtype=np.bool_)
        self.left = np.zeros((n, seats), dtype=np.bool_)
        self.points = np.zeros((n, seats), dtype=np.int32)
        self.final_observations = np.zeros((n, size), dtype=np.uint8)
        self._bind()

    def _bind(self) -> None:
        """Make the views, and gather what the kernels are given with every call."""
        lanes = self._lanes
        self.seats, self.counts = lanes[:, at.LANE_SEAT], lanes[:, at.LANE_COUNT]
        words = lanes.view(np.uint64)
        self.learners = lanes[:, at.LANE_LEARNER]
        self.games, self.deal_seeds = words[:, at.LANE_GAME], words[:, at.LANE_SEED]
        self.winners = lanes[:, at.LANE_WINNERS]
        self.forced, self.skipped = lanes[:, at.LANE_FORCED], lanes[:, at.LANE_SKIPPED]
        self.terminated, self.truncated = self._ends[:, 0], self._ends[:, 1]
        self._shape = (self.num_games,)
        rules = (self.rules.vector(), shown_rules(self.rules), self._options)
        memory = bytes_of(self.rows)
        scratches = [Scratch() for _ in range(self.threads)]
        self._fixed = [(memory, bytes_of(scratch.work), scratch.seen, *rules) for scratch in scratches]
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self._edges = [self.num_games * k // self.threads for k in range(self.threads + 1)]
        self._advance = at.advance if self.bots is None else kernel_with_bots()
        self._gather()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _MADE_AGAIN}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self.rows, self.final_rows = self.rows.view(np.recarray), self.final_rows.view(np.recarray)
        self._bind()

    @property
    def ended(self) -> NDArray[np.bool_]:
        """Whether each episode ended with the last step, in either way; a new array."""
        return self._ends.any(axis=1)

    def use(self, **buffers: NDArray[Any]) -> None:
        """Write into the caller's arrays from now on: ``observations``, ``hidden``, ``masks``, ``rewards``.

        They are filled by the next ``step`` or ``reset`` of all games, and not before.

        Raises:
            ValueError: another name, or an array that is not of the shape and dtype of the one that it stands for,
                without gaps and writable; nothing has changed.
        """
        for name, array in buffers.items():
            if name not in _BUFFERS:
                raise ValueError(f"use: there is no buffer {name!r}; there are {', '.join(_BUFFERS)}")
            mine = getattr(self, name)
            good = isinstance(array, np.ndarray) and array.shape == mine.shape and array.dtype == mine.dtype
            if not good or not array.flags.c_contiguous or not array.flags.writeable:
                expected = f"a writable array of {mine.dtype} and shape {mine.shape}, without gaps"
                found = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else repr(array)
                raise ValueError(f"{name}: expected {expected}, got {found}")
        for name, array in buffers.items():
            setattr(self, name, array)
            if name == "masks":
                self._options[at.OPT_CLEAR] = 1
        self._gather()

    def reset(self, seed: Any = None, where: NDArray[np.bool_] | None = None, games: Any = None) -> None:
        """Begin games anew.

        Args:
            seed: of the deals from here on: one for all, or one a game; ``None`` begins the next games of the old.
            where: which games, ``bool``, shape ``(num_games,)``; all of them by default.
            games: the numbers under the seed to be dealt now, one a game; those after them follow by the same steps.

        Raises:
            ValueError: a seed or a number that is not a 64-bit integer, or a ``where`` of another shape or dtype;
                nothing has changed.
        """
        commands = self._commands(np.full(self.num_games, at.BEGIN, dtype=np.int64), where)
        among = commands == at.BEGIN
        is_one = seed is None or np.ndim(seed) == 0
        seeds = None if seed is None else self._words("seed", [seed] * self.num_games if is_one else seed)
        numbers = None if games is None else self._words("games", games)
        words = self._lanes.view(np.uint64)
        if seeds is not None:
            words[among, at.LANE_SEED] = seeds[among]
            words[among, at.LANE_NEXT] = np.flatnonzero(among) if is_one else 0
            self._options[at.OPT_STRIDE] = self.num_games if is_one else 1
        if numbers is not None:
            words[among, at.LANE_NEXT] = numbers[among]
        self._run(commands)

    def _words(self, name: str, values: Any) -> NDArray[np.uint64]:
        if len(values) != self.num_games:
            raise ValueError(f"{name}: expected {self.num_games}, got {len(values)}")
        return np.array([seed_word(int(value) if isinstance(value, np.integer) else value, name) for value in values])

    def step(self, actions: NDArray[np.integer[Any]], where: NDArray[np.bool_] | None = None) -> None:
        """Do one action in every game, or in some.

        Args:
            actions: integers, shape ``(num_games,)``.
            where: which games act, ``bool``, shape ``(num_games,)``; what is shown of the others stays.

        Raises:
            IllegalActionError: an action that is not legal, named with its game and the reason; nothing has changed.
            ValueError: another shape, numbers that are not integers, or a game whose episode is over.
        """
        chosen = np.asarray(actions)
        if chosen.shape != self._shape or chosen.dtype.kind not in "iu":
            found = f"{chosen.dtype} of shape {chosen.shape}"
            raise ValueError(f"actions: expected integers of shape {self._shape}, got {found}")
        commands = chosen.astype(np.int64, copy=False)
        if where is not None:
            commands = self._commands(np.where(commands == at.HOLD, at.BEGIN, commands), where)
        game = at.first_refused(commands, self.masks, where is not None)
        if game != at.NONE_REFUSED:
            raise self._refusal(int(game), int(chosen[game]))
        self._run(commands)

    def look(self) -> None:
        """Find again what follows from the rows, after some have been written; an episode that is over stays so."""
        at.look(*self._fixed[0], *self._written[:5])
        if self.derived:
            memory, _, seen, R, _, options = self._fixed[0]
            none = np.zeros((self.num_games, 2), dtype=np.bool_)
            shown = (self._lanes, none, self.observations, self.final_observations)
            commands = np.zeros(self.num_games, dtype=np.int64)
            at.derive_lanes(0, self.num_games, memory, memory, seen, R, options, commands, *shown)

    def get_state(self) -> dict[str, NDArray[Any]]:
        """All that the batch goes on from, as copies of plain arrays by name, for ``set_state``."""
        return batch_state.pack(self)

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``get_state`` of a batch with the same options returned.

        Raises:
            ValueError: anything else; nothing has changed.
        """
        batch_state.unpack(self, state)

    def redacted(self) -> NDArray[Any]:
        """The rows as the seats to act may know them: a new record array.  What agents are given."""
        out = allocate(self.num_games)
        at.redact_lanes(self._fixed[0][0], self.seats, bytes_of(out))
        return out

    def determinized(self, rng: int) -> NDArray[Any]:
        """Whole rows that the seats to act cannot tell from those of the batch, what is hidden from them dealt anew.

        Args:
            rng: where the cards are drawn from, 0 ... 2**64 - 1.

        Returns:
            A new record array; see ``core.determinize``.  The row of a game that is over is copied.
        """
        word, out, scratch = seed_word(rng, "rng"), allocate(self.num_games), Scratch()
        legal = np.zeros(NUM_ACTIONS, dtype=np.int16)
        viewers = self.seats.copy()
        determinize_each(self.rows, viewers, self.rules.vector(), word, scratch.work, scratch.seen, legal, out)
        return out

    @property
    def auto_resets(self) -> bool:
        """Whether a game that ends is followed, in the same step, by a new one."""
        return bool(self._options[at.OPT_AUTORESET])

    def forfeit(self, games: NDArray[np.integer[Any]]) -> None:
        """Break off the episodes of some games (indices); without automatic reset they wait for ``reset``."""
        for game in games:
            self.final_observations[game] = self.observations[game]
            self.points[game] = self.rows[game].totals[: self.players]
            self.masks[game] = 0
        self._lanes[games, at.LANE_COUNT] = 0
        self._lanes[games, at.LANE_OVER] = 1
        self._lanes[games, at.LANE_SEAT] = at.NO_SEAT
        self._lanes[games, at.LANE_WINNERS] = 0

    def decision_rng(self, game: int) -> int:
        """A number that belongs to the decision that a game has come to, for whoever makes it."""
        lane = self._lanes.view(np.uint64)[game]
        return int(decision_rng(lane[at.LANE_SEED], lane[at.LANE_GAME], self.seats[game], lane[at.LANE_ACTIONS]))

    def close(self) -> None:
        """Let the threads go; the batch can be used no more."""
        if self._pool is not None:
            self._pool.shutdown()

    # --- the inside --------------------------------------------------------------------------------------------------

    def _commands(self, commands: NDArray[np.int64], where: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        if where is None:
            return commands
        among = np.asarray(where)
        if among.shape != (self.num_games,) or among.dtype != np.bool_:
            found = f"{among.dtype} of shape {among.shape}"
            raise ValueError(f"where: expected bool of shape {(self.num_games,)}, got {found}")
        return np.where(among, commands, at.HOLD)

    def _refusal(self, game: int, action: int) -> ValueError:
        if self.counts[game] == 0:
            return ValueError(f"game {game}: its episode is over; reset it before it is stepped")
        return IllegalActionError(f"game {game}, action {action}: {why_not(self.rows[game], self.rules, action)}")

    def _run(self, commands: NDArray[np.int64]) -> None:
        if self._pool is None:
            self._run_lanes(0, commands)
        else:
            shares = [self._pool.submit(self._run_lanes, thread, commands) for thread in range(self.threads)]
            for share in shares:
                share.result()
        self._options[at.OPT_CLEAR] = 0

    def _run_lanes(self, thread: int, commands: NDArray[np.int64]) -> None:
        first, last = self._edges[thread], self._edges[thread + 1]
        fixed = self._fixed[thread]
        self._advance(first, last, *fixed, commands, *self._written)
        if self.derived:
            memory, _, seen, R, _, options = fixed
            ended = self._written[11]
            shown = (self._lanes, self._ends, self.observations, self.final_observations)
            at.derive_lanes(first, last, memory, ended, seen, R, options, commands, *shown)

    def _gather(self) -> None:
        """Put together what the kernels are given with every call."""
        written = (
            self._lanes,
            self.legal,
            self.observations,
            self.hidden,
            self.masks,
            self.rewards,
            self._carried,
            self._ends,
            self.left,
            self.points,
            self.final_observations,
            bytes_of(self.final_rows),
        )
        self._written = written if self.bots is None else (*written, self.bots, self.salts)
