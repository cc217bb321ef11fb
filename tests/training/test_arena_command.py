"""The commands ``arena`` and ``demo``: their tables, their JSON, and one line for bad input."""

import json
import math
import platform
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scala40_env.core.rules import Rules
from training import arena, demo
from training.report import to_json
from training.sprt import SequentialTest
from training.tournament import tournament


def test_the_table_says_all_that_was_asked(capsys: pytest.CaptureFixture[str]):
    assert arena.main(["greedy", "uniform", "--deals", "40", "--rules", "cerchio"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    for word in (
        "cerchio, 2 players, round",
        "greedy",
        "uniform",
        "greedy − uniform",
        "95 % interval",
        "closed",
        "opened",
    ):
        assert word in captured.out
    for word in ("illegal", "truncated 0.0 %", "80 rounds", "a second", "fewer are better"):
        assert word in captured.out
    assert "too narrow" not in captured.out


def test_few_deals_are_owned_up_to(capsys: pytest.CaptureFixture[str]):
    assert arena.main(["greedy", "uniform", "--deals", "5"]) == 0
    assert "fewer than 30 deals" in capsys.readouterr().out


def test_the_shape_of_the_json(capsys: pytest.CaptureFixture[str]):
    argv = ["greedy", "uniform", "--deals", "20", "--players", "4", "--seed", "9", "--json", "--episode", "match"]
    assert arena.main(argv) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["command"] == ["scala40", "arena", *argv]
    assert made["versions"]["numpy"] == np.__version__
    assert made["versions"]["python"] == platform.python_version()
    assert set(made["versions"]) == {"scala40-env", "numpy", "numba", "python"}
    assert made["rules"] == "standard"
    assert made["flags"]["opening_min"] == 40
    assert (made["seed"], made["deals"], made["rotations"], made["players"]) == (9, 20, 2, 4)
    assert [agent["name"] for agent in made["agents"]] == ["greedy", "uniform"]
    for agent in made["agents"]:
        assert agent["points"]["low"] <= agent["points"]["mean"] <= agent["points"]["high"]
        assert 0 <= agent["closed"] <= 1
        assert 0 <= agent["opened"] <= 1
        assert agent["illegal"] == agent["raised"] == 0
        assert agent["first_fault"] is None
    assert sum(agent["won"]["mean"] for agent in made["agents"]) == pytest.approx(1)
    assert made["differences"][0]["first"] == "greedy"
    assert sum(made["ends"].values()) == made["rounds"]
    assert set(made["ends"]) == {"closed", "dead_position", "stock_out", "turn_cap", "stuck", "truncated", "forfeited"}
    assert made["decisions"] == sum(agent["decisions"] for agent in made["agents"])
    assert set(made["timing"]) == {"seconds", "decisions_a_second", "processes", "agents"}


def test_json_of_one_deal_has_no_numbers_that_do_not_exist(capsys: pytest.CaptureFixture[str]):
    assert arena.main(["greedy", "uniform", "--deals", "1", "--json"]) == 0
    made = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert made["agents"][0]["points"]["low"] is None
    assert made["agents"][0]["won"]["low"] is None


def test_json_has_no_numbers_that_do_not_exist_whatever_the_test_says():
    made = tournament(["greedy", "uniform"], Rules(), 1, test=SequentialTest(0, 1))
    result = arena.play(made)
    assert result.verdict is not None
    result = replace(result, seconds=math.inf, verdict=replace(result.verdict, ratio=math.nan))
    shown = json.loads(json.dumps(to_json(result, ["scala40"]), allow_nan=False))
    assert shown["sprt"]["ratio"] is None
    assert shown["timing"]["seconds"] is None


def test_rules_may_be_changed_on_the_command_line(capsys: pytest.CaptureFixture[str]):
    rules = '{"base": "hops", "opening_min": 30}'
    assert arena.main(["greedy", "uniform", "--deals", "3", "--rules", rules, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["rules"] == {"base": "hops", "opening_min": 30}


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["gredy", "uniform"], "there is no agent 'gredy'; did you mean 'greedy'?"),
        (["greedy", "uniform:sed=1"], "there is no option 'sed'"),
        (["greedy", "uniform", "--deals", "0"], "deals: expected an integer from 1, got 0"),
        (["greedy", "uniform", "--deals", "many"], "--deals"),
        (["greedy", "uniform", "--players", "3"], "2 agents do not share 3 seats evenly"),
        (["greedy"] * 7, "players: these rules are for 2 to 6, got 7"),
        (["greedy", "uniform", "--players", "6", "--rules", "hops"], "players: these rules are for 2 to 4, got 6"),
        (["greedy", "uniform", "--rules", "hop"], "there is no rulebook 'hop'"),
        (["greedy", "uniform", "--rules", '{"opening": 3}'], "there is no flag 'opening'"),
        (["greedy", "uniform", "--rules", "nothing.json"], "there is no file 'nothing.json'"),
        (["greedy", "uniform", "--processes", "0"], "processes: expected an integer from 1"),
        (["greedy", "uniform", "--seed", "-1"], "--seed"),
        (["greedy", "uniform", "--episode", "game"], "--episode"),
        (["greedy", "uniform", "--turn-limit", "0"], "turn limit"),
        (["greedy", "uniform", "--time-limit", "-1"], "time limit: expected seconds above 0"),
        (["greedy", "uniform", "--time-limit", "nan"], "and up to 86400, which is a day, got nan"),
        (["greedy", "uniform", "--time-limit", "inf"], "and up to 86400, which is a day, got inf"),
        (["greedy", "uniform", "--time-limit", "1e30"], "and up to 86400, which is a day, got a huge number"),
        (["greedy", "uniform", "--processes", "1" + 30 * "0"], "an integer from 1 to 256, got a huge number"),
        (["greedy", "uniform", "--sprt", "0"], "sprt: expected LOW,HIGH"),
        (["greedy", "uniform", "--sprt", "1,0"], "sprt: expected LOW,HIGH with LOW below HIGH"),
        (["greedy", "uniform", "--sprt", "0,1", "--sprt-error", "0.5"], "sprt error"),
        (["greedy", "uniform", "--sprt=-1e200,1e200"], "sprt: expected bounds from -1000000 to 1000000 points a round"),
        (["greedy", "uniform", "uniform", "--sprt", "0,1"], "sprt: a sequential test is for 2 agents, got 3"),
        (["greedy", "uniform", "--resume"], "resume: which folder?"),
        ([], "AGENT"),
    ],
)
@pytest.mark.parametrize("out", [False, True])
def test_bad_input_is_one_line_and_status_two_and_makes_no_folder(
    argv: list[str], says: str, out: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    if out and "--resume" in argv:
        return
    try:
        status = arena.main([*argv, *(["--out", str(tmp_path / "out")] if out else [])])
    except SystemExit as stop:
        status = stop.code  # type: ignore[assignment]
    captured = capsys.readouterr()
    assert not (tmp_path / "out").exists()
    assert status == 2
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert says in captured.err


def test_the_demo_says_who_won_where(capsys: pytest.CaptureFixture[str]):
    assert demo.main(["--deals", "30", "--decisions", "0"]) == 0
    captured = capsys.readouterr()
    for number, book in enumerate(demo.RULEBOOKS, 1):
        assert book in captured.out
        assert f"{number} of 5: {book}" in captured.err
    assert "greedy beats uniform in all 5 rulebooks, every interval clear of zero." in captured.out
    assert "scala40 arena greedy uniform" in captured.out


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of tensorboard's own imports
def test_the_demo_trains_a_learner(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    pytest.importorskip("torch")
    status = demo.main(["--deals", "30", "--decisions", "30000", "--out", str(tmp_path / "run")])
    told = capsys.readouterr().out
    assert status == 0, told
    assert "the learner against" in told
    assert (tmp_path / "run" / "curves.png").exists()
    assert demo.main(["--deals", "2", "--decisions", "-1"]) == 2
    assert capsys.readouterr().err.endswith("decisions: expected at least 1, got -1\n")


def test_the_demo_does_not_claim_what_it_does_not_show(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(demo, "BETTER", "uniform:seed=1")
    assert demo.main(["--deals", "20", "--decisions", "0"]) == 1
    assert "not shown in standard" in capsys.readouterr().out
    assert demo.main(["--deals", "0", "--decisions", "0"]) == 2
