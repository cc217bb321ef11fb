"""Loops over the PettingZoo environment for its tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.envs.play import choose

Steps = list[tuple[str, int]]


def play_on(env: Any, rng: np.random.Generator, most: int = 10**9, see: Callable[[Any], None] | None = None) -> Steps:
    """Play an episode on with random players; returns who did what, and calls ``see`` before each action."""
    done: Steps = []
    while env.agents and len(done) < most:
        if see is not None:
            see(env)
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        action = choose(observation["action_mask"].nonzero()[0], rng)
        done.append((env.agent_selection, action))
        env.step(action)
    return done


def returns_of(env: Any, rng: np.random.Generator) -> dict[str, float]:
    """Play an episode to its end; returns the sum of what ``last`` paid to each agent."""
    sums = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        observation, reward, terminated, truncated, _ = env.last()
        sums[env.agent_selection] += reward
        if terminated or truncated:
            env.step(None)
        else:
            env.step(choose(observation["action_mask"].nonzero()[0], rng))
    return sums


def replay(env: Any, steps: Steps) -> list[Any]:
    """Do the same steps; returns everything that was seen on the way."""
    seen = []
    for agent, action in steps:
        while env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
            seen.append(plain(env.last()))
            env.step(None)
        assert env.agent_selection == agent
        seen.append(plain(env.last()))
        env.step(action)
    while env.agents:
        seen.append(plain(env.last()))
        seen.append(plain(env.state()))
        if not env.terminations[env.agent_selection] and not env.truncations[env.agent_selection]:
            break
        env.step(None)
    return seen


def plain(value: Any) -> Any:
    """A value with its arrays as bytes, so that two of them can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
