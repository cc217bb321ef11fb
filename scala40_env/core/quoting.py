"""How error messages quote a value: on one line, and short whatever it is."""

from __future__ import annotations

import math

_LONGEST = 40
_LARGEST = 1e18


def shown(value: object) -> str:
    """A value in the words of JSON."""
    if isinstance(value, str):
        return repr(value) if len(value) <= _LONGEST else repr(value[:_LONGEST]) + "..."
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(value) if abs(value) < _LARGEST else "a huge number"
    names: dict[type, str] = {list: "a list", tuple: "a list", dict: "an object"}
    return str(value) if isinstance(value, float) else names.get(type(value), type(value).__name__)


def brief(value: object) -> str:
    """A value in the words of Python: what a caller wrote, as far as it is short."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 128:
        return "a huge number"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a number within it may be too long to write, and a class may do anything
        return type(value).__name__
    return text if len(text) <= 2 * _LONGEST else f"{text[: 2 * _LONGEST]}..."
