"""A live PettingZoo game as plain values, and back: for checkpoints, search, and other processes.

The values are those of JSON, but for the row, which is bytes.  A saved game says which version wrote it, with which
options and which layout of the row, and carries a digest, so that anything else is refused before it is used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from scala40_env.core.state import ROW

if TYPE_CHECKING:
    from scala40_env.envs.aec import raw_env

FORMAT = "scala40-aec"
VERSION = 2

_LIVE = (
    "agents",
    "terminations",
    "truncations",
    "rewards",
    "_cumulative_rewards",
    "agent_selection",
    "_skip_agent_selection",
    "_winners",
    "_truncation",
    "_illegal",
    "_refused",
    "_forfeited",
    "_seed",
    "_game",
)
"""The attributes of a live game beside its row; what follows from them and the row is found again."""


@cache
def row_layout() -> str:
    """A digest of the names, types and places of the fields of a row."""
    fields = [(name, str(ROW.fields[name][0]), ROW.fields[name][1]) for name in ROW.names or ()]
    return hashlib.blake2b(repr(fields).encode(), digest_size=8).hexdigest()


def pack(env: raw_env) -> dict[str, Any]:
    """The state of an environment that has been reset."""
    live: dict[str, Any] = {}
    for name in _LIVE:
        value = getattr(env, name)
        if isinstance(value, tuple):
            value = list(value)
        live[name.lstrip("_")] = value.copy() if isinstance(value, (dict, list)) else value
    saved = {
        "format": FORMAT,
        "version": VERSION,
        "row_layout": row_layout(),
        "options": env.options.to_mapping(),
        "live": live,
        "row": env._table.rows.tobytes(),
    }
    return {**saved, "digest": _digest(saved)}


def unpack(env: raw_env, saved: Mapping[str, Any]) -> None:
    """Put a saved state into an environment; ``ValueError``, and nothing changes, where it does not belong."""
    if not isinstance(saved, Mapping):
        raise ValueError(f"state: expected what get_state returned, got {type(saved).__name__}")
    expected = {"format": FORMAT, "version": VERSION, "row_layout": row_layout()}
    for name, value in expected.items():
        if saved.get(name) != value:
            raise ValueError(f"state.{name}: expected {value!r}, got {saved.get(name)!r}")
    _check_options(env, saved.get("options"))
    is_whole = set(saved) == {*expected, "options", "live", "row", "digest"} and isinstance(saved["row"], bytes)
    if not is_whole or saved["digest"] != _digest(saved):
        raise ValueError("state: it is damaged, or was changed after get_state returned it")
    env._table.rows[:] = np.frombuffer(saved["row"], dtype=ROW)
    for name in _LIVE:
        value = saved["live"][name.lstrip("_")]
        setattr(env, name, value.copy() if isinstance(value, (dict, list)) else value)
    env._winners = None if env._winners is None else tuple(env._winners)
    _find_again(env)


def _find_again(env: raw_env) -> None:
    """What follows from the row and from what was saved beside it."""
    env._infos = {}
    env._dead = {agent for agent in env.agents if env.terminations[agent] or env.truncations[agent]}
    env._paid = True
    env._table.look()
    if env._forfeited or env._truncation is not None:
        env._table.stop()
    env._read_scores()


def _check_options(env: raw_env, options: Any) -> None:
    mine = env.options.to_mapping()
    if not isinstance(options, Mapping) or set(options) != set(mine):
        raise ValueError("state.options: expected the options of an environment")
    for name, value in mine.items():
        if options[name] != value:
            shown = "other rules" if name == "rules" else f"{options[name]!r}, not {value!r}"
            raise ValueError(f"state.options.{name}: the state is of an environment with {shown}")


def _digest(saved: Mapping[str, Any]) -> str:
    kept = hashlib.blake2b(digest_size=16)
    for name in ("format", "version", "row_layout", "options", "live"):
        kept.update(_plain(saved[name]).encode())
    kept.update(saved["row"])
    return kept.hexdigest()


def _plain(value: Any) -> str:
    """A text that is the same whatever the order of keys, and whether a sequence is a list or a tuple."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key!r}:{_plain(value[key])}" for key in sorted(value, key=repr)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_plain, value)) + "]"
    return repr(value)
