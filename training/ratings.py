"""Ratings on one scale, from who came out ahead of whom.

The model is Bradley and Terry's, and for more than two seats Plackett and Luce's: an agent of strength ``w`` comes out
ahead of one of strength ``v`` with probability ``w / (w + v)``.  A round is taken apart into all pairs of its seats, a
match into its winners against the others.  Either breaking is consistent for Plackett and Luce's model (H. Azari
Soufiani et al., "Generalized method-of-moments for rank aggregation", 2013), and pairs take ties, as halves, and agents
that hold several seats, which rankings do not.  The fit is the maximum likelihood of the pairs, by the library
``choix`` (L. Maystre, M. Grossglauser, "Fast and accurate inference of Plackett-Luce models", 2015), so no order of the
games matters.  Intervals are percentiles of a bootstrap over deals, which are what is independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

ANCHOR = "greedy"
SCALE = 400 / math.log(10)
"""From log-odds to the usual points: 400 are odds of ten to one."""
RESAMPLES = 500
_TIES = 1.0
"""Games that every two agents that met are taken to have tied, so that who never lost has a rating that is finite."""
_TOLERANCE, _MOST_ROUNDS = 1e-6, 1000


@dataclass(frozen=True)
class Rating:
    """How strong an agent is beside the anchor, 400 points being odds of ten to one, with its 95 % interval."""

    points: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratings:
    """The ratings of all agents, in their order; ``None`` for an agent that no chain of games links to the anchor.

    Attributes:
        anchor: the number of the agent whose rating is 0.
        model: the model and what fitted it.
        ratings: one for each agent.
    """

    anchor: int
    model: str
    ratings: tuple[Rating | None, ...]


def can_rate() -> bool:
    """Whether the library that fits is installed."""
    return _fitter() is not None


def rate(ahead: NDArray[np.float64], anchor: int, *, players: int = 2, resamples: int = RESAMPLES) -> Ratings | None:
    """Rate agents.

    Args:
        ahead: how often each agent came out ahead of each other in each deal, ties as halves: ``float64``, shape
            ``(deals, agents, agents)``.
        anchor: whose rating is 0.
        players: seats at the table, for the name of the model.
        resamples: how often the deals are drawn anew.

    Returns:
        The ratings; ``None`` where ``choix`` is not installed.
    """
    fit = _fitter()
    if fit is None:
        return None
    deals, num_agents = ahead.shape[:2]
    flat = np.asarray(ahead, dtype=np.float64).reshape(deals, -1)
    whole = flat.sum(axis=0).reshape(num_agents, num_agents)
    linked = _linked(whole, anchor)
    at = linked.index(anchor)
    rng = np.random.default_rng(0)
    made = np.empty((resamples + 1, len(linked)))
    for i in range(resamples + 1):
        weights = np.ones(deals) if i == 0 else rng.multinomial(deals, np.full(deals, 1 / deals))
        wins = (weights @ flat).reshape(num_agents, num_agents)[np.ix_(linked, linked)]
        made[i] = fit(_with_ties(wins, whole[np.ix_(linked, linked)]))
    points = SCALE * (made - made[:, at : at + 1])
    low, high = np.percentile(points[1:], (2.5, 97.5), axis=0) if resamples else (points[0], points[0])
    ratings: list[Rating | None] = [None] * num_agents
    for i, agent in enumerate(linked):
        ratings[agent] = Rating(*(round(float(value), 6) + 0.0 for value in (points[0, i], low[i], high[i])))
    name = "Bradley-Terry" if players == 2 else "Plackett-Luce on pairs"
    return Ratings(anchor, f"{name}, choix {metadata.version('choix')}", tuple(ratings))


def anchor_of(texts: Sequence[str]) -> int:
    """The number of the agent that is the anchor: ``greedy`` where it plays, else the first by name."""
    return texts.index(ANCHOR) if ANCHOR in texts else min(range(len(texts)), key=lambda i: texts[i])


def _fitter() -> Any:
    try:
        from choix import ilsr_pairwise_dense
    except ImportError:
        return None

    def fit(wins: NDArray[np.float64]) -> NDArray[np.float64]:
        if len(wins) == 1:
            return np.zeros(1)
        return np.asarray(ilsr_pairwise_dense(wins, max_iter=_MOST_ROUNDS, tol=_TOLERANCE))

    return fit


def _with_ties(wins: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    met = (whole + whole.T > 0) & ~np.eye(len(whole), dtype=bool)
    made = wins + np.where(met, _TIES / 2, 0.0)
    np.fill_diagonal(made, 0.0)
    return made


def _linked(whole: NDArray[np.float64], anchor: int) -> list[int]:
    """The agents that games link to the anchor, directly or through others."""
    found, new = {anchor}, [anchor]
    while new:
        one = new.pop()
        for other in np.flatnonzero((whole[one] > 0) | (whole[:, one] > 0)).tolist():
            if other not in found:
                found.add(other)
                new.append(other)
    return sorted(found)
