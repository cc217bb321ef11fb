"""A policy against a compiled bot on the same deals from every seat, in one batch: quick enough while training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.playout import SEAT_CLOSED, SEAT_POINTS, PlayoutScratch, play_games
from scala40_env.core.rules import Rules
from scala40_env.envs.batch import Batch
from scala40_env.envs.rewards import POINTS_PER_REWARD
from training.statistics import Estimate, estimate

VALIDATION_SEED = 0x76616C69
TEST_SEED = 0x74657374
"""Seeds of deals that no training run deals: to choose by, and to report on."""


@dataclass(frozen=True)
class Result:
    """What a policy did against a bot.

    Attributes:
        gained: points a round that it gained on the others, deal by deal, over all seats.
        won: the share of rounds that it won alone.
    """

    gained: Estimate
    won: float


def against_bot(
    rules: Rules,
    config: Any,
    bot: Any,
    choose: Callable[[Batch], NDArray[np.int64]],
    seed: int,
    deals: int,
) -> Result:
    """Play the deals ``0 ... deals - 1`` of a seed from every seat against a compiled bot.

    Args:
        rules: the rules.
        config: says ``players`` and ``derived``.
        bot: a compiled agent.
        choose: the actions for the games of a batch; those of games that are over are ignored.
        seed: of the deals.
        deals: how many.
    """
    gained, won = np.zeros((config.players, deals)), np.zeros((config.players, deals))
    for seat in range(config.players):
        batch = Batch(
            rules,
            config.players,
            deals,
            seed=seed,
            reward="zero_sum",
            opponents=bot,
            seat=seat,
            auto_reset=False,
            play_forced=True,
            derived=config.derived,
        )
        going = batch.counts > 0
        while going.any():
            batch.step(np.where(going, choose(batch), 0), where=going)
            over = going & batch.ended
            gained[seat, over] = batch.rewards[over, seat]
            won[seat, over] = batch.winners[over] == 1 << seat
            going &= ~over
        for deal in np.flatnonzero(batch.skipped):  # over before the policy had a decision: another was played instead
            gained[seat, deal], won[seat, deal] = _undecided(rules, config.players, bot, seed, int(deal), seat)
    return Result(estimate(POINTS_PER_REWARD * gained.mean(axis=0)), float(won.mean()))


def _undecided(rules: Rules, players: int, bot: Any, seed: int, deal: int, seat: int) -> tuple[float, bool]:
    """What a seat gained in a deal in which it had nothing to decide, and whether it won alone: a bot does the same."""
    bots, salts = np.full(players, bot.bot, dtype=np.int64), np.full(players, bot.salt, dtype=np.uint64)
    seats, _ = play_games(PlayoutScratch(), rules.vector(), bots, salts, seed=seed, first=deal, num_games=1)
    points, closed = seats[0, :players, SEAT_POINTS], seats[0, :players, SEAT_CLOSED]
    others = np.delete(points, seat)
    won = closed[seat] > 0 if closed.any() else points[seat] < others.min()
    return float(others.mean() - points[seat]) / POINTS_PER_REWARD, bool(won)
