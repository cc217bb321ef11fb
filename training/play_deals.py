"""Plays deals of a plan: compiled where every agent is a compiled bot, else game by game from Python.

Both ways give the same tallies, to the last point.  An agent that raises, or returns what is not legal, forfeits: the
episode ends at once, the agent is charged more than any hand can cost, the others nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, CompiledAgent
from agents.playout import (
    GAME_ENDS,
    GAME_IN_HAND,
    GAME_ROUNDS,
    GAME_TURNS,
    GAME_WINNERS,
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
from scala40_env.core.rules import Rules
from scala40_env.core.state import END_NAMES, PLAY
from training.deals import Plan

# a line of an agent: the counts of its seats, then these
AGENT_ILLEGAL, AGENT_RAISED, AGENT_WON = range(NUM_SEAT_COUNTS, NUM_SEAT_COUNTS + 3)
NUM_AGENT_COUNTS = NUM_SEAT_COUNTS + 3
WHOLE_WIN = 60
"""A match that is won alone; every number of seats that may share one divides it."""
# a line of a deal: what its games have in common; from DEAL_ENDS on, the rounds that ended in each way
DEAL_ROUNDS, DEAL_TURNS, DEAL_IN_HAND, DEAL_FORFEITED, DEAL_ENDS = range(5)
NUM_DEAL_COUNTS = DEAL_ENDS + len(END_NAMES)


@dataclass(frozen=True)
class Fault:
    """The first thing that an agent did wrong in some deals: which agent, in which deal and rotation, and what."""

    agent: int
    deal: int
    rotation: int
    message: str


@dataclass(frozen=True)
class Tally:
    """What happened in some deals.

    Attributes:
        agents: ``int64``, shape ``(deals, agents, NUM_AGENT_COUNTS)``, summed over the rotations of each deal.
        deals: ``int64``, shape ``(deals, NUM_DEAL_COUNTS)``, likewise.
        faults: what agents did wrong: at most one a kind of fault, agent and call.
    """

    agents: NDArray[np.int64]
    deals: NDArray[np.int64]
    faults: tuple[Fault, ...]


def are_compiled(agents: Sequence[Agent]) -> bool:
    """Whether all these agents can be played inside the compiled loop."""
    return all(isinstance(agent, CompiledAgent) for agent in agents)


def play_deals(plan: Plan, agents: Sequence[Agent], first: int, num_deals: int, *, compiled: bool = True) -> Tally:
    """Play deals ``first``, ``first + 1`` ... in every rotation.

    Args:
        plan: what is played.
        agents: the line-up of the plan.
        first: the first deal.
        num_deals: how many deals.
        compiled: play compiled bots inside the compiled loop; the result is the same either way.
    """
    totals = np.zeros((num_deals, len(agents), NUM_AGENT_COUNTS), dtype=np.int64)
    deals = np.zeros((num_deals, NUM_DEAL_COUNTS), dtype=np.int64)
    faults: dict[tuple[int, str], Fault] = {}
    fast = compiled and are_compiled(agents)
    for rotation, seating in enumerate(plan.seating()):
        if fast:
            seats, games = _play_compiled(plan, [agents[i] for i in seating], first, num_deals)
        else:
            seats, games = new_tallies(num_deals)
            for i in range(num_deals):
                table = _Table(plan, agents, seating, first + i, rotation)
                fault = table.play(seats[i], games[i], totals[i], deals[i])
                if fault is not None:
                    faults.setdefault((fault.agent, fault.message.partition(":")[0]), fault)
        for seat, agent in enumerate(seating):
            totals[:, agent, :NUM_SEAT_COUNTS] += seats[:, seat]
        _add_wins(games[:, GAME_WINNERS], seating, totals)
        deals[:, DEAL_ROUNDS] += games[:, GAME_ROUNDS]
        deals[:, DEAL_TURNS] += games[:, GAME_TURNS]
        deals[:, DEAL_IN_HAND] += games[:, GAME_IN_HAND]
        deals[:, DEAL_ENDS:] += games[:, GAME_ENDS:]
    return Tally(totals, deals, tuple(faults.values()))


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


def _add_wins(winners: NDArray[np.int64], seating: NDArray[np.int64], totals: NDArray[np.int64]) -> None:
    """Share each match among its winners, in sixtieths."""
    won = (winners[:, None] >> np.arange(len(seating))) & 1
    shares = won * (WHOLE_WIN // np.maximum(won.sum(axis=1, keepdims=True), 1))
    for seat, agent in enumerate(seating):
        totals[:, agent, AGENT_WON] += shares[:, seat]


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
        self, plan: Plan, agents: Sequence[Agent], seating: NDArray[np.int64], deal: int, rotation: int
    ) -> None:
        self.plan = plan
        self.agents = agents
        self.seating = seating
        self.deal = deal
        self.rotation = rotation
        self.game = Game(plan.rules, plan.players, seed=plan.seed, game=deal, episode=plan.episode)

    def play(
        self, seats: NDArray[np.int64], game: NDArray[np.int64], agents: NDArray[np.int64], deal: NDArray[np.int64]
    ) -> Fault | None:
        """Play to the end, adding to the tallies; returns what an agent did wrong, if one did."""
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
                agent = int(self.seating[seat])
                agents[agent, column] += 1
                deal[DEAL_FORFEITED] += self._forfeit(seat, seats, game)
                return Fault(agent, self.deal, self.rotation, message)
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
        agent = self.agents[int(self.seating[seat])]
        rng = decision_rng(np.uint64(self.plan.seed), np.uint64(self.deal), seat, decision)
        try:
            answer = agent.act(self.game.redacted(seat), legal.copy(), self.plan.rules, int(rng))
        except (Exception, SystemExit) as error:  # whatever an agent does, the others play on
            return -1, AGENT_RAISED, " ".join(f"{type(error).__name__}: {error}".split())[:200]
        try:
            action = operator.index(answer)
        except TypeError:
            return -1, AGENT_ILLEGAL, f"not an action: {answer!r:.60}"
        if not 0 <= action < NUM_ACTIONS or action not in legal:
            return -1, AGENT_ILLEGAL, f"not legal: action {action} where {len(legal)} others were"
        return action, 0, ""

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
