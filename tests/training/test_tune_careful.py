"""The loop in which weights are tuned plays the same game as the arena does."""

import numpy as np
import pytest

from agents.base import CAREFUL, GREEDY, SOLVER
from agents.careful import CAREFUL_WEIGHTS
from agents.playout import PlayoutScratch
from agents.solver import SOLVER_WEIGHTS
from scala40_env.core.rules import Rules
from training.arena import play
from training.deals import plan
from training.tune_careful import SCALES, differences

pytestmark = pytest.mark.slow
RULES = Rules.load("standard")


def _differences(weights: np.ndarray, bot: int, players: int, num_deals: int) -> np.ndarray:
    scratch = PlayoutScratch()
    return differences(scratch, weights, bot, RULES, players, seed=3, first=0, num_deals=num_deals)


@pytest.mark.parametrize("players", [2, 4])
def test_weights_against_the_bot_that_has_them_differ_by_nothing(players: int):
    assert np.all(_differences(SOLVER_WEIGHTS, SOLVER, players, 50) == 0)
    assert np.all(_differences(CAREFUL_WEIGHTS, CAREFUL, players, 50) == 0)
    assert np.any(_differences(CAREFUL_WEIGHTS, SOLVER, players, 50) != 0)


def test_it_measures_what_the_arena_measures():
    result = play(plan(["solver", "greedy"], RULES, 60, seed=3))
    found = _differences(SOLVER_WEIGHTS, GREEDY, 2, 60)
    assert found.mean() == pytest.approx(result.differences[0].points.mean)


def test_the_steps_of_the_search_are_of_weights_that_exist():
    assert all(step > 0 for step in SCALES.values())
    assert len(set(SCALES)) == len(SCALES)
