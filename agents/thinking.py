"""How an agent says what it thought: numbers of its few best actions, by the text of the action."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.notation import format_action
from scala40_env.core.rules import Rules

FEW = 5
"""How many actions a thought names."""


class Decision:
    """The last decision of an agent, as it was put to it.

    Args:
        rows, legal, rules: what ``Agent.act`` was given.
    """

    def __init__(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules) -> None:
        self.rows, self.legal, self.rules = rows, legal, rules

    def text(self, place: int) -> str:
        """The legal action at a place, in the notation."""
        return format_action(int(self.legal[place]), self.rows[0], self.rules)

    def few(self, order: Iterable[int], values: NDArray[Any], digits: int = 2) -> dict[str, Any]:
        """What the first few legal actions of an order have, by their text, rounded to so many digits."""
        places = [int(place) for place in order][:FEW]
        return {self.text(place): round(values[place].item(), digits) for place in places}
