"""What an agent does in a position, as text."""

from __future__ import annotations

from typing import Any

from agents.base import Agent
from scala40_env.core.game import Game
from scala40_env.core.notation import format_action
from scala40_env.core.position import position_from_json
from scala40_env.core.position_writer import plain


def choice(agent: Agent, position: dict[str, Any]) -> str:
    """What an agent does at seat 0, after a few turns, where the position says nothing else."""
    rules, rows = position_from_json({"seat": 0, "phase": "play", "turns": [3, 3], "pile": ["4C"], **position})
    game = Game.from_rows(rules, rows)
    action = agent.act(game.redacted(0), game.legal_actions(), game.rules)
    assert game.is_legal(action)
    return format_action(action, plain(game.row), game.rules)
