"""Who plays the seats that do not learn: frozen policies of earlier in the run, and compiled bots.

The games of a batch are shared out once and for all: in the first the policy plays every seat; in the next, all but
one are bots'; in the last, frozen policies'.  Seats are spread over the games.  Which frozen policy plays in a game is
drawn anew when the game ends: uniformly, or by how often it wins ("prioritised fictitious self-play", Vinyals et al.,
"Grandmaster level in StarCraft II", 2019).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policy import Policy
from scala40_env.envs.batch import FROM_OUTSIDE, Batch
from training.config import PPO, bot_named

LEARNER, BOT = 0, -1
"""The owner of a seat that learns, and of one that a bot plays; snapshots are numbered from 1."""
_NEVER = -1e9
"""The logit of what is not done."""


class FrozenPolicy:
    """A policy of a file in a batch, where many games are decided at once.

    Args:
        policy: the policy.
    """

    def __init__(self, policy: Policy) -> None:
        self._network, self._temperature = policy.network, policy.temperature

    def logits(
        self, observations: NDArray[np.uint8], legal: NDArray[np.int16], counts: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The logits of its choices, flat; a policy of temperature 0 has one choice for each decision.

        Args:
            observations: ``uint8``, shape ``(n, size)``; those of a league that sees the derived part do for a policy
                that does not.
            legal, counts: the legal actions of each: ``legal[i, : counts[i]]``.
        """
        observations = observations[:, : self._network.inputs.size]
        plain = self._network.logits(observations, legal, counts)
        if self._temperature > 0:
            return plain / np.float32(self._temperature)
        starts = np.cumsum(counts) - counts
        owners = np.repeat(np.arange(len(counts)), counts)
        best = np.flatnonzero(plain == np.maximum.reduceat(plain, starts)[owners])
        made = np.full_like(plain, _NEVER)
        made[best[np.unique(owners[best], return_index=True)[1]]] = 0.0  # of equals the first
        return made


class League:
    """The players of a run.

    Attributes:
        owners: who plays each seat of each game, ``int64``, shape ``(games, players)``.
        bots: the numbers of bots by game and seat, as ``Batch`` takes them.
        won, played: by snapshot, how often it won against the policy, and how many games it played.
    """

    def __init__(self, config: PPO, rng: np.random.Generator, new_model: Callable[[], Any]) -> None:
        self.config, self._rng, self._new_model = config, rng, new_model
        n, players, shares = config.games, config.players, config.opponents
        self._with_bots = round(n * shares.bots)
        self._with_snapshots = round(n * shares.snapshots)
        self.owners = np.full((n, players), LEARNER, dtype=np.int64)
        self.bots = np.full((n, players), FROM_OUTSIDE, dtype=np.int64)
        self._models: list[Any] = []
        self.won, self.played = np.zeros(shares.pool), np.zeros(shares.pool)
        numbers = [int(bot_named("opponents.names", name).bot) for name in shares.names]
        first = n - self._with_bots - self._with_snapshots
        for k, game in enumerate(range(first, first + self._with_bots)):
            for seat in range(players):
                if seat != k % players:
                    self.owners[game, seat] = BOT
                    self.bots[game, seat] = numbers[(k // players) % len(numbers)]

    def snapshot_games(self) -> NDArray[np.int64]:
        """The games in which frozen policies play."""
        return np.arange(self.config.games - self._with_snapshots, self.config.games)

    @property
    def models(self) -> list[Any]:
        """The frozen policies."""
        return self._models

    def state(self) -> dict[str, NDArray[Any]]:
        """What the league goes on from, besides the frozen policies themselves."""
        return {"owners": self.owners.copy(), "won": self.won.copy(), "played": self.played.copy()}

    def set_state(self, state: dict[str, NDArray[Any]], actors: list[Any]) -> None:
        """Go on from what ``state`` returned, with the weights of the frozen policies."""
        self.owners[:], self.won, self.played = state["owners"], state["won"].copy(), state["played"].copy()
        self._models = []
        for actor in actors:
            model = self._new_model()
            model.actor.load_state_dict(actor)
            self._models.append(model)

    def model(self, number: int) -> Any:
        """The frozen policy of a number, from 1."""
        return self._models[number - 1]

    def hold(self, model: Any) -> None:
        """Let one policy that is no snapshot play the snapshots' games from the start, and no other."""
        self._models = [model]
        for game in self.snapshot_games():
            self._seat(int(game))

    def add(self, model: Any) -> None:
        """Freeze the policy as it is; where the pool is full, the oldest but one in two goes."""
        if len(self._models) == self.config.opponents.pool:
            gone = int(self._rng.integers(len(self._models) - 1))
            self._models.append(self._models.pop(gone))
            self.won = np.append(np.delete(self.won, gone), 0.0)
            self.played = np.append(np.delete(self.played, gone), 0.0)
            frozen = self._models[-1]
            shift = self.owners > gone + 1
            lost = self.owners == gone + 1
            self.owners[shift] -= 1
            self.owners[lost] = len(self._models) - 1 if len(self._models) > 1 else LEARNER
        else:
            frozen = self._new_model()
            self._models.append(frozen)
        frozen.actor.load_state_dict(model.actor.state_dict())

    def seat_all(self, batch: Batch) -> None:
        """Give the seats of the snapshots' games to somebody, where nobody has them yet."""
        if self._models:
            for game in self.snapshot_games():
                if (self.owners[game] == LEARNER).all():
                    self._seat(int(game))

    def note(self, batch: Batch) -> None:
        """Count who won, and draw a new opponent for each of the snapshots' games that has ended."""
        if not self._models:
            return
        ended = batch.ended
        for game in self.snapshot_games():
            if ended[game]:
                for seat in range(self.config.players):
                    owner = int(self.owners[game, seat])
                    if owner > 0:
                        self.played[owner - 1] += 1
                        self.won[owner - 1] += int(batch.winners[game]) >> seat & 1
                self._seat(int(game))

    def _seat(self, game: int) -> None:
        seat = game % self.config.players
        number = 1 + int(self._rng.choice(len(self._models), p=self._chances()))
        self.owners[game] = number
        self.owners[game, seat] = LEARNER

    def _chances(self) -> NDArray[np.float64]:
        count = len(self._models)
        if self.config.opponents.sampling == "uniform":
            return np.full(count, 1 / count)
        weights = ((self.won[:count] + 1) / (self.played[:count] + 2)) ** 2
        return weights / weights.sum()
