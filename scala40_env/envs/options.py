"""The options of the PettingZoo environment, checked once: each bad one is refused with one line that names it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from scala40_env.core.game import EPISODES
from scala40_env.core.quoting import brief
from scala40_env.core.rules import Rules
from scala40_env.envs.rewards import REWARDS

ILLEGAL_ACTIONS = ("terminate", "raise", "penalty")
LARGEST_PENALTY = 1e9
LARGEST_SEED = 2**64 - 1
RENDER_MODES = ("human", "ansi")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What an environment is made with; see ``aec.raw_env`` for the meaning of each.

    Raises:
        RulesError: rules that do not exist, or players that they do not allow.
        ValueError: any other option with a value that it cannot have.
    """

    rules: Rules
    players: int
    episode: str
    reward: str
    illegal_action: str
    illegal_penalty: float
    turn_limit: int | None
    render_mode: str | None

    def __post_init__(self) -> None:
        self.rules.check_players(self.players)
        check_choice("episode", self.episode, EPISODES)
        check_choice("reward", self.reward, REWARDS)
        check_choice("illegal_action", self.illegal_action, ILLEGAL_ACTIONS)
        check_penalty(self.illegal_penalty)
        if self.turn_limit is not None:
            check_integer("turn_limit", self.turn_limit, 1, 2**31 - 1, " or None")
        if self.render_mode is not None:
            check_choice("render_mode", self.render_mode, RENDER_MODES, " or None")

    def __deepcopy__(self, _: Any) -> Options:
        """Itself, since it cannot be changed."""
        return self

    def to_mapping(self) -> dict[str, Any]:
        """The options by name, as JSON can hold them; not the way of rendering, which changes no game."""
        made = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "render_mode"}
        return {**made, "rules": self.rules.to_mapping()}


def check_integer(name: str, value: Any, low: int, high: int, also: str = "") -> int:
    """The integer that an option holds; raises ``ValueError`` where it is none, or not from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= int(value) <= high:
        top = "2**64 - 1" if high == 2**64 - 1 else str(high)
        raise ValueError(f"{name}: expected an integer from {low} to {top}{also}, got {brief(value)}")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...], also: str = "") -> None:
    """Raise ``ValueError`` unless an option is one of some texts."""
    if not isinstance(value, str) or value not in choices:
        named = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}: expected one of {named}{also}, got {brief(value)}")


def check_penalty(value: Any) -> None:
    """Raise ``ValueError`` unless what an illegal action costs is a number that can be paid."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= LARGEST_PENALTY:
        raise ValueError(f"illegal_penalty: expected a number from 0 to {LARGEST_PENALTY:g}, got {brief(value)}")
