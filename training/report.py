"""What an arena found: numbers for programs, and tables for people."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from itertools import combinations
from typing import Any

import numba
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from agents.playout import SEAT_CLOSED, SEAT_DECISIONS, SEAT_OPENED, SEAT_POINTS, SEAT_ROUNDS
from scala40_env.core.rules_json import rules_to_json
from scala40_env.core.state import END_NAMES
from training.deals import Plan
from training.play_deals import (
    AGENT_ILLEGAL,
    AGENT_RAISED,
    AGENT_WON,
    DEAL_ENDS,
    DEAL_FORFEITED,
    DEAL_IN_HAND,
    DEAL_ROUNDS,
    DEAL_TURNS,
    WHOLE_WIN,
    Fault,
    Tally,
)
from training.statistics import FEW, Estimate, estimate, ratio

_SHOWN_ENDS = [name for name in END_NAMES if name != "none"]


@dataclass(frozen=True)
class AgentResult:
    """One agent's numbers, of all the seats that it holds in a line-up.

    Attributes:
        name: what the tables call it.
        points: what it is charged for a round; a sample is its mean over a deal's seats and rotations.
        closed: the share of all rounds that it closed.
        opened: the share of the rounds of its seats in which the seat opened.
        won: the share of the matches that it won, a shared match in parts; ``None`` where episodes are rounds.
        rounds: how many rounds its seats played.
        decisions: how many decisions it made.
        illegal: how often it returned what was not legal.
        raised: how often it raised.
        first_fault: the first of those, in words.
    """

    name: str
    points: Estimate
    closed: float
    opened: float
    won: Estimate | None
    rounds: int
    decisions: int
    illegal: int
    raised: int
    first_fault: str | None


@dataclass(frozen=True)
class Difference:
    """The points a round of one agent less those of another, deal by deal: below zero, the first plays better."""

    first: str
    second: str
    points: Estimate


@dataclass(frozen=True)
class ArenaResult:
    """All that an arena found.

    Attributes:
        plan: what was played.
        agents: a result for each agent, in the order of the line-up.
        differences: one for each pair of agents.
        rounds: how many rounds, over all deals and rotations.
        ends: how many of them ended in each way, ``forfeited`` among them.
        turns_a_round: the mean number of turns of a round, of all seats together.
        closed_in_hand: the share of the rounds closed by a seat that opened in the same turn.
        decisions: how many decisions were made.
        seconds: how long it took, in ``processes`` processes.
    """

    plan: Plan
    agents: tuple[AgentResult, ...]
    differences: tuple[Difference, ...]
    rounds: int
    ends: dict[str, int]
    turns_a_round: float
    closed_in_hand: float
    decisions: int
    seconds: float
    processes: int

    @property
    def decisions_a_second(self) -> float:
        """Decisions of all agents together in a second of wall time."""
        return self.decisions / self.seconds if self.seconds > 0 else math.nan


def labels(names: Sequence[str]) -> list[str]:
    """Names that are told apart: an agent that sits in a line-up twice is numbered from its second place on."""
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return made


def summarise(plan: Plan, names: Sequence[str], tally: Tally, *, seconds: float, processes: int) -> ArenaResult:
    """The result that the tally of all deals of a plan comes to."""
    counts = tally.agents
    points = ratio(counts[:, :, SEAT_POINTS], counts[:, :, SEAT_ROUNDS])
    shown = labels(names)
    rounds = int(tally.deals[:, DEAL_ROUNDS].sum())
    ends = {name: int(tally.deals[:, DEAL_ENDS + END_NAMES.index(name)].sum()) for name in _SHOWN_ENDS}
    ends["forfeited"] = int(tally.deals[:, DEAL_FORFEITED].sum())
    return ArenaResult(
        plan=plan,
        agents=tuple(_agent_result(plan, shown[i], i, tally, points[:, i]) for i in range(len(shown))),
        differences=tuple(
            Difference(shown[i], shown[j], estimate(points[:, i] - points[:, j]))
            for i, j in combinations(range(len(shown)), 2)
        ),
        rounds=rounds,
        ends=ends,
        turns_a_round=_share(int(tally.deals[:, DEAL_TURNS].sum()), rounds),
        closed_in_hand=_share(int(tally.deals[:, DEAL_IN_HAND].sum()), rounds),
        decisions=int(counts[:, :, SEAT_DECISIONS].sum()),
        seconds=seconds,
        processes=processes,
    )


def _agent_result(plan: Plan, name: str, index: int, tally: Tally, points: np.ndarray) -> AgentResult:
    counts = tally.agents[:, index]
    total = counts.sum(axis=0)
    rounds = int(total[SEAT_ROUNDS])
    won = None
    if plan.episode == "match":
        won = estimate(counts[:, AGENT_WON] / (WHOLE_WIN * plan.rotations))
    fault = next((fault for fault in tally.faults if fault.agent == index), None)
    return AgentResult(
        name=name,
        points=estimate(points),
        closed=_share(int(total[SEAT_CLOSED]), int(tally.deals[:, DEAL_ROUNDS].sum())),
        opened=_share(int(total[SEAT_OPENED]), rounds),
        won=won,
        rounds=rounds,
        decisions=int(total[SEAT_DECISIONS]),
        illegal=int(total[AGENT_ILLEGAL]),
        raised=int(total[AGENT_RAISED]),
        first_fault=_describe(fault) if fault else None,
    )


def _describe(fault: Fault) -> str:
    return f"deal {fault.deal}, rotation {fault.rotation}: {fault.message}"


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


# --- for programs ----------------------------------------------------------------------------------------------------


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


def to_json(result: ArenaResult, command: Sequence[str]) -> dict[str, Any]:
    """The result as JSON can hold it; numbers that do not exist are ``None``.  Times stand under ``timing`` alone."""
    plan = result.plan
    return {
        "command": list(command),
        "versions": versions(),
        "rules": rules_to_json(plan.rules),
        "flags": plan.rules.to_mapping(),
        "players": plan.players,
        "episode": plan.episode,
        "seed": plan.seed,
        "deals": plan.deals,
        "rotations": plan.rotations,
        "turn_limit": plan.turn_limit,
        "agents": [
            {
                **{key: _plain(value) for key, value in asdict(agent).items() if key not in ("points", "won")},
                "points": _interval(agent.points),
                "won": None if agent.won is None else _interval(agent.won),
            }
            for agent in result.agents
        ],
        "differences": [
            {"first": difference.first, "second": difference.second, "points": _interval(difference.points)}
            for difference in result.differences
        ],
        "rounds": result.rounds,
        "ends": result.ends,
        "turns_a_round": _plain(result.turns_a_round),
        "closed_in_hand": _plain(result.closed_in_hand),
        "decisions": result.decisions,
        "timing": {
            "seconds": result.seconds,
            "decisions_a_second": _plain(result.decisions_a_second),
            "processes": result.processes,
        },
    }


def _interval(made: Estimate) -> dict[str, Any]:
    return {"mean": _plain(made.mean), "low": _plain(made.low), "high": _plain(made.high)}


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


# --- for people ------------------------------------------------------------------------------------------------------


def print_report(result: ArenaResult, console: Console) -> None:
    """Print the tables of a result, and the lines that say how to read them."""
    console.print(_agents_table(result))
    if result.differences:
        console.print(_differences_table(result))
    for line in _lines(result):
        console.print(line)


def _agents_table(result: ArenaResult) -> Table:
    plan = result.plan
    rules = rules_to_json(plan.rules)
    title = f"{rules if isinstance(rules, str) else 'changed ' + rules['base']}, {plan.players} players, {plan.episode}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("agent", overflow="fold")
    wins = plan.episode == "match"
    for column in ("points a round", "95 % interval", *(("matches won",) if wins else ()), "closed", "opened"):
        table.add_column(column, justify="right")
    for column in ("decisions a round", "illegal", "raised"):
        table.add_column(column, justify="right")
    for agent in result.agents:
        won = [_with_margin(agent.won, 100, " %")] if agent.won is not None else []
        table.add_row(
            agent.name,
            _number(agent.points.mean),
            f"{_number(agent.points.low)} … {_number(agent.points.high)}",
            *won,
            _percent(agent.closed),
            _percent(agent.opened),
            _number(_share(agent.decisions, agent.rounds)),
            str(agent.illegal),
            str(agent.raised),
        )
    return table


def _differences_table(result: ArenaResult) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("difference, deal by deal", overflow="fold")
    table.add_column("points a round", justify="right")
    table.add_column("95 % interval", justify="right")
    for difference in result.differences:
        made = difference.points
        table.add_row(
            f"{difference.first} − {difference.second}",
            _number(made.mean, sign=True),
            f"{_number(made.low, sign=True)} … {_number(made.high, sign=True)}",
        )
    return table


def _lines(result: ArenaResult) -> list[str]:
    plan = result.plan
    ends = ", ".join(
        f"{name.replace('_', ' ')} {_percent(_share(count, result.rounds))}"
        for name, count in result.ends.items()
        if count or name in ("closed", "truncated")
    )
    lines = [
        f"{plan.deals} deals of seed {plan.seed}, each in {plan.rotations} rotations of the seats: {result.rounds} "
        f"rounds of {_number(result.turns_a_round)} turns",
        f"rounds ended: {ends}; closed in hand {_percent(result.closed_in_hand)}",
        f"{result.decisions} decisions in {result.seconds:.2f} s, {result.decisions_a_second:,.0f} a second, "
        f"in {result.processes} process{'es' if result.processes > 1 else ''}",
        "points are penalties: fewer are better; intervals are normal, over deals",
    ]
    if plan.deals < FEW:
        lines.append(f"fewer than {FEW} deals: the intervals are too narrow to trust")
    lines += [f"{agent.name}: {agent.first_fault}" for agent in result.agents if agent.first_fault]
    return lines


def _number(value: float, sign: bool = False) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:+.2f}" if sign else f"{value:.2f}"


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f} %"


def _with_margin(made: Estimate, scale: float, unit: str) -> str:
    return f"{scale * made.mean:.1f} ± {scale * made.half_width:.1f}{unit}"
