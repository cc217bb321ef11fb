"""Nothing hidden is shown: redealing what a seat cannot see changes neither what it is shown nor its redacted row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scala40_env import scala40_v0
from scala40_env.core.game import Game
from scala40_env.core.state import DRAW, PLAY
from tests.envs.leaks import compare_redeals
from tests.envs.play import CASES, choose, positions, short
from tests.laws.redeal import hand_of, hidden_from, redeal

POSITIONS = 240


@pytest.mark.parametrize(("name", "players"), CASES)
def test_a_redeal_moves_what_is_hidden_and_nothing_else(name: str, players: int) -> None:
    rng = np.random.default_rng(0)
    moved = 0
    for game, _ in positions(short(name), players, seed=1, count=40):
        for viewer in range(players):
            other = redeal(game.rows, viewer, rng)
            assert hand_of(other[0], viewer).tolist() == hand_of(game.row, viewer).tolist()
            assert sorted(hidden_from(other[0], viewer)) == sorted(hidden_from(game.row, viewer))
            assert other[0].hand_size.tolist() == game.row.hand_size.tolist()
            moved += hidden_from(other[0], viewer) != hidden_from(game.row, viewer)
    assert moved > 30


@pytest.mark.parametrize(("name", "players"), CASES)
def test_a_redeal_changes_nothing_that_a_seat_is_shown(name: str, players: int) -> None:
    compared = compare_redeals(name, players, POSITIONS, seed=3)
    assert compared[DRAW] > 10
    assert compared[PLAY] > 10


def test_the_deal_is_not_told_while_anybody_plays() -> None:
    env = scala40_v0.raw_env(rules=short("standard"), players=3, episode="match")
    env.reset(seed=123456789)
    rng = np.random.default_rng(0)
    while env.agents:
        playing = not all(env.terminations.values())
        for agent in env.agents:
            assert ("123456789" in repr(hide_arrays(env.infos[agent]))) != playing
        observation, _, terminated, _, _ = env.last()
        env.step(None if terminated else choose(observation["action_mask"].nonzero()[0], rng))


def hide_arrays(info: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in info.items() if not isinstance(value, np.ndarray)}


def test_the_state_is_another_after_a_redeal() -> None:
    """The one place where hidden cards are shown."""
    game = Game("standard", 2, seed=0)
    env = scala40_v0.raw_env()
    env.reset(seed=0)
    before = env.state().tobytes()
    env._table.rows[:] = redeal(game.rows, 0, np.random.default_rng(0))
    assert env.state().tobytes() != before
