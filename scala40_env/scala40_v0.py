"""Scala 40 for PettingZoo: ``env()`` and ``raw_env()``.

    from scala40_env import scala40_v0

    env = scala40_v0.env(rules="standard", players=4, episode="match")
    env.reset(seed=0)

The options are those of ``scala40_env.envs.aec.raw_env``.  Where PettingZoo has a registry (1.27 and later),
``pettingzoo.make("aec", "scala40/scala40-v0", ...)`` makes the same once this module has been imported.
"""

from __future__ import annotations

import copy
from typing import Any

import pettingzoo
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from scala40_env.envs.aec import raw_env

__all__ = ["env", "raw_env"]

ENV_ID = "scala40/scala40-v0"


class Scala40(OrderEnforcingWrapper[str, dict[str, Any], int]):
    """The environment with PettingZoo's checks of the order of calls."""

    def last(self, observe: bool = True) -> tuple[dict[str, Any] | None, float, bool, bool, dict[str, Any]]:
        """As ``raw_env.last``, which is quicker than the wrapper's own way of asking for each part."""
        return self.env.last(observe)

    def clone(self) -> Scala40:
        """An environment of its own in the same state, with the same checks."""
        return copy.deepcopy(self)

    def set_state(self, saved: Any) -> None:
        """As ``raw_env.set_state``; the environment need not have been reset before."""
        self.env.set_state(saved)
        self._has_reset = True
        self._has_updated = True

    def __str__(self) -> str:
        return str(self.env)


def env(**options: Any) -> Scala40:
    """A Scala 40 environment that checks the order of calls; the options are those of ``raw_env``."""
    return Scala40(raw_env(**options))


def _register() -> None:
    register = getattr(pettingzoo, "register", None)
    if register is not None and ENV_ID not in pettingzoo.aec_registry:
        register("aec", ENV_ID, entry_point=f"{__name__}:env")


_register()
