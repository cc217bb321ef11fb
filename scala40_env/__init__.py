"""Scala 40, the Italian rummy, as an environment for reinforcement learning.

``scala40_v0`` is the PettingZoo environment, ``Batch`` many games side by side, ``Game`` one game of the engine,
``Rules`` its house options.  Everything else is reached by the path of its module; what is not asked for is not loaded.

Importing this package registers ``scala40/Scala40-v0`` with Gymnasium, for ``make`` and ``make_vec``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import gymnasium

if TYPE_CHECKING:
    from scala40_env import scala40_v0
    from scala40_env.core.game import Game
    from scala40_env.core.rules import Rules
    from scala40_env.envs.batch import Batch

__version__ = "0.1.0"
__all__ = ["Batch", "Game", "Rules", "__version__", "scala40_v0"]

_HOME = {
    "Batch": "scala40_env.envs.batch",
    "Game": "scala40_env.core.game",
    "Rules": "scala40_env.core.rules",
}
ENV_ID = "scala40/Scala40-v0"

gymnasium.register(
    ENV_ID,
    entry_point="scala40_env.envs.single:Scala40Env",
    vector_entry_point="scala40_env.envs.vector:Scala40VectorEnv",
)


def __getattr__(name: str) -> Any:
    """Load what is asked for, the first time."""
    if name == "scala40_v0":
        return importlib.import_module("scala40_env.scala40_v0")
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
