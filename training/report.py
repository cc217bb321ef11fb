"""What an arena found: JSON for programs, tables for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from scala40_env.core.rules_json import rules_to_json
from training.ratings import Rating
from training.results import ArenaResult, Difference, Times, share, versions
from training.sprt import exact
from training.statistics import FEW, Estimate
from training.tournament import Tournament, source_digest, writable

# --- for programs ----------------------------------------------------------------------------------------------------


def to_json(result: ArenaResult, command: Sequence[str], *, timing: bool = True) -> dict[str, Any]:
    """The result as JSON can hold it; numbers that do not exist are ``None``.  Times stand under ``timing`` alone."""
    tournament = result.tournament
    made = {
        **heading(tournament, command),
        "deals": result.deals,
        "deals_planned": tournament.deals,
        "rotations": tournament.plan(0).rotations,
        "line_ups": [[tournament.agents[i] for i in line_up] for line_up in tournament.line_ups],
        "agents": [_plain(asdict(agent)) for agent in result.agents],
        "differences": [_plain(asdict(difference)) for difference in result.differences],
        "cycles": [list(cycle) for cycle in result.cycles],
        "ratings": _ratings(result),
        "sprt": _verdict(result),
        "rounds": result.rounds,
        "ends": result.ends,
        "turns_a_round": _plain(result.turns_a_round),
        "closed_in_hand": _plain(result.closed_in_hand),
        "decisions": result.decisions,
    }
    for key in ("agents", "differences"):
        for entry in made[key]:
            for name in ("points", "won", "ahead"):
                if name in entry:
                    entry[name] = _interval(entry[name])
    if timing:
        made["timing"] = timing_json(result)
    return made


def heading(tournament: Tournament, command: Sequence[str]) -> dict[str, Any]:
    """What every file of results says of itself: the command, the versions, the rules, the seed."""
    return {
        "command": [writable(word) for word in command],
        "versions": versions(),
        "source": source_digest(),
        "rules": rules_to_json(tournament.rules),
        "flags": tournament.rules.to_mapping(),
        "players": tournament.players,
        "episode": tournament.episode,
        "seed": tournament.seed,
        "turn_limit": tournament.turn_limit,
    }


def timing_json(result: ArenaResult) -> dict[str, Any]:
    """What is not the same each time."""
    return {
        "seconds": _plain(result.seconds),
        "decisions_a_second": _plain(result.decisions_a_second),
        "processes": result.processes,
        "agents": [
            {"name": agent.name, "seconds_a_decision": _plain(times.mean), "longest_seconds": _plain(times.longest)}
            for agent, times in zip(result.agents, result.times)
        ],
    }


def _ratings(result: ArenaResult) -> dict[str, Any] | None:
    made = result.ratings
    if made is None:
        return None
    agents = [
        {
            "name": agent.name,
            **({"points": None, "low": None, "high": None} if rating is None else _plain(asdict(rating))),
        }
        for agent, rating in zip(result.agents, made.ratings)
    ]
    return {"model": made.model, "anchor": result.agents[made.anchor].name, "agents": agents}


def _verdict(result: ArenaResult) -> dict[str, Any] | None:
    verdict, test = result.verdict, result.tournament.test
    return None if verdict is None or test is None else _plain({**asdict(test), **asdict(verdict)})


def _interval(made: dict[str, Any]) -> dict[str, Any]:
    mean, half = made["mean"], made["half_width"]
    known = mean is not None and half is not None
    return {"mean": mean, "low": mean - half if known else None, "high": mean + half if known else None}


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# --- for people ------------------------------------------------------------------------------------------------------


def print_report(result: ArenaResult, console: Console) -> None:
    """Print the tables of a result, and the lines that say how to read them."""
    console.print(_agents_table(result))
    if len(result.agents) == 2:
        console.print(_differences_table(result))
    elif len(result.agents) > 2:
        console.print(_matrix_table(result))
    console.print(_seats_table(result))
    if result.ratings is not None:
        console.print(_ratings_table(result))
    for line in _lines(result):
        console.print(line)


def title(tournament: Tournament) -> str:
    """What was played, in a few words."""
    rules = rules_to_json(tournament.rules)
    book = rules if isinstance(rules, str) else f"changed {rules['base']}"
    return f"{book}, {tournament.players} players, {tournament.episode}"


def _new_table(first: str, columns: Iterable[str], heading: str | None = None) -> Table:
    table = Table(title=heading, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _agents_table(result: ArenaResult) -> Table:
    columns = ["points a round", f"{_plural(result)} won", "closed", "in hand", "opened"]
    columns += ["ms a decision", "illegal", "raised", "late"]
    table = _new_table("agent", columns, title(result.tournament))
    times: list[Times | None] = [*result.times] or [None] * len(result.agents)
    for agent, time in zip(result.agents, times):
        table.add_row(
            agent.name,
            f"{number(agent.points.mean)} ± {number(agent.points.half_width)}",
            f"{100 * agent.won.mean:.1f} ± {100 * agent.won.half_width:.1f} %",
            _percent(agent.closed),
            _percent(agent.in_hand),
            _percent(agent.opened),
            "–" if time is None or math.isnan(time.mean) else f"{1000 * time.mean:.3g}",
            *(str(count) for count in (agent.illegal, agent.raised, agent.late)),
        )
    return table


def _plural(result: ArenaResult) -> str:
    return "matches" if result.tournament.episode == "match" else "rounds"


def _differences_table(result: ArenaResult) -> Table:
    table = _new_table("difference, deal by deal", ("points a round", "95 % interval", "ahead"))
    for difference in result.differences:
        made = difference.points
        table.add_row(
            f"{difference.first} − {difference.second}",
            number(made.mean, sign=True),
            f"{number(made.low, sign=True)} … {number(made.high, sign=True)}",
            _percent(difference.ahead.mean),
        )
    return table


def payoffs(differences: Sequence[Difference], names: Sequence[str]) -> list[list[Estimate | None]]:
    """The payoff matrix: points a round of the line's agent less those of the column's, ``None`` on the diagonal."""
    at = {name: i for i, name in enumerate(names)}
    made: list[list[Estimate | None]] = [[None] * len(names) for _ in names]
    for difference in differences:
        i, j, points = at[difference.first], at[difference.second], difference.points
        made[i][j], made[j][i] = points, Estimate(0.0 - points.mean, points.half_width)
    return made


def _matrix_table(result: ArenaResult) -> Table:
    names = [agent.name for agent in result.agents]
    table = _new_table("line − column, points a round", names)
    for name, line in zip(names, payoffs(result.differences, names)):
        cells = ("" if one is None else f"{number(one.mean, sign=True)} ± {number(one.half_width)}" for one in line)
        table.add_row(name, *cells)
    return table


def _seats_table(result: ArenaResult) -> Table:
    table = _new_table("points a round", (f"seat {seat}" for seat in range(result.tournament.players)))
    for agent in result.agents:
        table.add_row(agent.name, *(number(seat.points) for seat in agent.seats))
    return table


def _ratings_table(result: ArenaResult) -> Table:
    assert result.ratings is not None, "the caller has looked"
    anchor = result.agents[result.ratings.anchor].name
    table = _new_table(f"rating, {anchor} = 0", ("points", "95 % interval"))
    for name, rating in by_rating(result):
        interval = "–" if rating is None or name == anchor else f"{rating.low:+.0f} … {rating.high:+.0f}"
        table.add_row(name, "–" if rating is None else f"{rating.points:+.0f}", interval)
    return table


def by_rating(result: ArenaResult) -> list[tuple[str, Rating | None]]:
    """Names and ratings, the strongest first; the unrated last."""
    assert result.ratings is not None, "the caller has looked"
    pairs = list(zip((agent.name for agent in result.agents), result.ratings.ratings))
    return sorted(pairs, key=lambda pair: -math.inf if pair[1] is None else pair[1].points, reverse=True)


def _lines(result: ArenaResult) -> list[str]:
    tournament = result.tournament
    ends = ", ".join(
        f"{name.replace('_', ' ')} {_percent(share(count, result.rounds))}"
        for name, count in result.ends.items()
        if count or name in ("closed", "truncated")
    )
    tables = f" at {len(tournament.line_ups)} tables" if len(tournament.line_ups) > 1 else ""
    lines = [
        f"{result.deals} deals of seed {tournament.seed}, each in {tournament.plan(0).rotations} rotations of the "
        f"seats{tables}: {result.rounds} rounds of {number(result.turns_a_round)} turns",
        f"rounds ended: {ends}; closed in hand {_percent(result.closed_in_hand)}",
        f"{result.decisions} decisions in {result.seconds:.2f} s, {result.decisions_a_second:,.0f} a second, "
        f"in {result.processes} process{'es' if result.processes > 1 else ''}",
        "points are penalties: fewer are better; intervals (±) are normal, of 95 %, over deals",
    ]
    if result.ratings is not None:
        lines.append(
            f"ratings: {result.ratings.model}, intervals by bootstrap over deals; 400 points are odds of 10 : 1"
        )
    elif len(result.agents) > 1:
        lines.append("ratings need choix: pip install -e '.[arena]'")
    lines += _verdict_lines(result)
    lines += [f"no order of strength: {a} beats {b} beats {c} beats {a}" for a, b, c in result.cycles]
    if result.deals < FEW:
        lines.append(f"fewer than {FEW} deals: the intervals are too narrow to trust")
    lines += [f"{agent.name}: {agent.first_fault}" for agent in result.agents if agent.first_fault]
    return lines


def _verdict_lines(result: ArenaResult) -> list[str]:
    verdict, test = result.verdict, result.tournament.test
    if verdict is None or test is None:
        return []
    first, second = (agent.name for agent in result.agents)
    ratio = f"log-likelihood ratio {verdict.ratio:+.2f} of ±{verdict.bound:.2f}"
    if verdict.answer is None:
        return [f"sequential test: no answer after {verdict.deals} deals, {ratio}"]
    by = test.high if verdict.answer == "high" else test.low
    return [
        f"sequential test: {first} is better than {second} by {exact(by)} points a round rather than by "
        f"{exact(test.low if verdict.answer == 'high' else test.high)}, after {verdict.deals} deals, {ratio}; "
        "means and intervals of a test that stopped early lean away from zero"
    ]


def number(value: float, sign: bool = False) -> str:
    """A number with two digits, a dash where there is none."""
    if math.isnan(value):
        return "–"
    return f"{value:+.2f}" if sign else f"{value:.2f}"


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f} %"
