"""Who sits after a learner: agents by name or as objects, compiled bots or others.

The package of the agents is not a part of the environment.  It is asked only where agents are named, and by the paths
of its modules.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

BASE = "agents.base"
REGISTRY = "agents.registry"
KERNELS = "agents.lanes"


def by_place(opponents: Any, players: int) -> list[Any]:
    """The opponents by place after the learner, agents by name made: ``players - 1`` agents, or ``None``.

    Args:
        opponents: an agent, its name, or ``None``, for all places; or as many of them as there are places.
        players: seats at the table.

    Raises:
        AgentError: a name of no agent.
        ValueError: another number of opponents, or something that is no agent.
    """
    several = isinstance(opponents, Sequence) and not isinstance(opponents, str)
    places = list(opponents) if several else [opponents]
    if len(places) == 1:
        places *= players - 1
    if len(places) != players - 1:
        expected = "1" if players == 2 else f"1 or {players - 1}"
        raise ValueError(f"opponents: expected {expected}, got {len(places)}")
    return [None if one is None else _agent(one) for one in places]


def _agent(named: Any) -> Any:
    agent = _module(REGISTRY).make(named) if isinstance(named, str) else named
    if not callable(getattr(agent, "act", None)):
        raise ValueError(f"opponents: expected the name of an agent, or an agent, got {named!r}")
    return agent


def is_compiled(agent: Any) -> bool:
    """Whether an agent can act inside the kernel of a batch."""
    return hasattr(agent, "bot") and hasattr(agent, "salt") and bool(_module(BASE).is_compiled(agent))


def kernel_with_bots() -> Any:
    """The kernel of the batch in which bots act."""
    return _module(KERNELS).advance_with_bots


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in (name, name.partition(".")[0]):
            raise
        raise ValueError(
            "opponents: the agents are not installed; they come with a clone: pip install -e . in it"
        ) from None
