"""Calls out of order and values that cannot be: one line each, and no way to loop for ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from scala40_env import scala40_v0
from scala40_env.core.game import IllegalActionError
from scala40_env.envs.aec import MOST_ILLEGAL, raw_env

HUGE = (10**30, -(10**30), 2**63, 10**400, 745)


def started(**options: Any) -> raw_env:
    env = scala40_v0.raw_env(**options)
    env.reset(seed=3)
    return env


@pytest.mark.parametrize("action", HUGE)
def test_a_huge_number_is_an_illegal_action(action: int) -> None:
    env = started(illegal_action="raise")
    with pytest.raises(IllegalActionError, match="there is no action"):
        env.step(action)
    env = started(illegal_action="terminate")
    env.step(action)
    assert env.terminations == {"player_0": True, "player_1": True}
    env = started(illegal_action="penalty")
    env.step(action)
    assert env.last()[1] == -1.0
    assert abs(env.last()[4]["illegal_action"]) < 2**63
    env.set_state(env.get_state())


@pytest.mark.parametrize("call", [raw_env.last, raw_env.get_state, raw_env.game, lambda env: env.step(0)])
def test_before_the_first_reset_there_is_no_game(call: Callable[[raw_env], Any]) -> None:
    with pytest.raises(ValueError, match=r"^the environment has no game yet: reset it$"):
        call(scala40_v0.raw_env())


@pytest.mark.parametrize("options", [{"turn_limit": 1}, {"illegal_action": "terminate"}])
def test_after_the_last_agent_has_left_nothing_follows(options: dict[str, Any]) -> None:
    env = started(**options)
    while env.agents:
        observation, _, terminated, truncated, _ = env.last()
        assert observation is not None
        mask = observation["action_mask"]
        legal = 744 if "illegal_action" in options else int(np.flatnonzero(mask)[-1]) if mask.any() else 0
        env.step(None if terminated or truncated else legal)
    for call in (lambda: env.step(0), lambda: env.step(None), env.last):
        with pytest.raises(ValueError, match=r"^the episode is over: reset it$"):
            call()
    env.reset(seed=1)
    env.last()


@pytest.mark.parametrize("options", [3, [], "game", [("game", 3)]])
def test_the_options_of_a_reset_are_a_mapping(options: Any) -> None:
    env = started()
    before = env.get_state()
    with pytest.raises(ValueError, match=r"^options: expected a mapping or None, got "):
        env.reset(options=options)
    assert env.get_state() == before
    env.reset(options={"unknown": 3})


@pytest.mark.parametrize("value", [10**400, 1e300])
def test_a_penalty_is_a_number_that_can_be_paid(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^illegal_penalty: expected a number from 0 to 1e\+09, got [^\n]{1,40}$"):
        scala40_v0.raw_env(illegal_penalty=value)


@pytest.mark.parametrize("reward", ["points", "zero_sum"])
def test_an_agent_that_never_plays_legally_does_not_play_for_ever(reward: str) -> None:
    env = started(players=3, illegal_action="penalty", reward=reward)
    for _ in range(MOST_ILLEGAL - 1):
        env.step(744)
    assert not any(env.truncations.values())
    twin = started(players=3, illegal_action="penalty", reward=reward)
    twin.set_state(env.get_state())
    for each in (env, twin):
        agent = each.agent_selection
        each.step(744)
        assert each.truncations == dict.fromkeys(each.possible_agents, True)
        assert each.rewards[agent] == -1.0
        assert each.last()[4]["truncation_reason"] == "illegal_actions"
        assert each.last()[4]["result"] is None
        for _ in range(3):
            each.step(None)
        assert each.agents == []


def test_a_legal_action_begins_the_count_again() -> None:
    env = started(illegal_action="penalty")
    for _ in range(3):
        for _ in range(MOST_ILLEGAL - 1):
            env.step(744)
        env.step(int(np.flatnonzero(env.last()[4]["action_mask"])[0]))
    assert not any(env.truncations.values())
