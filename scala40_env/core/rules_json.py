"""Rules as positions and records write them: a rulebook's name, or the flags that differ from one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from scala40_env.core.cards import JOKER, NUM_KINDS, NUM_RANKS
from scala40_env.core.notation import NotationError
from scala40_env.core.quoting import shown
from scala40_env.core.rules import Rules, rulebook_names


def read_rules(value: object) -> Rules:
    """The rules that a position names; those met lately are remembered."""
    if isinstance(value, str):
        return _rules_by_name(value)
    if not isinstance(value, Mapping):
        raise NotationError(f"rules: expected the name of a rulebook or flags by name, got {shown(value)}")
    try:
        key = repr(value)
    except (ValueError, RecursionError):
        raise NotationError("rules: a value is too large") from None
    return _rules_by_flags(key, _Uncompared(value))


class _Uncompared:
    """A value that rides along with the key of a cache: all are equal."""

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Uncompared)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=64)
def _rules_by_name(name: str) -> Rules:
    return Rules.load(name)


@lru_cache(maxsize=1024)
def _rules_by_flags(_key: str, flags: _Uncompared) -> Rules:
    return Rules.from_mapping(flags.value)


@lru_cache(maxsize=64)
def rules_to_json(rules: Rules) -> str | dict[str, Any]:
    """The name of the rulebook that has these rules, or the nearest one's with the flags that differ."""
    flags = rules.to_mapping()
    nearest: tuple[str, dict[str, Any]] | None = None
    for name in sorted(rulebook_names(), key=lambda name: name != "standard"):
        base = Rules.load(name).to_mapping()
        changes = {flag: value for flag, value in flags.items() if base[flag] != value}
        if not changes:
            return name
        if nearest is None or len(changes) < len(nearest[1]):
            nearest = name, changes
    assert nearest is not None, "there is at least one rulebook"
    return {"base": nearest[0], **nearest[1]}


@lru_cache(maxsize=64)
def deck_counts(rules: Rules) -> tuple[int, ...]:
    """How many cards of each kind the deck of these rules has."""
    counts = [0] * NUM_KINDS
    for suit in range(rules.suits):
        for rank in range(rules.ranks):
            counts[suit * NUM_RANKS + rank] = rules.packs
    counts[JOKER] = rules.jokers
    return tuple(counts)
