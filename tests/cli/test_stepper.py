"""Stepping through a record in the terminal."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from scala40_env import cli
from scala40_env.cli.stepper import HELP, step_through, turn_texts
from scala40_env.core.game import Game
from scala40_env.replay.record import Record, make_record, write_records


def played(seed: int = 3) -> Record:
    game = Game("hops", 2, seed=seed)
    rng = np.random.default_rng(seed)
    actions: list[int] = []
    while not game.is_over:
        actions.append(int(rng.choice(game.legal_actions())))
        game.play(actions[-1])
    return make_record(game.rules, 2, actions, seed=seed)


def shown(lines: str, turns: list[str]) -> list[str]:
    """What is printed, less the prompts."""
    written: list[str] = []
    step_through(turns, io.StringIO(lines), written.append)
    return [text for text in written if not text.startswith("turn ")]


def test_a_turn_is_its_state_and_its_actions() -> None:
    record = played()
    turns = list(turn_texts(record))
    assert len(turns) == record.rounds[0].turns + 1
    assert sum(text.count("    seat ") for text in turns) == len(record.actions)
    assert all(text.startswith("hops, 2 seats, round 1, turn ") for text in turns)
    assert "round " in turns[-1].splitlines()[-1]
    assert all("?? x" in text for text in list(turn_texts(record, 1))[:-1])


def test_lines_say_where_to_go() -> None:
    turns = ["a\n", "b\n", "c\n", "d\n"]
    assert shown("", turns) == ["a\n", "\n"]
    assert shown("n\n\nnext\nq\nn\n", turns) == ["a\n", "b\n", "c\n", "d\n"]
    assert shown("j 3\np\nprevious\n4\njump 1\nquit\n", turns) == ["a\n", "c\n", "b\n", "a\n", "d\n", "a\n"]
    assert shown("last\nFIRST\nhelp\nq\n", turns) == ["a\n", "d\n", "a\n", HELP]
    assert shown("p\nlast\nn\nq\n", turns) == ["a\n", "this is the first turn\n", "d\n", "this is the last turn\n"]


@pytest.mark.parametrize(
    "line", ["0", "5", "j", "j x", "j 1 2", "j -1", "9" * 50, "fly", "q now", "²", "\x00", "x" * 9999]
)
def test_a_bad_line_takes_one_line_and_changes_nothing(line: str) -> None:
    made = shown(f"2\n{line}\nq\n", ["a\n", "b\n", "c\n", "d\n"])
    assert made[:2] == ["a\n", "b\n"]
    assert len(made) == 3
    assert made[2].count("\n") == 1
    assert len(made[2]) < 120


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_command_steps_where_a_person_sits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "games.jsonl")
    write_records(path, [played(1), played(2)])
    out = Tty()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stdin", Tty("n\nlast\nq\n"))
    assert cli.main(["replay", path, "--line", "2", "--viewer", "0"]) == 0
    text = out.getvalue()
    assert text.startswith("2 records, ")
    assert "?? x13" in text
    count = len(list(turn_texts(played(2))))
    assert [f"turn {number} of {count} (" in text for number in (1, 2, 3, count)] == [True, True, False, True]


def test_the_command_steps_nowhere_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "games.jsonl")
    write_records(path, [played(1)])
    assert cli.main(["replay", path]) == 0
    assert capsys.readouterr().out.count("\n") == 1
