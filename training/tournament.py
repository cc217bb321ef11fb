"""Who meets whom: the line-ups of a tournament, each of which is a plan of its own on the same deals.

As many agents as seats, or a number that divides the seats, sit at one table.  More agents than seats meet in every
line-up that can be made of them, the complete balanced design: every agent plays equally often, at every seat equally
often, and every two meet equally often.  For two seats that is the round robin of pairs.

A line-up is seated in the alphabetical order of its agents, so that the order in which agents are named changes
nothing but the order of the table.  Inside a line-up neighbours stay neighbours (``Plan.seating``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import agents as agents_package
import scala40_env
from agents.base import Agent
from agents.registry import make
from scala40_env.core.rules import Rules
from scala40_env.core.rules_json import rules_to_json
from training.deals import TURN_LIMITS, ArenaError, Plan
from training.sprt import SequentialTest, exact

MAX_LINE_UPS = 1000


@dataclass(frozen=True, kw_only=True)
class Tournament:
    """What is to be played, over all line-ups.

    Attributes:
        agents: the agents, as ``agents.registry.make`` reads them, in the order of the tables.
        line_ups: for each line-up the numbers of its agents, in the order in which they are seated.
        rules, players, deals, seed, episode, turn_limit: as ``Plan`` has them; each line-up plays all the deals.
        test: a sequential test of the first two agents, after which the deals end early, or ``None``.
    """

    agents: tuple[str, ...]
    line_ups: tuple[tuple[int, ...], ...]
    rules: Rules
    players: int
    deals: int
    seed: int = 0
    episode: str = "round"
    turn_limit: int = TURN_LIMITS["round"]
    test: SequentialTest | None = None

    def __post_init__(self) -> None:
        self.plan(0)  # says what cannot be played
        for agent in self.agents:
            if writable(agent) != agent:  # the command in the files could not name it
                raise ArenaError(f"agents: {agent!r} is not UTF-8")
        if self.test is not None and (len(self.agents) != 2 or len(self.line_ups) != 1):
            raise ArenaError(f"sprt: a sequential test is for 2 agents, got {len(self.agents)}")

    def plan(self, line_up: int) -> Plan:
        """What one line-up plays."""
        return Plan(
            agents=tuple(self.agents[i] for i in self.line_ups[line_up]),
            rules=self.rules,
            players=self.players,
            deals=self.deals,
            seed=self.seed,
            episode=self.episode,
            turn_limit=self.turn_limit,
        )

    def make_agents(self) -> list[Agent]:
        """All agents, in the order of ``agents``; raises ``AgentError``."""
        return [make(text) for text in self.agents]

    def order(self) -> list[int]:
        """The numbers of the agents in alphabetical order, which does not depend on how they were named."""
        return sorted(range(len(self.agents)), key=lambda i: self.agents[i])

    def command(self) -> list[str]:
        """The command that plays this again, with everything that its results depend on."""
        rules = rules_to_json(self.rules)
        words = ["scala40", "arena", *self.agents]
        words += ["--rules", rules if isinstance(rules, str) else json.dumps(rules)]
        words += ["--players", str(self.players), "--deals", str(self.deals), "--episode", self.episode]
        words += ["--seed", str(self.seed), "--turn-limit", str(self.turn_limit)]
        if self.test is not None:
            words.append(f"--sprt={exact(self.test.low)},{exact(self.test.high)}")  # a word of its own may begin with -
            words += ["--sprt-error", exact(self.test.error)]
        return words

    def identity(self) -> dict[str, Any]:
        """What makes two tournaments the same one, as JSON can hold it."""
        test = self.test
        return {
            "agents": list(self.agents),
            "rules": self.rules.to_mapping(),
            "players": self.players,
            "deals": self.deals,
            "episode": self.episode,
            "seed": self.seed,
            "turn_limit": self.turn_limit,
            "sprt": None if test is None else [test.low, test.high, test.error],
        }


def tournament(
    agents: Sequence[str],
    rules: Rules,
    deals: int,
    *,
    players: int | None = None,
    seed: int = 0,
    episode: str = "round",
    turn_limit: int | None = None,
    test: SequentialTest | None = None,
) -> Tournament:
    """A tournament, with the defaults filled in as ``deals.plan`` does; raises ``ArenaError``."""
    seats = max(2, len(agents)) if players is None else players
    order = sorted(range(len(agents)), key=lambda i: agents[i])
    line_ups = [tuple(order)]
    if len(agents) > seats >= 2:
        if comb(len(agents), seats) > MAX_LINE_UPS:
            raise ArenaError(
                f"agents: {len(agents)} agents make {comb(len(agents), seats)} line-ups for {seats} seats, "
                f"more than {MAX_LINE_UPS}; name fewer"
            )
        line_ups = list(combinations(order, seats))
    return Tournament(
        agents=tuple(agents),
        line_ups=tuple(line_ups),
        rules=rules,
        players=seats,
        deals=deals,
        seed=seed,
        episode=episode,
        turn_limit=TURN_LIMITS.get(episode, 1) if turn_limit is None else turn_limit,
        test=test,
    )


def of_plan(plan: Plan) -> Tournament:
    """The tournament of one line-up, seated as the plan says."""
    return Tournament(
        agents=plan.agents,
        line_ups=(tuple(range(len(plan.agents))),),
        rules=plan.rules,
        players=plan.players,
        deals=plan.deals,
        seed=plan.seed,
        episode=plan.episode,
        turn_limit=plan.turn_limit,
    )


def writable(text: str) -> str:
    """A text as UTF-8 can hold it: halves of characters, as of a file name that is no UTF-8, become escapes."""
    return text.encode(errors="backslashreplace").decode()


def source_digest() -> str:
    """A digest of the engine's and the agents' sources: results of other code are other results."""
    digest = hashlib.sha256()
    for package in (scala40_env, agents_package):
        folder = Path(str(package.__file__)).parent
        for file in sorted(folder.rglob("*")):
            if file.suffix in (".py", ".toml"):
                digest.update(file.relative_to(folder).as_posix().encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
