"""Games that an arena keeps: the same bytes however it was played, and records that come out and say who thought."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scala40_env import cli
from scala40_env.core.game import Game
from scala40_env.core.rules import Rules
from scala40_env.replay.record import Record, decode, states
from scala40_env.replay.thoughts import thought_of
from training import arena
from training.game_records import GAMES
from training.guard import Guarded
from training.journal import CHUNKS, PLAN
from training.result_files import AGENTS, DEALS, MATRIX, RESULTS

FIRST, THINKS = "tests.training.players:First", "tests.training.players:Thinks"


def _run(folder: Path, *argv: str) -> int:
    return arena.main([*argv, "--quiet", "--out", str(folder)])


def _recorded(folder: Path, *argv: str) -> list[Record]:
    """The records of an arena, which ``scala40 replay`` finds right."""
    assert _run(folder, *argv, "--record") == 0
    assert cli.main(["replay", str(folder / GAMES)]) == 0
    return [decode(line, number) for number, line in enumerate((folder / GAMES).read_bytes().splitlines(), 1)]


def _thinkers(record: Record) -> set[str]:
    """The agents of the seats that thought."""
    thoughts = record.thoughts or []
    return {record.agents[game.seat] for (game, _), thought in zip(states(record), thoughts) if thought is not None}


def test_the_games_of_a_tournament_are_in_order_whatever_the_number_of_processes(tmp_path: Path):
    argv = ["uniform", "pimc:worlds=2", THINKS, "--players", "2", "--deals", "3", "--rules", "hops", "--seed", "5"]
    argv += ["--time-limit", "0"]
    records = _recorded(tmp_path / "one", *argv, "--processes", "1")
    assert _run(tmp_path / "two", *argv, "--processes", "2", "--record") == 0
    assert (tmp_path / "one" / GAMES).read_bytes() == (tmp_path / "two" / GAMES).read_bytes()
    pairs = [["pimc:worlds=2", THINKS], ["pimc:worlds=2", "uniform"], [THINKS, "uniform"]]
    told = [(record.agents, record.game) for record in records]
    assert told == [(agents, deal) for pair in pairs for deal in range(3) for agents in (pair, pair[::-1])]
    for record in records:
        assert (record.seed, record.episode, record.finished) == (5, "round", True)
        assert _thinkers(record) == set(record.agents) - {"uniform"}


def test_a_run_that_was_broken_off_writes_the_same_games(tmp_path: Path):
    argv = ["greedy", f"{THINKS}:pause=0.001", "--deals", "12", "--time-limit", "0", "--processes", "1"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    _recorded(whole, *argv)
    lines = (whole / CHUNKS).read_bytes().splitlines(keepends=True)
    assert len(lines) > 2
    broken.mkdir()
    (broken / PLAN).write_bytes((whole / PLAN).read_bytes())
    kept = [lines[1], lines[0], lines[2][:200]]  # in another order, and killed while it wrote
    (broken / CHUNKS).write_bytes(b"".join(kept))
    assert _run(broken, *argv, "--record", "--resume") == 0
    assert (broken / CHUNKS).read_bytes().startswith(b"".join(kept[:2]))
    assert (broken / GAMES).read_bytes() == (whole / GAMES).read_bytes()
    (whole / GAMES).unlink()
    assert _run(whole, *argv, "--record", "--resume") == 0, "what is finished is written again without playing"
    assert (broken / GAMES).read_bytes() == (whole / GAMES).read_bytes()


def test_keeping_the_games_changes_no_result_and_not_keeping_them_no_file(tmp_path: Path):
    argv = ["greedy", "uniform", "--deals", "8", "--episode", "match", "--players", "4"]
    records = _recorded(tmp_path / "with", *argv)
    assert _run(tmp_path / "without", *argv) == 0
    for name in (RESULTS, AGENTS, DEALS, MATRIX):
        assert (tmp_path / "with" / name).read_bytes() == (tmp_path / "without" / name).read_bytes()
    assert len(records) == 16
    assert all(len(record.winners) == 1 for record in records)
    assert all(b"record" not in (tmp_path / "without" / name).read_bytes() for name in (PLAN, CHUNKS))
    assert not (tmp_path / "without" / GAMES).exists()


def test_a_test_that_stops_cuts_the_games_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("training.schedule._FIRST_PYTHON", 40)  # so that it stops amid a piece, however fast this is
    records = _recorded(tmp_path, "greedy", "uniform", "--deals", "40", "--sprt", "0,10")
    counted = json.loads((tmp_path / RESULTS).read_bytes())["deals"]
    played = sum(json.loads(line)["deals"] for line in (tmp_path / CHUNKS).read_bytes().splitlines())
    assert counted < played
    assert [record.game for record in records] == [deal for deal in range(counted) for _ in range(2)]


def test_a_game_that_is_forfeited_is_recorded_as_far_as_it_went(tmp_path: Path):
    records = _recorded(tmp_path, THINKS, f"{FIRST}:then=raise,after=2", "--deals", "2", "--time-limit", "0")
    assert not any(record.finished or record.rounds for record in records)
    assert all(len(record.actions) > 2 for record in records)
    assert all(_thinkers(record) == {THINKS} for record in records)


def _thoughts(page: Path) -> list[Any]:
    data = json.loads(re.findall(r'id="data">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)[0])
    return [frame["thought"] for frame in data["frames"] if frame.get("thought") is not None]


def test_the_page_of_a_game_shows_thoughts_to_who_may_see_them(tmp_path: Path):
    argv = [f"{THINKS}:kind=text", THINKS, "--deals", "2", "--time-limit", "0"]
    records = _recorded(tmp_path / "arena", *argv)
    talker = records[2].agents.index(f"{THINKS}:kind=text")
    shown = {}
    for viewer in (None, talker, 1 - talker):
        page = tmp_path / f"{viewer}.html"
        words = [] if viewer is None else ["--viewer", str(viewer)]
        assert cli.main(["replay", str(tmp_path / "arena" / GAMES), "--line", "3", "--html", str(page), *words]) == 0
        shown[viewer] = _thoughts(page)
    assert {type(thought) for thought in shown[None]} == {str, dict}
    assert {type(thought) for thought in shown[talker]} == {str}
    assert {type(thought) for thought in shown[1 - talker]} == {dict}


@pytest.mark.parametrize("kind", ["raise", "odd"])
def test_a_thought_that_is_none_costs_no_game(kind: str, tmp_path: Path):
    records = _recorded(tmp_path, "greedy", f"{THINKS}:kind={kind}", "--deals", "1", "--time-limit", "0")
    assert all(record.finished for record in records)
    assert not any(record.thoughts for record in records)
    assert json.loads((tmp_path / RESULTS).read_bytes())["ends"]["forfeited"] == 0


@pytest.mark.parametrize(
    ("kind", "thought"),
    [("plain", {"legal": 2}), ("text", "one of 2"), ("raise", None), ("odd", None), ("die", None), ("hang", None)],
)
def test_a_thought_comes_from_the_process_of_the_agent_and_one_that_dies_or_hangs_over_it_plays_on(
    kind: str, thought: Any
):
    rules = Rules.load("standard")
    game, agent = Game(rules, 2, seed=1), Guarded(f"{THINKS}:kind={kind}", 1.0)
    legal = np.array([0, 1], dtype=np.int16)
    try:
        assert agent.thought is None
        for _ in range(2 if kind in ("plain", "die", "hang") else 1):
            assert agent.act(game.redacted(game.seat), legal, rules, 1) == 0
            assert thought_of(agent) == thought
    finally:
        agent.close()


def test_what_is_wrong_takes_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def fails(*argv: str) -> str:
        capsys.readouterr()
        assert arena.main(["greedy", "uniform", "--deals", "3", "--quiet", *argv]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        return err

    assert fails("--record") == "scala40 arena: record: into which folder? give it by --out\n"
    plain, kept = str(tmp_path / "plain"), str(tmp_path / "kept")
    assert _run(Path(plain), "greedy", "uniform", "--deals", "3") == 0
    _recorded(Path(kept), "greedy", "uniform", "--deals", "3")
    assert "record is False there, True here" in fails("--out", plain, "--resume", "--record")
    assert "record is True there, False here" in fails("--out", kept, "--resume")
    chunks = Path(kept) / CHUNKS
    lines = [json.loads(line) for line in chunks.read_bytes().splitlines()]
    for records in (None, "nonsense", lines[0]["records"][:-8], "eJwDAAAAAAE="):
        chunks.write_text(json.dumps({**lines[0], "records": records}) + "\n")
        assert f"{CHUNKS}, line 1: cannot be read" in fails("--out", kept, "--resume", "--record")
