"""A command of another package, for the tests of the table of commands, and agents that do not play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def main(words: Sequence[str]) -> int:
    """Print what it is given and return a status of its own."""
    print(list(words))
    return 7


class Raises:
    """An agent that does not work."""

    name = "broken"

    def act(self, *given: Any) -> Any:
        """Fail."""
        raise KeyError("no such card")


class Leaves(Raises):
    """An agent that would end the process."""

    def act(self, *given: Any) -> Any:
        """Leave."""
        raise SystemExit(0)


class Talks(Raises):
    """An agent that returns a text."""

    def act(self, *given: Any) -> Any:
        """Say what it would like to do."""
        return "draw"


class Cheats(Raises):
    """An agent that returns a number that is no action."""

    def act(self, *given: Any) -> Any:
        """Any number."""
        return 5000


class Thinks:
    """An agent that plays the first legal action and says how many there were."""

    name = "thinks"

    def act(self, rows: Any, legal: Any, *given: Any) -> Any:
        """The first."""
        self.thought = {"legal": len(legal)}
        return legal[0]
