"""The table of experiments in the README: one setting changed at a time, three seeds each, measured on fresh deals.

``python -m training.experiments`` runs every file of ``configs/experiments`` that has not been run, and writes a line a
seed to ``results/experiments.csv`` as soon as it is there.  With ``--table`` it runs nothing and prints the table.

The runs are small, so that all of them take about half an hour on one core: they compare settings early in training.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from training.config import PPO, Clone, load

RESULT = Path("results/experiments.csv")
CONFIGS = Path(__file__).parents[1] / "configs" / "experiments"
ORDER = ("current", "snapshots", "prioritised", "plain_critic", "plain_observation", "plain_actions", "warm_start")
SEEDS, TEST_DEALS = 3, 2000
_COLUMNS = ("experiment", "seed", "decisions", "seconds", "anchor", "deals", "gained", "half_width", "won")


def run(name: str, seed: int, changes: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Train by one file of settings and measure the last weights on test deals; a line for each anchor."""
    from training.evaluate import TEST_SEED
    from training.ppo import Trainer

    config = load(PPO, CONFIGS / f"{name}.toml", [f"seed={seed}", *changes])
    if config.warm_start and not Path(config.warm_start).exists():
        _clone(config)
    trainer = Trainer(config)
    while not trainer.is_done():
        trainer.advance()
    deals = min(TEST_DEALS, 4 * config.evaluate_deals)
    return [
        {
            "experiment": name,
            "seed": seed,
            "decisions": trainer.decisions,
            "seconds": round(trainer.seconds, 1),
            "anchor": anchor,
            "deals": deals,
            "gained": round(result.gained.mean, 4),
            "half_width": round(result.gained.half_width, 4),
            "won": round(result.won, 4),
        }
        for anchor, result in trainer.evaluate(TEST_SEED, deals).items()
    ]


def _clone(config: PPO) -> None:
    """Make the weights that a warm start begins with."""
    from training.clone import Cloner, write

    cloner = Cloner(Clone(decisions=config.decisions, games=config.games, hidden=config.hidden, seed=SEEDS))
    while not cloner.is_done():
        cloner.advance()
    path = Path(config.warm_start)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(cloner, path, "python -m training.experiments")


def read(path: Path) -> list[dict[str, str]]:
    """The lines that are there."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def add(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write some more."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(lines)


def table(lines: Sequence[dict[str, str]]) -> str:
    """The README's table, in Markdown: the mean over seeds with its 95 % interval, by Student's t over the seeds."""
    anchors = ("careful", "solver", "greedy")
    made = [
        "| settings | what is changed | " + " | ".join(f"against `{anchor}`" for anchor in anchors) + " |",
        "|---|---|" + "--:|" * len(anchors),
    ]
    for name in ORDER:
        cells = [
            _cell([float(line["gained"]) for line in lines if (line["experiment"], line["anchor"]) == (name, a)])
            for a in anchors
        ]
        made.append(f"| `{name}` | {_first_line(name)} | {' | '.join(cells)} |")
    return "\n".join(made)


def _first_line(name: str) -> str:
    text = (CONFIGS / f"{name}.toml").read_text("utf-8").partition("\n")[0]
    return text.removeprefix("# ").rstrip(".").partition(":")[0]


def _cell(gained: Sequence[float]) -> str:
    from scipy import stats

    if len(gained) < 2:
        return "–"
    half = stats.t.ppf(0.975, len(gained) - 1) * np.std(gained, ddof=1) / np.sqrt(len(gained))
    return f"{np.mean(gained):+.2f} ± {half:.2f}"


def main(argv: Sequence[str]) -> int:
    """Run the command; returns 0."""
    parser = argparse.ArgumentParser(prog="python -m training.experiments", description="The table of experiments.")
    parser.add_argument("--result", type=Path, default=RESULT, metavar="FILE", help=f"where the lines are ({RESULT})")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"how many seeds ({SEEDS})")
    parser.add_argument("--table", action="store_true", help="print the table of the file, and run nothing")
    args = parser.parse_args(argv)
    if args.table:
        print(table(read(args.result)))
        return 0
    for seed in range(args.seeds):
        for name in ORDER:
            if not any((line["experiment"], line["seed"]) == (name, str(seed)) for line in read(args.result)):
                lines = run(name, seed)
                add(args.result, lines)
                told = ", ".join(f"{line['anchor']} {line['gained']:+.2f} ± {line['half_width']:.2f}" for line in lines)
                print(f"{name}, seed {seed}: {told}", file=sys.stderr)
    print(table(read(args.result)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
