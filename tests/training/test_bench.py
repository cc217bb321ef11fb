"""``scala40 bench``: it measures what it says, and refuses what it cannot."""

from __future__ import annotations

import json

import numpy as np
import pytest

from scala40_env.core.rules import Rules
from scala40_env.core.signature import signature
from scala40_env.envs.batch import Batch, choose_uniformly
from training import bench


def test_every_figure_is_there(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bench, "_CHUNK", 1000)
    monkeypatch.setattr(bench, "_GREEDY_ROUNDS", 5)
    assert bench.main(["--seconds", "0.01", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    batches = {f"decisions, {p} players, batch {n}" for p in bench.PLAYERS for n in bench.BATCHES}
    assert batches < set(figures["per_second"])
    assert min(figures["per_second"].values()) > 0
    assert figures["signature"] == signature()


@pytest.mark.parametrize("arguments", [["--seconds", "0"], ["--rules", "nonesuch"]])
def test_bad_input_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    assert bench.main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_uniform_choices_are_legal_and_uniform():
    batch = Batch(Rules.load("standard"), 2, 64, seed=3)
    actions, numbers = np.zeros(64, dtype=np.int64), np.array([1234567], dtype=np.uint64)
    drawn = np.zeros(4)
    for _ in range(3000):
        choose_uniformly(batch.legal, batch.counts, numbers, actions)
        assert (batch.masks[np.arange(64), actions] == 1).all()
        for i in np.flatnonzero(batch.counts == 4)[:1]:
            drawn[np.flatnonzero(batch.legal[i, :4] == actions[i])[0]] += 1
        batch.step(actions)
    expected = drawn.sum() / 4
    assert drawn.sum() > 200
    assert ((drawn - expected) ** 2 / expected).sum() < 16.3  # chi-square, three degrees of freedom, one in a thousand
