"""The peers' gin rummy, measured as ours is: uniform play on one core, driven from Python, with mask and observation.

What is compared is what a learner waits for.  Their game is another one: two players, closed melds, no jokers, about
as many decisions a round; ours has the larger rules.  Theirs is stepped one game at a time, since they have no batch of
a compiled core; ours in a batch, since that is how it is used.  A ratio says nothing of the merit of either program.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

ROLLOUTS = 200


def open_spiel_loop() -> Callable[[], int] | None:
    """A function that plays one round of OpenSpiel's gin rummy and returns how many decisions; ``None`` without it."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game("gin_rummy")
    rng = random.Random(0)

    def play() -> int:
        decisions = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choices(outcomes, chances)[0])
                continue
            state.observation_tensor(state.current_player())
            mask = np.asarray(state.legal_actions_mask())
            state.apply_action(int(rng.choice(mask.nonzero()[0])))
            decisions += 1
        return decisions

    return play


def open_spiel_rollouts() -> Callable[[], int] | None:
    """A function that has OpenSpiel play ``ROLLOUTS`` random rounds in C++, from a deal on; ``None`` without it.

    They are those of its tree search: two simulations, of which each plays the half of them.
    """
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game("gin_rummy")
    evaluator = pyspiel.RandomRolloutEvaluator(ROLLOUTS // 2, 0)
    search = pyspiel.MCTSBot(game, evaluator, 2.0, 2, 100, False, 0, False)
    rng = random.Random(0)

    def play() -> int:
        state = game.new_initial_state()
        while state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(outcomes, chances)[0])
        search.step(state)
        return ROLLOUTS

    return play


def rlcard_loop() -> Callable[[], int] | None:
    """A function that plays one round of RLCard's gin rummy and returns how many decisions; ``None`` without it."""
    try:
        import rlcard
    except ImportError:
        return None
    env = rlcard.make("gin-rummy", config={"seed": 0})
    rng = random.Random(0)

    def play() -> int:
        decisions = 0
        state, _ = env.reset()
        while not env.is_over():
            mask = np.zeros(env.num_actions, dtype=np.int8)
            mask[list(state["legal_actions"])] = 1
            state, _ = env.step(int(rng.choice(mask.nonzero()[0])))
            decisions += 1
        return decisions

    return play


PEERS: dict[str, Any] = {
    "OpenSpiel, decisions": open_spiel_loop,
    "RLCard, decisions": rlcard_loop,
    "OpenSpiel, C++ rollouts, rounds": open_spiel_rollouts,
}
