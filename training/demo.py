"""``scala40 demo``: greedy against uniform play over the five rulebooks, then a learner trained for a minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.table import Table

from agents.registry import make
from scala40_env.cli import Parser
from scala40_env.cli.games import seed_argument
from scala40_env.core.rules import Rules
from training.arena import complain, console, play
from training.deals import plan
from training.results import ArenaResult

RULEBOOKS = ("standard", "italian", "cerchio", "hops", "international")
BETTER, WORSE = "greedy", "uniform"
SETTINGS = Path(__file__).parents[1] / "configs" / "train" / "demo.toml"
DECISIONS = 200_000


def main(argv: Sequence[str]) -> int:
    """Run the command; returns 0 where greedy play wins in every rulebook beyond doubt, else 1, and 2 for bad input."""
    parser = Parser(
        prog="scala40 demo",
        description="Greedy against uniform play in each of the five rulebooks, on the same deals with the seats "
        "exchanged; then a learner is trained for about a minute, from random weights.  Exit status 0 if and only if "
        "greedy wins in all rulebooks, and the learner against uniform play, every interval clear of zero.",
    )
    parser.add_argument("--deals", type=int, default=500, metavar="N", help="deals in each rulebook (500)")
    parser.add_argument("--seed", type=seed_argument, default=0, help="of the deals and of the agents (0)")
    parser.add_argument(
        "--decisions", type=int, default=DECISIONS, metavar="N", help=f"of the learner; 0: none ({DECISIONS:,})"
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="of the learner's run (runs/demo-DATE-TIME)")
    args = parser.parse_args(argv)
    try:
        lost = _run(args.deals, args.seed)
        if args.decisions != 0:
            lost |= _train(args.decisions, args.seed, args.out or Path("runs") / time.strftime("demo-%Y%m%d-%H%M%S"))
        return lost
    except ValueError as error:
        return complain("scala40 demo", error)


def _run(deals: int, seed: int) -> int:
    names = [make(BETTER).name, make(WORSE).name]
    plans = {book: plan(names, Rules.load(book), deals, seed=seed) for book in RULEBOOKS}
    results = {}
    for number, (book, made) in enumerate(plans.items(), 1):
        print(f"{number} of {len(plans)}: {book}, {deals} deals in both seatings ...", file=sys.stderr, flush=True)
        results[book] = play(made, quiet=False)
    console().print(_table(results))
    won = [book for book, result in results.items() if _is_won(result)]
    print(_verdict(won, len(results)))
    print(
        "Points are penalties a round, fewer are better; the difference is taken deal by deal, with its 95 % interval."
        "\n"
        f"Again for one rulebook, with all the numbers: scala40 arena {BETTER} {WORSE} --rules {RULEBOOKS[0]} "
        f"--deals {deals} --seed {seed}"
    )
    return 0 if len(won) == len(results) else 1


def _train(decisions: int, seed: int, folder: Path) -> int:
    """Train a learner and show what became of it; returns 0 where it beats uniform play beyond doubt, or cannot be."""
    try:
        import torch  # noqa: F401  only asked whether it is there
    except ImportError:
        print("The learner is left out: it needs PyTorch, pip install -c constraints.txt -e '.[train]'")
        return 0
    from training.config import PPO, load
    from training.runs import Run

    config = load(PPO, SETTINGS, [f"decisions={decisions}", f"seed={seed}"])
    print(f"training: {decisions:,} decisions of self-play, from random weights ...", file=sys.stderr, flush=True)
    run = Run.begin(folder, config, f"scala40 demo --decisions {decisions} --seed {seed}")
    if not run.train():
        print(f"stopped; `scala40 train resume {folder}` goes on")
        return 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("the learner against", "points gained a round", "rounds won"):
        table.add_column(column, justify="right")
    for name, result in run.tests.items():
        gained = f"{result.gained.mean:+.1f} ± {result.gained.half_width:.1f}"
        table.add_row(name, gained, f"{100 * result.won:.1f} %")
    console().print(table)
    print(f"Measured on deals that no training sees.  Its curve: {folder / 'curves.png'}")
    print(f"A game against it: scala40 play policy:path={folder / 'best.safetensors'}")
    gained = run.tests[WORSE].gained
    return 0 if gained.excludes_zero and gained.mean > 0 else 1


def _is_won(result: ArenaResult) -> bool:
    points = result.differences[0].points
    return points.excludes_zero and points.mean < 0


def _verdict(won: Sequence[str], num_rulebooks: int) -> str:
    if len(won) == num_rulebooks:
        return f"{BETTER} beats {WORSE} in all {num_rulebooks} rulebooks, every interval clear of zero."
    lost = [book for book in RULEBOOKS if book not in won]
    return f"{BETTER} beats {WORSE} in {len(won)} of {num_rulebooks} rulebooks; not shown in {', '.join(lost)}."


def _table(results: dict[str, ArenaResult]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rulebook")
    for column in (BETTER, WORSE, "difference", "closed", "opened", "turns a round", "decisions a second"):
        table.add_column(column, justify="right")
    for book, result in results.items():
        better, worse = result.agents
        points = result.differences[0].points
        table.add_row(
            book,
            f"{better.points.mean:.1f}",
            f"{worse.points.mean:.1f}",
            f"{points.mean:+.1f} ± {points.half_width:.1f}",
            f"{100 * better.closed:.1f} : {100 * worse.closed:.1f} %",
            f"{100 * better.opened:.1f} : {100 * worse.opened:.1f} %",
            f"{result.turns_a_round:.1f}",
            f"{result.decisions_a_second:,.0f}",
        )
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
