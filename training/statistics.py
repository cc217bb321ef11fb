"""Means with their intervals, of samples that are paired by deal.

An agent's sample in a deal is its mean over all the seats and rotations in which it played that deal.  Samples of
different deals are independent, those of one deal are not: intervals are over deals, and the difference between two
agents is taken deal by deal, which is what playing the same deals is for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Z_95 = 1.959963984540054
"""The normal distribution has 95 % of its mass within so many standard deviations."""
FEW = 30
"""With fewer deals than this the normal interval is too narrow: it is given all the same, and reports say so."""


@dataclass(frozen=True)
class Estimate:
    """A mean and the half width of its normal 95 % interval; ``nan`` where there is one sample or none."""

    mean: float
    half_width: float

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean + self.half_width

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval lies on one side of zero."""
        return self.low > 0 or self.high < 0


def estimate(samples: NDArray[np.float64]) -> Estimate:
    """The mean of independent samples (shape ``(n,)``) and its interval, ``1.96 s / sqrt(n)``."""
    known = samples[~np.isnan(samples)]
    if len(known) == 0:
        return Estimate(math.nan, math.nan)
    mean = float(known.mean())
    if len(known) == 1:
        return Estimate(mean, math.nan)
    return Estimate(mean, Z_95 * float(known.std(ddof=1)) / math.sqrt(len(known)))


def ratio(parts: NDArray[np.int64], wholes: NDArray[np.int64]) -> NDArray[np.float64]:
    """``parts / wholes`` deal by deal, ``nan`` where a whole is zero."""
    made = np.full(np.shape(parts), np.nan)
    np.divide(parts, wholes, out=made, where=wholes != 0)
    return made
