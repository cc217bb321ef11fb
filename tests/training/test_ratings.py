"""Ratings recover strengths that are known, with intervals that cover them."""

from collections.abc import Callable

import numpy as np
import pytest

from training.ratings import SCALE, anchor_of, rate

pytest.importorskip("choix", reason="ratings are fitted by choix, of the extra arena")


def _pairs(strengths: list[float], deals: int, rng: np.random.Generator) -> np.ndarray:
    """A round robin of single games that follow Bradley and Terry's model exactly."""
    strength = np.array(strengths)
    chance = 1 / (1 + 10 ** ((strength[None, :] - strength[:, None]) / 400))
    upper = np.triu(np.ones((len(strength),) * 2, dtype=bool), 1)
    won = (rng.random((deals, *chance.shape)) < chance) & upper
    return won + ((~won) & upper).transpose(0, 2, 1).astype(float)


def _tables(strengths: list[float], deals: int, rng: np.random.Generator) -> np.ndarray:
    """Whole tables that follow Plackett and Luce's model: the first of exponential clocks is the first of the table."""
    weights = 10 ** (np.array(strengths) / 400)
    clocks = rng.exponential(1 / weights, size=(deals, len(weights)))
    return (clocks[:, :, None] < clocks[:, None, :]).astype(float)


@pytest.mark.parametrize(("simulate", "players"), [(_pairs, 2), (_tables, 5)])
def test_known_strengths_are_recovered(simulate: Callable[..., np.ndarray], players: int):
    strengths = [0.0, -250.0, 90.0, 30.0, -80.0]
    made = rate(simulate(strengths, 4000, np.random.default_rng(3)), 0, players=players, resamples=100)
    assert made is not None
    for rating, strength in zip(made.ratings, strengths):
        assert rating is not None
        assert rating.points == pytest.approx(strength, abs=25)
        assert rating.low <= rating.points <= rating.high
        assert rating.high - rating.low < 50
    assert (made.ratings[0].low, made.ratings[0].points, made.ratings[0].high) == (0, 0, 0)  # type: ignore[union-attr]


def test_the_intervals_cover_the_strength_nineteen_times_in_twenty():
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(80):
        rating = rate(_pairs([0.0, 120.0], 200, rng), 0, resamples=100).ratings[1]  # type: ignore[union-attr]
        covered += rating.low <= 120 <= rating.high  # type: ignore[union-attr]
    assert 69 <= covered <= 80


def test_two_agents_have_the_odds_of_their_games():
    ahead = np.zeros((1000, 2, 2))
    ahead[:800, 0, 1] = ahead[800:, 1, 0] = 1
    rating = rate(ahead, 1, resamples=0).ratings[0]  # type: ignore[union-attr]
    assert rating is not None
    assert rating.points == pytest.approx(SCALE * np.log(4), abs=1)


def test_who_never_lost_has_a_rating_and_who_never_met_anybody_has_none():
    ahead = np.zeros((50, 3, 3))
    ahead[:, 0, 1] = 1
    made = rate(ahead, 1, resamples=20)
    assert made is not None
    assert made.ratings[2] is None
    assert made.ratings[0] is not None
    assert 500 < made.ratings[0].points < 2000


def test_the_order_of_the_deals_does_not_matter():
    ahead = _pairs([0.0, 50.0, -70.0], 300, np.random.default_rng(1))
    one, other = rate(ahead, 0, resamples=0), rate(ahead[::-1], 0, resamples=0)
    assert one == other


def test_greedy_is_the_anchor_where_it_plays():
    assert anchor_of(["uniform", "greedy", "other"]) == 1
    assert anchor_of(["uniform", "other"]) == 1
