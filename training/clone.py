"""Behaviour cloning: a network learns to do what an agent does, and what a seat is paid for it.

The agent plays every seat of many games; some moves are drawn at random instead, so that the network also sees how to
go on after a mistake, but what is learned is always what the agent would have done (Ross, Gordon and Bagnell, "A
reduction of imitation learning and structured prediction to no-regret online learning", 2011, of which this is the
first round).  Each move is learned from once, or a few times.  What comes out is a file of weights that plays, and
that ``scala40 train ppo --set warm_start=FILE`` begins with.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from agents.action_features import NUM_FEATURES
from agents.inputs import BY_USE
from agents.teaching import Teacher
from agents.weights import Card, layout_digest, save
from scala40_env.core.rules import Rules
from training import checkpoints
from training.config import PPO, Clone, bot_named
from training.evaluate import Result
from training.ppo import Rollout, Trainer, log_softmax


class Cloner:
    """A run of cloning; ``advance`` plays some moves and learns from them.

    It is a ``training.ppo.Trainer`` whose moves are the teacher's.

    Args:
        config: the settings.
        rules: the rules, where they are not a rulebook that ``config`` could name.
    """

    algorithm = "clone"
    columns = ("per_second", "learned_from", "policy_loss", "value_loss", "agreement")

    def __init__(self, config: Clone, rules: Rules | None = None) -> None:
        self.config = config
        self._ppo = Trainer(as_ppo(config), rules)
        self.model, self.collector, self.league = self._ppo.model, self._ppo.collector, self._ppo.league
        self.rng = self._ppo.rng
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config.learning_rate, eps=1e-5, fused=True)
        self.teacher = Teacher(bot_named("teacher", config.teacher))
        self.updates = self.decisions = 0
        self.seconds = 0.0

    def advance(self) -> dict[str, float]:
        """Play, learn, and say how well the network knew the moves before it had learned from them."""
        began = time.perf_counter()
        kept, labels = self._play()
        told = self._learn(kept, labels)
        self.updates += 1
        self.decisions += int(told["learned_from"])
        took = time.perf_counter() - began
        self.seconds += took
        return {**told, "decisions": self.decisions, "per_second": told["learned_from"] / took}

    def is_done(self) -> bool:
        """Whether the run has had its decisions."""
        return self.decisions >= self.config.decisions

    def state(self) -> dict[str, Any]:
        """What a run goes on from, besides the counters."""
        return checkpoints.pack(self)

    def set_state(self, kept: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        checkpoints.unpack(self, kept)

    def evaluate(self, seed: int, deals: int) -> dict[str, Result]:
        """The network, at its likeliest, against each anchor."""
        return self._ppo.evaluate(seed, deals)

    def _play(self) -> tuple[Rollout, np.ndarray]:
        """Moves of the teacher, and what it would have done; what each seat was paid becomes the advantage."""
        config, batch, kept = self.config, self.collector.batch, self.collector.rollout
        games = np.arange(config.games)
        labels = np.zeros((config.steps, config.games), dtype=np.int64)
        for t in range(config.steps):
            kept.observations[t], kept.hidden[t], kept.legal[t] = batch.observations, batch.hidden, batch.legal
            kept.counts[t], kept.seats[t] = batch.counts, batch.seats
            wanted = self.teacher.choices(batch, int(self.rng.integers(2**63)))
            labels[t] = (batch.legal == wanted[:, None]).argmax(axis=1)
            strays = self.rng.random(config.games) < config.noise
            kept.picks[t] = np.where(strays, self.rng.integers(batch.counts), labels[t])
            batch.step(batch.legal[games, kept.picks[t]])
            kept.rewards[t], kept.ended[t], kept.learns[t] = batch.rewards, batch.ended, True
        owed = np.zeros((config.games, config.players), dtype=np.float32)
        is_known = np.zeros(config.games, dtype=np.bool_)  # whether the round's end was seen
        for t in range(config.steps - 1, -1, -1):
            over = kept.ended[t]
            owed[over] = 0.0
            is_known |= over
            owed += kept.rewards[t]
            kept.advantages[t], kept.learns[t] = owed[games, kept.seats[t]], is_known
        return kept, labels

    def _learn(self, kept: Rollout, labels: np.ndarray) -> dict[str, float]:
        config = self.config
        part = min(1.0, self.decisions / config.decisions)
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * (1 - 0.9 * part)
        flat = {
            name: value.reshape(config.steps * config.games, *value.shape[2:]) for name, value in vars(kept).items()
        }
        labels = labels.reshape(-1)
        totals: dict[str, list[float]] = {"policy_loss": [], "value_loss": [], "agreement": []}
        indices = np.arange(len(labels))
        for epoch in range(config.epochs):
            order = self.rng.permutation(indices)
            for begin in range(0, len(order), config.minibatch):
                rows = order[begin : begin + config.minibatch]
                decisions = flat["observations"][rows], flat["legal"][rows], flat["counts"][rows]
                logits, seen, made = self.collector.logits(self.model, *decisions)
                picked = made.starts + torch.from_numpy(labels[rows])
                policy_loss = -log_softmax(logits, made.owners, len(rows))[picked].mean()
                known = torch.from_numpy(flat["learns"][rows])
                values = self.collector.values(seen, flat["hidden"][rows])
                errors = nn.functional.mse_loss(values, torch.from_numpy(flat["advantages"][rows]), reduction="none")
                value_loss = (errors * known).sum() / known.sum().clamp(min=1)
                loss = policy_loss + config.value_weight * value_loss
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), config.max_grad_norm)
                self.optimizer.step()
                if epoch == 0:
                    totals["policy_loss"].append(policy_loss.item())
                    totals["value_loss"].append(value_loss.item())
                    totals["agreement"].append(_agreement(logits.detach().numpy(), made.starts.numpy(), labels[rows]))
        return {**{name: float(np.mean(told)) for name, told in totals.items()}, "learned_from": float(len(labels))}


def _agreement(logits: np.ndarray, starts: np.ndarray, labels: np.ndarray) -> float:
    """The share of decisions in which the likeliest action is the teacher's."""
    return float((logits[starts + labels] == np.maximum.reduceat(logits, starts)).mean())


def as_ppo(config: Clone) -> PPO:
    """The settings of the network, the games and the measurements, as PPO has them."""
    shared = {name: getattr(config, name) for name in Clone.__struct_fields__ if name in PPO.__struct_fields__}
    usual = PPO()
    return PPO(**shared, opponents=_alone(usual.opponents))


def _alone(opponents: Any) -> Any:
    """Opponents of nobody: every seat is played from outside."""
    fields = {name: getattr(opponents, name) for name in opponents.__struct_fields__}
    return type(opponents)(**{**fields, "current": 1.0, "snapshots": 0.0, "bots": 0.0})


def write(cloner: Cloner, path: Path, command: str) -> None:
    """Write the actor and the critic to a file of weights."""
    config, rules = cloner.config, Rules.load(cloner.config.rules)
    card = Card(
        rules=rules.to_mapping(),
        players=config.players,
        derived=config.derived,
        layout=layout_digest(rules, config.players, derived=config.derived),
        hidden=tuple(config.hidden),
        algorithm="clone",
        command=command,
        inputs=BY_USE,
        privileged=config.privileged,
        action_features=NUM_FEATURES if config.action_features else 0,
    )
    save(path, {name: value.numpy() for name, value in cloner.model.state_dict().items()}, card)
