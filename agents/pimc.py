"""Perfect-information Monte Carlo: deal the hidden cards, play each action out, take the one that fares best.

At each decision the cards that the seat does not see are dealt anew, many times (``core.determinize``).  In each such
world every action that is still in the running is tried and a compiled bot plays all seats to the end of the round.
The worlds are the same for every action, so that luck of the cards cancels, and after each of a few stages the worse
half of the actions drops out (sequential halving: Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed
bandits", 2013).

What the play-outs say is uncertain, and taking the best of many uncertain numbers means taking the luckiest.  So the
choice of a good bot stands unless another action did better, world by world, by more than chance would explain.

What it cannot do is known: it plays in each world as if the cards were open from the next decision on, and so sets no
store by hiding or learning (Frank and Basin, "Search in games with incomplete information", 1998).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import AgentError, rng_of
from agents.belief import NO_BELIEF, draw_world
from agents.playout import NUM_GAME_COUNTS, NUM_SEAT_COUNTS, PlayoutScratch, play_out
from agents.registry import BOT, POLICY, kind_of, make
from agents.thinking import Decision
from scala40_env.core.cards import MAX_SEATS
from scala40_env.core.deal import stream
from scala40_env.core.game import apply_action, is_episode_over
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.quoting import shown
from scala40_env.core.rules import Rules
from scala40_env.core.state import allocate

MOST_WORLDS = 100_000
TURN_LIMIT = 400
"""Turns of a round after which a play-out is broken off: nobody is charged."""
_PLAY = 1 << 25
_STAGE = 8
"""Worlds that are played before the clock is looked at, under a budget of time."""
_MOST_LEAVES = 4096
"""Rows that wait at once for a network: they take memory, a thousand bytes and more each."""


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
    candidates: NDArray[np.int64],
    bots: NDArray[np.int64],
    salts: NDArray[np.uint64],
    believed: int,
    doubt: float,
    turns: int,
    scratch: tuple[Any, ...],
    gains: NDArray[np.float64],
    leaves: Any,
) -> int:
    """Play every candidate out in some worlds.

    Args:
        rows: the state as the seat to act may know it: a record array of one row.
        R: the rules' vector.
        rng: where the worlds are drawn from.
        first: the number of the first world.
        candidates: actions.
        bots, salts: who plays each seat on.
        believed, doubt: as for ``belief.draw_world``.
        turns: after so many a play-out is broken off.
        scratch: of the search for legal actions (``work``, ``seen``, ``legal``), and rows for a world, a play-out and
            what its bots see, then two tallies.
        gains: what the seat to act gains, by world and candidate; written.  ``nan`` where a play-out was broken off.
        leaves: a row for each world and candidate, written where a play-out was broken off; or none.

    Returns:
        How many worlds were played; fewer than ``gains`` has lines only where none agrees with the row.
    """
    work, seen, legal, world, game, view, seats, counts = scratch
    seat = np.int64(rows[0].seat)
    for w in range(len(gains)):
        if not draw_world(rows[0], seat, R, rng, first + w, believed, doubt, salts[seat], scratch):
            return w
        play_rng = stream(rng, np.uint64(first + w), 0, _PLAY)
        for i in range(len(candidates)):
            game[0] = world[0]
            s = game[0]
            apply_action(s, R, candidates[i])
            if not is_episode_over(s):
                limit = np.int64(s.match_turns) + turns
                play_out(s, view, work, R, seen, legal, bots, salts, play_rng, np.uint64(0), limit, seats, counts)
            if is_episode_over(s):
                gains[w, i] = gained(s, seat)
            elif len(leaves) == 0:
                gains[w, i] = 0.0
            else:
                gains[w, i] = np.nan
                leaves[w * len(candidates) + i] = s
    return len(gains)


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
        bot: who plays all seats on: a compiled bot, or a policy by its likeliest actions (``bot=policy:default``).
        value: a policy whose critic says what a position is worth after ``turns`` turns, in place of the rest of the
            play-out; none if empty.  For two players.
        turns: of the bot, before the critic is asked.
        prior: the compiled bot whose choice stands unless another action is surely better; none if empty.
        sure: how many standard errors of the difference, world by world, another action must be better.
        belief: the compiled bot that the others are believed to play like (``belief``); none if empty.
        doubt: how likely a world is, against others, in which that bot would have done something else: 0 to 1.
        seed: changes the worlds.
    """

    def __init__(
        self,
        worlds: int = 64,
        milliseconds: float = 0.0,
        bot: str = "greedy",
        value: str = "",
        turns: int = 2,
        prior: str = "careful",
        sure: float = 1.5,
        belief: str = "",
        doubt: float = 0.2,
        seed: int = 0,
    ) -> None:
        if not 1 <= worlds <= MOST_WORLDS:
            raise AgentError(f"worlds: expected an integer from 1 to {MOST_WORLDS}, got {worlds}")
        check_shared(milliseconds, sure, seed, doubt)
        self.name = name_of("pimc", bot, prior, belief, value)
        self.worlds, self.milliseconds, self.sure = worlds, milliseconds, sure
        if not 0 <= turns <= TURN_LIMIT:
            raise AgentError(f"turns: expected an integer from 0 to {TURN_LIMIT}, got {turns}")
        self._networks = _networks_of(bot, value)
        self._bot = compiled_bot("bot", bot if self._networks is None or value else "greedy")
        self._turns = TURN_LIMIT if self._networks is None else turns if value else 0
        self._asks_critic = bool(value)
        self._prior = compiled_bot("prior", prior) if prior else None
        self._belief = (compiled_bot("belief", belief).bot if belief else NO_BELIEF), float(doubt)
        self._seed = np.uint64(seed)
        self._scratch = SearchScratch()
        self._judged: tuple[Decision, _Tally, int] | None = None

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> int:
        """The action that fared best, or that of the prior where none is surely better; see ``Agent.act``."""
        self._judged = None
        if len(legal) == 1:
            return int(legal[0])
        usual = None if self._prior is None else int(self._prior.act(rows.copy(), legal, rules, rng))
        place = None if usual is None else int(np.searchsorted(legal, usual))
        return int(legal[int(np.argmax(self._judge(rows, legal, rules, rng, place)))])

    @property
    def thought(self) -> dict[str, Any] | None:
        """Of the last decision: what the few best actions gained and in how many worlds, and whether the prior stood.

        Those that stayed in the running longest come first.
        """
        if self._judged is None:
            return None
        decision, tally, choice = self._judged
        order, worlds = tally.order(), tally.played.astype(np.int64)
        made: dict[str, Any] = {"gain": decision.few(order, tally.means()), "worlds": decision.few(order, worlds)}
        if tally.usual is not None:
            made |= {"prior": decision.text(tally.usual), "prior_stood": choice == tally.usual}
        return made

    def values(
        self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None
    ) -> NDArray[np.float64]:
        """What each legal action gains on average, in points; minus infinity for those that dropped out."""
        return self._judge(rows, legal, rules, rng, None)

    def _judge(
        self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None, usual: int | None
    ) -> NDArray[np.float64]:
        """As ``values``; where an action is usual, it stays to the end and those not surely better are out too."""
        values = np.full(len(legal), -np.inf)
        if len(legal) == 1:
            values[0] = 0.0
            return values
        alive = np.arange(len(legal))
        seed = np.uint64((rng_of_decision(rows, rng) ^ int(self._seed)) & (2**64 - 1))
        ends = time.perf_counter() + self.milliseconds / 1e3 if self.milliseconds else None
        tally = _Tally(len(legal), usual)
        stages = max(1, int(np.ceil(np.log2(len(legal)))))
        for stage in range(stages):
            worlds = max(2, self.worlds * len(legal) // (stages * len(alive)))
            until = None if ends is None else time.perf_counter() + (ends - time.perf_counter()) / (stages - stage)
            done = self._stage(rows, rules, seed, tally, legal, alive, worlds, until)
            if done == 0:
                break
            values[:] = -np.inf
            values[alive] = tally.means()[alive]
            kept = alive[np.argsort(-values[alive], kind="stable")][: (len(alive) + 1) // 2]
            if usual is not None and usual not in kept:
                kept[-1] = usual
            alive = np.sort(kept)
            if len(alive) == 1:
                break
        if not np.isfinite(values).any():
            values[0 if usual is None else usual] = 0.0  # no world agrees with the row: any action is as good
        elif usual is not None:
            values[~tally.is_better(self.sure) & (np.arange(len(legal)) != usual)] = -np.inf
        self._judged = Decision(rows, legal, rules), tally, int(np.argmax(values))
        return values

    def _stage(
        self,
        rows: NDArray[Any],
        rules: Rules,
        seed: np.uint64,
        tally: _Tally,
        legal: NDArray[np.int16],
        alive: NDArray[np.int64],
        worlds: int,
        until: float | None,
    ) -> int:
        """Play a stage; returns how many worlds it had."""
        candidates = legal[alive].astype(np.int64)
        seats = int(rows[0].num_seats)
        bots = np.full(seats, self._bot.bot, dtype=np.int64)
        salts = np.full(seats, self._bot.salt, dtype=np.uint64)
        vector, done = rules.vector(), 0
        while done < worlds or until is not None:
            gains = np.zeros((worlds if until is None else _STAGE, len(alive)))
            size = len(gains) if self._networks is None else max(1, _MOST_LEAVES // len(alive))
            played = 0
            for part in np.split(gains, range(size, len(gains), size)):
                leaves = allocate(0 if self._networks is None else part.size)
                arguments = (candidates, bots, salts, *self._belief, self._turns, self._scratch.parts, part, leaves)
                fitting = try_actions(rows, vector, seed, tally.worlds + played, *arguments)
                if self._networks is not None:
                    left = np.flatnonzero(np.isnan(part[:fitting]))
                    if len(left):
                        values = self._networks.gains(leaves[left], int(rows[0].seat), rules, value=self._asks_critic)
                        part.reshape(-1)[left] = values
                played += fitting
                if fitting < len(part):
                    break
            tally.add(alive, gains[:played])
            done += played
            if played < len(gains) or (until is not None and time.perf_counter() >= until):
                break
        return done


class _Tally:
    """What the actions of a decision gained: sums, and sums of squares of what they gained on the usual one."""

    def __init__(self, actions: int, usual: int | None) -> None:
        self.worlds, self.usual = 0, usual
        self.played, self._sums = np.zeros(actions), np.zeros(actions)
        self._over, self._squares = np.zeros(actions), np.zeros(actions)

    def add(self, alive: NDArray[np.int64], gains: NDArray[np.float64]) -> None:
        """Count some worlds; ``gains`` has a line for each, and a column for each action that is alive."""
        self.worlds += len(gains)
        self.played[alive] += len(gains)
        self._sums[alive] += gains.sum(axis=0)
        if self.usual is not None:
            over = gains - gains[:, [int(np.flatnonzero(alive == self.usual)[0])]]
            self._over[alive] += over.sum(axis=0)
            self._squares[alive] += (over**2).sum(axis=0)

    def means(self) -> NDArray[np.float64]:
        """What each action gained on average."""
        return self._sums / np.maximum(self.played, 1)

    def order(self) -> NDArray[np.int64]:
        """The places of the actions that were tried, those played in most worlds first, of equals the best."""
        order = np.lexsort((-self.means(), -self.played))
        return order[self.played[order] > 0]

    def is_better(self, sure: float) -> NDArray[np.bool_]:
        """Which actions gain more than the usual one by so many standard errors."""
        played = np.maximum(self.played, 2)
        mean = self._over / played
        variance = np.maximum(self._squares / played - mean**2, 0.0) / (played - 1)
        return (self.played >= 2) & (mean > sure * np.sqrt(variance)) & (mean > 0)


def rng_of_decision(rows: NDArray[Any], rng: int | None) -> int:
    """The number of a decision, or one that follows from what the seat knows."""
    return rng_of(rows) if rng is None else int(rng)


def compiled_bot(option: str, name: str) -> Any:
    """The compiled bot of the registry that an option names; ``AgentError`` where it is none, and nothing is made."""
    if kind_of(name) != BOT:
        raise AgentError(f"{option}: {shown(name)} is not a compiled bot")
    return make(name)


def _networks_of(bot: str, value: str) -> Any:
    """The networks that play on or say what positions are worth; ``None`` where a compiled bot plays to the end."""
    if value and kind_of(value) != POLICY:
        raise AgentError(f"value: {shown(value)} is not a policy")
    if not value and kind_of(bot) == BOT:
        return None
    if not value and kind_of(bot) != POLICY:
        raise AgentError(f"bot: {shown(bot)} is not a compiled bot or a policy")
    from agents.policy_playouts import PolicyPlayouts  # not needed without a network

    agent: Any = make(value or bot)
    network = agent.network
    if value and not (network.has_critic and network.card.players == 2):
        raise AgentError(f"value: {shown(value)} has no critic for two players")
    return PolicyPlayouts(network, agent.name)


def name_of(search: str, bot: str, prior: str, belief: str, value: str = "") -> str:
    """What reports call a search: its name, and the agents in which it differs from the usual one."""
    told = [("", bot, "greedy"), ("prior ", prior or "none", "careful"), ("belief ", belief, ""), ("value ", value, "")]
    parts = [f"{what}{name}" for what, name, usual in told if name != usual]
    return f"{search}({', '.join(parts)})" if parts else search


def check_shared(milliseconds: float, sure: float, seed: int, doubt: float) -> None:
    """Raise ``AgentError`` for values that the options which both searches have cannot have."""
    if not 0 <= milliseconds < 1e6:
        raise AgentError(f"milliseconds: expected a number from 0 to 1000000, got {milliseconds}")
    if not 0 <= sure < 1e6:
        raise AgentError(f"sure: expected a number from 0 to 1000000, got {sure}")
    if not 0 <= seed < 2**64:
        raise AgentError(f"seed: expected an integer from 0 to 2**64 - 1, got {seed}")
    if not 0 <= doubt <= 1:
        raise AgentError(f"doubt: expected a number from 0 to 1, got {doubt}")
