"""What an arena found, as numbers: of each agent, of each pair, and of the games."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from itertools import combinations, permutations

import numba
import numpy as np
from numpy.typing import NDArray

from agents.faults import plain
from agents.playout import (
    GAME_ENDS,
    GAME_IN_HAND,
    GAME_ROUNDS,
    GAME_TURNS,
    SEAT_CLOSED,
    SEAT_DECISIONS,
    SEAT_IN_HAND,
    SEAT_OPENED,
    SEAT_POINTS,
    SEAT_ROUNDS,
)
from scala40_env.core.state import END_NAMES, END_TRUNCATED
from training.play_deals import (
    AGENT_ILLEGAL,
    AGENT_LATE,
    AGENT_RAISED,
    AGENT_WON,
    GAME_FORFEITED,
    NUM_AGENT_COUNTS,
    WHOLE_WIN,
    Fault,
    Tally,
    first_faults,
)
from training.ratings import Ratings, anchor_of, rate
from training.sprt import Verdict
from training.statistics import Estimate, estimate, ratio
from training.tournament import Tournament, writable

_SHOWN_ENDS = [name for name in END_NAMES if name != "none"]


@dataclass(frozen=True)
class SeatResult:
    """One agent's numbers at one seat: points a round, and shares of its episodes and rounds there."""

    points: float
    won: float
    closed: float
    opened: float
    rounds: int


@dataclass(frozen=True)
class AgentResult:
    """One agent's numbers, of all the seats that it holds in all its line-ups.

    Attributes:
        name: what the tables call it.
        points: what it is charged for a round; a sample is its mean over a deal's seats, rotations and line-ups.
        closed: the share of the rounds at its tables that it closed.
        in_hand: the share of those rounds that it closed in hand.
        opened: the share of the rounds of its seats in which the seat opened.
        won: the share of the episodes at its tables that it won, in parts where it shared: a round is won by who pays
            least, a match by who is left.
        turns: the mean number of turns of the rounds at its tables, of all seats together.
        rounds: how many rounds its seats played.
        decisions: how many decisions it made.
        illegal: how often it returned what was not legal.
        raised: how often it raised, or its process died.
        late: how often it took longer than it may.
        first_fault: the first of those, in words.
        seats: its numbers at each seat.
    """

    name: str
    points: Estimate
    closed: float
    in_hand: float
    opened: float
    won: Estimate
    turns: float
    rounds: int
    decisions: int
    illegal: int
    raised: int
    late: int
    first_fault: str | None
    seats: tuple[SeatResult, ...]


@dataclass(frozen=True)
class Difference:
    """Two agents at the same tables, deal by deal.

    Attributes:
        first, second: their names.
        points: the points a round of the first less those of the second: below zero, the first plays better.
        ahead: how often the first came out ahead of the second, ties as halves.
    """

    first: str
    second: str
    points: Estimate
    ahead: Estimate


@dataclass(frozen=True)
class Times:
    """How long an agent thought: seconds a decision and the longest, ``nan`` where unknown."""

    mean: float
    longest: float


@dataclass(frozen=True)
class ArenaResult:
    """All that an arena found.

    Attributes:
        tournament: what was played.
        deals: how many deals of each line-up are counted: all, or as many as the sequential test took.
        agents: a result for each agent, in the order of the tournament.
        differences: one for each pair of agents.
        cycles: agents of whom each beats the next and the last the first, by name, every interval clear of zero.
        ratings: the agents on one scale, or ``None`` where the library that fits is not installed.
        verdict: what the sequential test says, or ``None``.
        rounds: how many rounds, over all line-ups, deals and rotations.
        ends: how many of them ended in each way, ``forfeited`` among them.
        turns_a_round: the mean number of turns of a round, of all seats together.
        closed_in_hand: the share of the rounds closed by a seat that opened in the same turn.
        decisions: how many decisions were made.
        seconds: how long it took, in ``processes`` processes.
        times: how long each agent thought, the one thing beside ``seconds`` that is not the same each time.
    """

    tournament: Tournament
    deals: int
    agents: tuple[AgentResult, ...]
    differences: tuple[Difference, ...]
    cycles: tuple[tuple[str, ...], ...]
    ratings: Ratings | None
    verdict: Verdict | None
    rounds: int
    ends: dict[str, int]
    turns_a_round: float
    closed_in_hand: float
    decisions: int
    seconds: float
    processes: int
    times: tuple[Times, ...] = field(default=(), compare=False)

    @property
    def decisions_a_second(self) -> float:
        """Decisions of all agents together in a second of wall time."""
        return self.decisions / self.seconds if self.seconds > 0 else math.nan


def labels(names: Sequence[str]) -> list[str]:
    """Names that are told apart: an agent that plays twice is numbered from its second place on."""
    seen: dict[str, int] = {}
    made = []
    for name in map(writable, names):
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return made


def versions() -> dict[str, str]:
    """The versions that a result depends on."""
    try:
        package = metadata.version("scala40-env")
    except metadata.PackageNotFoundError:
        package = "not installed"
    return {
        "scala40-env": package,
        "numpy": np.__version__,
        "numba": numba.__version__,
        "python": platform.python_version(),
    }


def scores(tournament: Tournament, tally: Tally) -> NDArray[np.float64]:
    """What a sequential test looks at: the points a round that the first of two agents pays less, deal by deal."""
    counts = tally.agents
    points = ratio(counts[:, :, SEAT_POINTS], counts[:, :, SEAT_ROUNDS])
    first, second = (tournament.line_ups[0].index(agent) for agent in (0, 1))
    return points[:, second] - points[:, first]


def summarise(
    tournament: Tournament,
    names: list[str],
    tallies: Sequence[Tally],
    *,
    seconds: float = 0.0,
    processes: int = 1,
    verdict: Verdict | None = None,
    times: Sequence[Times] = (),
) -> ArenaResult:
    """The result that the tallies of the line-ups come to, each over the same deals from 0 on."""
    shown = labels([text if names.count(name) > 1 else name for name, text in zip(names, tournament.agents)])
    games = np.concatenate([tally.games for tally in tallies], axis=0)
    total = games.sum(axis=(0, 1))
    rounds = int(total[GAME_ROUNDS])
    ends = {name: int(total[GAME_ENDS + END_NAMES.index(name)]) for name in _SHOWN_ENDS}
    ends["forfeited"] = int(total[GAME_FORFEITED])
    counts = _by_line_up(tournament, tallies)
    ahead, met = _ahead(tournament, tallies)
    differences = tuple(
        _difference(tournament, shown, counts, ahead, met, i, j) for i, j in combinations(range(len(shown)), 2)
    )
    return ArenaResult(
        tournament=tournament,
        deals=len(tallies[0].seats),
        agents=tuple(_agent_result(tournament, shown[i], i, tallies, counts) for i in range(len(shown))),
        differences=differences,
        cycles=_cycles(shown, differences),
        ratings=_ratings(tournament, ahead) if len(shown) > 1 else None,
        verdict=verdict,
        rounds=rounds,
        ends=ends,
        turns_a_round=share(int(total[GAME_TURNS]), rounds),
        closed_in_hand=share(int(total[GAME_IN_HAND]), rounds),
        decisions=int(counts[:, :, :, SEAT_DECISIONS].sum()),
        seconds=seconds,
        processes=processes,
        times=tuple(times),
    )


def share(part: float, whole: float) -> float:
    """A part of a whole, ``nan`` where there is none."""
    return part / whole if whole else math.nan


def _by_line_up(tournament: Tournament, tallies: Sequence[Tally]) -> NDArray[np.int64]:
    """The counts of all agents: shape ``(line_ups, deals, agents, NUM_AGENT_COUNTS)``, 0 where one does not play."""
    shape = len(tallies), len(tallies[0].seats), len(tournament.agents), NUM_AGENT_COUNTS
    made = np.zeros(shape, dtype=np.int64)
    for i, (line_up, tally) in enumerate(zip(tournament.line_ups, tallies)):
        made[i][:, list(line_up)] = tally.agents
    return made


def _ahead(tournament: Tournament, tallies: Sequence[Tally]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How often each agent came out ahead of each other in each deal, ties as halves, and how often they were compared.

    A round compares all its seats by what they pay, a match its winners with the others; what is broken off, nobody.
    Both are ``float64``, shape ``(deals, agents, agents)``.
    """
    num_agents = len(tournament.agents)
    made = np.zeros((len(tallies[0].seats), num_agents, num_agents))
    for line_up, tally in zip(tournament.line_ups, tallies):
        if tournament.episode == "match":
            won = tally.seats[:, :, :, AGENT_WON] > 0
            better = won[..., :, None] & ~won[..., None, :]
            equal = won[..., :, None] & won[..., None, :]
        else:
            points = tally.seats[:, :, :, SEAT_POINTS]
            whole = (tally.games[:, :, GAME_ENDS + END_TRUNCATED] == 0)[..., None, None]
            better = (points[..., :, None] < points[..., None, :]) & whole
            equal = (points[..., :, None] == points[..., None, :]) & whole
        ahead = better + 0.5 * equal
        for rotation, seating in enumerate(tally.seating):
            at = np.array(line_up)[seating]
            for one, other in permutations(range(len(at)), 2):
                made[:, at[one], at[other]] += ahead[:, rotation, one, other]
    return made, made + made.transpose(0, 2, 1)


def _difference(
    tournament: Tournament,
    shown: Sequence[str],
    counts: NDArray[np.int64],
    ahead: NDArray[np.float64],
    met: NDArray[np.float64],
    i: int,
    j: int,
) -> Difference:
    shared = [k for k, line_up in enumerate(tournament.line_ups) if i in line_up and j in line_up]
    both = counts[shared].sum(axis=0)
    points = ratio(both[:, :, SEAT_POINTS], both[:, :, SEAT_ROUNDS])
    won = np.full(len(ahead), np.nan)
    np.divide(ahead[:, i, j], met[:, i, j], out=won, where=met[:, i, j] > 0)
    return Difference(shown[i], shown[j], estimate(points[:, i] - points[:, j]), estimate(won))


def _agent_result(
    tournament: Tournament, name: str, index: int, tallies: Sequence[Tally], counts: NDArray[np.int64]
) -> AgentResult:
    at = [k for k, line_up in enumerate(tournament.line_ups) if index in line_up]
    mine = counts[at][:, :, index].sum(axis=0)
    total = mine.sum(axis=0)
    games = np.sum([tallies[k].games.sum(axis=(0, 1)) for k in at], axis=0)
    episodes = len(at) * tallies[at[0]].games.shape[1]
    faults = [fault for k in at for fault in tallies[k].faults if tournament.line_ups[k][fault.agent] == index]
    return AgentResult(
        name=name,
        points=estimate(ratio(mine[:, SEAT_POINTS], mine[:, SEAT_ROUNDS])),
        closed=share(int(total[SEAT_CLOSED]), int(games[GAME_ROUNDS])),
        in_hand=share(int(total[SEAT_IN_HAND]), int(games[GAME_ROUNDS])),
        opened=share(int(total[SEAT_OPENED]), int(total[SEAT_ROUNDS])),
        won=estimate(mine[:, AGENT_WON] / (WHOLE_WIN * episodes)),
        turns=share(int(games[GAME_TURNS]), int(games[GAME_ROUNDS])),
        rounds=int(total[SEAT_ROUNDS]),
        decisions=int(total[SEAT_DECISIONS]),
        illegal=int(total[AGENT_ILLEGAL]),
        raised=int(total[AGENT_RAISED]),
        late=int(total[AGENT_LATE]),
        first_fault=_describe(min(faults, key=lambda fault: (fault.deal, fault.rotation))) if faults else None,
        seats=tuple(_seat_result(tournament, tallies, at, index, seat) for seat in range(tournament.players)),
    )


def _seat_result(
    tournament: Tournament, tallies: Sequence[Tally], at: Sequence[int], index: int, seat: int
) -> SeatResult:
    total = np.zeros(NUM_AGENT_COUNTS, dtype=np.int64)
    rounds = episodes = 0
    for k in at:
        own = tournament.line_ups[k].index(index)
        here = tallies[k].seating[:, seat] == own
        total += tallies[k].seats[:, here, seat].sum(axis=(0, 1))
        rounds += int(tallies[k].games[:, here, GAME_ROUNDS].sum())
        episodes += len(tallies[k].seats) * int(here.sum())
    return SeatResult(
        points=share(int(total[SEAT_POINTS]), int(total[SEAT_ROUNDS])),
        won=share(int(total[AGENT_WON]), WHOLE_WIN * episodes),
        closed=share(int(total[SEAT_CLOSED]), rounds),
        opened=share(int(total[SEAT_OPENED]), int(total[SEAT_ROUNDS])),
        rounds=int(total[SEAT_ROUNDS]),
    )


def _ratings(tournament: Tournament, ahead: NDArray[np.float64]) -> Ratings | None:
    """Ratings, fitted in alphabetical order so that the order of the agents does not touch the last digit."""
    order = tournament.order()
    texts = [tournament.agents[i] for i in order]
    made = rate(ahead[:, order][:, :, order], anchor_of(texts), players=tournament.players)
    if made is None:
        return None
    back = [order.index(i) for i in range(len(order))]
    return Ratings(order[made.anchor], made.model, tuple(made.ratings[i] for i in back))


def _cycles(shown: Sequence[str], differences: Sequence[Difference]) -> tuple[tuple[str, ...], ...]:
    """Three agents each of whom beats the next beyond doubt."""
    beats = set()
    for difference in differences:
        if difference.points.excludes_zero:
            pair = difference.first, difference.second
            beats.add(pair if difference.points.mean < 0 else pair[::-1])
    return tuple(
        (a, b, c) for a, b, c in permutations(shown, 3) if a == min(a, b, c) and {(a, b), (b, c), (c, a)} <= beats
    )


def _describe(fault: Fault) -> str:
    """A fault in words that can be written, whatever file they came from."""
    return f"deal {fault.deal}, rotation {fault.rotation}: {plain(fault.message)}"


def cut(tally: Tally, deals: int) -> Tally:
    """The first deals of a tally, as if no more had been played."""
    faults = first_faults([fault for fault in tally.faults if fault.deal < deals])
    return Tally(tally.seats[:deals], tally.games[:deals], tally.seating, faults, tally.clocks)
