"""Uniform play is uniform, and its numbers belong to the decision alone."""

import numpy as np

from agents.base import rng_of
from agents.uniform import Uniform
from scala40_env.core.deal import decision_rng
from scala40_env.core.game import Game


def _discarding() -> Game:
    game = Game("standard", 2, seed=4)
    game.play(0)
    return game


def test_each_legal_action_is_equally_likely():
    game = _discarding()
    legal = game.legal_actions()
    rows = game.redacted(game.seat)
    draws = 7_000
    chosen = [
        Uniform().act(rows, legal, game.rules, decision_rng(np.uint64(9), np.uint64(0), 0, i)) for i in range(draws)
    ]
    assert set(chosen) == set(legal.tolist())
    counts = np.array([chosen.count(action) for action in legal])
    expected = draws / len(legal)
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    degrees = len(legal) - 1
    # Wilson and Hilferty: 3.09 standard deviations, one time in 1,000
    bound = degrees * (1 - 2 / (9 * degrees) + 3.09 * (2 / (9 * degrees)) ** 0.5) ** 3
    assert chi_square < bound


def test_numbers_depend_on_the_decision_and_the_seed():
    game = _discarding()
    legal, rows = game.legal_actions(), game.redacted(game.seat)

    def play(agent: Uniform, seed: int) -> list[int]:
        return [
            agent.act(rows, legal, game.rules, decision_rng(np.uint64(seed), np.uint64(2), 1, i)) for i in range(40)
        ]

    assert play(Uniform(), 1) == play(Uniform(), 1)
    assert play(Uniform(), 1) != play(Uniform(), 2)
    assert play(Uniform(), 1) != play(Uniform(seed=1), 1)
    assert play(Uniform(seed=1), 1) != play(Uniform(seed=2), 1)


def test_streams_of_seats_games_and_decisions_differ():
    starts = {
        int(decision_rng(np.uint64(seed), np.uint64(game), seat, decision))
        for seed in range(4)
        for game in range(4)
        for seat in range(6)
        for decision in range(4)
    }
    assert len(starts) == 4 * 4 * 6 * 4


def test_without_numbers_it_draws_from_what_its_seat_knows():
    game = _discarding()
    legal, rows = game.legal_actions(), game.redacted(game.seat)
    assert Uniform().act(rows, legal, game.rules) == Uniform().act(rows.copy(), legal, game.rules)
    other = Game("standard", 2, seed=5)
    assert rng_of(other.redacted(other.seat)) != rng_of(rows)
