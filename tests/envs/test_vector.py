"""The vectorised Gymnasium face: its contract, and that all ways of beginning anew tell the same games."""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import scala40_env
from scala40_env.core.game import IllegalActionError
from scala40_env.envs.single import Scala40Env
from scala40_env.envs.vector import Scala40VectorEnv

ID = scala40_env.ENV_ID
MODES = list(AutoresetMode)


def make_vec(num_envs: int, **options: Any) -> Scala40VectorEnv:
    return gymnasium.make_vec(ID, num_envs=num_envs, vectorization_mode="vector_entry_point", **options).unwrapped


def pick(mask: Any, step: int) -> int:
    """A legal action that depends on the mask and the step of the episode alone; 0 where there is none."""
    legal = np.flatnonzero(mask)
    return int(legal[(step * 7919) % len(legal)]) if len(legal) else 0


def episodes_of(mode: Any, steps: int, **options: Any) -> dict[int, dict[int, Any]]:
    """The finished episodes by lane and deal: actions, rewards, result and what was seen last."""
    env = make_vec(4, autoreset_mode=mode, seat="random", **options)
    observations, infos = env.reset(seed=5)
    games, told = infos["game"], [defaultdict(list) for _ in range(4)]
    done: dict[int, dict[int, Any]] = {lane: {} for lane in range(4)}
    ended = np.zeros(4, dtype=np.bool_)
    for _ in range(steps):
        actions = np.array([pick(infos["action_mask"][i], len(told[i]["actions"])) for i in range(4)])
        waits = ended.copy() if mode == AutoresetMode.NEXT_STEP else np.zeros(4, dtype=np.bool_)
        observations, rewards, terminated, truncated, infos = env.step(actions)
        ended = terminated | truncated
        for lane in range(4):
            if waits[lane]:
                assert rewards[lane] == 0.0
                assert not ended[lane]
                continue
            told[lane]["actions"].append(int(actions[lane]))
            told[lane]["rewards"].append(float(rewards[lane]))
            if ended[lane]:
                last = infos["final_obs"][lane] if mode == AutoresetMode.SAME_STEP else observations[lane]
                assert infos["_result"][lane]
                told[lane]["end"] = (last.tobytes(), bool(truncated[lane]), int(infos["result"][lane]))
                told[lane]["scores"] = infos["scores"][lane].tolist()
                done[lane][int(games[lane])] = dict(told[lane])
                told[lane] = defaultdict(list)
        if mode == AutoresetMode.DISABLED and ended.any():
            observations, infos = env.reset(options={"reset_mask": ended})
        games = infos["game"]
    return done


@pytest.mark.parametrize(
    "options", [{}, {"players": 3, "episode": "match", "turn_limit": 60}, {"play_forced": True, "rules": "hops"}]
)
def test_all_ways_of_beginning_anew_tell_the_same_games(options: dict[str, Any]):
    told = [episodes_of(mode, 350, **options) for mode in MODES]
    for lane in range(4):
        common = set.intersection(*[set(done[lane]) for done in told])
        assert len(common) >= 2
        for game in common:
            assert told[0][lane][game] == told[1][lane][game] == told[2][lane][game]


def test_the_games_are_those_of_the_single_environment():
    told = episodes_of(AutoresetMode.SAME_STEP, 250)
    single = Scala40Env(seat="random")
    checked = 0
    for lane in range(4):
        for game, episode in told[lane].items():
            observation, info = single.reset(seed=5, options={"game": game})
            rewards, step, ended = [], 0, False
            while not ended:
                observation, reward, terminated, truncated, info = single.step(pick(info["action_mask"], step))
                rewards.append(reward)
                step, ended = step + 1, terminated or truncated
            assert rewards == pytest.approx(episode["rewards"])
            assert observation.tobytes() == episode["end"][0]
            checked += 1
    assert checked > 4


@pytest.mark.parametrize("mode", [*MODES, "SAME_STEP", "NextStep"])
def test_the_contract(mode: Any):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = make_vec(5, autoreset_mode=mode)
    assert isinstance(env.metadata["autoreset_mode"], AutoresetMode)
    assert env.num_envs == 5
    observations, infos = env.reset(seed=0)
    assert env.observation_space.contains(observations)
    assert env.action_space.contains(np.zeros(5, dtype=np.int64))
    assert infos["action_mask"].dtype == np.int8
    assert np.array_equal(env.action_masks(), infos["action_mask"] == 1)
    observations, rewards, terminated, truncated, infos = env.step(infos["action_mask"].argmax(axis=1))
    assert env.observation_space.contains(observations)
    assert (rewards.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
    assert rewards.shape == terminated.shape == truncated.shape == (5,)
    env.close()


def test_unmasked_actions_of_the_space_are_survived():
    env = make_vec(8, illegal_penalty=2.0)
    env.action_space.seed(0)
    env.reset(seed=0)
    for _ in range(20):
        _, rewards, _, _, infos = env.step(env.action_space.sample())
        assert (rewards[infos["illegal_action"] >= 0] == -2.0).all()


def test_arrays_are_the_callers_unless_asked_otherwise():
    env, shared = make_vec(2), make_vec(2, copy=False)
    observations, infos = env.reset(seed=0)
    kept = observations.copy()
    env.step(infos["action_mask"].argmax(axis=1))
    assert np.array_equal(kept, observations)
    observations, infos = shared.reset(seed=0)
    assert observations is shared.batch.observations
    assert infos["action_mask"] is shared.batch.masks


def test_seeds_and_masks_of_reset():
    env = make_vec(3, seat=0)
    one, _ = env.reset(seed=[4, 5, 4])
    assert np.array_equal(one[0], one[2])
    assert not np.array_equal(one[0], one[1])
    _, infos = env.reset(options={"reset_mask": np.array([False, True, False])})
    assert infos["game"].tolist() == [0, 1, 0]
    for mask, words in (
        ([True] * 3, "options.reset_mask: expected bool"),
        (np.zeros(3, np.bool_), "options.reset_mask"),
    ):
        with pytest.raises(ValueError, match="^" + words):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match=r"^seed: expected 3, got 2$"):
        env.reset(seed=[1, 2])


def test_bad_input_is_one_line_and_changes_nothing():
    with pytest.raises(
        ValueError, match=r"^autoreset_mode: expected one of NEXT_STEP, SAME_STEP, DISABLED, got 'now'$"
    ):
        make_vec(2, autoreset_mode="now")
    with pytest.raises(ValueError, match=r"^num_envs: expected an integer from 1"):
        Scala40VectorEnv(0)
    env = make_vec(2, illegal_action="raise", autoreset_mode="DISABLED")
    env.reset(seed=0)
    before = env.batch.rows.tobytes()
    with pytest.raises(IllegalActionError, match=r"^game 0, action 634: "):
        env.step(np.array([634, 0]))
    for actions in (np.zeros(2), np.zeros(3, dtype=np.int64), np.array([0, 9999])):
        with pytest.raises(ValueError, match=r"^actions: "):
            env.step(actions)
    assert env.batch.rows.tobytes() == before


def test_a_step_after_the_end_is_refused_where_nobody_begins_anew():
    env = make_vec(2, illegal_action="terminate", autoreset_mode="DISABLED")
    env.reset(seed=0)
    env.step(np.array([0, 634]))
    with pytest.raises(ValueError, match=r"^game 1: its episode is over"):
        env.step(np.array([0, 0]))


def test_rendering_shows_every_table():
    env = make_vec(2, render_mode="ansi")
    env.reset(seed=0)
    assert len(env.render()) == 2
