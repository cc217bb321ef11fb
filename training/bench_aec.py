"""How fast the PettingZoo environment goes: the loop that every user writes, with a policy that samples the mask."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from scala40_env import scala40_v0


def pettingzoo_loop(seconds: float = 3.0, *, wrapped: bool = False, seed: int = 0, **options: Any) -> float:
    """Decisions a second of ``agent_iter``, ``last`` and ``step``, observation and mask included, on one core.

    Args:
        seconds: how long to measure, after one game that compiles and warms up.
        wrapped: measure ``env``, with PettingZoo's checks of the order of calls, not ``raw_env``.
        seed: of the deals and of the policy, which takes any legal action alike.
        options: of the environment.
    """
    env = (scala40_v0.env if wrapped else scala40_v0.raw_env)(**options)
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    _play(env, rng)
    decisions = 0
    started = time.perf_counter()
    while (elapsed := time.perf_counter() - started) < seconds:
        env.reset()
        decisions += _play(env, rng)
    return decisions / elapsed


def _play(env: Any, rng: np.random.Generator) -> int:
    """Play an episode to its end; returns how many decisions it took."""
    decisions = 0
    draws = iter(())  # random numbers are drawn by the thousand, so that the policy costs little
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        legal = observation["action_mask"].nonzero()[0]
        draw = next(draws, None)
        if draw is None:
            draws = iter(rng.random(1024).tolist())
            draw = next(draws)
        env.step(legal[int(draw * len(legal))])
        decisions += 1
    return decisions
