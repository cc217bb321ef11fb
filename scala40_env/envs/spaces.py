"""The spaces of the faces, from the layout of observations."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from scala40_env.core.game import num_actions
from scala40_env.core.rules import Rules
from scala40_env.envs.observation import layout, state_layout


def observation_box(rules: Rules, players: int, *, derived: bool = False) -> spaces.Box:
    """The space of flat observations: ``uint8``, within the ranges of their slices."""
    parts = layout(rules, players, derived=derived)
    return spaces.Box(parts.low, parts.high, dtype=np.uint8)


def scale_of(rules: Rules, players: int, *, derived: bool = False) -> NDArray[np.float32]:
    """By what observations are divided so that they lie in 0 ... 1: ``float32``, shape ``(size,)``."""
    return np.maximum(layout(rules, players, derived=derived).high, 1).astype(np.float32)


def scaled_box(rules: Rules, players: int, *, derived: bool = False) -> spaces.Box:
    """The space of observations divided by ``scale_of``: ``float32``, 0 ... 1."""
    return spaces.Box(0.0, 1.0, (layout(rules, players, derived=derived).size,), dtype=np.float32)


def masked_observations(rules: Rules, players: int) -> spaces.Dict:
    """The space of an observation with its mask: ``{"observation": uint8, "action_mask": int8}``."""
    masks = spaces.Box(0, 1, (num_actions(rules),), dtype=np.int8)
    return spaces.Dict({"observation": observation_box(rules, players), "action_mask": masks})


def state_box(rules: Rules, players: int) -> spaces.Box:
    """The space of the states for a centralised critic."""
    parts = state_layout(rules, players)
    return spaces.Box(parts.low, parts.high, dtype=np.uint8)


def action_space(rules: Rules) -> spaces.Discrete:
    """The actions: 635, or 745 where the rules split runs or let a player choose to come back."""
    return spaces.Discrete(num_actions(rules))
