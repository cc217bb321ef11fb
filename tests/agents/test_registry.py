"""Agents by name, and the one line that says what is wrong with a name."""

import sys
from pathlib import Path

import pytest

from agents.base import Agent, AgentError, CompiledAgent
from agents.greedy import Greedy
from agents.registry import make, names
from agents.uniform import Uniform


class WithOptions:
    def __init__(self, *, depth: int = 1, share: float = 0.5, loud: bool = False, title: str = "x") -> None:
        self.name = f"{depth} {share} {loud} {title}"

    def act(self, rows, legal, rules, rng=None):  # noqa: ANN001
        return int(legal[0])


class Nameless:
    def act(self, rows, legal, rules, rng=None):  # noqa: ANN001
        return int(legal[0])


class Refuses(WithOptions):
    def __init__(self) -> None:
        raise RuntimeError("no weights\nhere")


HERE = __name__


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "players_of_a_test", sys.modules[HERE])


def test_every_name_makes_an_agent_of_that_name():
    assert names() == sorted(names())
    assert {"careful", "greedy", "solver", "uniform"} <= set(names())
    for name in names():
        agent = make(name)
        assert isinstance(agent, Agent)
        assert agent.name == name


def test_compiled_bots_are_known_as_such():
    for name in ("careful", "greedy", "solver", "uniform"):
        assert isinstance(make(name), CompiledAgent)
    assert not isinstance(WithOptions(), CompiledAgent)


def test_options_and_classes_by_path():
    assert make("uniform:seed=3").salt == 3
    assert make(" uniform:seed = 3 ").name == "uniform:seed=3"
    assert isinstance(make("agents.greedy:Greedy"), Greedy)
    assert isinstance(make("agents.uniform:Uniform:seed=4"), Uniform)
    made = make("players_of_a_test:WithOptions:depth=3,share=1e-1,loud=true,title=a b")
    assert made.name == "3 0.1 True a b"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gredy", "there is no agent 'gredy'; did you mean 'greedy'?"),
        ("", "expected a name"),
        ("uniform:sed=3", "there is no option 'sed'; did you mean 'seed'?"),
        ("uniform:seed=many", "option 'seed' is an integer, got 'many'"),
        ("uniform:seed", "expected option=value, got 'seed'"),
        ("uniform:seed=1,seed=2", "option 'seed' is given twice"),
        ("uniform:seed=-1", "seed: expected an integer from 0"),
        ("greedy:depth=2", "there is no option 'depth'; it has none"),
        ("gredy:Greedy", "there is no agent and no module 'gredy'; did you mean 'greedy'?"),
        ("agents.greedy:Gredy", "module 'agents.greedy' has no class 'Gredy'; did you mean 'Greedy'?"),
        ("players_of_a_test:WithOptions:loud=perhaps", "option 'loud' is true or false, got 'perhaps'"),
        ("players_of_a_test:WithOptions:share=much", "option 'share' is a number, got 'much'"),
        ("players_of_a_test:Nameless", "Nameless has no name"),
        ("players_of_a_test:Refuses", "RuntimeError: no weights here"),
        ("agents.base:UNIFORM", "has no class 'UNIFORM'"),
        ("gredy:a=1", "there is no agent 'gredy'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, says: str):
    with pytest.raises(AgentError) as caught:
        make(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_module_that_cannot_be_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "broken_player.py").write_text("raise ValueError('on import')\n")
    (tmp_path / "needy_player.py").write_text("import a_module_that_is_not_there\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(AgentError, match="'broken_player' cannot be imported: ValueError: on import"):
        make("broken_player:Any")
    with pytest.raises(AgentError, match="needs 'a_module_that_is_not_there'"):
        make("needy_player:Any")
