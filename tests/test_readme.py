"""What the README says is so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scala40_env.cli.answers import legal
from scala40_env.core.rules import FLAGS, Rules
from training import experiments, exploits, strengths

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
NAMES = ["standard", "italian", "cerchio", "hops", "international"]


def as_text(value: Any) -> str:
    """A value of a flag as the table shows it."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value)


def rulebook_rows() -> list[str]:
    """A row of the table for each flag in which the rulebooks differ."""
    books = [Rules.load(name).to_mapping() for name in NAMES]
    rows = []
    for flag in FLAGS:
        values = [as_text(book[flag.name]) for book in books]
        if len(set(values)) > 1:
            rows.append(f"| `{flag.name}` | {' | '.join(values)} |")
    return rows


def test_the_table_of_rulebooks_is_that_of_the_files() -> None:
    head = f"| flag | {' | '.join(f'`{name}`' for name in NAMES)} |\n"
    assert "\n".join([f"{head}|{'---|' * (len(NAMES) + 1)}", *rulebook_rows()]) + "\n\n" in README


def between(name: str) -> str:
    """What the README has between two marks."""
    return README.split(f"<!-- {name} -->\n")[1].split(f"\n<!-- /{name} -->")[0]


def test_the_table_of_strengths_is_that_of_the_file() -> None:
    found = json.loads((ROOT / strengths.RESULT).read_text("utf-8"))
    assert between("strengths") == strengths.table(found)


def test_the_table_of_experiments_is_that_of_the_file() -> None:
    pytest.importorskip("scipy")
    assert between("experiments") == experiments.table(experiments.read(ROOT / experiments.RESULT))


def test_the_table_of_exploitation_is_that_of_the_file() -> None:
    assert between("exploits") == exploits.table(json.loads((ROOT / exploits.RESULT).read_text("utf-8")))


def test_the_table_of_trainers_is_that_of_the_file() -> None:
    bench_trainers = pytest.importorskip("training.bench_trainers", exc_type=ImportError)
    found = json.loads((ROOT / bench_trainers.RESULT).read_text("utf-8"))
    assert between("trainers") == bench_trainers.markdown(found["trainers"])


def test_the_position_is_one() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
    texts = legal(json.loads(example))["legal"]
    assert "lay 7H 7D JK=7C" in texts
    assert "off 7D @0" in texts
    assert "discard 2S" in texts


def test_the_examples_run() -> None:
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, Any] = {}
    for example in examples:
        exec(example, names)
        if "agent_iter" in example:
            assert names["env"].agents == []
    assert names["observations"].shape[0] == 64
    assert isinstance(names["reward"], float)
    assert len(examples) == 4
    assert names["batch"].rows.match_turns.max() > 0
