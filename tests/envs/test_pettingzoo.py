"""PettingZoo's own checkers, and its registry and conversions."""

from __future__ import annotations

import inspect
import itertools
import warnings
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from scala40_env import scala40_v0

UNAVOIDABLE = {
    # PettingZoo's checker has a list of environments of its own whose observations may be dictionaries.
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}
GAMES = [
    {},
    {"rules": "hops", "players": 3},
    {"rules": "international", "players": 4, "episode": "match", "reward": "win"},
    {"rules": {"base": "italian", "match_limit": 30}, "episode": "match", "reward": "zero_sum"},
    {"rules": "tiny", "turn_limit": 3},
]


def check_api(env: Any, num_cycles: int) -> set[str]:
    """Run PettingZoo's test of the interface; returns what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(env, num_cycles=num_cycles)
    return {str(warning.message) for warning in caught}


@pytest.mark.parametrize("options", GAMES)
@pytest.mark.parametrize("make", [scala40_v0.env, scala40_v0.raw_env])
def test_the_interface_is_as_pettingzoo_wants_it(make: Any, options: dict[str, Any]) -> None:
    assert check_api(make(**options), num_cycles=300) <= UNAVOIDABLE


@pytest.mark.parametrize("options", GAMES)
def test_the_same_seed_is_the_same_game(options: dict[str, Any]) -> None:
    seed_test(lambda: scala40_v0.env(**options), num_cycles=200)


def test_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    render_test(lambda render_mode=None: scala40_v0.env(render_mode=render_mode))
    assert "stock" in capsys.readouterr().out.lower()


@pytest.mark.parametrize("options", GAMES)
def test_states_survive_actions_that_nobody_may_play(options: dict[str, Any]) -> None:
    env = scala40_v0.env(**options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_state_space(env)
        check_state(env, num_cycles=20)
    assert [str(warning.message) for warning in caught] == []


def test_the_speed_test_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With a clock that says five seconds after a hundred looks at it."""
    module = inspect.getmodule(performance_benchmark)
    ticks = itertools.count()
    monkeypatch.setattr(module.time, "time", lambda: next(ticks) * 0.05)  # type: ignore[union-attr]
    performance_benchmark(scala40_v0.env())
    assert "Finished performance benchmark" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has had a registry since 1.27")
def test_it_can_be_made_by_its_name() -> None:
    env = pettingzoo.make("aec", "scala40/scala40-v0", players=3)
    env.reset(seed=1)
    assert env.possible_agents == ["player_0", "player_1", "player_2"]
    assert str(env) == "scala40_v0"


def test_as_a_parallel_environment() -> None:
    env = turn_based_aec_to_parallel(scala40_v0.env())
    observations, _ = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(60):
        actions = {}
        for agent, observation in observations.items():
            legal = observation["action_mask"].nonzero()[0]
            actions[agent] = rng.choice(legal) if len(legal) else None
        if not actions:
            break
        observations, _, _, _, _ = env.step(actions)
    assert set(observations) <= set(env.possible_agents)


def test_what_the_metadata_says() -> None:
    env = scala40_v0.env(reward="zero_sum")
    assert env.metadata["name"] == "scala40_v0" == str(env)
    assert env.metadata["is_parallelizable"] is False
    assert set(env.metadata["render_modes"]) == {"human", "ansi"}
    assert env.metadata["reward"] == "zero_sum"
    assert scala40_v0.raw_env.metadata.get("reward") is None


def test_spaces_are_the_same_object_each_time() -> None:
    env = scala40_v0.env(rules="international", players=2)
    for agent in env.possible_agents:
        assert env.action_space(agent) is env.action_space(agent)
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent).n == 745
        assert env.observation_space(agent)["action_mask"].dtype == np.int8
    assert scala40_v0.env().action_space("player_0").n == 635


def test_calls_before_reset_are_refused() -> None:
    env = scala40_v0.env()
    with pytest.raises(AttributeError):
        _ = env.agent_selection
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.state, env.render):
        with pytest.raises(AssertionError):
            call()


def test_closing_twice_is_nothing() -> None:
    env = scala40_v0.env()
    env.close()
    env.reset(seed=0)
    env.close()
    env.close()
    env.step(0)
    assert env.last()[4]["phase"] == "play"
