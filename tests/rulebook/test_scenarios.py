"""Every scenario of the rulebook, answered by the engine in process and through the command."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from scala40_env.cli.query import answer_line
from tests.rulebook.ask import SCENARIOS, Ask, answer_to


def ask_in_process(request: dict[str, Any]) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(answer_line(json.dumps(request).encode()))
    return reply


@pytest.fixture(scope="module")
def ask_command() -> Iterator[Ask]:
    """One process that answers all the requests."""
    command = [sys.executable, "-m", "scala40_env.cli", "query"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        requests, replies = process.stdin, process.stdout
        assert requests is not None
        assert replies is not None

        def ask(request: dict[str, Any]) -> dict[str, Any]:
            requests.write(json.dumps(request).encode() + b"\n")
            requests.flush()
            reply: dict[str, Any] = json.loads(replies.readline())
            return reply

        yield ask
        requests.close()
        assert process.wait(timeout=60) == 0


def test_there_are_all_the_scenarios() -> None:
    assert len(SCENARIOS) == len({scenario["id"] for scenario in SCENARIOS}) == 146


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["id"])
def test_scenario(scenario: dict[str, Any]) -> None:
    assert answer_to(scenario, ask_in_process) == scenario["answer"], scenario["question"]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["id"])
def test_scenario_through_the_command(scenario: dict[str, Any], ask_command: Ask) -> None:
    assert answer_to(scenario, ask_command) == scenario["answer"], scenario["question"]
