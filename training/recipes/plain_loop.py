"""Self-play without any library: ``python -m training.recipes.plain_loop``.

Every seat of every game is played from outside, here by uniform draws from the mask.  ``step`` takes each game to its
next decision, whoever has it, so that one network would be asked once a step for all games: put it in ``choose``.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from scala40_env import Batch


def choose(batch: Batch, rng: np.random.Generator) -> NDArray[np.int64]:
    """A legal action a game; ``batch.observations`` and ``batch.masks`` are what a network would be given."""
    return batch.legal[np.arange(batch.num_games), rng.integers(batch.counts)].astype(np.int64)


def play(batch: Batch, steps: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], int]:
    """What each seat was paid in all, shape ``(players,)``, and how many rounds ended."""
    paid, rounds = np.zeros(batch.players), 0
    for _ in range(steps):
        batch.step(choose(batch, rng))
        paid += batch.rewards.sum(axis=0)
        rounds += int(batch.ended.sum())
    return paid, rounds


def main(arguments: list[str] | None = None) -> tuple[NDArray[np.float64], int]:
    """Play, and print the mean reward a round by seat."""
    parser = argparse.ArgumentParser(prog="python -m training.recipes.plain_loop", description=__doc__)
    parser.add_argument("--rules", default="standard", help="the rulebook (default %(default)s)")
    parser.add_argument("--players", type=int, default=2, help="seats (default %(default)s)")
    parser.add_argument("--games", type=int, default=256, help="games side by side (default %(default)s)")
    parser.add_argument("--steps", type=int, default=1000, help="decisions a game (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of deals and draws (default %(default)s)")
    chosen = parser.parse_args(arguments)
    batch = Batch(chosen.rules, chosen.players, chosen.games, seed=chosen.seed, reward="zero_sum")
    paid, rounds = play(batch, chosen.steps, np.random.default_rng(chosen.seed))
    by_seat = ", ".join(f"seat {seat} {total / max(rounds, 1):+.3f}" for seat, total in enumerate(paid))
    print(f"{rounds} rounds; mean reward: {by_seat}")
    return paid, rounds


if __name__ == "__main__":
    main()
