"""Copies of a live game go on alike, whatever made them: deepcopy, pickle, clone, a saved state, another process."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scala40_env import scala40_v0
from tests.envs.loops import plain, play_on, replay
from tests.envs.play import short

OPTIONS: dict[str, Any] = {"rules": short("international"), "players": 4, "episode": "match", "reward": "zero_sum"}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def by_state(env: Any) -> Any:
    other = type(env)(**OPTIONS) if env is env.unwrapped else scala40_v0.env(**OPTIONS)
    other.set_state(env.get_state())
    return other


WAYS: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "clone": lambda env: env.clone(),
    "state": by_state,
}


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("moment", [0, 1, 60, 300])
def test_a_copy_goes_on_alike_and_on_its_own(moment: int, way: str, wrapped: bool) -> None:
    env = (scala40_v0.env if wrapped else scala40_v0.raw_env)(**OPTIONS)
    env.reset(seed=6)
    env.action_space("player_0").seed(1)
    play_on(env, rng(), most=moment)
    before = plain(env.state())
    twin = WAYS[way](env)
    assert type(twin) is type(env)
    steps = play_on(twin, rng(1), most=200)
    assert plain(env.state()) == before
    third = WAYS[way](env)
    assert replay(env, steps) == replay(third, steps)
    if way != "state":  # a saved state is of the game, not of the samplers
        spaces = env.action_space("player_0"), third.action_space("player_0")
        assert [spaces[0].sample() for _ in range(5)] == [spaces[1].sample() for _ in range(5)]
    env.reset()
    third.reset()
    assert plain(env.state()) == plain(third.state())


@pytest.mark.parametrize("way", list(WAYS))
def test_a_copy_knows_who_is_about_to_leave(way: str) -> None:
    env = scala40_v0.raw_env(**OPTIONS)
    found = 0
    for seed in range(4):
        env.reset(seed=seed)
        while env.agents and not env.terminations[env.agent_selection]:
            play_on(env, rng(seed), most=1)
        twin = WAYS[way](env)
        assert twin.agents == env.agents
        assert twin.terminations == env.terminations
        found += len(set(env.terminations.values())) > 1
        steps = play_on(copy.deepcopy(env), rng(2), most=40)
        assert replay(env, steps) == replay(twin, steps)
    assert found >= 2


@pytest.mark.parametrize("how", ["illegal", "truncated"])
@pytest.mark.parametrize("way", list(WAYS))
def test_a_copy_of_a_game_that_was_cut_short_is_over_too(way: str, how: str) -> None:
    options = {**OPTIONS, "turn_limit": 3} if how == "truncated" else OPTIONS
    env = scala40_v0.raw_env(**options)
    env.reset(seed=0)
    if how == "illegal":
        env.step(700)
    else:
        while not env.truncations[env.agent_selection]:
            play_on(env, rng(), most=1)
    if way == "state":
        twin = scala40_v0.raw_env(**options)
        twin.set_state(env.get_state())
    else:
        twin = WAYS[way](env)
    assert plain(twin.infos) == plain(env.infos)
    assert plain(twin.last()) == plain(env.last())


def test_a_state_can_be_set_before_any_reset() -> None:
    env = scala40_v0.env(**OPTIONS)
    env.reset(seed=0)
    play_on(env, rng(), most=30)
    other = scala40_v0.env(**OPTIONS)
    other.set_state(env.get_state())
    assert plain(other.last()) == plain(env.last())


def damaged(saved: dict[str, Any]) -> dict[str, Any]:
    row = bytearray(saved["row"])
    row[100] ^= 1
    return {**saved, "row": bytes(row)}


FOREIGN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "nothing": lambda saved: None,
    "bytes": lambda saved: b"abc",
    "empty": lambda saved: {},
    "other program": lambda saved: {**saved, "format": "chess"},
    "other version": lambda saved: {**saved, "version": 99},
    "other layout": lambda saved: {**saved, "row_layout": "0"},
    "damaged row": damaged,
    "short row": lambda saved: {**saved, "row": saved["row"][:-1]},
    "row of another kind": lambda saved: {**saved, "row": 10**12},
    "live of another kind": lambda saved: {**saved, "live": {1: 2, "a": None}},
    "no row": lambda saved: {key: value for key, value in saved.items() if key != "row"},
    "changed agents": lambda saved: {**saved, "live": {**saved["live"], "agents": []}},
    "more": lambda saved: {**saved, "more": 1},
    "no options": lambda saved: {**saved, "options": None},
    "other options": lambda saved: scala40_state(reward="win"),
    "other rules": lambda saved: scala40_state(rules="hops"),
    "other players": lambda saved: scala40_state(players=3),
}


def scala40_state(**options: Any) -> dict[str, Any]:
    env = scala40_v0.raw_env(**{**OPTIONS, **options})
    env.reset(seed=0)
    return env.get_state()


@pytest.mark.parametrize("what", list(FOREIGN))
def test_a_state_from_elsewhere_is_refused_in_one_line(what: str) -> None:
    env = scala40_v0.raw_env(**OPTIONS)
    env.reset(seed=1)
    play_on(env, rng(), most=20)
    before = plain(env.get_state())
    with pytest.raises(ValueError, match=r"^state[^\n]+$"):
        env.set_state(FOREIGN[what](env.get_state()))
    assert plain(env.get_state()) == before


def digest(games: int = 3) -> str:
    """What a few games look like from beginning to end."""
    kept = hashlib.sha256()
    for name, players in (("standard", 2), ("hops", 4)):
        env = scala40_v0.env(rules=name, players=players)
        for seed in range(games):
            env.reset(seed=seed)
            play_on(env, rng(seed), see=lambda env: kept.update(repr(plain(env.last())).encode()))
    return kept.hexdigest()


def run(code: str, hash_seed: str, data: bytes = b"") -> str:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


def test_two_processes_with_different_hash_seeds_play_the_same() -> None:
    code = "from tests.envs.test_copies import digest; print(digest())"
    assert {run(code, "1"), run(code, "2")} == {digest()}


def test_a_pickle_goes_on_in_another_process() -> None:
    env = scala40_v0.env(**OPTIONS)
    env.reset(seed=9)
    play_on(env, rng(), most=100)
    code = (
        "import hashlib, pickle, sys; from tests.envs.test_copies import rng;"
        "from tests.envs.loops import plain, play_on;"
        "env = pickle.loads(sys.stdin.buffer.read()); play_on(env, rng(3), most=150);"
        "print(hashlib.sha256(repr(plain(env.last())).encode()).hexdigest())"
    )
    there = run(code, "7", pickle.dumps(env))
    play_on(env, rng(3), most=150)
    assert there == hashlib.sha256(repr(plain(env.last())).encode()).hexdigest()
