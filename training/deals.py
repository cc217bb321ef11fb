"""What an arena plays: the same deals for everybody, with the seats exchanged.

Deal ``k`` is game number ``k`` under the seed.  It is played once for each rotation of the line-up, so that every agent
has held every hand of it: what is left between agents is how they play, and the luck of the cards that follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from agents.registry import make
from scala40_env.core.game import EPISODES, seed_word
from scala40_env.core.rules import Rules

TURN_LIMITS = {"round": 10_000, "match": 200_000}
"""Turns after which an episode is broken off, where nothing else is asked for: far beyond what the rulebooks allow."""


class ArenaError(ValueError):
    """Something that cannot be played; the message is one line and names it."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be played: enough, with the agents, to play any of its deals anywhere.

    Attributes:
        agents: the line-up, as ``agents.registry.make`` reads it.
        rules: the rules.
        players: seats at the table, a multiple of the number of agents: the line-up repeats until they are filled.
        deals: how many deals.
        seed: of the deals and of the agents' random numbers.
        episode: ``"round"`` or ``"match"``.
        turn_limit: turns after which an episode is broken off.
    """

    agents: tuple[str, ...]
    rules: Rules
    players: int
    deals: int
    seed: int = 0
    episode: str = "round"
    turn_limit: int = TURN_LIMITS["round"]

    def __post_init__(self) -> None:
        seed_word(self.seed)
        if self.episode not in EPISODES:
            raise ArenaError(f"episode: expected round or match, got {self.episode!r}")
        for name, value in (("deals", self.deals), ("turn limit", self.turn_limit)):
            if not 1 <= value < 2**31:
                raise ArenaError(f"{name}: expected an integer from 1, got {value}")
        if not self.agents:
            raise ArenaError("agents: expected at least one")
        self.rules.check_players(self.players)
        if self.players % len(self.agents):
            raise ArenaError(
                f"agents: {len(self.agents)} agents do not share {self.players} seats evenly; "
                f"give {self.players} agents, or a number that divides {self.players}"
            )

    @property
    def rotations(self) -> int:
        """How often each deal is played."""
        return len(self.agents)

    def seating(self) -> NDArray[np.int64]:
        """The agent at each seat in each rotation: ``int64``, shape ``(rotations, players)``."""
        rotation = np.arange(self.rotations)[:, None]
        seat = np.arange(self.players)[None, :]
        return (seat + rotation) % len(self.agents)

    def make_agents(self) -> list[Agent]:
        """The line-up; raises ``AgentError``."""
        return [make(text) for text in self.agents]


def plan(
    agents: Sequence[str],
    rules: Rules,
    deals: int,
    *,
    players: int | None = None,
    seed: int = 0,
    episode: str = "round",
    turn_limit: int | None = None,
) -> Plan:
    """A plan, with the defaults filled in: as many players as agents and at least two, and the usual limit of turns."""
    return Plan(
        agents=tuple(agents),
        rules=rules,
        players=max(2, len(agents)) if players is None else players,
        deals=deals,
        seed=seed,
        episode=episode,
        turn_limit=TURN_LIMITS.get(episode, 1) if turn_limit is None else turn_limit,
    )
