"""Stable-Baselines3 and sb3-contrib: their checker, their wrappers and MaskablePPO on the faces made for them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from scala40_env.core.game import IllegalActionError
from scala40_env.envs.single import Scala40Env
from scala40_env.envs.vector import Scala40VectorEnv

torch = pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecCheckNan, VecEnv, VecMonitor

from scala40_env.envs.sb3 import Scala40VecEnv

SMALL: dict[str, Any] = {"n_steps": 32, "batch_size": 64, "n_epochs": 1, "policy_kwargs": {"net_arch": [16]}}
"""A network and a rollout that cost next to nothing."""
SEED = 7


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def make_model(env: Any) -> Any:
    return MaskablePPO("MlpPolicy", env, seed=SEED, device="cpu", **SMALL)


def first_legal(masks: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


def play(env: VecEnv, steps: int, seed: int = 0) -> list[tuple[Any, ...]]:
    """What each step gave, all of it, with uniform draws from the masks."""
    rng = np.random.default_rng(seed)
    env.reset()
    return [env.step(first_legal(get_action_masks(env), rng)) for _ in range(steps)]


# --- the checker --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("derived", [False, True])
def test_the_checker_has_nothing_to_say(dtype: str, derived: bool):
    check_env(Scala40Env(dtype=dtype, derived=derived))  # a warning is an error here


# --- the VecEnv by itself -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_reset_and_step_give_what_a_vec_env_gives(dtype: str):
    env = Scala40VecEnv(3, dtype=dtype, seed=SEED, illegal_action="raise")
    first = env.reset()
    assert first.dtype == dtype
    assert env.observation_space.shape is not None
    assert first.shape == (3, *env.observation_space.shape)
    ends = 0
    for observations, rewards, dones, infos in play(env, 120):
        assert observations.dtype == dtype
        assert all(env.observation_space.contains(one) for one in observations)
        assert rewards.dtype == np.float32
        assert rewards.shape == dones.shape == (3,)
        assert dones.dtype == np.bool_
        for done, reward, info in zip(dones, rewards, infos, strict=True):
            assert bool(info) == bool(done)
            if done:
                ends += 1
                assert env.observation_space.contains(info["terminal_observation"])
                assert info["TimeLimit.truncated"] is False
                assert np.sign(reward) == info["result"]
                assert info["illegal_action"] == -1
            else:
                assert reward == 0
    assert ends >= 3
    env.close()


def test_what_it_handed_out_stays_as_it_was():
    env = Scala40VecEnv(2, seed=SEED)
    steps = play(env, 60)
    kept = [(step[0].copy(), step[1].copy(), step[2].copy()) for step in steps]
    play(env, 30, seed=1)
    for step, copies in zip(steps, kept, strict=True):
        assert all(np.array_equal(one, copy) for one, copy in zip(step, copies))


def test_game_i_plays_the_deals_of_the_seed_plus_i():
    env = Scala40VecEnv(3, seed=SEED)
    singles = [Scala40Env() for _ in range(3)]
    shown = [single.reset(seed=SEED + i)[0] for i, single in enumerate(singles)]
    assert np.array_equal(env.reset(), shown)
    rng, ends = np.random.default_rng(0), 0
    for _ in range(150):
        masks = env.action_masks()
        assert np.array_equal(masks, [single.action_masks() for single in singles])
        actions = first_legal(masks, rng)
        observations, rewards, dones, infos = env.step(actions)
        for i, single in enumerate(singles):
            seen, reward, terminated, truncated, info = single.step(actions[i])
            assert (reward, terminated or truncated) == (rewards[i], dones[i])
            if dones[i]:
                assert np.array_equal(infos[i]["terminal_observation"], seen)
                assert infos[i]["scores"] == info["scores"]
                seen, _ = single.reset()
                ends += 1
            assert np.array_equal(observations[i], seen)
    assert ends >= 3


def test_seeds_are_used_once_and_the_same_seed_deals_the_same():
    env = Scala40VecEnv(2)
    env.seed(SEED)
    first = env.reset()
    after = env.reset()
    assert not np.array_equal(first, after)
    env.seed(SEED)
    assert np.array_equal(env.reset(), first)
    assert np.array_equal(env.reset(), after)
    assert not np.array_equal(Scala40VecEnv(2).reset(), Scala40VecEnv(2).reset())


def test_a_turn_limit_is_told_as_a_time_limit():
    env = Scala40VecEnv(2, seed=SEED, turn_limit=4)
    ends = [info for step in play(env, 60) for info in step[3] if info]
    assert len(ends) > 10
    assert all(info["TimeLimit.truncated"] is True and info["result"] == 0 for info in ends)
    assert all(env.observation_space.contains(info["terminal_observation"]) for info in ends)


@pytest.mark.parametrize(("policy", "is_end"), [("penalty", False), ("terminate", True)])
def test_an_illegal_action_costs(policy: str, is_end: bool):
    env = Scala40VecEnv(2, seed=SEED, illegal_action=policy, illegal_penalty=0.5)
    before = env.reset()
    masks = env.action_masks()
    actions = np.array([np.flatnonzero(~masks[0])[0], np.flatnonzero(masks[1])[0]])
    observations, rewards, dones, infos = env.step(actions)
    assert dones.tolist() == [is_end, False]
    assert infos[1] == {}
    if is_end:
        assert rewards[0] < -1
        assert infos[0]["illegal_action"] == actions[0]
        assert np.array_equal(infos[0]["terminal_observation"], before[0])
    else:
        assert rewards[0] == -0.5
        assert np.array_equal(observations[0], before[0])


def test_under_raise_nothing_moves():
    env = Scala40VecEnv(2, seed=SEED, illegal_action="raise")
    env.reset()
    masks = env.action_masks()
    with pytest.raises(IllegalActionError, match="game 0, action"):
        env.step(np.array([np.flatnonzero(~masks[0])[0], np.flatnonzero(masks[1])[0]]))
    assert np.array_equal(env.action_masks(), masks)


def test_masks_are_found_by_name():
    env = Scala40VecEnv(3, seed=SEED)
    env.reset()
    masks = env.action_masks()
    assert masks.dtype == np.bool_
    assert masks.shape == (3, 635)
    assert env.has_attr("action_masks")
    assert not env.has_attr("no_such_thing")
    assert is_masking_supported(env)
    assert np.array_equal(get_action_masks(env), masks)
    assert np.array_equal(env.env_method("action_masks", indices=[2, 0]), masks[[2, 0]])
    assert np.array_equal(env.env_method("action_masks", indices=1), masks[[1]])
    assert np.array_equal(env.get_attr("action_masks", indices=0)[0](), masks)
    with pytest.raises(AttributeError, match="no_such_thing"):
        env.env_method("no_such_thing")
    with pytest.raises(AttributeError, match="turn_limit"):
        env.set_attr("turn_limit", 3)
    assert env.env_is_wrapped(Monitor) == [False] * 3
    masks[:] = False
    assert env.action_masks().any()


def test_the_wrappers_of_a_vec_env_fit():
    env = VecMonitor(VecCheckNan(Scala40VecEnv(4, seed=SEED, dtype="float32"), raise_exception=True))
    assert is_masking_supported(env)
    paid, lengths = np.zeros(4), np.zeros(4, dtype=int)
    ends = 0
    for _, rewards, dones, infos in play(env, 100):
        paid += rewards
        lengths += 1
        for i in np.flatnonzero(dones):
            assert infos[i]["episode"]["r"] == pytest.approx(paid[i], abs=1e-5)
            assert infos[i]["episode"]["l"] == lengths[i]
            paid[i], lengths[i] = 0, 0
            ends += 1
    assert ends >= 4


def test_it_pays_as_the_vector_env_of_gymnasium():
    options: dict[str, Any] = {"rules": "italian", "players": 3, "seat": "rotate", "episode": "match"}
    env = Scala40VecEnv(4, seed=SEED, **options)
    other = Scala40VectorEnv(4, autoreset_mode="SAME_STEP", **options)
    observations, _ = other.reset(seed=[SEED + i for i in range(4)])
    assert np.array_equal(env.reset(), observations)
    rng, ends = np.random.default_rng(1), 0
    for _ in range(400):
        actions = first_legal(env.action_masks(), rng)
        mine, theirs = env.step(actions), other.step(actions)
        assert np.array_equal(mine[0], theirs[0])
        assert np.array_equal(mine[1], theirs[1])
        assert np.array_equal(mine[2], theirs[2] | theirs[3])
        for i in np.flatnonzero(mine[2]):
            assert np.array_equal(mine[3][i]["terminal_observation"], theirs[4]["final_obs"][i])
            assert mine[3][i]["result"] == theirs[4]["final_info"]["result"][i]
            ends += 1
        assert np.array_equal(env.action_masks(), theirs[4]["action_mask"])
    assert ends >= 2


# --- MaskablePPO --------------------------------------------------------------------------------------------------


def test_maskable_ppo_trains_and_takes_no_illegal_action():
    env = VecMonitor(Scala40VecEnv(8, seed=SEED, dtype="float32", illegal_action="raise"))
    model = make_model(env)
    before = [parameter.clone() for parameter in model.policy.parameters()]
    model.learn(512)
    after = list(model.policy.parameters())
    assert all(bool(torch.isfinite(parameter).all()) for parameter in after)
    assert any(not torch.equal(old, new) for old, new in zip(before, after))
    assert model.num_timesteps == 512
    assert len(model.ep_info_buffer) > 0


def test_the_same_seed_trains_the_same():
    trained = []
    for _ in range(2):
        model = make_model(Scala40VecEnv(4, seed=SEED, dtype="float32", illegal_action="raise"))
        model.learn(128)
        trained.append([parameter.detach().clone() for parameter in model.policy.parameters()])
    assert all(torch.equal(one, two) for one, two in zip(*trained))


def test_the_one_legal_action_is_predicted():
    env = Scala40VecEnv(2, seed=SEED, dtype="float32")
    model, observations = make_model(env), env.reset()
    for action in (0, 17, 634):
        masks = np.zeros((2, 635), dtype=bool)
        masks[:, action] = True
        for deterministic in (True, False):
            chosen, _ = model.predict(observations, action_masks=masks, deterministic=deterministic)
            assert chosen.tolist() == [action, action]


def test_evaluation_masks_on_either_face(tmp_path: Path):
    games = VecMonitor(Scala40VecEnv(4, seed=SEED, illegal_action="raise"))
    model = make_model(games)
    rewards, lengths = evaluate_policy(model, games, 6, return_episode_rewards=True)
    assert len(rewards) == len(lengths) == 6
    assert all(-10 < reward < 10 for reward in rewards)
    alone = Monitor(Scala40Env(illegal_action="raise"))
    mean, spread = evaluate_policy(model, alone, 3)
    assert np.isfinite([mean, spread]).all()
    for evaluated in (games, alone):
        watch = MaskableEvalCallback(
            evaluated, eval_freq=32, n_eval_episodes=2, log_path=str(tmp_path), verbose=0, warn=False
        )
        # Stable-Baselines3 warns where the kinds of the two environments differ: harmless, and meant here.
        model.set_env(VecMonitor(Scala40VecEnv(4, seed=SEED + 1, illegal_action="raise")))
        if evaluated is alone:
            with pytest.warns(UserWarning, match="not of the same type"):
                model.learn(128, callback=watch)
        else:
            model.learn(128, callback=watch)
        assert len(np.load(tmp_path / "evaluations.npz")["results"][0]) == 2


@pytest.mark.parametrize(
    "workers", [DummyVecEnv, pytest.param(partial(SubprocVecEnv, start_method="spawn"), id="SubprocVecEnv")]
)
def test_maskable_ppo_on_separate_environments(workers: Any):
    make = partial(Scala40Env, dtype="float32", illegal_action="raise")
    env = workers([make, make])
    try:
        model = make_model(env)
        model.learn(64)
        masks = get_action_masks(env)
        assert masks.shape == (2, 635)
        assert all(bool(torch.isfinite(parameter).all()) for parameter in model.policy.parameters())
        env.seed(SEED)
        assert np.array_equal(env.reset(), Scala40VecEnv(2, dtype="float32", seed=SEED).reset())
    finally:
        env.close()
