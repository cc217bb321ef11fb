"""The sequential test: how often it errs, how soon it stops, and that it looks at the deals in their order."""

import math

import numpy as np
import pytest

from scala40_env.core.rules import Rules
from training.arena import play
from training.sprt import FIRST_LOOK, SequentialTest, SprtError, exact
from training.tournament import tournament


def _scores(mean: float, runs: int, deals: int, seed: int) -> np.ndarray:
    """Scores like those of deals: skewed, whole numbers of half points mostly, with many ties."""
    rng = np.random.default_rng(seed)
    tied = rng.random((runs, deals)) < 0.3
    raw = rng.exponential(20, (runs, deals)) - rng.exponential(20, (runs, deals))
    return np.where(tied, 0.0, np.round(2 * raw) / 2) + mean


@pytest.mark.parametrize(("mean", "wrong"), [(0.0, "high"), (3.0, "low")])
def test_it_errs_no_more_often_than_it_may(mean: float, wrong: str):
    test = SequentialTest(0, 3)
    verdicts = [test.look(scores) for scores in _scores(mean, 1000, 4000, 11)]
    answers = [verdict.answer for verdict in verdicts]
    assert answers.count(None) == 0
    assert answers.count(wrong) / len(answers) < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)
    fixed = 2 * 24**2 * 1.645**2 * 2 / 9  # deals of a test of fixed length with the same errors, or somewhat more
    assert np.mean([verdict.deals for verdict in verdicts]) < fixed


def test_it_stops_sooner_where_the_answer_is_plain():
    test = SequentialTest(0, 3)
    plain, close = (np.mean([test.look(s).deals for s in _scores(mean, 100, 6000, 2)]) for mean in (12.0, 1.5))
    assert plain < close / 4


def test_deals_beyond_the_answer_do_not_touch_it():
    scores = _scores(6.0, 1, 3000, 4)[0]
    verdict = SequentialTest(0, 3).look(scores)
    assert verdict.answer == "high"
    assert SequentialTest(0, 3).look(scores[: verdict.deals]) == verdict
    short = SequentialTest(0, 3).look(scores[: verdict.deals - 1])
    assert short.answer is None
    assert short.deals == verdict.deals - 1


def test_the_ratio_is_the_formula():
    scores = np.random.default_rng(0).normal(1, 5, 50)
    mean, variance = scores.mean(), scores.var()
    expected = 25 * math.log((variance + mean**2) / (variance + (mean - 2) ** 2))
    assert SequentialTest(0, 2).ratios(scores)[-1] == pytest.approx(expected)


def test_agents_that_are_equal_are_not_better():
    verdict = SequentialTest(0, 1).look(np.zeros(100))
    assert (verdict.answer, verdict.deals) == ("low", FIRST_LOOK)
    assert math.isfinite(verdict.ratio)


def test_the_arena_stops_and_counts_what_the_test_saw():
    rules = Rules.load("standard")
    result = play(tournament(["greedy", "uniform"], rules, 5000, test=SequentialTest(0, 20)))
    assert result.verdict is not None
    assert result.verdict.answer == "high"
    assert result.verdict.deals == result.deals < 100
    assert result.rounds == 2 * result.deals
    exact = play(tournament(["greedy", "uniform"], rules, result.deals))
    assert exact.agents == result.agents
    behind = play(tournament(["uniform", "greedy"], rules, 5000, test=SequentialTest(0, 20)))
    assert behind.verdict is not None
    assert behind.verdict.answer == "low"


@pytest.mark.parametrize(
    "bounds",
    [(1, 1), (2, 1), (0, math.inf), (math.nan, 1), (0, 1, 0), (0, 1, 0.5), (0, 1, math.nan), (-1e200, 1e200), (0, 1e7)],
)
def test_bounds_that_make_no_test_are_refused(bounds: tuple[float, ...]):
    with pytest.raises(SprtError, match="sprt"):
        SequentialTest(*bounds)


def test_the_numbers_of_any_test_are_finite():
    for test in (SequentialTest(-1e6, 1e6), SequentialTest(0, 5e-324), SequentialTest(0, 1, 5e-324)):
        assert math.isfinite(test.bound)
        assert np.isfinite(test.ratios(np.full(50, 8000.0))).all()


@pytest.mark.parametrize("value", [0.0, -3, 0.05, 1e-9, 0.123456789, 0.1 + 0.2, 123456.5, np.float64(1 / 3)])
def test_a_number_is_written_so_that_it_reads_back(value: float):
    assert float(exact(value)) == value
    assert len(exact(0.05)) == 4
