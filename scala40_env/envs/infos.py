"""The infos of the PettingZoo environment, which always have the same keys.

``action_mask``; ``seat`` of the agent; ``phase`` (``"draw"``, ``"play"``, ``"round_over"``, ``"match_over"``);
``turn``, the turns of the episode that are over; ``round``, from 0; ``scores``, the points of the match by seat;
``stock``, its size; ``end``, how the last round ended, or ``None``; ``illegal_action``, the last one (the nearest
number of 64 bits), or ``None``.

At the agent's end, and ``None`` before it: ``result`` (``"win"``, ``"draw"``, ``"loss"``; ``None`` also where it was
cut short), ``final_scores`` and ``truncation_reason`` (``"turn_limit"``, ``"illegal_actions"``).  At the end of the
episode for all, and ``None`` before it: ``winners`` (agents), and ``seed`` and ``game``, which name its deals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.state import PHASE_NAMES
from scala40_env.envs.stepping import PHASE_BITS, PHASE_SHIFT, STOCK_BITS, STOCK_SHIFT, TURNS_SHIFT

if TYPE_CHECKING:
    from scala40_env.envs.aec import raw_env


def info_of(env: raw_env, agent: str, mask: NDArray[np.int8] | None) -> dict[str, Any]:
    """The info of an agent now.

    Args:
        env: the environment, with a game.
        agent: one that has not left.
        mask: its legal actions, where they are at hand.
    """
    table = env._table
    outcome = table.outcome
    seat = env._seats[agent]
    ended = bool(env._dead) and agent in env._dead
    over = ended and table.is_over
    return {
        "action_mask": table.mask(seat, waits=bool(env._dead)) if mask is None else mask,
        "seat": seat,
        "phase": PHASE_NAMES[outcome >> PHASE_SHIFT & PHASE_BITS],
        "turn": outcome >> TURNS_SHIFT,
        "round": env._round,
        "scores": env._scores,
        "stock": outcome >> STOCK_SHIFT & STOCK_BITS,
        "end": env._last_end,
        "illegal_action": env._illegal,
        "result": _result(env, agent) if ended else None,
        "final_scores": env._scores if ended else None,
        "truncation_reason": env._truncation if ended and env.truncations[agent] else None,
        "winners": _winning_agents(env) if over else None,
        "seed": env._seed if over else None,
        "game": env._game if over else None,
    }


def _winning_agents(env: raw_env) -> tuple[str, ...] | None:
    return None if env._winners is None else tuple(env.possible_agents[seat] for seat in env._winners)


def _result(env: raw_env, agent: str) -> str | None:
    if env.truncations[agent]:
        return None
    if env._winners is None or env._seats[agent] not in env._winners:
        return "loss"
    return "win" if len(env._winners) == 1 or env._forfeited else "draw"
