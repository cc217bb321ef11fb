"""Typed readers for JSON fields: the value, or one line that names the field and what was expected."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from scala40_env.core.meld_text import KIND_OF, NotationError, parse_card
from scala40_env.core.quoting import shown

T = TypeVar("T")


def check_keys(text: bytes) -> None:
    """Raise ``NotationError`` where an object of a JSON text has a key twice, which decoders pass over in silence.

    A text that is no JSON is for its decoder to refuse.
    """
    try:
        _KEYS.decode(text.decode())
    except json.JSONDecodeError:
        return


def _refuse_twice(pairs: list[tuple[str, Any]]) -> None:
    seen = set()
    for key, _ in pairs:
        if key in seen:
            raise NotationError(f"key {shown(key)}: given twice in one object")
        seen.add(key)


_KEYS = json.JSONDecoder(object_pairs_hook=_refuse_twice, parse_int=str, parse_float=str)
"""Looks at keys only: numbers, which may be too long to read, stay text."""


def read_mapping(value: object, where: str, known: Collection[str]) -> Mapping[str, Any]:
    """An object all of whose keys are known."""
    if not isinstance(value, Mapping):
        raise NotationError(f"{where}: expected an object, got {shown(value)}")
    for key in value:
        if key not in known:
            near = get_close_matches(key, known, n=1) if isinstance(key, str) and len(key) < 40 else []
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise NotationError(f"{where}: there is no field {shown(key)}{hint}")
    return value


def read_list(value: object, where: str, longest: int) -> Sequence[Any]:
    """A list of at most so many entries."""
    if not isinstance(value, (list, tuple)):
        raise NotationError(f"{where}: expected a list, got {shown(value)}")
    if len(value) > longest:
        raise NotationError(f"{where}: at most {longest} entries, got {len(value)}")
    return value


def read_integer(value: object, where: str, low: int, high: int) -> int:
    """An integer in a range."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise NotationError(f"{where}: expected an integer from {low} to {high}, got {shown(value)}")
    return value


def read_flag(value: object, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise NotationError(f"{where}: expected true or false, got {shown(value)}")
    return value


def read_name(value: object, where: str, names: Sequence[str]) -> int:
    """The place of a word among the words that are allowed."""
    if not isinstance(value, str) or value not in names:
        raise NotationError(f"{where}: expected one of {', '.join(names)}, got {shown(value)}")
    return names.index(value)


def read_per_seat(value: object, where: str, seats: int, read: Callable[[object, str], T]) -> list[T]:
    """A list with one entry for each seat."""
    entries = read_list(value, where, seats)
    if len(entries) != seats:
        raise NotationError(f"{where}: expected {seats} entries, one a seat, got {len(entries)}")
    return [read(entry, f"{where}[{seat}]") for seat, entry in enumerate(entries)]


def read_flags(value: object, where: str, seats: int) -> int:
    """A list of true or false, one a seat, as a mask of seats."""
    flags = read_per_seat(value, where, seats, read_flag)
    return sum(1 << seat for seat, flag in enumerate(flags) if flag)


def read_set(value: object, where: str, size: int) -> int:
    """A list of numbers below ``size``, as a mask."""
    entries = read_list(value, where, size)
    mask = 0
    for entry in entries:
        mask |= 1 << read_integer(entry, where, 0, size - 1)
    return mask


def read_cards(value: object, where: str, longest: int) -> list[int]:
    """A list of cards, as kinds."""
    words = read_list(value, where, longest)
    try:
        return [KIND_OF[word] for word in words]
    except (KeyError, TypeError):
        return [parse_card(word, where) for word in words]


def read_cards_and_hidden(value: object, where: str, longest: int) -> list[int]:
    """A list of cards and ``{"hidden": n}``: the kinds, each hidden card as -1."""
    words = read_list(value, where, longest)
    try:
        return [KIND_OF[word] for word in words]
    except (KeyError, TypeError):
        kinds: list[int] = []
    for word in words:
        if isinstance(word, Mapping):
            read_mapping(word, where, ("hidden",))
            kinds += [-1] * read_integer(word.get("hidden"), f"{where}.hidden", 0, longest)
        else:
            kinds.append(parse_card(word, where))
    if len(kinds) > longest:
        raise NotationError(f"{where}: at most {longest} cards, got {len(kinds)}")
    return kinds


def flags_of(mask: int, seats: int) -> list[bool]:
    """A mask of seats as a list of true or false, one a seat."""
    return [bool(int(mask) >> seat & 1) for seat in range(seats)]


def members_of(mask: int) -> list[int]:
    """The numbers in a mask."""
    mask = int(mask)
    return [place for place in range(mask.bit_length()) if mask >> place & 1]
