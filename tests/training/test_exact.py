"""Exact best responses: as a slow twin finds them, no worse than anybody, worth in play what they are said to be."""

from __future__ import annotations

import numpy as np
import pytest

from agents.registry import make
from scala40_env.core.deal import decision_rng
from scala40_env.core.game import Game
from scala40_env.core.rules import Rules
from tests.training.exact_twin import best_value
from training.exact import (
    Answer,
    RecallingPlayer,
    UniformPlayer,
    best_response,
    exploitability,
    player_of,
)
from training.exact_tree import ExactError, Grower, history_after
from training.statistics import estimate

HANDS_OF_TWO = {"base": "tiny", "suits": 2, "hand_size": 2, "close_needs_discard": False, "opening_min": 0}
SMALL = Rules.from_mapping({**HANDS_OF_TWO, "dead_round_result": "all_count"})
"""Seven cards, a joker among them; every round costs something."""
RENEWED = Rules.from_mapping(
    {**HANDS_OF_TWO, "jokers": 0, "stock_recycle": "shuffle", "max_stock_recycles": 1, "max_turns_per_round": 4}
)
BOTS = ("uniform", "greedy", "solver")


def chances_of(name: str, rules: Rules):
    """A bot as the twin wants it."""
    agent = make(name)

    def policy(game: Game) -> dict[int, float]:
        legal = game.legal_actions()
        if name == "uniform":
            return {int(action): 1 / len(legal) for action in legal}
        return {agent.act(game.redacted(game.seat), legal, rules): 1.0}

    return policy


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    others = [player_of(make(name), SMALL) for name in BOTS]
    return {
        name: best_response(player, SMALL, others=others, keep=name == "uniform") for name, player in zip(BOTS, others)
    }


@pytest.mark.parametrize(("name", "seats"), [("uniform", (1, 0)), ("greedy", (1, 1))])
def test_it_is_what_the_twin_finds(answers: dict[str, Answer], name: str, seats: tuple[int, int]):
    assert answers[name].best[seats] == pytest.approx(best_value(SMALL, chances_of(name, SMALL), *seats), abs=1e-9)


def test_no_policy_does_better(answers: dict[str, Answer]):
    for answer in answers.values():
        assert (answer.best >= answer.values - 1e-9).all()
    assert answers["uniform"].best.mean() > answers["uniform"].values.mean(axis=(1, 2)).max() + 1
    assert answers["greedy"].best.mean() > answers["greedy"].values.mean(axis=(1, 2)).max() + 1


def test_values_are_those_of_one_game(answers: dict[str, Answer]):
    for i, name in enumerate(BOTS):
        for j, other in enumerate(BOTS):
            mine, theirs = answers[other].values[i], answers[name].values[j]
            assert np.allclose(mine, -theirs[::-1], atol=1e-9)  # what one seat gains the other loses
        assert answers[name].values[i].mean() == pytest.approx(0, abs=1e-9)
        assert np.allclose(answers[name].best, answers[name].best[::-1, ::-1])  # the seats are alike


def test_the_response_is_worth_in_play_what_it_is_said_to_be(answers: dict[str, Answer]):
    response, uniform = answers["uniform"].response, make("uniform")
    gained = np.zeros((1000, 2))
    for deal in range(len(gained)):
        for seat in range(2):
            game, history, decisions, last = Game(SMALL, 2, seed=77, game=deal), 0, 0, -1
            while not game.is_over:
                history = history_after(history, last, game.redacted(seat), seat)
                legal = game.legal_actions()
                if game.seat == seat:
                    choice = response.action(np.uint64(history))
                    assert choice is not None
                    last = choice
                else:
                    rng = decision_rng(np.uint64(77), np.uint64(deal), game.seat, decisions)
                    last = uniform.act(game.redacted(game.seat), legal, SMALL, int(rng))
                game.play(last)
                decisions += 1
            gained[deal, seat] = game.row.points[1 - seat] - game.row.points[seat]
    found, exact = estimate(gained.mean(axis=1)), answers["uniform"].best.mean()
    assert abs(found.mean - exact) < 1.5 * found.half_width
    assert found.half_width < 0.08 * exact


def test_the_response_is_a_policy_and_can_be_exploited_itself(answers: dict[str, Answer]):
    response, uniform = answers["uniform"].response, UniformPlayer()
    again = best_response(uniform, SMALL, others=[response])
    assert np.allclose(again.values[0], again.best)
    found = exploitability(response, SMALL)
    assert found.itself.mean() == pytest.approx(0, abs=1e-9)
    assert found.nash_conv == pytest.approx(2 * found.gain)
    assert found.gain > -1e-9


def test_a_policy_that_nobody_beats():
    rules = Rules.from_mapping({"base": "tiny", "suits": 2, "ranks": 4, "jokers": 0})
    assert exploitability(player_of(make("greedy"), rules), rules).gain == pytest.approx(0, abs=1e-9)


def test_a_stock_that_is_shuffled_again_is_in_no_order():
    policy = player_of(make("greedy"), RENEWED)
    answer = best_response(policy, RENEWED, others=[policy])
    gained = []
    for deal in range(1200):
        game, agent = Game(RENEWED, 2, seed=5, game=deal), make("greedy")
        first = game.seat
        while not game.is_over:
            game.play(agent.act(game.redacted(game.seat), game.legal_actions(), RENEWED))
        gained.append(float(game.row.points[1 - first] - game.row.points[first]))
    found = estimate(np.array(gained))
    assert abs(found.mean - answer.values[0][0, 0]) < 1.5 * found.half_width


def test_the_chances_of_every_deal_sum_to_one():
    for rules in (SMALL, RENEWED, Rules.from_mapping({**HANDS_OF_TWO, "upcard_joker": "redraw"})):
        weights = [weights for _, weights in Grower(rules).roots(1, 0)]
        assert np.concatenate(weights).sum() == pytest.approx(1)


def test_a_response_that_knows_nothing_is_uniform():
    level, _ = next(Grower(SMALL).roots(0, 0))
    nothing = RecallingPlayer(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int16))
    assert nothing.action(np.uint64(1)) is None
    assert np.array_equal(nothing.chances(level), UniformPlayer().chances(level))


@pytest.mark.parametrize(
    ("flags", "most", "words"),
    [
        ({"base": "standard"}, 10**8, r"^exact: too large: [\d.e+]+ deals alone, at most 100,000,000 states are met$"),
        ({"base": "tiny"}, 10**5, r"^exact: too large: [\d,]+ states met, [\d,]+ of them at once, and no end$"),
        (
            {**HANDS_OF_TWO, "stock_recycle": "flip", "stock_recycle_when": "draw_from_empty"},
            10**8,
            r"^exact: stock_rec",
        ),
    ],
)
def test_what_is_too_large_is_refused(flags: dict[str, object], most: int, words: str):
    with pytest.raises(ExactError, match=words):
        best_response(UniformPlayer(), Rules.from_mapping(flags), most=most)


@pytest.mark.slow
def test_tiny_is_what_it_was():
    rules = Rules.load("tiny")
    greedy = player_of(make("greedy"), rules)
    answer = best_response(greedy, rules, others=[greedy, UniformPlayer()])
    assert answer.best.mean() == pytest.approx(0.0791071, abs=1e-6)
    assert answer.values[1].mean() == pytest.approx(-9.0667915, abs=1e-6)
    assert answer.states == 5_802_048
