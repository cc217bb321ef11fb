"""Agents by name, and the one line that says what is wrong with a name."""

import sys
from pathlib import Path

import pytest

from agents.base import Agent, AgentError, CompiledAgent, is_compiled
from agents.greedy import Greedy
from agents.registry import BOT, POLICY, SEARCH, kind_of, make, names
from agents.uniform import Uniform
from scala40_env.core.rules import Rules
from scala40_env.envs.batch import Batch
from training.deals import plan
from training.play_deals import play_deals


class WithOptions:
    def __init__(self, *, depth: int = 1, share: float = 0.5, loud: bool = False, title: str = "x") -> None:
        self.name = f"{depth} {share} {loud} {title}"

    def act(self, rows, legal, rules, rng=None):  # noqa: ANN001
        return int(legal[0])


class Nameless:
    def act(self, rows, legal, rules, rng=None):  # noqa: ANN001
        return int(legal[0])


class Named(WithOptions):
    def __init__(self, *, kind: str = "plain") -> None:
        self.kind = kind

    @property
    def name(self) -> str:
        if self.kind == "raise":
            raise RuntimeError("no name")
        return {"surrogate": "bad \ud800 name", "lines": "two\nlines", "escape": "\x1b[31mred", "none": ""}[self.kind]


class Exits(WithOptions):
    def __init__(self) -> None:
        sys.exit(0)


class Stop(BaseException):
    def __str__(self) -> str:
        raise self


class Stops(WithOptions):
    def __init__(self) -> None:
        raise Stop


class OtherGreedy(Greedy):
    def act(self, rows, legal, rules, rng=None):  # noqa: ANN001
        return int(legal[-1])


class SameGreedy(Greedy):
    name = "same"


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


def test_only_what_acts_as_its_bot_does_is_compiled():
    for name in ("careful", "greedy", "solver", "uniform:seed=3"):
        assert is_compiled(make(name))
    assert is_compiled(SameGreedy())
    assert not is_compiled(WithOptions())
    assert not is_compiled(OtherGreedy())
    changed = make("greedy")
    changed.act = OtherGreedy().act  # type: ignore[method-assign]
    assert not is_compiled(changed)


def test_a_bot_with_another_act_is_asked_by_it():
    rules = Rules.load("hops")
    made = plan(["greedy", "mine"], rules, 2)
    tally = play_deals(made, [make("greedy"), OtherGreedy()], 0, 2)
    assert tally.clocks[:, 0].min() > 0
    with pytest.raises(ValueError, match="is not a compiled bot"):
        Batch(rules, 2, 4, opponents=OtherGreedy())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("greedy", BOT),
        (" uniform : seed=3", BOT),
        ("pimc:worlds=2", SEARCH),
        ("policy:default", POLICY),
        ("agents.greedy:Greedy", None),
        ("nobody", None),
        ("", None),
    ],
)
def test_a_text_says_what_kind_of_agent_it_names(text: str, kind: str | None):
    assert kind_of(text) == kind


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
        ("players_of_a_test:Exits", "SystemExit: 0"),
        ("players_of_a_test:Stops", "Stop"),
        ("players_of_a_test:Named:kind=raise", "RuntimeError: no name"),
        ("players_of_a_test:Named:kind=surrogate", r"its name 'bad \ud800 name' is no text on one line"),
        ("players_of_a_test:Named:kind=lines", r"its name 'two\nlines' is no text on one line"),
        ("players_of_a_test:Named:kind=escape", r"its name '\x1b[31mred' is no text on one line"),
        ("players_of_a_test:Named:kind=none", "its name '' is no text on one line"),
        ("policy:\ud800", r"expected a name, got 'policy:\ud800'"),
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
    (tmp_path / "leaving_player.py").write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(AgentError, match="'leaving_player' cannot be imported: SystemExit: 0"):
        make("leaving_player:Any")
    (tmp_path / "empty_player.py").write_text("def __getattr__(name):\n    raise SystemExit(name)\n")
    with pytest.raises(AgentError, match="'empty_player' cannot be imported: SystemExit: Any"):
        make("empty_player:Any")
    with pytest.raises(AgentError, match="needs 'a_module_that_is_not_there'"):
        make("needy_player:Any")
