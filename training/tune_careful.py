"""Finds weights for ``careful`` by CMA-ES: ``python -m training.tune_careful --players 2 --seconds 600``.

Weights are tried against ``solver`` and ``greedy`` on deals of a seed that is kept for this (``TUNING_SEED``): the same
deals for all weights of a generation, other deals in the next.  The mean of the search, not the best that it saw, is
what it found; how good that is must be measured on other deals, with ``scala40 arena``.

It needs ``cma``, which the extra ``train`` installs.  The numbers of a run depend on how long it was given.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import GREEDY, SOLVER
from agents.bots import choose
from agents.careful import CAREFUL_WEIGHTS
from agents.playout import PlayoutScratch
from agents.weighing import (
    CHANCE,
    COST,
    DISCARD_WEIGHTS,
    ENDS,
    FITS,
    IN_HAND,
    JOKERS,
    KEEP,
    LATE,
    LIVE,
    NEAR,
    NOBODY_OPENED,
    NUM_DISCARD_WEIGHTS,
    OPENED,
    OTHERS_OPENED,
    OUT,
    PLAY_WEIGHTS,
    PROGRESS,
    SPARE,
    SWAPS,
    THREATENED,
    choose_weighing,
)
from scala40_env.core.completion import STACK
from scala40_env.core.deal import start_match
from scala40_env.core.game import apply_action, is_episode_over, legal_or_stuck, redact
from scala40_env.core.jit import kernel
from scala40_env.core.packing import STACK_WORDS
from scala40_env.core.rules import Rules
from training.statistics import Z_95

TUNING_SEED = 40_001
"""The deals of this seed are for tuning and for nothing else."""
SCALES: dict[tuple[int, int], float] = {
    **{(situation, OUT): 25.0 for situation in range(3)},
    **{(situation, NEAR): 80.0 for situation in range(3)},
    **{(situation, COST): 250.0 for situation in range(3)},
    **{(situation, CHANCE): 50.0 for situation in range(3)},
    **{(situation, PROGRESS): 3.0 for situation in range(3)},
    **{(situation, SPARE): 1000.0 for situation in (NOBODY_OPENED, OTHERS_OPENED)},
    **{(situation, LATE): 150.0 for situation in (OTHERS_OPENED, OPENED)},
    **{(situation, FITS): 2500.0 for situation in (OTHERS_OPENED, OPENED)},
    **{(situation, SWAPS): 3000.0 for situation in (OTHERS_OPENED,)},
    **{(situation, LIVE): 80.0 for situation in (OTHERS_OPENED, OPENED)},
    **{(situation, KEEP): 1500.0 for situation in (OTHERS_OPENED, OPENED)},
    **{
        (OPENED + 1, weight): scale
        for weight, scale in ((IN_HAND, 15.0), (THREATENED, 50.0), (ENDS, 40.0), (JOKERS, 100.0))
    },
}
"""By situation and weight, those that are searched, each with the step that the search begins with."""


@kernel
def _play_weights(
    rows: Any,
    view: Any,
    work: Any,
    R: NDArray[np.int64],
    seen: NDArray[np.uint64],
    legal: NDArray[np.int16],
    seed: np.uint64,
    first: np.uint64,
    num_seats: int,
    seats: int,
    weights: NDArray[np.int64],
    bot: int,
    out: NDArray[np.int64],
) -> None:
    """Rounds in which some seats (a mask) play by weights and a bot has the others: the points of all seats."""
    for i in range(len(out)):
        s = rows[0]
        start_match(s, R, seed, first + np.uint64(i), num_seats, 0)
        while True:
            count = legal_or_stuck(s, work, R, seen, legal)
            if is_episode_over(s):
                break
            seat = np.int64(s.seat)
            view[0] = s
            redact(s, seat, view[0])
            if (seats >> seat) & 1:
                memory = seen[STACK : STACK + STACK_WORDS]
                action = choose_weighing(view[0], work, R, memory, legal, count, weights)
            else:
                action = choose(bot, view[0], work, R, seen, legal, count, np.uint64(0), np.uint64(0))
            apply_action(s, R, action)
        for seat in range(num_seats):
            out[i, seat] = s.points[seat]


def differences(
    scratch: PlayoutScratch,
    weights: NDArray[np.int64],
    bot: int,
    rules: Rules,
    players: int,
    *,
    seed: int,
    first: int,
    num_deals: int,
) -> NDArray[np.float64]:
    """Points a round of a player by weights less those of a bot, deal by deal, every second seat each, both ways.

    Args:
        scratch: what the games work in.
        weights: ``int64``, shape ``(2, NUM_WEIGHTS)``.
        bot: the number of the other.
        rules, players: of the table; an even number of players.
        seed, first, num_deals: which deals.

    Returns:
        Shape ``(num_deals,)``.
    """
    total = np.zeros(num_deals)
    points = np.zeros((num_deals, players), dtype=np.int64)
    for parity in range(2):
        seats = sum(1 << seat for seat in range(parity, players, 2))
        _play_weights(
            scratch.rows,
            scratch.view,
            scratch.work,
            rules.vector(),
            scratch.seen,
            scratch.legal,
            np.uint64(seed),
            np.uint64(first),
            players,
            seats,
            weights,
            bot,
            points,
        )
        total += points[:, parity::2].mean(axis=1) - points[:, 1 - parity :: 2].mean(axis=1)
    return total / 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="tune_careful", description="Weights for careful, by CMA-ES.")
    parser.add_argument("--players", type=int, choices=(2, 4), default=2, help="seats at the table (2)")
    parser.add_argument("--rules", default="standard", help="a rulebook (standard)")
    parser.add_argument("--seconds", type=float, default=600.0, help="when the last generation begins (600)")
    parser.add_argument("--deals", type=int, default=1500, help="deals against each opponent, in both seatings (1500)")
    parser.add_argument("--seed", type=int, default=1, help="of the search (1)")
    args = parser.parse_args(argv)
    try:
        import cma
    except ImportError:
        print("tune_careful: needs cma: pip install -e '.[train]'", file=sys.stderr)
        return 2
    rules, scratch, line = Rules.load(args.rules), PlayoutScratch(), int(args.players > 2)
    base, places = CAREFUL_WEIGHTS[line], np.array([_place(*key) for key in SCALES])
    scales = np.array(list(SCALES.values()))

    def table(steps: NDArray[np.float64]) -> NDArray[np.int64]:
        made = base.copy()
        made[places] += np.round(steps * scales).astype(np.int64)
        return np.stack([made, made])

    def loss(steps: NDArray[np.float64], generation: int) -> float:
        where = {"seed": TUNING_SEED, "first": generation * args.deals, "num_deals": args.deals}
        both = [differences(scratch, table(steps), bot, rules, args.players, **where) for bot in (SOLVER, GREEDY)]
        return float(np.mean(both))

    loss(np.zeros(len(scales)), 0)
    search = cma.CMAEvolutionStrategy(np.zeros(len(scales)), 0.4, {"seed": args.seed, "verbose": -9, "popsize": 14})
    began = time.perf_counter()
    generation = 0
    while time.perf_counter() - began < args.seconds:
        asked = search.ask()
        told = [loss(steps, generation) for steps in asked]
        search.tell(asked, told)
        generation += 1
        seconds = time.perf_counter() - began
        print(f"{generation:4d} {seconds:6.0f} s  mean {np.mean(told):+.2f}  best {min(told):+.2f}", flush=True)
    found = table(search.mean)
    print(_in_words(found[0]))
    for name, bot in (("solver", SOLVER), ("greedy", GREEDY)):
        for title, weights in (("before", np.stack([base, base])), ("found", found)):
            d = differences(
                scratch, weights, bot, rules, args.players, seed=TUNING_SEED + 1, first=0, num_deals=4 * args.deals
            )
            print(
                f"{title} against {name}: {d.mean():+.2f} ± {Z_95 * d.std(ddof=1) / len(d) ** 0.5:.2f} points a round"
            )
    return 0


def _place(situation: int, weight: int) -> int:
    return weight if situation > OPENED else NUM_DISCARD_WEIGHTS * situation + weight


def _in_words(line: NDArray[np.int64]) -> str:
    """A line of weights as ``line_of`` takes it."""
    blocks = []
    for situation in range(3):
        block = line[NUM_DISCARD_WEIGHTS * situation :][:NUM_DISCARD_WEIGHTS]
        named = [f"{name}: {value}" for (name, _), value in zip(DISCARD_WEIGHTS, block) if value]
        blocks.append("    {" + ", ".join(named) + "},")
    plays = [f"{name}: {value}" for (name, _), value in zip(PLAY_WEIGHTS, line[3 * NUM_DISCARD_WEIGHTS :]) if value]
    return "\n".join(["line_of((", *blocks, "), {" + ", ".join(plays) + "})"])


if __name__ == "__main__":
    sys.exit(main())
