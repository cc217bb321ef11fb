"""The table of strengths in the README: who beats whom by how much, and the command that plays it all again.

``python -m training.strengths`` plays the tournaments below, each in a folder of its own under ``--runs``, goes on
with those that were broken off, and writes what came out to ``results/strengths.json``.  With ``--table`` it plays
nothing and prints the table of that file.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training import arena
from training.ratings import ANCHOR, rate
from training.result_files import DEALS, RESULTS, TIMING

RESULT = Path("results/strengths.json")
LADDER = ("uniform", "greedy", "solver", "careful")
TRAINED = "policy:default"
SEARCHES = ("pimc", "ismcts")
SHORT = {TRAINED: "default", "pimc": "pimc", "ismcts": "ismcts"}
SLOW = (TRAINED, *SEARCHES)
_STEPS = ((TRAINED, "solver"), (TRAINED, "careful"), ("pimc", "careful"), ("ismcts", "careful"), ("ismcts", "pimc"))
"""The slow rungs and those below; the searches' other pairs are told on fewer deals."""
BOOKS = ("standard", "italian", "cerchio", "hops", "international")
SEED = 2026
DEALS_OF_BOTS, DEALS_OF_SEARCHES, DEALS_OF_OTHERS = 10_000, 1_000, 200


@dataclass(frozen=True)
class Part:
    """One tournament of the table."""

    name: str
    agents: tuple[str, ...]
    deals: int
    players: int = 2
    rules: str = "standard"

    def command(self) -> list[str]:
        """The arguments of ``scala40 arena``."""
        told = ["--rules", self.rules, "--players", str(self.players), "--deals", str(self.deals), "--seed", str(SEED)]
        return [*self.agents, *told, "--time-limit", "0"]  # all of them are known to answer


def parts(bots: int = DEALS_OF_BOTS, searches: int = DEALS_OF_SEARCHES, others: int = DEALS_OF_OTHERS) -> list[Part]:
    """All tournaments, those that are quickly played first."""
    steps = list(zip(LADDER[1:], LADDER[:-1]))
    pairs = [(upper, lower) for i, upper in enumerate(SLOW) for lower in (*LADDER, *SLOW[:i])]
    return [
        Part("bots-2", LADDER, bots),
        *(Part(f"{upper}-{lower}-4", (upper, lower), bots, players=4) for upper, lower in steps),
        Part("bots-4", LADDER, bots, players=4),
        *(Part(f"careful-greedy-{book}", ("careful", "greedy"), bots, rules=book) for book in BOOKS),
        *(_slow(pair, searches) for pair in _STEPS),
        *(_slow(pair, searches if pair[0] == TRAINED else others) for pair in pairs if pair not in _STEPS),
    ]


def _slow(pair: tuple[str, str], deals: int) -> Part:
    return Part("-".join(SHORT.get(agent, agent) for agent in pair), pair, deals)


# --- playing ---------------------------------------------------------------------------------------------------------


def play(part: Part, runs: Path, extra: Sequence[str]) -> None:
    """Play a tournament, or go on with it, unless it has been played."""
    folder = runs / part.name
    if (folder / RESULTS).exists():
        return
    print(f"{part.name}: scala40 arena {shlex.join(part.command())}", file=sys.stderr)
    status = arena.main([*part.command(), "--out", str(folder), *(["--resume"] if folder.exists() else []), *extra])
    if status:
        raise SystemExit(status)


def gather(made: Sequence[Part], runs: Path) -> dict[str, Any]:
    """What the folders say, as ``results/strengths.json`` keeps it."""
    entries, ahead = [], {2: [], 4: []}
    names = [*LADDER, *SLOW]
    for part in made:
        found = json.loads((runs / part.name / RESULTS).read_text("utf-8"))
        timing = json.loads((runs / part.name / TIMING).read_text("utf-8"))["timing"]
        shown = {agent["name"]: text for agent, text in zip(found["agents"], part.agents)}
        entries.append(
            {
                "name": part.name,
                "command": shlex.join(["scala40", "arena", *part.command()]),
                "rules": part.rules,
                "players": part.players,
                "deals": found["deals"],
                "differences": [
                    {**one, "first": shown[one["first"]], "second": shown[one["second"]]}
                    for one in found["differences"]
                ],
                "faults": sum(agent["illegal"] + agent["raised"] + agent["late"] for agent in found["agents"]),
                "milliseconds": {
                    shown[one["name"]]: round(1000 * one["seconds_a_decision"], 4) for one in timing["agents"]
                },
                "versions": found["versions"],
            }
        )
        if part.rules == "standard":
            ahead[part.players].append(_ahead(runs / part.name / DEALS, part, names, shown))
    return {
        "parts": entries,
        "ratings": {
            str(players): {"players": players, **_ratings(np.concatenate(pieces), names, players)}
            for players, pieces in ahead.items()
            if pieces
        },
    }


def _ahead(path: Path, part: Part, names: list[str], shown: dict[str, str]) -> NDArray[np.float64]:
    """How often each agent came out ahead of each other in each deal, over all pairs of seats of other agents."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(line for line in file if not line.startswith("#")))
    made = np.zeros((part.deals, len(names), len(names)))
    for first in range(0, len(lines), part.players):
        table = lines[first : first + part.players]
        who = [names.index(shown[line["agent"]]) for line in table]
        points = [int(line["points"]) for line in table]
        for i in range(part.players):
            for j in range(part.players):
                if who[i] != who[j]:
                    share = 0.5 if points[i] == points[j] else float(points[i] < points[j])
                    made[int(table[0]["deal"]), who[i], who[j]] += share
    return made


def _ratings(ahead: NDArray[np.float64], names: list[str], players: int) -> dict[str, Any]:
    fitted = rate(ahead, names.index(ANCHOR), players=players)
    if fitted is None:
        raise SystemExit("ratings need choix: pip install -e '.[arena]'")
    found = {
        name: [rating.points, rating.low, rating.high]
        for name, rating in zip(names, fitted.ratings)
        if rating is not None
    }
    return {"model": fitted.model, "ratings": found}


# --- the table -------------------------------------------------------------------------------------------------------


def table(found: dict[str, Any]) -> str:
    """The README's table, in Markdown, from what ``gather`` made."""
    by_name = {part["name"]: part for part in found["parts"]}
    return "\n".join(
        [
            "Points a round that the agent of the line pays less than that of the column: two players, `standard`,",
            f"{by_name['bots-2']['deals']:,} deals between the first {len(LADDER)}, fewer with the others (see below), "
            "each played from both",
            "seats, with 95 % intervals over deals.",
            "",
            *_matrix([part for part in found["parts"] if part["rules"] == "standard" and part["players"] == 2]),
            "",
            "The trained agent and the searches, against the rungs below them and the others:",
            "",
            *(
                _line(part)
                for part in found["parts"]
                if part["name"].startswith(tuple(f"{s}-" for s in SHORT.values()))
            ),
            "",
            f"Ratings, {ANCHOR} = 0, 400 points being odds of ten to one to pay less than the other:",
            "",
            *_rating_lines(found["ratings"]),
            "",
            "Four players, `standard`, two seats each:",
            "",
            *(_line(part) for name, part in by_name.items() if name.endswith("-4") and name != "bots-4"),
            "",
            "Two players, by rulebook:",
            "",
            *(_line(by_name[f"careful-greedy-{book}"]) for book in BOOKS),
        ]
    )


def _gain(points: dict[str, float], sign: int) -> str:
    mean, half = -sign * points["mean"] + 0.0, (points["high"] - points["low"]) / 2
    return f"{mean:+.2f} ± {half:.2f}"


def _matrix(played: Sequence[dict[str, Any]]) -> list[str]:
    names = (*LADDER, *SLOW)
    cells = {}
    for one in (one for part in reversed(played) for one in part["differences"]):
        cells[one["first"], one["second"]] = _gain(one["points"], 1)
        cells[one["second"], one["first"]] = _gain(one["points"], -1)
    lines = [f"| | {' | '.join(names)} |", f"|---|{'--:|' * len(names)}"]
    return lines + [f"| {row} | {' | '.join(cells.get((row, column), '–') for column in names)} |" for row in names]


def _line(part: dict[str, Any]) -> str:
    one = part["differences"][0]
    took = part["milliseconds"][one["first"]]
    time = f", {took:.1f} ms a decision" if one["first"] in SHORT else ""
    where = f"{part['rules']}: " if part["rules"] != "standard" or part["name"].endswith("standard") else ""
    who = f"{one['first']} against {one['second']}"
    return f"- {where}{who}: {_gain(one['points'], 1)} points a round over {part['deals']:,} deals{time}"


def _rating_lines(ratings: dict[str, Any]) -> list[str]:
    names = [*LADDER, *SLOW]
    lines = [f"| players | {' | '.join(names)} |", f"|---|{'--:|' * len(names)}"]
    for players, told in ratings.items():
        cells = []
        for name in names:
            rating = told["ratings"].get(name)
            cells.append("–" if rating is None else f"{rating[0]:+.0f} ({rating[1]:+.0f} … {rating[2]:+.0f})")
        lines.append(f"| {players} | {' | '.join(cells)} |")
    return lines


def main(argv: Sequence[str]) -> int:
    """Run the command; returns 0."""
    parser = argparse.ArgumentParser(
        prog="python -m training.strengths", description="The README's table of strengths."
    )
    parser.add_argument(
        "--runs", type=Path, default=Path("runs/strengths"), metavar="FOLDER", help="where it is played"
    )
    parser.add_argument("--result", type=Path, default=RESULT, metavar="FILE", help=f"what it says ({RESULT})")
    parser.add_argument("--only", action="append", metavar="NAME", help="play this tournament alone; may be repeated")
    parser.add_argument("--gather", action="store_true", help="with --only: write what has been played so far")
    parser.add_argument("--processes", metavar="N", help="as for `scala40 arena`")
    parser.add_argument("--table", action="store_true", help="print the table of the file, and play nothing")
    args = parser.parse_args(argv)
    if args.table:
        print(table(json.loads(args.result.read_text("utf-8"))))
        return 0
    extra = [] if args.processes is None else ["--processes", args.processes]
    made = parts()
    for part in made:
        if args.only is None or part.name in args.only:
            play(part, args.runs, extra)
    if args.only is None or args.gather:
        done = [part for part in made if (args.runs / part.name / RESULTS).exists()]
        args.result.parent.mkdir(parents=True, exist_ok=True)
        args.result.write_text(json.dumps(gather(done, args.runs), indent=1) + "\n", "utf-8")
        print(f"{args.result}; `python -m training.strengths --table` prints its table")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
