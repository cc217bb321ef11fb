"""The Gymnasium face with one learner: its contract, its checks, and what it does with bad input."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import scala40_env
from scala40_env.core.game import Game, IllegalActionError
from scala40_env.envs.observation import layout
from scala40_env.envs.single import Scala40Env

ID = scala40_env.ENV_ID
KEYS = {"action_mask", "seat", "phase", "turn", "round", "scores", "stock", "end", "illegal_action", "forced"}
KEYS |= {"result", "winners", "seed", "game"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"players": 4, "episode": "match", "rules": "international", "dtype": "float32"},
        {"derived": True, "illegal_action": "terminate", "reward": "win", "opponents": "uniform"},
    ],
)
def test_gymnasium_finds_no_fault(options: dict[str, Any]):
    env = gymnasium.make(ID, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
        check_env(gymnasium.make(ID, render_mode="ansi", **options).unwrapped)


def test_the_contract_over_whole_episodes():
    env = gymnasium.make(ID, opponents=["greedy"], seat="random", disable_env_checker=True)
    rng, ends = np.random.default_rng(0), 0
    observation, info = env.reset(seed=11)
    for _ in range(1500):
        assert set(info) == KEYS
        assert env.observation_space.contains(observation)
        mask = env.get_wrapper_attr("action_masks")()
        assert mask.dtype == np.bool_
        assert np.array_equal(mask, info["action_mask"] == 1)
        assert mask.any()
        observation, reward, terminated, truncated, info = env.step(rng.choice(np.flatnonzero(mask)))
        assert type(reward) is float
        assert type(terminated) is bool
        assert type(truncated) is bool
        if not terminated:
            assert (info["result"], info["winners"], info["seed"], info["game"]) == (None,) * 4
            continue
        ends += 1
        assert not env.get_wrapper_attr("action_masks")().any()
        assert (info["result"] == "win") == (info["winners"] == (info["seat"],))
        assert info["seed"] == 11
        observation, info = env.reset()
    assert ends > 5


def test_a_seed_decides_the_game_and_a_number_the_deal():
    env = Scala40Env(seat=0)
    first, info = env.reset(seed=3)
    again, _ = env.reset(seed=3)
    assert np.array_equal(first, again)
    following, _ = env.reset()
    assert not np.array_equal(first, following)
    fifth, _ = env.reset(options={"game": 5, "other": 1})
    assert env.game().row.game == 5
    assert Game("standard", 2, seed=3, game=5).row.hand_one[0] == env.game().row.hand_one[0]
    assert not np.array_equal(Scala40Env(seat=0).reset()[0], Scala40Env(seat=0).reset()[0])
    assert info["seat"] == 0
    assert fifth.shape == (layout("standard", 2).size,)


def test_the_scaled_observation_is_the_plain_one_in_zero_to_one():
    plain, scaled = Scala40Env(derived=True), Scala40Env(derived=True, dtype="float32")
    parts = layout("standard", 2, derived=True)
    (one, info), (other, _) = plain.reset(seed=1), scaled.reset(seed=1)
    for _ in range(40):
        assert other.dtype == np.float32
        assert np.allclose(other, one / np.maximum(parts.high, 1))
        assert scaled.observation_space.contains(other)
        action = int(np.flatnonzero(info["action_mask"])[-1])
        one, _, ended, _, info = plain.step(action)
        other = scaled.step(action)[0]
        if ended:
            break


def test_what_is_handed_out_is_the_callers():
    env = Scala40Env(seat=0)
    observation, info = env.reset(seed=0)
    kept = observation.copy(), info["action_mask"].copy(), env.action_masks()
    observation[:] = 0
    info["action_mask"][:] = 1
    env.action_masks()[:] = True
    env.step(int(np.flatnonzero(kept[1])[0]))
    env.reset(seed=0)
    assert np.array_equal(env.action_masks(), kept[2])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_in_the_middle_of_a_game_goes_on_alike(copied: Any):
    env = Scala40Env(players=3, episode="match", opponents=["greedy", "uniform"])
    env.reset(seed=2)
    rng = np.random.default_rng(0)
    for _ in range(30):
        env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))
    twin = copied(env)
    for _ in range(60):
        action = int(rng.choice(np.flatnonzero(env.action_masks())))
        mine, theirs = env.step(action), twin.step(action)
        assert np.array_equal(mine[0], theirs[0])
        assert mine[1:4] == theirs[1:4]
        assert np.array_equal(mine[4].pop("action_mask"), theirs[4].pop("action_mask"))
        assert mine[4] == theirs[4]
        if mine[2]:
            break


def test_the_three_ways_with_an_illegal_action():
    env = Scala40Env(illegal_action="raise", seat=0)
    env.reset(seed=0)
    before = env.game().row.copy()
    with pytest.raises(IllegalActionError, match=r"^game 0, action 634: .+"):
        env.step(634)
    assert env.game().row == before
    env = Scala40Env(illegal_penalty=0.25, seat=0)
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(634)
    assert (reward, terminated, truncated, info["illegal_action"]) == (-0.25, False, False, 634)
    env = Scala40Env(illegal_action="terminate", reward="win", seat=0)
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(634)
    assert (reward, terminated, truncated, info["illegal_action"]) == (-1.0, True, False, 634)
    assert info["result"] == "loss"


def test_a_turn_limit_truncates():
    env = Scala40Env(turn_limit=6, seat=0)
    env.reset(seed=0)
    for _ in range(50):
        _, _, terminated, truncated, info = env.step(int(np.flatnonzero(env.action_masks())[-1]))
        if truncated:
            break
    assert (terminated, truncated, info["result"], info["turn"]) == (False, True, None, 6)


@pytest.mark.parametrize("action", [0.5, "0", None, [0, 1], 635, -1, 10**6])
def test_what_is_no_action_is_refused(action: Any):
    env = Scala40Env()
    env.reset(seed=0)
    before = env.game().row.copy()
    with pytest.raises(ValueError, match=r"^actions?: .*expected an integer") as caught:
        env.step(action)
    assert "\n" not in str(caught.value)
    assert env.game().row == before


def test_a_step_after_the_end_is_refused():
    env = Scala40Env(illegal_action="terminate", seat=0)
    env.reset(seed=0)
    env.step(634)
    with pytest.raises(ValueError, match=r"^game 0: its episode is over; reset it before it is stepped$"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dtype": "int"}, "dtype: expected one of 'uint8', 'float32', got 'int'"),
        ({"render_mode": "rgb_array"}, "render_mode: expected one of 'human', 'ansi' or None, got 'rgb_array'"),
        ({"opponents": "nobody"}, "agent: there is no agent 'nobody'"),
        ({"players": 1}, "players: these rules are for 2 to 6, got 1"),
    ],
)
def test_bad_options_are_one_line(options: dict[str, Any], words: str):
    with pytest.raises(ValueError, match="^" + words):
        Scala40Env(**options)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5])
def test_bad_seeds_are_one_line(seed: Any):
    with pytest.raises(ValueError, match=r"^seed: expected an integer from 0 to 2\*\*64 - 1, got"):
        Scala40Env().reset(seed=seed)


def test_rendering_shows_the_table(capsys: pytest.CaptureFixture[str]):
    env = gymnasium.make(ID, render_mode="ansi")
    env.reset(seed=0)
    assert "upcard" in env.render()
    human = Scala40Env(render_mode="human")
    human.reset(seed=0)
    assert "upcard" in capsys.readouterr().out


def test_the_critics_part_is_not_in_what_the_learner_gets():
    env = Scala40Env(seat=0)
    observation, info = env.reset(seed=0)
    hidden = env.privileged()
    assert hidden.shape != observation.shape
    assert hidden[:53].sum() == 13
    assert set(info) == KEYS
