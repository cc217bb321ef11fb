"""MaskablePPO of sb3-contrib against a bot: ``python -m training.recipes.maskable_ppo --steps 200000``.

The learner plays rounds from a seat drawn for each game, and is paid ``zero_sum`` points in hundreds.  An illegal
action would raise: MaskablePPO draws from the mask alone.  At the end the policy plays greedily on deals that it has
not seen, and its mean reward is printed with a 95 % interval.  It needs the extra ``train``.

With the defaults it learns in three minutes on one core, and its mean reward against ``greedy`` rises from -0.62, that
of an untrained network, to -0.12, each +- 0.02: it still loses, for this is a place to begin.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

from scala40_env.envs.sb3 import Scala40VecEnv
from training.statistics import Estimate, estimate

UNSEEN = 10**9
"""The evaluation's deals have seeds from here on, those of the training seeds from 0; see ``Scala40VecEnv``."""


def make_games(num_games: int, opponents: str, seed: int) -> VecMonitor:
    """The games of a learner, with the reward and the length of each episode in ``info["episode"]``."""
    games = Scala40VecEnv(num_games, opponents=opponents, dtype="float32", illegal_action="raise", seed=seed)
    return VecMonitor(games)


def make_model(games: VecMonitor, seed: int, **options: Any) -> MaskablePPO:
    """The learner; a round is short and paid at its end, hence no discount."""
    torch.set_num_threads(1)
    settings: dict[str, Any] = {
        "n_steps": 128,
        "batch_size": 1024,
        "n_epochs": 4,
        "learning_rate": 3e-4,
        "gamma": 1.0,
        "ent_coef": 0.01,
        "policy_kwargs": {"net_arch": [256, 256]},
    }
    return MaskablePPO("MlpPolicy", games, seed=seed, device="cpu", **{**settings, **options})


def evaluate(model: MaskablePPO, num_games: int, opponents: str, seed: int, episodes: int) -> Estimate:
    """Mean reward an episode on deals of other seeds, every action the most probable of the legal ones."""
    games = make_games(num_games, opponents, UNSEEN + seed)
    rewards, _ = evaluate_policy(model, games, episodes, return_episode_rewards=True)
    games.close()
    return estimate(np.asarray(rewards, dtype=np.float64))


def main(arguments: list[str] | None = None) -> Estimate:
    """Train, evaluate, save."""
    parser = argparse.ArgumentParser(prog="python -m training.recipes.maskable_ppo", description=__doc__)
    parser.add_argument("--steps", type=int, default=200_000, help="decisions of the learner (default %(default)s)")
    parser.add_argument("--games", type=int, default=64, help="games side by side (default %(default)s)")
    parser.add_argument("--opponents", default="greedy", help="who plays against it (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of deals and weights (default %(default)s)")
    parser.add_argument("--episodes", type=int, default=2000, help="of the evaluation (default %(default)s)")
    parser.add_argument("--out", help="where to save the model (a .zip); it is not saved by default")
    chosen = parser.parse_args(arguments)
    games = make_games(chosen.games, chosen.opponents, chosen.seed)
    model = make_model(games, chosen.seed, verbose=1)
    model.learn(chosen.steps)
    games.close()
    if chosen.out:
        model.save(chosen.out)
    result = evaluate(model, chosen.games, chosen.opponents, chosen.seed, chosen.episodes)
    print(f"mean reward {result.mean:.3f} +- {result.half_width:.3f} over {chosen.episodes} unseen deals")
    return result


if __name__ == "__main__":
    main()
