"""The state of a batch as plain arrays, and back: for checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.state import ROW
from scala40_env.envs import lanes as at

if TYPE_CHECKING:
    from scala40_env.envs.batch import Batch

_ROWS = ("rows", "final_rows")
_ARRAYS = ("_lanes", "_carried", "_ends", "rewards", "left", "points", "final_observations", "bots", "salts")
_FREE = (at.OPT_STRIDE, at.OPT_CLEAR)
"""Options that are a part of the state, and not what the batch was made with."""


def pack(batch: Batch) -> dict[str, NDArray[Any]]:
    """All that a batch goes on from: copies; rows as bytes."""
    kept = {name: getattr(batch, name).copy() for name in _ARRAYS if getattr(batch, name) is not None}
    rows = {name: np.frombuffer(getattr(batch, name).tobytes(), dtype=np.uint8).copy() for name in _ROWS}
    return {**kept, **rows, "options": batch._options.copy()}


def unpack(batch: Batch, state: Mapping[str, NDArray[Any]]) -> None:
    """Put a state into a batch; ``ValueError``, and nothing changes, where it does not belong."""
    mine = pack(batch)
    for name, array in mine.items():
        other = state.get(name)
        if not isinstance(other, np.ndarray) or other.shape != array.shape or other.dtype != array.dtype:
            raise ValueError(f"state.{name}: expected {array.dtype} of shape {array.shape}")
    if (np.delete(state["options"], _FREE) != np.delete(batch._options, _FREE)).any():
        raise ValueError("state.options: the state is of a batch with other options")
    for name in _ROWS:
        getattr(batch, name).view(ROW, np.ndarray)[:] = np.frombuffer(state[name].tobytes(), dtype=ROW)
    for name in mine.keys() - {*_ROWS, "options"}:
        getattr(batch, name)[:] = state[name]
    batch._options[:] = state["options"]
    batch._options[at.OPT_CLEAR] = 1  # masks hold what the batch showed before
    batch.look()
    batch._options[at.OPT_CLEAR] = 0
