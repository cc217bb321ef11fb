"""The notebooks run from the top down, here at small sizes, and say nothing of the machine that ran them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

matplotlib = pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[1]
SIZES: dict[str, dict[str, Any]] = {
    "01_first_tour": {"GAMES": 16, "STEPS": 20},
    "02_duel_of_agents": {"RULEBOOKS": ["standard", "hops"], "DEALS": 30},
    "03_training": {"DECISIONS": 600, "GAMES": 8, "HIDDEN": (16,), "MINIBATCH": 64, "EVALUATE_DEALS": 4, "DUELS": 2},
    "04_inside_an_agent": {"ROUNDS": 4, "WORLDS": 8},
}
"""The constants of the cell tagged "parameters" that are smaller here."""
NEEDS_TORCH = {"03_training"}
NEEDS_THE_TRAINED_AGENT = {"04_inside_an_agent"}
MACHINE = ("/tmp", "/home", "/root", "/work")
"""How paths of a machine begin."""


def read(name: str) -> dict[str, Any]:
    """A notebook as JSON."""
    return json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text("utf-8"))


def source(cell: dict[str, Any]) -> str:
    """The text of a cell, which is one string or a list of lines."""
    return "".join(cell["source"])


def is_parameters(cell: dict[str, Any]) -> bool:
    """Whether a cell holds the sizes."""
    return "parameters" in cell["metadata"].get("tags", [])


def texts(node: Any) -> list[str]:
    """All texts of a notebook, without its images."""
    if isinstance(node, str):
        return [node]
    if isinstance(node, dict):
        return [text for key, value in node.items() if key != "image/png" for text in texts(value)]
    return [text for value in node for text in texts(value)] if isinstance(node, list) else []


def test_every_notebook_has_sizes_here() -> None:
    assert sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb")) == sorted(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_the_format_is_that_of_a_notebook(name: str) -> None:
    notebook = read(name)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["language"] == "python"
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [is_parameters(cell) for cell in code] == [True] + [False] * (len(code) - 1)


@pytest.mark.parametrize("name", SIZES)
def test_nothing_is_said_of_the_machine(name: str) -> None:
    assert [text for text in texts(read(name)) if any(start in text for start in MACHINE)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_the_notebook_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in NEEDS_TORCH:
        pytest.importorskip("torch")
    if name in NEEDS_THE_TRAINED_AGENT and not (ROOT / "agents/trained/default.safetensors").exists():
        pytest.skip("the trained agent is not here")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in read(name)["cells"]:
        if cell["cell_type"] != "code":
            continue
        exec(compile(source(cell), f"{name} {cell['id']}", "exec"), names)
        if is_parameters(cell):
            assert set(SIZES[name]) <= set(names)
            names.update(SIZES[name])
