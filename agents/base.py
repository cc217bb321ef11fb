"""What an agent is: something that sees a redacted row and the legal actions, and returns one of them.

An agent keeps nothing between its decisions.  It gets all that its seat may know in one row, and what it draws at
random it draws from a number that belongs to the decision alone.  So what it does depends neither on the order in which
games are played nor on how many are played at once, and a decision can be asked for again.
"""

from __future__ import annotations

import hashlib
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.rules import Rules

UNIFORM, GREEDY, SOLVER, CAREFUL = range(4)
"""The numbers of the compiled bots; ``agents.bots.choose`` plays them."""


class AgentError(ValueError):
    """An agent, or an option of one, that does not exist; the message is one line and names it."""


@runtime_checkable
class Agent(Protocol):
    """A player.

    An agent may also have an attribute or a property ``thought``, which is no part of the protocol: what it thought at
    its last decision, a text or a dictionary of plain values (texts as keys; texts, numbers, booleans, ``None``, lists
    and dictionaries as values), or ``None``.  Where a record of the game is kept it is read right after ``act``, with
    ``scala40_env.replay.thoughts.thought_of``, and goes into the record as what the seat alone thought.  It should be a
    property that puts into words what the decision left behind, so that it costs nothing where nobody reads it; no
    decision may depend on it.  A thought that raises or is not plain is none.

    Attributes:
        name: what reports call it.
    """

    name: str

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> int:
        """Choose one of the legal actions.

        Args:
            rows: the row of the game as the seat to act may know it (``Game.redacted(game.seat)``): a record array of
                one row of ``scala40_env.core.state.ROW``.  The seat to act is ``rows[0].seat``; seed and game are 0,
                hands of others and the stock hold what is public and otherwise only sizes.  The array is the
                agent's own.
            legal: the legal actions, ``int16``, ascending, at least one.
            rules: the rules of the game.
            rng: a number from 0 to 2**64 - 1 that belongs to this decision, from which all that is random is drawn
                (``numpy.random.default_rng(rng)``, or ``below(numpy.uint64(rng), bound)`` of
                ``scala40_env.core.deal``).  Where it is ``None`` an agent takes ``rng_of(rows)``.

        Returns:
            One of ``legal``.
        """
        ...


@runtime_checkable
class CompiledAgent(Agent, Protocol):
    """An agent that the compiled loop of ``agents.playout`` can play as well, as far as ``is_compiled`` says so.

    Attributes:
        bot: its number in ``agents.bots``.
        salt: changes its random numbers; 0 or more, below 2**64.
    """

    bot: int
    salt: int


def is_compiled(agent: Any) -> TypeGuard[CompiledAgent]:
    """Whether the compiled loop plays an agent as it acts: it has the number of a bot, and no other ``act``.

    A class that inherits the number and has an ``act`` of its own is another player.
    """
    if not isinstance(agent, CompiledAgent) or "act" in getattr(agent, "__dict__", {}):
        return False
    line = [vars(ancestor) for ancestor in type(agent).__mro__]
    acts, bots = (next((i for i, own in enumerate(line) if name in own), len(line)) for name in ("act", "bot"))
    return acts >= bots


def rng_of(rows: NDArray[Any]) -> int:
    """A number that depends on what the seat to act knows alone, for an agent that is given none."""
    plain = np.asarray(rows)
    digest = hashlib.blake2b(digest_size=8)
    for name in plain.dtype.names or ():
        digest.update(plain[name].tobytes())  # field by field: what lies between the fields is anything
    return int.from_bytes(digest.digest(), "little")
