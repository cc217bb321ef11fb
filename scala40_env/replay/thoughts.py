"""What agents thought, as records hold it: plain values, or nothing.

An agent that has an attribute or a property ``thought`` says there what it thought at its last decision.  It is read
right after the decision and only where a record is kept; whatever is wrong with it costs the thought, never the game.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

Thought = str | dict[str, Any] | None

DEEPEST = 16
"""How deep the values of a thought may lie in one another."""
MOST_BYTES = 1 << 23
"""The most bytes that the thoughts of one game may take in its record: 8 MiB, half of what a record may have."""


def thought_of(agent: Any) -> Thought:
    """What an agent thought at its last decision; ``None`` where it says nothing, or nothing that JSON can hold."""
    try:
        thought = getattr(agent, "thought", None)
        return _copied(thought, DEEPEST) if isinstance(thought, (str, dict)) else None
    except KeyboardInterrupt:
        raise
    except BaseException:  # an agent may be of the user's own, and raise anything
        return None


def noted(thoughts: Sequence[Thought]) -> list[Thought] | None:
    """The thoughts of a game for its record; ``None`` where nobody thought, or all of it is too long to be kept."""
    if all(thought is None for thought in thoughts):
        return None
    return list(thoughts) if len(msgspec.json.encode(thoughts)) <= MOST_BYTES else None


def _copied(value: Any, depth: int) -> Any:
    """A copy of plain values, which does not change when the agent thinks on; ``ValueError`` where one is not plain."""
    if value is None or type(value) is bool:
        return value
    if type(value) is str:
        value.encode()  # a text that is no Unicode raises here, and not when the record is written
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return int(value)
    if depth > 0 and isinstance(value, dict) and all(type(key) is str for key in value):
        return {_copied(key, 0): _copied(item, depth - 1) for key, item in value.items()}
    if depth > 0 and isinstance(value, (list, tuple)):
        return [_copied(item, depth - 1) for item in value]
    raise ValueError(f"not plain: {type(value).__name__}")
