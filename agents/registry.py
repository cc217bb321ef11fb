"""Agents by name: ``make("greedy")``, ``make("uniform:seed=3")``, ``make("package.module:Class")``.

A class of one's own takes its options as keyword arguments, ``make("package.module:Class:depth=3")``.  Modules are
imported when an agent of theirs is asked for, so that a command pays for no agent that it does not use.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import typing
from collections.abc import Callable, Iterable
from typing import Any

from agents.base import Agent, AgentError
from agents.faults import one_line
from scala40_env.core.quoting import shown

BOT, SEARCH, POLICY = "bot", "search", "policy"
"""Kinds of agents: compiled bots, searches, and trained weights."""
_BOTS = {
    "careful": "agents.careful:Careful",
    "greedy": "agents.greedy:Greedy",
    "solver": "agents.solver:Solver",
    "uniform": "agents.uniform:Uniform",
}
_SEARCHES = {"ismcts": "agents.ismcts:Ismcts", "pimc": "agents.pimc:Pimc"}
_OF_A_FILE = {"policy": "agents.policy:Policy"}
"""Agents that are nothing without a file, ``policy:FILE``: known by name, and not among those that play as they are."""
_KNOWN = {BOT: _BOTS, SEARCH: _SEARCHES, POLICY: _OF_A_FILE}
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
_KINDS = {int: "an integer", float: "a number", bool: "true or false"}


def names() -> list[str]:
    """The names that ``make`` knows, in alphabetical order."""
    return sorted([*_BOTS, *_SEARCHES])


def kind_of(text: str) -> str | None:
    """The kind of agent that a text names: ``BOT``, ``SEARCH`` or ``POLICY``; ``None`` where it is none of these.

    Nothing is imported or made for it.  ``make`` runs what a text of no kind names, a class of any module: so a text
    that comes from a file must be of a kind, and so must what is said in the options of an agent.
    """
    name = text.partition(":")[0].strip()
    return next((kind for kind, agents in _KNOWN.items() if name in agents), None)


def make(text: str) -> Agent:
    """The agent that a text names.

    Args:
        text: a name, ``name:option=value,option=value``, or ``module:Class`` with options after another colon.

    Raises:
        AgentError: an agent, a module, a class or an option that does not exist, or a value that the option cannot
            have; the message is one line and names it.
    """
    if not isinstance(text, str) or not text.strip() or not _is_unicode(text):
        raise AgentError(f"agent: expected a name, got {text!r}; there are {_told()}")
    name, _, rest = (part.strip() for part in text.partition(":"))
    known = {**_BOTS, **_SEARCHES, **_OF_A_FILE}
    if name in known:
        module, _, class_name = known[name].partition(":")
    elif rest and "=" not in rest.partition(":")[0]:
        module, (class_name, _, rest) = name, rest.partition(":")
    else:
        raise AgentError(f"agent: there is no agent {name!r}{_nearest(name, names())}; there are {_told()}")
    if name in _OF_A_FILE and rest and "=" not in rest.partition(",")[0]:
        rest = f"path={rest}"
    factory = _find(module, class_name)
    try:
        agent = factory(**_options(text, factory, rest))
        act, called = getattr(agent, "act", None), getattr(agent, "name", None)
    except (AgentError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a class of the user's own may raise whatever it likes, and exit
        raise AgentError(f"agent {text!r}: {one_line(error)}") from error
    if not callable(act):
        raise AgentError(f"agent {text!r}: {class_name} has no method act")
    if not isinstance(called, str):
        raise AgentError(f"agent {text!r}: {class_name} has no name")
    if not called or not called.isprintable():
        raise AgentError(f"agent {text!r}: its name {shown(called)} is no text on one line")
    return typing.cast(Agent, agent)


def _told() -> str:
    return f"{', '.join(names())} and policy:FILE"


def _is_unicode(text: str) -> bool:
    """Whether a text can be written: an argument of a command may hold bytes that are no UTF-8."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _find(module: str, class_name: str) -> Callable[..., Any]:
    try:
        found = importlib.import_module(module)
        factory = getattr(found, class_name, None)
    except KeyboardInterrupt:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            near = _nearest(module, names())
            raise AgentError(f"agent: there is no agent and no module {module!r}{near}") from error
        raise AgentError(f"agent: module {module!r} needs {error.name!r}, which is not installed") from error
    except BaseException as error:  # importing runs the module, which may raise anything, and exit
        raise AgentError(f"agent: module {module!r} cannot be imported: {one_line(error)}") from error
    if not callable(factory):
        classes = [name for name, value in vars(found).items() if inspect.isclass(value)]
        raise AgentError(f"agent: module {module!r} has no class {class_name!r}{_nearest(class_name, classes)}")
    return typing.cast(Callable[..., Any], factory)


def _options(text: str, factory: Callable[..., Any], given: str) -> dict[str, Any]:
    """The options as keyword arguments, each of the type that the class says."""
    if not given:
        return {}
    taken = {
        name: parameter
        for name, parameter in inspect.signature(factory).parameters.items()
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    }
    types = _types(factory)
    options: dict[str, Any] = {}
    for item in given.split(","):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise AgentError(f"agent {text!r}: expected option=value, got {item!r}")
        if name not in taken:
            known = f"; its options are {', '.join(taken)}" if taken else "; it has none"
            raise AgentError(f"agent {text!r}: there is no option {name!r}{_nearest(name, taken)}{known}")
        if name in options:
            raise AgentError(f"agent {text!r}: option {name!r} is given twice")
        options[name] = _value(text, name, value, types.get(name, str))
    return options


def _types(factory: Callable[..., Any]) -> dict[str, Any]:
    target = factory.__init__ if inspect.isclass(factory) else factory
    try:
        return typing.get_type_hints(target)
    except Exception:  # hints that cannot be read leave every option a text
        return {}


def _value(text: str, name: str, value: str, kind: Any) -> Any:
    if kind is bool:
        if value.lower() in _BOOLEANS:
            return _BOOLEANS[value.lower()]
    elif kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    else:
        return value
    raise AgentError(f"agent {text!r}: option {name!r} is {_KINDS[kind]}, got {value!r}")


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
