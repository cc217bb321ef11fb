"""The recipes run, at a small size."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scala40_env import Batch
from training.recipes import plain_loop


def test_plain_loop(capsys: pytest.CaptureFixture[str]):
    paid, rounds = plain_loop.main(["--players", "3", "--games", "8", "--steps", "300", "--seed", "5"])
    assert rounds > 8
    assert paid.sum() == pytest.approx(0.0, abs=1e-4)
    assert np.abs(paid).max() > 0.5
    assert f"{rounds} rounds" in capsys.readouterr().out


def test_plain_loop_chooses_what_the_mask_allows():
    batch, rng = Batch("standard", 2, 4, seed=1), np.random.default_rng(0)
    for _ in range(50):
        actions = plain_loop.choose(batch, rng)
        assert batch.masks[np.arange(4), actions].all()
        batch.step(actions)


def test_maskable_ppo(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("sb3_contrib")
    from training.recipes import maskable_ppo

    out = tmp_path / "model.zip"
    options = {"steps": 512, "games": 4, "seed": 3, "episodes": 8, "opponents": "uniform", "out": out}
    result = maskable_ppo.main([text for name, value in options.items() for text in (f"--{name}", str(value))])
    assert -3 < result.low < result.mean < result.high < 3
    assert out.stat().st_size > 0
    assert "over 8 unseen deals" in capsys.readouterr().out


def test_maskable_ppo_evaluates_on_other_deals():
    pytest.importorskip("sb3_contrib")
    from training.recipes import maskable_ppo

    trained = maskable_ppo.make_games(4, "uniform", 3).reset()
    unseen = maskable_ppo.make_games(4, "uniform", maskable_ppo.UNSEEN + 3).reset()
    assert not any((one == other).all() for one in trained for other in unseen)


@pytest.fixture
def torchrl_recipe() -> Any:
    pytest.importorskip("tensordict")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what TorchRL imports warns of its own age; nothing of ours is imported here
        pytest.importorskip("torchrl.envs")
    from training.recipes import torchrl_pettingzoo

    return torchrl_pettingzoo


def test_torchrl(torchrl_recipe: Any, capsys: pytest.CaptureFixture[str]):
    paid = torchrl_recipe.main(["--steps", "300", "--seed", "1"])
    assert sorted(paid) == ["player_0", "player_1"]
    assert min(paid.values()) < 0  # points: whoever does not close pays
    assert "300 decisions" in capsys.readouterr().out


def test_torchrl_draws_from_the_mask_and_is_told_who_acts(torchrl_recipe: Any):
    env = torchrl_recipe.make_env(players=3, seed=2)
    played = env.rollout(200, torchrl_recipe.LinearPolicy(env), break_when_any_done=False)
    acting = np.stack([played[agent, "mask"].numpy() for agent in env.possible_agents], axis=1)
    assert acting.sum(axis=1).tolist() == [[1]] * 200
    for agent in env.possible_agents:
        actions = played[agent, "action"]
        assert played[agent, "action_mask"].gather(-1, actions.unsqueeze(-1)).all()
    assert played["next", "done"].sum() >= 1
