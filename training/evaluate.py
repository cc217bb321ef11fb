"""A policy against a compiled bot on the same deals from every seat, in one batch: quick enough while training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.rules import Rules
from scala40_env.envs.batch import Batch
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
    return Result(estimate(100 * gained.mean(axis=0)), float(won.mean()))
