"""Rounds played on by a network, many at once: what a search takes where no compiled bot plays on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import AgentError
from agents.network import Network, misfit
from scala40_env.core.rules import Rules
from scala40_env.core.state import MATCH_OVER
from scala40_env.envs.batch import Batch
from scala40_env.envs.rewards import POINTS_PER_REWARD

_AT_ONCE = 128
"""Games side by side: enough to keep the network busy, few enough to fit into the cache."""
_MOST_STEPS = 4000
"""Decisions of a round after which it is given up: nobody is charged."""


class PolicyPlayouts:
    """Plays rounds to their end by the likeliest actions of a network, or values them by its critic.

    Args:
        network: the network.
        name: what messages call it.
    """

    def __init__(self, network: Network, name: str) -> None:
        self._network, self._name = network, name
        self._batch: Batch | None = None

    def gains(self, rows: NDArray[Any], seat: int, rules: Rules, *, value: bool = False) -> NDArray[np.float64]:
        """What a seat gains in rounds that are played on: the mean of the others' points less its own.

        Args:
            rows: full rows whose episode is a round; they are not changed.
            seat: the seat.
            rules: the rules.
            value: ask the critic about the rounds that are not over, and play no further.

        Raises:
            AgentError: the game is not one that the network was trained for.
        """
        batch = self._prepare(rows, rules)
        made = np.zeros(len(rows))
        for first in range(0, len(rows), _AT_ONCE):
            part = rows[first : first + _AT_ONCE]
            batch.reset(0)  # an episode that is over would stay so
            batch.rows[: len(part)] = part
            batch.rows[len(part) :] = part[0]
            batch.look()
            made[first : first + len(part)] = self._play(batch, seat, value)[: len(part)]
        return made

    def _prepare(self, rows: NDArray[Any], rules: Rules) -> Batch:
        players = int(rows[0].num_seats)
        reason = misfit(self._network.card, self._network.rules, self._name, rules, players)
        if reason:
            raise AgentError(reason)
        if self._batch is None:
            shown = {"derived": self._network.card.derived, "hidden": True}
            self._batch = Batch(rules, players, _AT_ONCE, auto_reset=False, play_forced=True, **shown)
        return self._batch

    def _play(self, batch: Batch, seat: int, value: bool) -> NDArray[np.float64]:
        going = (batch.counts > 0) & (batch.rows.phase != MATCH_OVER)
        made = np.where(going, 0.0, _gained(batch.rows, seat))
        if value:
            own = np.where(batch.seats == seat, 1.0, -1.0)
            worth = self._network.values(batch.observations[going], batch.hidden[going])
            made[going] = POINTS_PER_REWARD * worth * own[going]
            return made
        actions = np.zeros(batch.num_games, dtype=np.int64)
        for _ in range(_MOST_STEPS):
            if not going.any():
                break
            shown = batch.observations[going], batch.legal[going], batch.counts[going]
            actions[going] = self._network.likeliest(*shown)
            batch.step(actions, where=going)
            over = going & batch.ended
            made[over] = _gained(batch.final_rows[over], seat)
            going &= ~over
        return made


def _gained(rows: NDArray[Any], seat: int) -> NDArray[np.float64]:
    """The mean of the others' points less a seat's own, of rounds that are over."""
    played = (rows.ended_in_round[:, None] >> np.arange(rows.points.shape[1])) & 1
    points = (rows.points * played).astype(np.float64)
    others = np.maximum(played.sum(axis=1) - 1, 1)
    return (points.sum(axis=1) - points[:, seat]) / others - points[:, seat]
