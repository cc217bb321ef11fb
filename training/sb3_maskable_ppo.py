"""The same job with MaskablePPO of sb3-contrib on ``Scala40VecEnv``: the reference that everyone knows.

``scala40 train sb3 --config configs/train/sb3_2p.toml --out FOLDER`` trains one learner against one agent of the
registry and leaves a folder: settings and versions, ``progress.csv`` and TensorBoard's files of Stable-Baselines3's own
logger, its model, and the actor as our weights, which ``policy:path=FOLDER/last.safetensors`` plays without either
library.  ``model.zip`` is Stable-Baselines3's format, and loading it runs the pickled code inside: load your own only.
A run cannot be resumed; it is short, or it is ``ppo``'s job.

The networks have ReLU and no shared layers, as those of ``training.ppo``, observations are scaled and forced actions
played inside, as there.  What differs is the library: every logit is worked out and then masked, and every decision
crosses Python with its mask of 635 flags.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import VecMonitor

from agents.weights import Card, layout_digest, save
from scala40_env.core.rules import Rules
from scala40_env.envs.batch import Batch
from scala40_env.envs.sb3 import Scala40VecEnv
from scala40_env.envs.spaces import scale_of
from training.config import SB3, bot_named
from training.evaluate import TEST_SEED, Result, against_bot
from training.runs import begin_folder

MODEL, WEIGHTS = "model.zip", "last.safetensors"


def make_model(config: SB3) -> MaskablePPO:
    """The learner and its games."""
    torch.set_num_threads(config.threads)
    games = Scala40VecEnv(
        config.games,
        dtype="float32",
        seed=config.seed,
        rules=config.rules,
        players=config.players,
        opponents=config.opponents,
        reward=config.reward,
        derived=config.derived,
        play_forced=True,
        illegal_action="raise",
    )
    return MaskablePPO(
        "MlpPolicy",
        VecMonitor(games),
        seed=config.seed,
        device="cpu",
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.n_epochs,
        learning_rate=config.learning_rate,
        ent_coef=config.ent_coef,
        clip_range=config.clip_range,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        policy_kwargs={"net_arch": list(config.hidden), "activation_fn": torch.nn.ReLU},
    )


def train(folder: Path, config: SB3, command: str, *, quiet: bool = False) -> dict[str, Result]:
    """Train into a folder and measure what came of it; returns the results by anchor."""
    begin_folder(folder, config, command, "torch", "stable-baselines3", "sb3-contrib")
    model = make_model(config)
    formats = ["csv", "tensorboard"] if quiet else ["csv", "tensorboard", "stdout"]
    model.set_logger(configure(str(folder), formats))
    try:
        model.learn(config.decisions)
    finally:
        model.get_env().close()
        model.logger.close()
    model.save(folder / MODEL)
    results = evaluate(model, config)
    told = {
        name: f"{result.gained.mean:+.2f} ± {result.gained.half_width:.2f} points a round over "
        f"{config.evaluate_deals} test deals"
        for name, result in results.items()
    }
    (folder / "test.json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    export(model, config, folder / WEIGHTS, command, told)
    return results


def evaluate(model: MaskablePPO, config: SB3) -> dict[str, Result]:
    """The policy, at its likeliest, against each anchor on test deals, from every seat."""
    rules = Rules.load(config.rules)
    scale = scale_of(rules, config.players, derived=config.derived)

    def choose(batch: Batch) -> NDArray[np.int64]:
        actions = np.zeros(batch.num_games, dtype=np.int64)
        going = np.flatnonzero(batch.counts > 0)
        seen, masks = batch.observations[going] / scale, batch.masks[going] != 0
        actions[going] = model.predict(seen, action_masks=masks, deterministic=True)[0]
        return actions

    return {
        name: against_bot(rules, config, bot_named("anchors", name), choose, TEST_SEED, config.evaluate_deals)
        for name in config.anchors
    }


def export(model: MaskablePPO, config: SB3, path: Path, command: str, strength: dict[str, str]) -> None:
    """Write the actor as weights of ours, with their card."""
    rules = Rules.load(config.rules)
    hidden = [layer for layer in model.policy.mlp_extractor.policy_net if isinstance(layer, torch.nn.Linear)]
    arrays: dict[str, NDArray[Any]] = {}
    for i, layer in enumerate([*hidden, model.policy.action_net]):
        arrays[f"actor.{i}.weight"] = layer.weight.detach().numpy()
        arrays[f"actor.{i}.bias"] = layer.bias.detach().numpy()
    card = Card(
        rules=rules.to_mapping(),
        players=config.players,
        derived=config.derived,
        layout=layout_digest(rules, config.players, derived=config.derived),
        hidden=tuple(config.hidden),
        algorithm="sb3_maskable_ppo",
        command=command,
        strength=strength,
    )
    save(path, arrays, card)
