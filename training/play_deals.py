"""Plays deals of a plan: compiled where every agent is a compiled bot, else game by game from Python.

Both ways give the same tallies, to the last point.  An agent that raises, takes longer than it may or returns what is
not legal forfeits: the episode ends at once, the agent is charged more than any hand can cost, the others nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, is_compiled
from agents.playout import (
    GAME_ENDS,
    GAME_ROUNDS,
    GAME_TURNS,
    GAME_WINNERS,
    NUM_GAME_COUNTS,
    NUM_SEAT_COUNTS,
    SEAT_DECISIONS,
    SEAT_POINTS,
    SEAT_ROUNDS,
    PlayoutScratch,
    new_tallies,
    note_round,
    note_truncated,
    play_games,
)
from scala40_env.core.actions import NUM_ACTIONS
from scala40_env.core.cards import MAX_SEATS
from scala40_env.core.deal import decision_rng
from scala40_env.core.game import Game
from scala40_env.core.quoting import brief
from scala40_env.core.rules import Rules
from scala40_env.core.state import END_TRUNCATED, PLAY
from training.deals import Plan
from training.game_records import Notes, Recorder
from training.guard import AgentDiedError, AgentFaultError, AgentLateError, NotAnActionError, as_action, one_line

# a line of an agent at a seat: the counts of the seat, then these
AGENT_ILLEGAL, AGENT_RAISED, AGENT_LATE, AGENT_WON = range(NUM_SEAT_COUNTS, NUM_SEAT_COUNTS + 4)
NUM_AGENT_COUNTS = NUM_SEAT_COUNTS + 4
WHOLE_WIN = 60
"""An episode that is won alone; every number of seats that may share one divides it."""
# a line of a game: the counts of the game, then whether it was forfeited in a round
GAME_FORFEITED = NUM_GAME_COUNTS
NUM_DEAL_COUNTS = NUM_GAME_COUNTS + 1
# a line of an agent's clock: decisions it was asked for, those that were timed, their seconds, the longest of them
CLOCK_ASKED, CLOCK_DECISIONS, CLOCK_SECONDS, CLOCK_LONGEST = range(4)
NUM_CLOCKS = 4


@dataclass(frozen=True)
class Fault:
    """The first thing of a kind that an agent did wrong: which agent, in which deal and rotation, and what."""

    agent: int
    deal: int
    rotation: int
    message: str

    @property
    def kind(self) -> tuple[int, str]:
        """Faults of one kind are told once."""
        return self.agent, self.message.partition(":")[0]


@dataclass(frozen=True)
class Tally:
    """What happened in some deals of a plan.

    Attributes:
        seats: ``int64``, shape ``(deals, rotations, players, NUM_AGENT_COUNTS)``.
        games: ``int64``, shape ``(deals, rotations, NUM_DEAL_COUNTS)``.
        seating: the agent at each seat in each rotation, ``int64``, shape ``(rotations, players)``.
        faults: what agents did wrong: the first of each kind of fault and agent, in the order of the deals.
        clocks: how long agents thought that were asked from Python, ``float64``, shape ``(agents, NUM_CLOCKS)``; the
            one thing here that is not the same each time.
    """

    seats: NDArray[np.int64]
    games: NDArray[np.int64]
    seating: NDArray[np.int64]
    faults: tuple[Fault, ...]
    clocks: NDArray[np.float64]

    @property
    def agents(self) -> NDArray[np.int64]:
        """The counts of each agent over its seats and rotations, shape ``(deals, agents, NUM_AGENT_COUNTS)``."""
        made = np.zeros((len(self.seats), len(self.clocks), NUM_AGENT_COUNTS), dtype=np.int64)
        for rotation, seating in enumerate(self.seating):
            for seat, agent in enumerate(seating):
                made[:, agent] += self.seats[:, rotation, seat]
        return made

    @property
    def deals(self) -> NDArray[np.int64]:
        """The counts of the games over the rotations, shape ``(deals, NUM_DEAL_COUNTS)``; winners are left out."""
        made = self.games.sum(axis=1)
        made[:, GAME_WINNERS] = 0
        return made


def join(tallies: Sequence[Tally]) -> Tally:
    """One tally of deals that follow one another; at least one tally."""
    clocks = np.sum([tally.clocks for tally in tallies], axis=0)
    clocks[:, CLOCK_LONGEST] = np.max([tally.clocks[:, CLOCK_LONGEST] for tally in tallies], axis=0)
    return Tally(
        np.concatenate([tally.seats for tally in tallies]),
        np.concatenate([tally.games for tally in tallies]),
        tallies[0].seating,
        first_faults([fault for tally in tallies for fault in tally.faults]),
        clocks,
    )


def first_faults(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """The first fault of each kind, in the order of deals and rotations."""
    first: dict[tuple[int, str], Fault] = {}
    for fault in sorted(faults, key=lambda fault: (fault.deal, fault.rotation)):
        first.setdefault(fault.kind, fault)
    return tuple(first.values())


def are_compiled(agents: Sequence[Agent]) -> bool:
    """Whether all these agents can be played inside the compiled loop."""
    return all(is_compiled(agent) for agent in agents)


def play_deals(
    plan: Plan,
    agents: Sequence[Agent],
    first: int,
    num_deals: int,
    *,
    compiled: bool = True,
    recorder: Recorder | None = None,
) -> Tally:
    """Play deals ``first``, ``first + 1`` ... in every rotation.

    Args:
        plan: what is played.
        agents: the line-up of the plan.
        first: the first deal.
        num_deals: how many deals.
        compiled: play compiled bots inside the compiled loop; the result is the same either way.
        recorder: takes the games down, which are then all stepped from Python.
    """
    seating = plan.seating()
    seats = np.zeros((num_deals, *seating.shape, NUM_AGENT_COUNTS), dtype=np.int64)
    games = np.zeros((num_deals, len(seating), NUM_DEAL_COUNTS), dtype=np.int64)
    clocks = np.zeros((len(agents), NUM_CLOCKS))
    faults: list[Fault] = []
    fast = compiled and recorder is None and are_compiled(agents)
    for rotation, seated in enumerate(seating):
        if fast:
            seat_counts, game_counts = _play_compiled(plan, [agents[i] for i in seated], first, num_deals)
        else:
            seat_counts, game_counts = new_tallies(num_deals)
            for i in range(num_deals):
                notes = None if recorder is None else recorder.begin(first + i, rotation)
                table = _Table(plan, agents, seated, first + i, rotation, clocks, notes)
                fault = table.play(seat_counts[i], game_counts[i], seats[i, rotation], games[i, rotation])
                if fault is not None:
                    faults.append(fault)
        seats[:, rotation, :, :NUM_SEAT_COUNTS] = seat_counts[:, : plan.players]
        games[:, rotation, :NUM_GAME_COUNTS] = game_counts
    _add_wins(plan.episode, seats, games)
    return Tally(seats, games, seating, first_faults(faults), clocks)


def compile_for(plan: Plan, agents: Sequence[Agent], *, compiled: bool = True) -> None:
    """Have compiled what playing a plan needs, so that it is no part of what is timed."""
    if compiled and are_compiled(agents):
        _play_compiled(plan, [agents[i] for i in plan.seating()[0]], 0, 0)
    else:
        game = Game(plan.rules, plan.players, seed=plan.seed)
        game.redacted(game.seat)
        game.play(int(game.legal_actions()[0]))


_scratch: PlayoutScratch | None = None


def _play_compiled(
    plan: Plan, table: Sequence[Any], first: int, num_deals: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    global _scratch
    if _scratch is None:
        _scratch = PlayoutScratch()
    return play_games(
        _scratch,
        plan.rules.vector(),
        np.array([agent.bot for agent in table], dtype=np.int64),
        np.array([agent.salt for agent in table], dtype=np.uint64),
        seed=plan.seed,
        first=first,
        num_games=num_deals,
        episode=plan.episode,
        turn_limit=plan.turn_limit,
    )


def _add_wins(episode: str, seats: NDArray[np.int64], games: NDArray[np.int64]) -> None:
    """Share each episode among its winners, in sixtieths: a match as it says, a round among those who pay least.

    A round that is broken off has no winner.
    """
    if episode == "match":
        won = (games[:, :, GAME_WINNERS, None] >> np.arange(seats.shape[2])) & 1
    else:
        points = seats[:, :, :, SEAT_POINTS]
        whole = games[:, :, GAME_ENDS + END_TRUNCATED, None] == 0
        won = ((points == points.min(axis=2, keepdims=True)) & whole).astype(np.int64)
    seats[:, :, :, AGENT_WON] = won * (WHOLE_WIN // np.maximum(won.sum(axis=2, keepdims=True), 1))


def forfeit_points(rules: Rules) -> int:
    """What an agent that forfeits is charged: as much as the dearest hand under these rules, so that it never pays.

    The dearest hand is one of a card more than are dealt, multiplied as a hand caught by a closing in hand is.
    """
    dearest = [rules.hand_joker_points] * rules.jokers + [rules.hand_ace_points] * (rules.suits * rules.packs)
    for rank in range(1, rules.ranks):
        dearest += [rules.rank_points[rank]] * (rules.suits * rules.packs)
    hand = sum(sorted(dearest, reverse=True)[: rules.hand_size + 1]) * rules.close_in_hand_multiplier
    return max(hand, rules.unopened_penalty or 0)


def _turns_before(row: Any) -> int:
    """How many turns the episode had before this round: it tells the rounds of a match apart."""
    return int(row.match_turns) - int(row.round_turns)


class _Table:
    """One game of one deal, stepped from Python."""

    def __init__(
        self,
        plan: Plan,
        agents: Sequence[Agent],
        seating: NDArray[np.int64],
        deal: int,
        rotation: int,
        clocks: NDArray[np.float64],
        notes: Notes | None,
    ) -> None:
        self.plan = plan
        self.agents = agents
        self.seating = seating
        self.deal = deal
        self.rotation = rotation
        self.clocks = clocks
        self.notes = notes
        self.game = Game(plan.rules, plan.players, seed=plan.seed, game=deal, episode=plan.episode)

    def play(
        self, seats: NDArray[np.int64], game: NDArray[np.int64], at: NDArray[np.int64], whole: NDArray[np.int64]
    ) -> Fault | None:
        """Play to the end, adding to the tallies; returns what an agent did wrong, if one did.

        Args:
            seats, game: the tallies that the compiled loop keeps as well.
            at: the lines of the seats, for what agents did wrong.
            whole: the line of the game, for whether it was forfeited.
        """
        rows = self.game.rows
        decision = 0
        legal = self.game.legal_actions()
        while len(legal):
            row = self.game.row
            seat, phase, turns_before = int(row.seat), int(row.phase), _turns_before(row)
            if int(row.match_turns) >= self.plan.turn_limit:
                note_truncated(rows, seats, game)
                return None
            action, column, message = self._ask(seat, legal, decision)
            if message:
                at[seat, column] += 1
                whole[GAME_FORFEITED] += self._forfeit(seat, seats, game)
                return Fault(int(self.seating[seat]), self.deal, self.rotation, message)
            if self.notes is not None:
                self.notes.add(action, self.agents[int(self.seating[seat])])
            decision += 1
            seats[seat, SEAT_DECISIONS] += 1
            self.game.play(action)
            row = self.game.row
            if phase <= PLAY and (int(row.phase) > PLAY or _turns_before(row) != turns_before):
                note_round(rows, seats, game)
            legal = self.game.legal_actions()
        game[GAME_WINNERS] = int(self.game.row.winners)
        return None

    def _ask(self, seat: int, legal: NDArray[np.int16], decision: int) -> tuple[int, int, str]:
        """What the agent at a seat does; or the count of the fault, and what was wrong."""
        number = int(self.seating[seat])
        rng = decision_rng(np.uint64(self.plan.seed), np.uint64(self.deal), seat, decision)
        shown = self.game.redacted(seat), legal.copy(), self.plan.rules, int(rng)
        began = time.perf_counter()
        try:
            action = as_action(self.agents[number].act(*shown))
        except NotAnActionError as error:
            return -1, AGENT_ILLEGAL, str(error)
        except AgentLateError as error:
            return -1, AGENT_LATE, str(error)
        except (AgentDiedError, AgentFaultError) as error:
            return -1, AGENT_RAISED, str(error)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever an agent does, the others play on
            return -1, AGENT_RAISED, one_line(error)
        self._time(number, time.perf_counter() - began)
        if not 0 <= action < NUM_ACTIONS or action not in legal:
            return -1, AGENT_ILLEGAL, f"not legal: action {brief(action)} where {len(legal)} others were"
        return action, 0, ""

    def _time(self, number: int, seconds: float) -> None:
        """Note how long a decision took, but for the first of a call, which may load or compile something."""
        clock = self.clocks[number]
        clock[CLOCK_ASKED] += 1
        if clock[CLOCK_ASKED] == 1:
            return
        clock[CLOCK_DECISIONS] += 1
        clock[CLOCK_SECONDS] += seconds
        clock[CLOCK_LONGEST] = max(clock[CLOCK_LONGEST], seconds)

    def _forfeit(self, offender: int, seats: NDArray[np.int64], game: NDArray[np.int64]) -> int:
        """End the episode at the cost of one seat; returns how many rounds that breaks off, one or none."""
        row = self.game.row
        left = [seat for seat in range(MAX_SEATS) if int(row.in_match) >> seat & 1 and seat != offender]
        if self.plan.episode == "match":
            game[GAME_WINNERS] = sum(1 << seat for seat in left)
        if int(row.phase) > PLAY:
            return 0
        for seat in range(self.plan.players):
            seats[seat, SEAT_ROUNDS] += int(row.in_round) >> seat & 1
        seats[offender, SEAT_POINTS] += forfeit_points(self.plan.rules)
        game[GAME_ROUNDS] += 1
        game[GAME_TURNS] += int(row.round_turns)
        return 1
