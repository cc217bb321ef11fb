"""The comparison by which a leak would show: the same position, with what a viewer cannot see dealt anew."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from scala40_env import scala40_v0
from scala40_env.core.game import Game
from tests.envs.loops import plain
from tests.envs.play import choose, short
from tests.laws.redeal import redeal


def hide_deal(info: dict[str, Any]) -> dict[str, Any]:
    """An info without the seed, which is told once the game is over and nothing is hidden for long."""
    return {key: value for key, value in info.items() if key not in ("seed", "game")}


def compare_redeals(name: str, players: int, positions: int, seed: int) -> Counter[int]:
    """Compare observation, mask, info and redacted row of every viewer before and after a redeal.

    Args:
        name: A rulebook; its matches are made short, so that every phase comes up.
        players: How many seats.
        positions: How many positions of matches at random are compared.
        seed: Of the matches and the redeals.

    Returns:
        How many positions there were, by phase.

    Raises:
        AssertionError: Something that a viewer is shown has changed.
    """
    rng = np.random.default_rng(seed)
    rules = short(name)
    env = scala40_v0.raw_env(rules=rules, players=players, episode="match")
    compared: Counter[int] = Counter()
    match = 0
    while True:
        env.reset(seed=seed, options={"game": match})
        match += 1
        while env.agents:
            for viewer, agent in enumerate(env.possible_agents):
                if agent in env.agents:
                    _compare(env, rules, viewer, agent, rng)
            compared[int(env._table.row.phase)] += 1
            if sum(compared.values()) >= positions:
                return compared
            observation, _, terminated, _, _ = env.last()
            env.step(None if terminated else choose(observation["action_mask"].nonzero()[0], rng))


def _compare(env: Any, rules: Any, viewer: int, agent: str, rng: np.random.Generator) -> None:
    twin = env.clone()
    twin._table.rows[:] = redeal(env._table.rows, viewer, rng)
    twin._table.look()
    twin._infos = {}
    assert plain(twin.observe(agent)) == plain(env.observe(agent))
    assert plain(hide_deal(twin.infos[agent])) == plain(hide_deal(env.infos[agent]))
    redacted = [Game.from_rows(rules, one._table.rows).redacted(viewer).tobytes() for one in (twin, env)]
    assert redacted[0] == redacted[1]
