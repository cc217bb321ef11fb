"""Intervals against numbers known beforehand."""

import math

import numpy as np
import pytest

from training.statistics import Estimate, estimate, ratio


def test_a_mean_and_its_interval():
    made = estimate(np.array([1.0, 2.0, 3.0, 4.0]))
    assert made.mean == pytest.approx(2.5)
    assert made.half_width == pytest.approx(1.959964 * math.sqrt(5 / 3) / 2)
    assert (made.low, made.high) == pytest.approx((2.5 - made.half_width, 2.5 + made.half_width))


def test_the_interval_covers_the_mean_nineteen_times_in_twenty():
    samples = np.random.default_rng(7).exponential(10.0, size=(4000, 100))
    made = [estimate(row) for row in samples]
    covered = sum(one.low <= 10 <= one.high for one in made) / len(made)
    assert 0.92 < covered < 0.96  # the exponential is skewed: the normal interval falls short a little


def test_one_sample_has_no_interval_and_none_has_no_mean():
    assert estimate(np.array([3.0])).mean == 3
    assert math.isnan(estimate(np.array([3.0])).half_width)
    assert math.isnan(estimate(np.array([np.nan])).mean)
    assert estimate(np.array([1.0, np.nan, 3.0])).mean == 2


def test_whether_zero_is_excluded():
    assert Estimate(3, 2).excludes_zero
    assert Estimate(-3, 2).excludes_zero
    assert not Estimate(3, 4).excludes_zero
    assert not Estimate(0, 0).excludes_zero
    assert not Estimate(3, math.nan).excludes_zero


def test_a_ratio_of_nothing_is_unknown():
    made = ratio(np.array([3, 4]), np.array([2, 0]))
    assert made[0] == 1.5
    assert math.isnan(made[1])
