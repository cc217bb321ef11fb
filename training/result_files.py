"""The files of a tournament: JSON, CSV and a plot.  Each says what command, versions, rules and seed it is of.

They depend on the tournament alone: not on how many processes played, nor on whether it was broken off in between.
Times are in ``timing.json``, which is a file of its own for that reason.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.playout import (
    GAME_ENDS,
    GAME_TURNS,
    SEAT_CLOSED,
    SEAT_DECISIONS,
    SEAT_IN_HAND,
    SEAT_OPENED,
    SEAT_POINTS,
    SEAT_ROUNDS,
)
from scala40_env.core.state import END_NAMES
from training.journal import write_whole
from training.play_deals import AGENT_ILLEGAL, AGENT_LATE, AGENT_RAISED, AGENT_WON, GAME_FORFEITED, WHOLE_WIN, Tally
from training.report import heading, payoffs, timing_json, to_json
from training.results import ArenaResult

RESULTS, AGENTS, MATRIX, DEALS, PLOT, TIMING = (
    "results.json",
    "agents.csv",
    "matrix.csv",
    "deals.csv",
    "plot.png",
    "timing.json",
)
_SEAT_COLUMNS = {
    "rounds": SEAT_ROUNDS,
    "points": SEAT_POINTS,
    "closed": SEAT_CLOSED,
    "in_hand": SEAT_IN_HAND,
    "opened": SEAT_OPENED,
    "decisions": SEAT_DECISIONS,
    "illegal": AGENT_ILLEGAL,
    "raised": AGENT_RAISED,
    "late": AGENT_LATE,
}


def write_files(folder: Path, result: ArenaResult, tallies: Sequence[Tally], command: Sequence[str]) -> list[str]:
    """Write all files of a result; returns what could not be written for want of a library, a line each.

    Args:
        folder: where.
        result: the result.
        tallies: the tallies of the line-ups that it was made of.
        command: the command as it was typed; it stands in ``timing.json``, the other files have the command that
            plays the tournament again.
    """
    again = result.tournament.command()
    head = heading(result.tournament, again)
    write_whole(folder / DEALS, _deals_csv(result, tallies, head))
    write_whole(folder / AGENTS, _agents_csv(result, head))
    write_whole(folder / MATRIX, _matrix_csv(result, head))
    write_whole(folder / RESULTS, _json(to_json(result, again, timing=False)))
    timing = {**heading(result.tournament, command), "timing": timing_json(result)}
    write_whole(folder / TIMING, _json(timing))
    try:
        from training.arena_plot import plot
    except ImportError:
        return [f"{PLOT} needs matplotlib: pip install -e '.[arena]'"]
    write_whole(folder / PLOT, plot(result, head))
    return []


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _csv(head: dict[str, Any], columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> bytes:
    """A CSV file: what it is of in lines that begin with ``#``, then the columns, then the lines."""
    text = io.StringIO()
    for name, value in head.items():
        text.write(f"# {name}: {json.dumps(value, ensure_ascii=False)}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(lines)
    return text.getvalue().encode()


def _cell(value: float) -> str:
    return "" if math.isnan(value) else repr(round(float(value), 9))


def _deals_csv(result: ArenaResult, tallies: Sequence[Tally], head: dict[str, Any]) -> bytes:
    """One line for each seat of each game, in the order of line-ups, deals, rotations and seats."""
    tournament = result.tournament
    columns = ["line_up", "deal", "rotation", "seat", "agent", "won", *_SEAT_COLUMNS, "turns", "end"]
    names = [agent.name for agent in result.agents]
    lines: list[list[Any]] = []
    for number, (line_up, tally) in enumerate(zip(tournament.line_ups, tallies)):
        seated = [[names[line_up[agent]] for agent in seating] for seating in tally.seating]
        won = (tally.seats[:, :, :, AGENT_WON] / WHOLE_WIN).round(6)
        counts = tally.seats[:, :, :, list(_SEAT_COLUMNS.values())]
        for deal, rotation, seat in np.ndindex(tally.seats.shape[:3]):
            game = tally.games[deal, rotation]
            line = [number, deal, rotation, seat, seated[rotation][seat], won[deal, rotation, seat].item()]
            lines.append([*line, *counts[deal, rotation, seat].tolist(), int(game[GAME_TURNS]), _ends(game)])
    return _csv(head, columns, lines)


def _ends(game: Any) -> str:
    """How the rounds of a game ended: a word for a round, words with their numbers for a match."""
    ends = {name: int(game[GAME_ENDS + i]) for i, name in enumerate(END_NAMES) if game[GAME_ENDS + i]}
    if game[GAME_FORFEITED]:
        ends["forfeited"] = int(game[GAME_FORFEITED])
    return " ".join(name if sum(ends.values()) == 1 else f"{name}:{count}" for name, count in ends.items())


def _agents_csv(result: ArenaResult, head: dict[str, Any]) -> bytes:
    columns = ["agent", "points", "points_low", "points_high", "won", "won_low", "won_high", "closed", "in_hand"]
    columns += ["opened", "turns", "rounds", "decisions", "illegal", "raised", "late"]
    columns += ["rating", "rating_low", "rating_high", "first_fault"]
    columns += [f"points_seat_{seat}" for seat in range(result.tournament.players)]
    lines = []
    for i, agent in enumerate(result.agents):
        rating = None if result.ratings is None else result.ratings.ratings[i]
        values = [agent.points.mean, agent.points.low, agent.points.high, agent.won.mean, agent.won.low, agent.won.high]
        values += [agent.closed, agent.in_hand, agent.opened, agent.turns]
        line: list[Any] = [agent.name, *map(_cell, values), agent.rounds, agent.decisions]
        line += [agent.illegal, agent.raised, agent.late]
        line += ["", "", ""] if rating is None else [_cell(one) for one in (rating.points, rating.low, rating.high)]
        lines.append([*line, agent.first_fault or "", *(_cell(seat.points) for seat in agent.seats)])
    return _csv(head, columns, lines)


def _matrix_csv(result: ArenaResult, head: dict[str, Any]) -> bytes:
    """One line for each ordered pair."""
    names = [agent.name for agent in result.agents]
    ahead = {(one.first, one.second): one.ahead.mean for one in result.differences}
    ahead |= {(second, first): 1 - mean for (first, second), mean in ahead.items()}
    lines = [
        [names[i], names[j], *map(_cell, (one.mean, one.low, one.high, ahead[names[i], names[j]]))]
        for i, line in enumerate(payoffs(result.differences, names))
        for j, one in enumerate(line)
        if one is not None
    ]
    return _csv(head, ["agent", "other", "points", "points_low", "points_high", "ahead"], lines)
