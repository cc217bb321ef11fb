"""The tables of the README are made from what was played: here of a few deals."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from training import experiments, strengths
from training.ratings import rate


def test_tournaments_become_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("choix")
    monkeypatch.setattr(strengths, "rate", functools.partial(rate, resamples=20))
    monkeypatch.setattr("training.arena_plot.plot", lambda *_: b"")  # drawn in tests of its own
    monkeypatch.setattr(strengths, "BOOKS", ("standard", "hops"))
    monkeypatch.setattr(strengths, "TRAINED", "uniform:seed=1")
    monkeypatch.setattr(strengths, "SLOW", ("uniform:seed=1", "uniform:seed=2"))
    monkeypatch.setattr(strengths, "SHORT", {"uniform:seed=1": "default", "uniform:seed=2": "search"})
    monkeypatch.setattr(strengths, "_STEPS", (("uniform:seed=1", "careful"),))
    made = strengths.parts(bots=4, searches=2, others=3)
    monkeypatch.setattr(strengths, "parts", lambda: made)
    result = tmp_path / "strengths.json"
    arguments = ["--runs", str(tmp_path / "runs"), "--result", str(result), "--processes", "1"]
    assert strengths.main([*arguments, "--only", "bots-4"]) == 0
    assert not result.exists()
    assert strengths.main(arguments) == 0
    found = json.loads(result.read_text("utf-8"))
    assert {part["name"] for part in found["parts"]} == {part.name for part in made}
    assert all(part["faults"] == 0 for part in found["parts"])
    assert found["ratings"]["2"]["ratings"]["greedy"] == [0.0, 0.0, 0.0]
    assert found["ratings"]["2"]["ratings"]["uniform"][0] < 0
    assert set(found["ratings"]["4"]["ratings"]) == set(strengths.LADDER)
    capsys.readouterr()
    assert strengths.main([*arguments, "--table"]) == 0
    table = capsys.readouterr().out
    gains = {name: part["differences"] for name, part in ((part["name"], part) for part in found["parts"])}
    one = gains["careful-greedy-hops"][0]
    assert one["first"] == "careful"
    assert f"hops: careful against greedy: {-one['points']['mean']:+.2f} ± " in table
    assert "| uniform | – | " in table
    one = gains["search-default"][0]
    row = next(line for line in table.splitlines() if line.startswith("| uniform:seed=2 | "))
    assert row.split(" | ")[5].startswith(f"{-one['points']['mean'] + 0.0:+.2f} ± ")
    assert f"- uniform:seed=2 against careful: {-gains['search-careful'][0]['points']['mean']:+.2f} ± " in table


def test_an_experiment_is_a_line_for_each_anchor(tmp_path: Path):
    pytest.importorskip("torch")
    small = ["decisions=600", "games=8", "steps=16", "hidden=[16]", "minibatch=64", "evaluate_deals=2"]
    lines = experiments.run("plain_critic", 0, [*small, 'anchors=["greedy","uniform"]'])
    assert [line["anchor"] for line in lines] == ["greedy", "uniform"]
    path = tmp_path / "lines.csv"
    experiments.add(path, lines)
    experiments.add(path, [{**line, "seed": 1, "gained": line["gained"] + 2} for line in lines])
    read = experiments.read(path)
    assert len(read) == 4
    mean = float(lines[0]["gained"]) + 1
    assert f"{mean:+.2f} ± 12.71 |" in experiments.table(read), "Student's t of two seeds that differ by 2"


def test_every_experiment_is_a_file_of_settings_that_changes_one_thing():
    from training.config import PPO, load

    base = load(PPO, experiments.CONFIGS / "current.toml", [])
    for name in experiments.ORDER:
        changed = load(PPO, experiments.CONFIGS / f"{name}.toml", [])
        fields = [field for field in PPO.__struct_fields__ if getattr(base, field) != getattr(changed, field)]
        assert len(fields) == {"current": 0, "plain_observation": 2}.get(name, 1), name
