"""Masked PPO by self-play, from the first deal to the file of weights, to be read from the top down.

Many games are played side by side (``scala40_env.Batch``).  In most of them the policy plays every seat, and learns
from each; in the others one seat is its own and the rest are frozen policies of earlier (``training.league``) or
compiled bots.  The actor scores the legal actions alone.  The critic may see the hidden cards, which the actor never
does ("perfect-training-imperfect-execution", Yang et al., "PerfectDou", 2022).

PPO: Schulman et al., "Proximal policy optimization algorithms", 2017; advantages: Schulman et al., "High-dimensional
continuous control using generalized advantage estimation", 2016; shaping: Ng, Harada and Russell, "Policy invariance
under reward transformations", 1999.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from agents.action_features import NUM_FEATURES, ActionFeatures
from agents.inputs import BY_USE, Inputs
from agents.network import scaled_cards
from agents.weights import Card, load
from scala40_env.core.game import num_actions
from scala40_env.core.rules import Rules
from scala40_env.envs.batch import Batch
from scala40_env.envs.observation import layout
from scala40_env.envs.observe import hidden_size
from training import checkpoints
from training.config import PPO, ConfigError, bot_named
from training.evaluate import Result, against_bot
from training.league import FrozenPolicy, League
from training.sparse import Sparse, by_columns, linear, picked

# --- the network -----------------------------------------------------------------------------------------------------


def mlp(sizes: list[int], last_gain: float) -> nn.ModuleList:
    """Linear layers with orthogonal weights, as PPO likes them."""
    layers = nn.ModuleList(nn.Linear(given, made) for given, made in itertools.pairwise(sizes))
    for layer in layers:
        nn.init.orthogonal_(layer.weight, 2.0**0.5)
        nn.init.zeros_(layer.bias)
    nn.init.orthogonal_(layers[-1].weight, last_gain)
    return layers


class ActorCritic(nn.Module):
    """Two networks: the actor over what its seat sees, the critic over that and, by option, the hidden cards.

    The last layer of the actor has a row of weights for each action.  By option one more says what each feature of an
    action is worth in what the seat sees (``agents.action_features``), the same for all actions.
    """

    def __init__(
        self, seen: int, hidden_cards: int, actions: int, widths: tuple[int, ...], action_features: bool
    ) -> None:
        super().__init__()
        self.actor = mlp([seen, *widths, actions], 0.01)
        self.depth = len(widths)
        if action_features:
            self.actor.extend(mlp([widths[-1], NUM_FEATURES], 0.01))
        self.critic = mlp([seen + hidden_cards, *widths, 1], 1.0)

        for net in (self.actor, self.critic):
            by_columns(net[0])

    def logits(self, seen: Sparse, choices: Choices) -> torch.Tensor:
        """The logits of the legal actions alone, one after the other: ``(k,)``."""
        hidden = self._hidden(self.actor, linear(self.actor[0], seen))
        head = self.actor[self.depth]
        logits = picked(hidden, head.weight, choices.actions, choices.starts) + head.bias[choices.actions]
        if choices.described is not None:
            worth = self.actor[self.depth + 1](hidden)
            each = torch.arange(len(choices.actions))
            logits = logits + picked(worth, choices.described, each, choices.starts)
        return logits

    def values(self, seen: Sparse, cards: torch.Tensor | None) -> torch.Tensor:
        """What a seat expects to be paid from here on: ``(n,)``; ``cards`` are the hidden ones, where it sees them."""
        return self.critic[-1](self._hidden(self.critic, linear(self.critic[0], seen, cards)))[:, 0]

    def _hidden(self, net: nn.ModuleList, first: torch.Tensor) -> torch.Tensor:
        """The last hidden layer, ``(n, widths[-1])``, from what the first layer made."""
        hidden = torch.relu(first)
        for layer in net[1 : self.depth]:
            hidden = torch.relu(layer(hidden))
        return hidden


@dataclass
class Choices:
    """The legal actions of many decisions, flat: the actions of the first decision, then those of the second ...

    Attributes:
        actions: ``(k,)``.
        owners: the decision of each, ``(k,)``.
        starts: where each decision begins, ``(n,)``.
        described: the features of each, ``(k, NUM_FEATURES)``, or ``None``.
    """

    actions: torch.Tensor
    owners: torch.Tensor
    starts: torch.Tensor
    described: torch.Tensor | None


# --- the games -------------------------------------------------------------------------------------------------------


@dataclass
class Rollout:
    """What was decided in ``T`` steps of ``n`` games: arrays of shape ``(T, n, ...)``.

    ``learns`` says which decisions were the policy's own and are followed to an end or to its next decision.
    """

    observations: NDArray[np.uint8]
    hidden: NDArray[np.uint8]
    legal: NDArray[np.int16]
    counts: NDArray[np.int64]
    picks: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    values: NDArray[np.float32]
    seats: NDArray[np.int64]
    rewards: NDArray[np.float32]
    ended: NDArray[np.bool_]
    learns: NDArray[np.bool_]
    advantages: NDArray[np.float32]


class Collector:
    """Plays the games of a run, and keeps what the policy decided."""

    def __init__(
        self, config: PPO, model: ActorCritic, league: League, rng: np.random.Generator, rules: Rules | None = None
    ) -> None:
        self.config, self.model, self.league, self.rng = config, model, league, rng
        self.rules = rules or Rules.load(config.rules)
        self.batch = Batch(
            self.rules,
            config.players,
            config.games,
            seed=config.seed,
            reward=config.reward,
            play_forced=True,
            derived=config.derived,
            hidden=config.privileged,
            bots=league.bots,
        )
        self.inputs = Inputs(self.rules, config.players, derived=config.derived)
        self.features = ActionFeatures(self.rules, config.players) if config.action_features else None
        self.deadwood = layout(self.rules, config.players, derived=True)["deadwood"].offset
        n, steps = config.games, config.steps
        shape = (steps, n)
        self.rollout = Rollout(
            observations=np.zeros((*shape, self.batch.observations.shape[1]), dtype=np.uint8),
            hidden=np.zeros((*shape, self.batch.hidden.shape[1]), dtype=np.uint8),
            legal=np.zeros((*shape, self.batch.legal.shape[1]), dtype=np.int16),
            counts=np.zeros(shape, dtype=np.int64),
            picks=np.zeros(shape, dtype=np.int64),
            log_probs=np.zeros(shape, dtype=np.float32),
            values=np.zeros(shape, dtype=np.float32),
            seats=np.zeros(shape, dtype=np.int64),
            rewards=np.zeros((*shape, config.players), dtype=np.float32),
            ended=np.zeros(shape, dtype=np.bool_),
            learns=np.zeros(shape, dtype=np.bool_),
            advantages=np.zeros(shape, dtype=np.float32),
        )

    def seen(self, observations: NDArray[np.uint8]) -> Sparse:
        """Observations as the networks take them."""
        return Sparse(self.inputs.size, *self.inputs.nonzero(observations))

    def choices(self, observations: NDArray[np.uint8], legal: NDArray[np.int16], counts: NDArray[np.int64]) -> Choices:
        """The legal actions of some decisions."""
        among = np.arange(counts.max()) < counts[:, None]
        return Choices(
            actions=torch.from_numpy(legal[:, : counts.max()][among].astype(np.int64)),
            owners=torch.from_numpy(np.repeat(np.arange(len(counts)), counts)),
            starts=torch.from_numpy(np.cumsum(counts) - counts),
            described=None if self.features is None else torch.from_numpy(self.features(observations, legal, counts)),
        )

    def logits(
        self,
        model: ActorCritic | FrozenPolicy,
        observations: NDArray[np.uint8],
        legal: NDArray[np.int16],
        counts: NDArray[np.int64],
    ) -> tuple[torch.Tensor, Sparse, Choices]:
        """The logits of some decisions, flat; what the actor saw; and which actions they are of."""
        seen, made = self.seen(observations), self.choices(observations, legal, counts)
        if isinstance(model, FrozenPolicy):  # which has its own way of taking an observation
            return torch.from_numpy(model.logits(observations, legal, counts)), seen, made
        return model.logits(seen, made), seen, made

    def values(self, seen: Sparse, hidden: NDArray[np.uint8]) -> torch.Tensor:
        """What the critic expects; ``hidden`` as ``observe.hidden_part`` writes it."""
        cards = torch.from_numpy(scaled_cards(hidden, self.config.players)) if self.config.privileged else None
        return self.model.values(seen, cards)

    @torch.no_grad()
    def collect(self) -> Rollout:
        """Play ``config.steps`` steps of every game."""
        batch, kept = self.batch, self.rollout
        for t in range(self.config.steps):
            kept.observations[t], kept.hidden[t], kept.legal[t] = batch.observations, batch.hidden, batch.legal
            kept.counts[t], kept.seats[t] = batch.counts, batch.seats
            owner = self.league.owners[np.arange(batch.num_games), batch.seats]
            for player in np.unique(owner):
                games = np.flatnonzero(owner == player)
                self._decide(t, games, self.model if player == 0 else self.league.model(int(player)))
            kept.learns[t] = owner == 0
            batch.step(batch.legal[np.arange(batch.num_games), kept.picks[t]])
            kept.rewards[t], kept.ended[t] = batch.rewards, batch.ended
            self.league.note(batch)
        self._judge()
        return kept

    def _decide(self, t: int, games: NDArray[np.int64], model: ActorCritic | FrozenPolicy) -> None:
        kept = self.rollout
        flat, seen, made = self.logits(model, kept.observations[t, games], kept.legal[t, games], kept.counts[t, games])
        flat, owners, starts = flat.numpy(), made.owners.numpy(), made.starts.numpy()
        tops = np.maximum.reduceat(flat, starts)
        sums = np.add.reduceat(np.exp(flat - tops[owners]), starts)
        noisy = flat + self.rng.gumbel(size=len(flat)).astype(np.float32)
        best = np.maximum.reduceat(noisy, starts)
        won = np.flatnonzero(noisy == best[owners])
        first = np.unique(owners[won], return_index=True)[1]  # of two that draw level, the first
        chosen = won[first]
        kept.picks[t, games] = chosen - starts
        kept.log_probs[t, games] = flat[chosen] - tops - np.log(sums)
        if model is self.model:
            kept.values[t, games] = self.values(seen, kept.hidden[t, games]).numpy()

    def _judge(self) -> None:
        """Advantages by GAE, for each seat along its own decisions."""
        config, kept, batch = self.config, self.rollout, self.batch
        n, games = config.games, np.arange(config.games)
        following = np.zeros((n, config.players), dtype=np.float32)  # value of the seat's next decision
        advantage = np.zeros((n, config.players), dtype=np.float32)
        owed = np.zeros((n, config.players), dtype=np.float32)  # paid since the decision that is looked at
        potential = np.zeros((n, config.players), dtype=np.float32)
        is_known = np.zeros((n, config.players), dtype=np.bool_)  # whether what follows the decision is
        now = self.league.owners[games, batch.seats] == 0
        if now.any():
            seen = self.seen(batch.observations[now])
            seats = batch.seats[now]
            following[now, seats] = self.values(seen, batch.hidden[now]).numpy()
            potential[now, seats] = self._potential(batch.observations[now])
            is_known[now, seats] = True
        for t in range(config.steps - 1, -1, -1):
            over, seat = kept.ended[t], kept.seats[t]
            for array in (following, advantage, owed, potential):
                array[over] = 0.0
            is_known[over] = True
            owed += kept.rewards[t]
            here = self._potential(kept.observations[t])
            paid = owed[games, seat] + config.shaping * (config.gamma * potential[games, seat] - here)
            delta = paid + config.gamma * following[games, seat] - kept.values[t]
            gained = delta + config.gamma * config.gae_lambda * advantage[games, seat]
            kept.advantages[t] = gained
            kept.learns[t] &= is_known[games, seat]
            following[games, seat], advantage[games, seat], owed[games, seat] = kept.values[t], gained, 0.0
            potential[games, seat], is_known[games, seat] = here, True
            unknown = kept.learns[t] == 0
            advantage[games[unknown], seat[unknown]] = 0.0

    def _potential(self, observations: NDArray[np.uint8]) -> NDArray[np.float32]:
        if not self.config.shaping or not self.config.derived:
            return np.zeros(len(observations), dtype=np.float32)
        return -observations[:, self.deadwood].astype(np.float32) / 100


# --- the update ------------------------------------------------------------------------------------------------------


def update(
    config: PPO, model: ActorCritic, optimizer: torch.optim.Optimizer, collector: Collector, kept: Rollout, part: float
) -> dict[str, float]:
    """Improve the model by what was collected; ``part`` of the run is over.  Returns what to log."""
    rate = config.learning_rate + (config.learning_rate_end - config.learning_rate) * part
    entropy_weight = config.entropy + (config.entropy_end - config.entropy) * part
    for group in optimizer.param_groups:
        group["lr"] = rate
    indices = np.flatnonzero(kept.learns.reshape(-1) & (kept.counts.reshape(-1) > 0))
    size = config.steps * config.games
    flat = {name: value.reshape(size, *value.shape[2:]) for name, value in vars(kept).items()}
    advantages = flat["advantages"][indices]
    returns = advantages + flat["values"][indices]
    scaled = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    totals: dict[str, list[float]] = {"policy_loss": [], "value_loss": [], "entropy": [], "clipped": [], "kl": []}
    for _ in range(config.epochs):
        order = collector.rng.permutation(len(indices))
        for begin in range(0, len(order) - config.minibatch // 2, config.minibatch):
            part_of = order[begin : begin + config.minibatch]
            rows = indices[part_of]
            decisions = flat["observations"][rows], flat["legal"][rows], flat["counts"][rows]
            logits, seen, made = collector.logits(model, *decisions)
            picked = made.starts + torch.from_numpy(flat["picks"][rows])
            log_all = log_softmax(logits, made.owners, len(rows))
            log_probs = log_all[picked]
            old = torch.from_numpy(flat["log_probs"][rows])
            gain = torch.from_numpy(scaled[part_of])
            ratio = torch.exp(log_probs - old)
            clipped = torch.clamp(ratio, 1 - config.clip, 1 + config.clip)
            policy_loss = -torch.min(ratio * gain, clipped * gain).mean()
            entropy = -(log_all.exp() * log_all).sum() / len(rows)
            values = collector.values(seen, flat["hidden"][rows])
            value_loss = nn.functional.mse_loss(values, torch.from_numpy(returns[part_of]))
            loss = policy_loss + config.value_weight * value_loss - entropy_weight * entropy
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), config.max_grad_norm)
            optimizer.step()
            totals["policy_loss"].append(policy_loss.item())
            totals["value_loss"].append(value_loss.item())
            totals["entropy"].append(entropy.item())
            totals["clipped"].append((torch.abs(ratio.detach() - 1) > config.clip).float().mean().item())
            totals["kl"].append((old - log_probs.detach()).mean().item())
    explained = 1 - np.var(advantages) / (np.var(returns) + 1e-8)
    means = {name: float(np.mean(values)) for name, values in totals.items()}
    return {**means, "explained_variance": float(explained), "learning_rate": rate, "learned_from": float(len(indices))}


def log_softmax(logits: torch.Tensor, owners: torch.Tensor, decisions: int) -> torch.Tensor:
    """Log-probabilities of flat logits, each decision by itself."""
    tops = torch.full((decisions,), -torch.inf).scatter_reduce(0, owners, logits.detach(), "amax")
    shifted = logits - tops[owners]
    sums = torch.zeros(decisions).scatter_add(0, owners, shifted.exp())
    return shifted - sums.log()[owners]


def unlike(card: Card, config: PPO, rules: Rules) -> str:
    """In what weights differ from those of a run, so that it cannot begin with them: empty where it can."""
    wanted = {
        "rules": rules.to_mapping(),
        "players": config.players,
        "derived": config.derived,
        "hidden": tuple(config.hidden),
        "inputs": BY_USE,
        "action_features": NUM_FEATURES if config.action_features else 0,
    }
    return next((name for name, value in wanted.items() if getattr(card, name) != value), "")


def load_weights(model: ActorCritic, config: PPO, rules: Rules | None = None) -> None:
    """Begin with the weights of a file: its actor, and its critic where it has one that fits.

    Raises:
        AgentError: a file that cannot be read.
        ConfigError: weights of other rules, players or a network of another shape.
    """
    arrays, card = load(Path(config.warm_start))
    if other := unlike(card, config, rules or Rules.load(config.rules)):
        raise ConfigError(f"config: warm_start: {config.warm_start} is for other {other} than this run")
    tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
    own = model.state_dict()
    fitting = {name: tensor for name, tensor in tensors.items() if name in own and own[name].shape == tensor.shape}
    has_critic = all(name in fitting for name in own)
    model.load_state_dict({**own, **{k: v for k, v in fitting.items() if has_critic or k.startswith("actor.")}})


# --- the run ---------------------------------------------------------------------------------------------------------


class Trainer:
    """A run: the model, its games, its league; ``advance`` makes one update.

    Args:
        config: the settings.
        rules: the rules, where they are not a rulebook that ``config`` could name.
    """

    algorithm = "ppo"
    columns = (
        "per_second",
        "learned_from",
        "policy_loss",
        "value_loss",
        "entropy",
        "clipped",
        "kl",
        "explained_variance",
        "learning_rate",
    )

    def __init__(self, config: PPO, rules: Rules | None = None) -> None:
        torch.set_num_threads(config.threads)
        torch.manual_seed(config.seed)
        self.config = config
        self.rng = np.random.default_rng(config.seed)
        rules = rules or Rules.load(config.rules)
        seen = layout(rules, config.players, derived=config.derived).size
        hidden_cards = hidden_size(config.players) if config.privileged else 0
        shape = num_actions(rules), tuple(config.hidden), config.action_features
        self.model = ActorCritic(seen, hidden_cards, *shape)
        if config.warm_start:
            load_weights(self.model, config, rules)
        self.league = League(config, self.rng, lambda: ActorCritic(seen, 0, *shape))
        self.collector = Collector(config, self.model, self.league, self.rng, rules)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config.learning_rate, eps=1e-5, fused=True)
        self.updates = 0
        self.decisions = 0
        self.seconds = 0.0

    def advance(self) -> dict[str, float]:
        """Collect, update, and let the league have its snapshot; returns what to log."""
        began = time.perf_counter()
        kept = self.collector.collect()
        part = min(1.0, self.decisions / self.config.decisions)
        told = update(self.config, self.model, self.optimizer, self.collector, kept, part)
        self.updates += 1
        self.decisions += int(told["learned_from"])
        if self.updates % self.config.opponents.every == 0:
            self.league.add(self.model)
        self.league.seat_all(self.collector.batch)
        took = time.perf_counter() - began
        self.seconds += took
        return {**told, "decisions": self.decisions, "per_second": told["learned_from"] / took}

    def is_done(self) -> bool:
        """Whether the run has had its decisions, or its minutes."""
        out_of_time = self.config.minutes > 0 and self.seconds > 60 * self.config.minutes
        return self.decisions >= self.config.decisions or out_of_time

    def state(self) -> dict[str, Any]:
        """What a run goes on from, besides the counters."""
        return checkpoints.pack(self)

    def set_state(self, kept: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        checkpoints.unpack(self, kept)

    @torch.no_grad()
    def evaluate(self, seed: int, deals: int) -> dict[str, Result]:
        """The policy, at its likeliest, against each anchor on some deals, from every seat."""
        return {
            name: against_bot(
                self.collector.rules, self.config, bot_named("anchors", name), self.best_actions, seed, deals
            )
            for name in self.config.anchors
        }

    @torch.no_grad()
    def best_actions(self, batch: Batch) -> NDArray[np.int64]:
        """The likeliest action of each game of a batch."""
        going = np.flatnonzero(batch.counts > 0)
        picks = np.zeros(batch.num_games, dtype=np.int64)
        if len(going):
            decisions = batch.observations[going], batch.legal[going], batch.counts[going]
            logits, _, made = self.collector.logits(self.model, *decisions)
            flat, owners, starts = logits.numpy(), made.owners.numpy(), made.starts.numpy()
            best = np.maximum.reduceat(flat, starts)
            won = np.flatnonzero(flat == best[owners])
            first = np.unique(owners[won], return_index=True)[1]
            picks[going] = batch.legal[going, won[first] - starts]
        return picks
