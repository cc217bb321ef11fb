"""Games of an arena as records, which ``scala40 replay`` checks and shows: what was done, and what agents thought.

The records of a piece are packed where it was played and lie with it in the folder of the tournament; the file of all
of them is made at the end, in the order of line-ups, deals and rotations.  So it does not depend on how many processes
played, nor on whether they were broken off in between.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

from scala40_env.replay.record import encode, make_record
from scala40_env.replay.thoughts import Thought, noted, thought_of
from training.deals import Plan

GAMES = "games.jsonl"


class Notes:
    """What was done in one game so far, and what was thought."""

    def __init__(self) -> None:
        self.actions: list[int] = []
        self.thoughts: list[Thought] = []

    def add(self, action: int, agent: Any) -> None:
        """Note an action, and what the agent that has just chosen it says that it thought."""
        self.actions.append(action)
        self.thoughts.append(thought_of(agent))


class Recorder:
    """Takes down the games of a piece; a game that was not finished as far as it went.

    Args:
        plan: what is played.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._games: dict[tuple[int, int], Notes] = {}

    def begin(self, deal: int, rotation: int) -> Notes:
        """The notes of a game that begins."""
        return self._games.setdefault((deal, rotation), Notes())

    def packed(self) -> str:
        """The records of all games, in the order of deals and rotations, as ``unpack`` reads them."""
        lines = [self._line(deal, rotation) for deal, rotation in sorted(self._games)]
        return base64.b64encode(zlib.compress(b"".join(lines))).decode()

    def _line(self, deal: int, rotation: int) -> bytes:
        plan, notes = self._plan, self._games[deal, rotation]
        record = make_record(
            plan.rules,
            plan.players,
            notes.actions,
            seed=plan.seed,
            game=deal,
            episode=plan.episode,
            agents=[plan.agents[agent] for agent in plan.seating()[rotation]],
            thoughts=noted(notes.thoughts),
        )
        return encode(record)


def unpack(text: str, games: int) -> list[bytes]:
    """The records of a piece of so many games, a line each; raises ``ValueError`` or ``zlib.error``."""
    lines = zlib.decompress(base64.b64decode(text, validate=True)).splitlines(keepends=True)
    if len(lines) != games:
        raise ValueError(f"{len(lines)} records of {games} games")
    return lines
