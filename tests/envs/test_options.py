"""Options: each is checked in one line, and survives resets and copies."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from scala40_env import scala40_v0
from scala40_env.core.rules import Rules, RulesError
from scala40_env.envs.options import Options

GOOD = {
    "rules": {"base": "hops", "opening_min": 30},
    "players": 3,
    "episode": "match",
    "reward": "win",
    "illegal_action": "penalty",
    "illegal_penalty": 0.25,
    "turn_limit": 17,
    "render_mode": "ansi",
}
BAD = [
    ("rules", "no such book"),
    ("rules", {"opening": 30}),
    ("rules", {"opening_min": -1}),
    ("rules", 7),
    ("players", 1),
    ("players", 7),
    ("players", "two"),
    ("players", True),
    ("players", None),
    ("players", 2.0),
    ("episode", "game"),
    ("episode", None),
    ("reward", "money"),
    ("reward", 1),
    ("illegal_action", "ignore"),
    ("illegal_action", None),
    ("illegal_penalty", -1),
    ("illegal_penalty", float("nan")),
    ("illegal_penalty", float("inf")),
    ("illegal_penalty", "1"),
    ("illegal_penalty", True),
    ("turn_limit", 0),
    ("turn_limit", -3),
    ("turn_limit", 1.5),
    ("turn_limit", "many"),
    ("render_mode", "rgb_array"),
    ("render_mode", True),
]


@pytest.mark.parametrize(("name", "value"), BAD)
@pytest.mark.parametrize("make", [scala40_v0.env, scala40_v0.raw_env])
def test_a_bad_option_is_refused_in_one_line_that_names_it(make: Any, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name}[^\n]+$") as caught:
        make(**{name: value})
    assert isinstance(caught.value, RulesError) == (name in ("rules", "players"))


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="num_players"):
        scala40_v0.env(num_players=4)
    with pytest.raises(TypeError, match="positional"):
        scala40_v0.env("standard")


def options_of(env: Any) -> Options:
    options = env.unwrapped.options
    assert isinstance(options, Options)
    return options


def test_options_survive_resets_and_copies() -> None:
    env = scala40_v0.env(**GOOD)
    expected = Options(**{**GOOD, "rules": Rules.of(GOOD["rules"])})
    assert options_of(env) == expected
    env.reset(seed=1)
    env.reset()
    assert options_of(env) == expected
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env.clone()):
        assert options_of(other) == expected
        other.reset(seed=2)
        other.reset()
        assert options_of(other) == expected
        assert other.render_mode == "ansi"
        assert other.metadata["reward"] == "win"
        assert other.unwrapped.game().rules == expected.rules


def test_every_flag_of_the_rules_reaches_the_game() -> None:
    rules = {"base": "standard", "hand_size": 9, "opening_min": 10, "jokers": 2, "match_limit": 51}
    env = scala40_v0.raw_env(rules=rules, episode="match")
    for seed in (0, None, None, 5):
        env.reset(seed=seed)
        row = env.game().row
        assert row.hand_size[:2].tolist() == [9, 9]
        assert env.game().rules.opening_min == 10
        assert env.game().rules.match_limit == 51


def test_options_cannot_be_changed() -> None:
    env = scala40_v0.raw_env()
    with pytest.raises(AttributeError):
        env.options.reward = "win"  # type: ignore[misc]
