"""Deep Monte Carlo by self-play, from the first deal to the file of weights, to be read from the top down.

A network looks at what a seat sees and at one action, and predicts what the seat will be paid at the end of the round
if it does that.  It plays the legal action of which it expects most, now and then any other; when a round has ended,
what each of its decisions brought is known, and the network is drawn towards it.  No bootstrapping, no critic, no
probabilities: the way of DouZero (Zha et al., "DouZero: mastering DouDizhu with self-play deep reinforcement learning",
2021).

An action is told by its features (``training.action_codes``), so that what is learned of one discard is known of
others.  What is seen and what is done meet in the first layer, relu(W seen + V action): the one part is worked out once
a decision, the other once an update, and a further legal action costs the later layers alone.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from agents.inputs import Inputs
from scala40_env.core.rules import Rules
from scala40_env.envs.batch import Batch
from scala40_env.envs.observation import layout
from training import checkpoints
from training.action_codes import action_features
from training.config import DMC, bot_named
from training.evaluate import Result, against_bot
from training.league import League
from training.sparse import Sparse, by_columns, linear

# --- the network -----------------------------------------------------------------------------------------------------


class ActionValues(nn.Module):
    """What a seat expects to be paid at the end of the round, by action.

    The features of the actions are kept with the weights: so a file of weights plays whatever becomes of the features.
    """

    def __init__(self, seen: int, features: NDArray[np.float32], widths: tuple[int, ...]) -> None:
        super().__init__()
        sizes = [seen, *widths, 1]
        layers = {str(i): nn.Linear(given, made) for i, (given, made) in enumerate(itertools.pairwise(sizes))}
        self.actor = nn.ModuleDict({**layers, "action": nn.Linear(features.shape[1], widths[0], bias=False)})
        by_columns(self.actor["0"])
        self.actor.register_buffer("features", torch.from_numpy(features))
        self._later = [str(i) for i in range(1, len(sizes) - 1)]

    def of_actions(self) -> torch.Tensor:
        """What each action adds to the first layer: ``(num_actions, widths[0])``."""
        return self.actor["action"](self.actor.features)

    def forward(
        self, seen: Sparse, actions: torch.Tensor, owners: torch.Tensor | None, of_actions: torch.Tensor
    ) -> torch.Tensor:
        """The value of each action, ``(k,)``; ``owners`` says to whose observation each belongs, one a row if None."""
        of_seen = linear(self.actor["0"], seen)
        value = (of_seen if owners is None else of_seen[owners]) + nn.functional.embedding(actions, of_actions)
        for name in self._later:
            value = self.actor[name](torch.relu(value))
        return value[:, 0]


def greedy_picks(
    model: ActionValues,
    of_actions: torch.Tensor,
    seen: Sparse,
    legal: NDArray[np.int16],
    counts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Which of its legal actions each decision expects most of; of two that are level, the first."""
    among = np.arange(counts.max()) < counts[:, None]
    actions = torch.from_numpy(legal[:, : counts.max()][among].astype(np.int64))
    owners = torch.from_numpy(np.repeat(np.arange(len(counts)), counts))
    values = np.full(among.shape, -np.inf, dtype=np.float32)
    values[among] = model(seen, actions, owners, of_actions).numpy()
    return values.argmax(axis=1)


# --- the games -------------------------------------------------------------------------------------------------------


@dataclass
class Decisions:
    """Decisions of the network, arrays of one length: what was seen, what was done, in which game, by which seat."""

    observations: NDArray[np.uint8]
    actions: NDArray[np.int16]
    games: NDArray[np.int64]
    seats: NDArray[np.int64]

    def __getitem__(self, which: Any) -> Decisions:
        return Decisions(*(getattr(self, part.name)[which] for part in fields(self)))

    @staticmethod
    def joined(parts: list[Decisions]) -> Decisions:
        """One after the other."""
        return Decisions(*(np.concatenate([getattr(one, part.name) for one in parts]) for part in fields(Decisions)))


class Collector:
    """Plays the games of a run, and keeps what the network decided until it is known what came of it."""

    def __init__(self, config: DMC, model: ActionValues, league: League, rng: np.random.Generator) -> None:
        self.config, self.model, self.league, self.rng = config, model, league, rng
        self.rules = Rules.load(config.rules)
        self.batch = Batch(
            self.rules,
            config.players,
            config.games,
            seed=config.seed,
            reward=config.reward,
            play_forced=True,
            derived=config.derived,
            bots=league.bots,
        )
        self.inputs = Inputs(self.rules, config.players, derived=config.derived)
        self.waiting = self._decisions(np.zeros(0, dtype=np.int64), self.batch.legal[:, 0])
        """Decisions of rounds that go on."""

    def seen(self, observations: NDArray[np.uint8]) -> Sparse:
        """Observations as the network takes them."""
        return Sparse(self.inputs.size, *self.inputs.nonzero(observations))

    @torch.no_grad()
    def collect(self, epsilon: float) -> tuple[Decisions, NDArray[np.float32]]:
        """Play ``config.steps`` steps of every game.

        Returns:
            The decisions of rounds that ended meanwhile, and what each brought.
        """
        batch, steps, games = self.batch, self.config.steps, np.arange(self.config.games)
        made, times = [self.waiting], [np.zeros(len(self.waiting.games), dtype=np.int64)]
        paid = np.zeros((steps, *batch.rewards.shape), dtype=np.float32)
        ended = np.zeros((steps, len(games)), dtype=np.bool_)
        models = [self.model, *self.league.models]
        of_actions = [model.of_actions() for model in models]
        for t in range(steps):
            owners = self.league.owners[games, batch.seats]
            picks = np.zeros(len(games), dtype=np.int64)
            for player in np.unique(owners):
                these = np.flatnonzero(owners == player)
                seen, legal, counts = self.seen(batch.observations[these]), batch.legal[these], batch.counts[these]
                picks[these] = greedy_picks(models[player], of_actions[player], seen, legal, counts)
            own = np.flatnonzero(owners == 0)
            strays = own[self.rng.random(len(own)) < epsilon]
            picks[strays] = self.rng.integers(batch.counts[strays])
            actions = batch.legal[games, picks]
            made.append(self._decisions(own, actions))
            times.append(np.full(len(own), t))
            batch.step(actions)
            paid[t], ended[t] = batch.rewards, batch.ended
            self.league.note(batch)
        return self._outcomes(Decisions.joined(made), np.concatenate(times), paid, ended)

    def _decisions(self, own: NDArray[np.int64], actions: NDArray[Any]) -> Decisions:
        batch = self.batch
        return Decisions(batch.observations[own], actions[own].astype(np.int16), own, batch.seats[own])

    def _outcomes(
        self, made: Decisions, times: NDArray[np.int64], paid: NDArray[np.float32], ended: NDArray[np.bool_]
    ) -> tuple[Decisions, NDArray[np.float32]]:
        """Part the decisions whose rounds have ended from those that wait.  A round pays at its end, and only then."""
        steps = len(ended)
        ends = np.where(ended, np.arange(steps)[:, None], steps)
        ends = np.minimum.accumulate(ends[::-1])[::-1]  # by step and game: when the round of that step ended
        end = ends[times, made.games]
        over = end < steps
        self.waiting, done = made[~over], made[over]
        return done, paid[end[over], done.games, done.seats]


# --- the update ------------------------------------------------------------------------------------------------------


def update(
    config: DMC,
    model: ActionValues,
    optimizer: torch.optim.Optimizer,
    collector: Collector,
    made: Decisions,
    returns: NDArray[np.float32],
    part: float,
) -> dict[str, float]:
    """Draw the predictions towards what came; ``part`` of the run is over.  Returns what to log."""
    rate = config.learning_rate + (config.learning_rate_end - config.learning_rate) * part
    for group in optimizer.param_groups:
        group["lr"] = rate
    losses = []
    for _ in range(config.epochs):
        for rows in minibatches(collector.rng, len(returns), config.minibatch):
            seen = collector.seen(made.observations[rows])
            actions = torch.from_numpy(made.actions[rows].astype(np.int64))
            values = model(seen, actions, None, model.of_actions())
            loss = nn.functional.mse_loss(values, torch.from_numpy(returns[rows]))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), config.max_grad_norm)
            optimizer.step()
            losses.append(loss.item())
    loss_mean, variance = (float(np.mean(losses)), float(np.var(returns))) if losses else (0.0, 0.0)
    return {
        "loss": loss_mean,
        "explained_variance": 1 - loss_mean / (variance + 1e-8),
        "learning_rate": rate,
        "learned_from": float(len(returns)),
    }


def minibatches(rng: np.random.Generator, rows: int, most: int) -> list[NDArray[np.int64]]:
    """Rows in random order, in parts of nearly one length."""
    parts = -(-rows // most)
    return np.array_split(rng.permutation(rows), parts) if parts else []


# --- the run ---------------------------------------------------------------------------------------------------------


class Trainer:
    """A run: the model, its games, its league; ``advance`` makes one update."""

    algorithm = "dmc"
    columns = ("per_second", "learned_from", "loss", "explained_variance", "epsilon", "learning_rate")

    def __init__(self, config: DMC) -> None:
        torch.set_num_threads(config.threads)
        torch.manual_seed(config.seed)
        self.config = config
        self.rng = np.random.default_rng(config.seed)
        rules = Rules.load(config.rules)
        seen, features = layout(rules, config.players, derived=config.derived).size, action_features(rules)
        self.model = ActionValues(seen, features, config.hidden)
        self.league = League(config, self.rng, lambda: ActionValues(seen, features, config.hidden))
        self.collector = Collector(config, self.model, self.league, self.rng)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config.learning_rate, fused=True)
        self.updates = 0
        self.decisions = 0
        self.seconds = 0.0

    def advance(self) -> dict[str, float]:
        """Collect, update, and let the league have its snapshot; returns what to log."""
        began = time.perf_counter()
        part = min(1.0, self.decisions / self.config.decisions)
        epsilon = self.config.epsilon + (self.config.epsilon_end - self.config.epsilon) * part
        made, returns = self.collector.collect(epsilon)
        told = update(self.config, self.model, self.optimizer, self.collector, made, returns, part)
        self.updates += 1
        self.decisions += len(returns)
        if self.updates % self.config.opponents.every == 0:
            self.league.add(self.model)
        self.league.seat_all(self.collector.batch)
        took = time.perf_counter() - began
        self.seconds += took
        return {**told, "epsilon": epsilon, "decisions": self.decisions, "per_second": len(returns) / took}

    def is_done(self) -> bool:
        """Whether the run has had its decisions, or its minutes."""
        out_of_time = self.config.minutes > 0 and self.seconds > 60 * self.config.minutes
        return self.decisions >= self.config.decisions or out_of_time

    def state(self) -> dict[str, Any]:
        """What a run goes on from, besides the counters."""
        waiting = {name: torch.from_numpy(array) for name, array in vars(self.collector.waiting).items()}
        return {**checkpoints.pack(self), "waiting": waiting}

    def set_state(self, kept: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        checkpoints.unpack(self, kept)
        self.collector.waiting = Decisions(**{name: tensor.numpy() for name, tensor in kept["waiting"].items()})

    @torch.no_grad()
    def evaluate(self, seed: int, deals: int) -> dict[str, Result]:
        """The network, doing what it expects most of, against each anchor on some deals, from every seat."""
        return {
            name: against_bot(
                self.collector.rules, self.config, bot_named("anchors", name), self.best_actions, seed, deals
            )
            for name in self.config.anchors
        }

    @torch.no_grad()
    def best_actions(self, batch: Batch) -> NDArray[np.int64]:
        """The action of which the network expects most, in each game of a batch."""
        going = np.flatnonzero(batch.counts > 0)
        actions = np.zeros(batch.num_games, dtype=np.int64)
        if len(going):
            seen, legal = self.collector.seen(batch.observations[going]), batch.legal[going]
            picks = greedy_picks(self.model, self.model.of_actions(), seen, legal, batch.counts[going])
            actions[going] = legal[np.arange(len(going)), picks]
        return actions
