"""Perfect-information Monte Carlo: deal the hidden cards, play each action out, take the one that fares best.

At each decision the cards that the seat does not see are dealt anew, many times (``core.determinize``).  In each such
world every action that is still in the running is tried and a compiled bot plays all seats to the end of the round.
The worlds are the same for every action, so that luck of the cards cancels, and after each of a few stages the worse
half of the actions drops out (sequential halving: Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed
bandits", 2013).

What it cannot do is known: it plays in each world as if the cards were open from the next decision on, and so sets no
store by hiding or learning (Frank and Basin, "Search in games with incomplete information", 1998).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import AgentError, rng_of
from agents.playout import NUM_GAME_COUNTS, NUM_SEAT_COUNTS, PlayoutScratch, play_out
from agents.registry import make
from scala40_env.core.cards import MAX_SEATS
from scala40_env.core.deal import stream
from scala40_env.core.determinize import determinize
from scala40_env.core.game import apply_action, is_episode_over
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.rules import Rules
from scala40_env.core.state import allocate

MOST_WORLDS = 100_000
TURN_LIMIT = 400
"""Turns of a round after which a play-out is broken off: nobody is charged."""
_WORLDS, _PLAY = 1 << 24, 1 << 25
_STAGE = 8
"""Worlds that are played before the clock is looked at, under a budget of time."""


@inlined
def gained(s: Any, seat: int) -> float:
    """What a seat gains in a round that is over, in points: the mean of the others' less its own."""
    total, others = 0, -1
    for other in range(s.num_seats):
        if (s.ended_in_round >> other) & 1:
            total += s.points[other]
            others += 1
    own = np.float64(s.points[seat])
    return (total - own) / others - own


@kernel
def try_actions(
    rows: Any,
    R: NDArray[np.int64],
    rng: np.uint64,
    first: int,
    worlds: int,
    candidates: NDArray[np.int64],
    bots: NDArray[np.int64],
    salts: NDArray[np.uint64],
    scratch: tuple[Any, ...],
    sums: NDArray[np.float64],
) -> int:
    """Play every candidate out in some worlds, and add what the seat to act gains to ``sums``.

    Args:
        rows: the state as the seat to act may know it: a record array of one row.
        R: the rules' vector.
        rng: where the worlds are drawn from.
        first, worlds: the numbers of the worlds.
        candidates: actions.
        bots, salts: who plays each seat on.
        scratch: of the search for legal actions (``work``, ``seen``, ``legal``), and rows for a world, a play-out and
            what its bots see, then two tallies.
        sums: one a candidate.

    Returns:
        How many worlds were played; fewer than asked for only where none agrees with the row.
    """
    work, seen, legal, world, game, view, seats, counts = scratch
    seat = np.int64(rows[0].seat)
    for w in range(first, first + worlds):
        if determinize(rows[0], seat, R, stream(rng, np.uint64(w), 0, _WORLDS), work, seen, legal, world) <= 0:
            return w - first
        world[0].whole_match = 0
        play_rng = stream(rng, np.uint64(w), 0, _PLAY)
        for i in range(len(candidates)):
            game[0] = world[0]
            s = game[0]
            apply_action(s, R, candidates[i])
            if not is_episode_over(s):
                limit = np.int64(s.match_turns) + TURN_LIMIT
                play_out(s, view, work, R, seen, legal, bots, salts, play_rng, np.uint64(0), limit, seats, counts)
            if is_episode_over(s):
                sums[i] += gained(s, seat)
    return worlds


class SearchScratch:
    """What the play-outs of one agent work in."""

    def __init__(self) -> None:
        scratch = PlayoutScratch()
        seats = np.zeros((MAX_SEATS, NUM_SEAT_COUNTS), dtype=np.int64)
        counts = np.zeros(NUM_GAME_COUNTS, dtype=np.int64)
        games = allocate(1), allocate(1), scratch.view
        self.parts = (scratch.work, scratch.seen, scratch.legal, *games, seats, counts)


class Pimc:
    """Plays each action out in many worlds; see the module.

    Args:
        worlds: the budget where no time is set: so many play-outs, on average, for each legal action; the stages share
            them, and those that last longest get most.
        milliseconds: time for a decision; 0: no limit, and then equal seeds give equal choices.
        bot: the compiled bot that plays all seats on.
        seed: changes the worlds.
    """

    def __init__(self, worlds: int = 96, milliseconds: float = 0.0, bot: str = "greedy", seed: int = 0) -> None:
        if not 1 <= worlds <= MOST_WORLDS:
            raise AgentError(f"worlds: expected an integer from 1 to {MOST_WORLDS}, got {worlds}")
        if not 0 <= milliseconds < 1e6:
            raise AgentError(f"milliseconds: expected a number from 0 to 1000000, got {milliseconds}")
        if not 0 <= seed < 2**64:
            raise AgentError(f"seed: expected an integer from 0 to 2**64 - 1, got {seed}")
        self.name = "pimc" if bot == "greedy" else f"pimc({bot})"
        self.worlds, self.milliseconds = worlds, milliseconds
        self._bot = compiled_bot(bot)
        self._seed = np.uint64(seed)
        self._scratch = SearchScratch()

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> int:
        """The action that fared best; see ``Agent.act``."""
        values = self.values(rows, legal, rules, rng)
        return int(legal[int(np.argmax(values))])

    def values(
        self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None
    ) -> NDArray[np.float64]:
        """What each legal action gains on average, in points; minus infinity for those that dropped out."""
        values = np.full(len(legal), -np.inf)
        if len(legal) == 1:
            values[0] = 0.0
            return values
        alive = np.arange(len(legal))
        seed = np.uint64((rng_of_decision(rows, rng) ^ int(self._seed)) & (2**64 - 1))
        ends = time.perf_counter() + self.milliseconds / 1e3 if self.milliseconds else None
        sums, played, first = np.zeros(len(legal)), np.zeros(len(legal)), 0
        stages = max(1, int(np.ceil(np.log2(len(legal)))))
        for stage in range(stages):
            worlds = max(2, self.worlds * len(legal) // (stages * len(alive)))
            until = None if ends is None else time.perf_counter() + (ends - time.perf_counter()) / (stages - stage)
            done = self._stage(rows, rules, seed, first, worlds, legal[alive], until, sums, alive)
            first += done
            played[alive] += done
            if done == 0:
                break
            values[:] = -np.inf
            values[alive] = sums[alive] / played[alive]
            alive = alive[np.argsort(-values[alive], kind="stable")][: (len(alive) + 1) // 2]
            if len(alive) == 1:
                break
        if not np.isfinite(values).any():
            values[0] = 0.0  # no world agrees with the row: any action is as good
        return values

    def _stage(
        self,
        rows: NDArray[Any],
        rules: Rules,
        seed: np.uint64,
        first: int,
        worlds: int,
        actions: NDArray[np.int16],
        until: float | None,
        sums: NDArray[np.float64],
        alive: NDArray[np.int64],
    ) -> int:
        """Play a stage; returns how many worlds it had."""
        candidates, gains = actions.astype(np.int64), np.zeros(len(actions))
        seats = int(rows[0].num_seats)
        bots = np.full(seats, self._bot.bot, dtype=np.int64)
        salts = np.full(seats, self._bot.salt, dtype=np.uint64)
        vector, done = rules.vector(), 0
        while done < worlds or until is not None:
            share = worlds if until is None else _STAGE
            arguments = (candidates, bots, salts, self._scratch.parts, gains)
            played = try_actions(rows, vector, seed, first + done, share, *arguments)
            done += played
            if played < share or (until is not None and time.perf_counter() >= until):
                break
        sums[alive] += gains
        return done


def rng_of_decision(rows: NDArray[Any], rng: int | None) -> int:
    """The number of a decision, or one that follows from what the seat knows."""
    return rng_of(rows) if rng is None else int(rng)


def compiled_bot(name: str) -> Any:
    """A compiled bot by name; ``AgentError`` where it is none."""
    bot = make(name)
    if not (hasattr(bot, "bot") and hasattr(bot, "salt")):
        raise AgentError(f"bot: {name!r} is not a compiled bot")
    return bot
