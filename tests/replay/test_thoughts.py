"""What is kept of what agents thought: plain values as they were, and nothing of the rest."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest

from scala40_env.core.rules import Rules
from scala40_env.replay.record import decode, encode, make_record, verify
from scala40_env.replay.thoughts import DEEPEST, MOST_BYTES, noted, thought_of


class Says:
    """An agent that thought something."""

    def __init__(self, thought: Any) -> None:
        self.thought = thought


class Raises:
    """An agent whose thoughts cannot be read."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    @property
    def thought(self) -> Any:
        raise self.error("no words for it")


def nested(depth: int) -> dict[str, Any]:
    thought: dict[str, Any] = {}
    for _ in range(depth - 1):
        thought = {"a": thought}
    return thought


@pytest.mark.parametrize(
    "thought",
    ["", "à la carte", {}, {"gain": {"draw": -1.5, "take": 2}, "sure": True, "why": None, "list": [1, "a", []]}],
)
def test_plain_thoughts_are_kept_as_they_are(thought: Any) -> None:
    assert thought_of(Says(thought)) == thought


@pytest.mark.parametrize(
    "thought",
    [
        *(None, 7, 1.5, True, ["draw"], b"draw", {1: "draw"}, "\ud800", {"\ud800": 1}, nested(DEEPEST + 2)),
        *({"a": value} for value in (math.nan, math.inf, 2**63, {1}, np.int64(3), np.zeros(2), object())),
    ],
)
def test_what_is_not_plain_is_no_thought(thought: Any) -> None:
    assert thought_of(Says(thought)) is None


@pytest.mark.parametrize("error", [RuntimeError, AttributeError, RecursionError, SystemExit])
def test_a_thought_that_raises_is_none(error: type[BaseException]) -> None:
    assert thought_of(Raises(error)) is None
    assert thought_of(object()) is None


def test_a_thought_does_not_change_when_the_agent_thinks_on() -> None:
    agent = Says({"best": ["draw"], "pair": (1, np.float64(0.1))})
    kept = thought_of(agent)
    agent.thought["best"].append("take")
    assert kept == {"best": ["draw"], "pair": [1, 0.1]}


def test_the_thoughts_of_a_game_are_kept_where_there_are_any_and_they_are_not_too_long() -> None:
    assert noted([]) is noted([None, None]) is None
    assert noted([None, "hm"]) == [None, "hm"]
    assert noted(["x" * (MOST_BYTES // 2)] * 2) is None
    record = make_record(Rules(), 2, [0], thoughts=noted([thought_of(Says(nested(DEEPEST)))]))
    verify(decode(encode(record)))
    assert make_record(Rules(), 2, [0], thoughts=noted([None])).thoughts is msgspec.UNSET
