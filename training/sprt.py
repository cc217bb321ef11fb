"""A sequential test between two agents: play until the answer is known, and no longer.

It is the generalised sequential probability ratio test on the scores of whole deals, which are independent and
identically distributed whatever goes on inside a deal.  The log-likelihood ratio is that of a normal distribution whose
variance is unknown, fitted anew after each deal under either hypothesis:

    LLR(n) = n / 2 * log((v + (m - low)**2) / (v + (m - high)**2)),    m mean, v variance of the n scores

as in M. Van den Bergh, "A practical introduction to the GSPRT" (2016), which Fishtest uses, after X. Li, J. Liu,
Z. Ying, "Generalized sequential probability ratio test for separate families of hypotheses", Sequential Analysis 33
(2014).  The bounds are Wald's, ``log((1 - error) / error)`` on both sides.  The test looks at the deals in their order,
one by one, so its answer depends neither on how many processes play nor on what they have played beyond it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LEAST_VARIANCE = 1e-9
MOST_POINTS = 1e6
"""Bounds lie within so many points a round of zero: far beyond what any rules can charge."""
FIRST_LOOK = 30
"""The test looks for the first time after so many deals: a variance of fewer is too rough."""


class SprtError(ValueError):
    """Bounds that make no test; the message is one line."""


def exact(value: float) -> str:
    """A number as short as reads back as the same number."""
    text = f"{value:g}"
    return text if float(text) == value else repr(float(value))


@dataclass(frozen=True)
class Verdict:
    """What a sequential test says.

    Attributes:
        answer: ``"high"`` or ``"low"``, the hypothesis that is accepted, or ``None`` while the answer is open.
        deals: after how many deals.
        ratio: the log-likelihood ratio there.
        bound: what it has to reach, up or down.
    """

    answer: str | None
    deals: int
    ratio: float
    bound: float


@dataclass(frozen=True)
class SequentialTest:
    """Is the first agent better by ``low`` points a round, or by ``high``?

    Attributes:
        low, high: the two hypotheses, in points a round that the first agent pays less than the second.
        error: how often the test may be wrong where one of the hypotheses is true; above 0, below 0.5.
    """

    low: float
    high: float
    error: float = 0.05

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise SprtError(f"sprt: expected LOW,HIGH with LOW below HIGH, got {exact(self.low)},{exact(self.high)}")
        if not -MOST_POINTS <= self.low < self.high <= MOST_POINTS:
            raise SprtError(
                f"sprt: expected bounds from {-MOST_POINTS:.0f} to {MOST_POINTS:.0f} points a round, "
                f"got {exact(self.low)},{exact(self.high)}"
            )
        if not 0 < self.error < 0.5:
            raise SprtError(f"sprt error: expected a number above 0 and below 0.5, got {exact(self.error)}")

    @property
    def bound(self) -> float:
        """The log-likelihood ratio at which the test ends, upwards for ``high`` and downwards for ``low``."""
        return math.log1p(-self.error) - math.log(self.error)

    def ratios(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The log-likelihood ratio after each deal: ``float64``, as many as scores; 0 before the first look."""
        n = np.arange(1, len(scores) + 1)
        mean = np.cumsum(scores) / n
        variance = np.maximum(np.cumsum(scores**2) / n - mean**2, _LEAST_VARIANCE)
        made = np.log(variance + (mean - self.low) ** 2) - np.log(variance + (mean - self.high) ** 2)
        made *= n / 2
        made[: FIRST_LOOK - 1] = 0
        return made

    def look(self, scores: NDArray[np.float64]) -> Verdict:
        """The verdict on the scores of deals in their order (``float64``, shape ``(deals,)``)."""
        ratios = self.ratios(scores)
        over = np.flatnonzero(np.abs(ratios) >= self.bound)
        if len(over) == 0:
            return Verdict(None, len(scores), float(ratios[-1]) if len(ratios) else 0.0, self.bound)
        at = int(over[0])
        return Verdict("high" if ratios[at] > 0 else "low", at + 1, float(ratios[at]), self.bound)
