"""``python -m training.bench_trainers``: it measures what it says, and refuses what it cannot."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")


from training import bench_trainers


def test_every_figure_is_there(capsys: pytest.CaptureFixture[str]):
    small = ["--turns", "1", "--games", "8", "--steps", "8", "--minibatch", "32", "--epochs", "1", "--json"]
    assert bench_trainers.main(small) == 0
    figures = json.loads(capsys.readouterr().out)["trainers"]
    assert list(figures) == ["ppo", "ppo, self-play", "dmc", "MaskablePPO"]
    for name, told in figures.items():
        assert told["per_second"] > 0 or name == "dmc"
        assert sum(told["shares"].values()) == pytest.approx(1)
        assert 0 < told["network"] < 1
        assert name == "dmc" or min(told["shares"].values()) > 0  # its first rounds have not ended
    assert figures["MaskablePPO"]["times"] == 1


def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str]):
    assert bench_trainers.main(["--turns", "0"]) == 2
    assert capsys.readouterr().err == "python -m training.bench_trainers: --turns: expected at least 1\n"


def test_a_function_inside_another_is_counted_once():
    watch = bench_trainers.Stopwatch()
    inner = watch.timed("backward", lambda: sum(range(200_000)))
    watch.timed("forward", inner)()
    assert watch.seconds["backward"] == 0
    assert 0 < watch.seconds["forward"] < 5
