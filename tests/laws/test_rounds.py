"""Some hundred rounds of uniform play in each rulebook; ``python -m tests.long`` plays a hundred thousand."""

from __future__ import annotations

import numpy as np
import pytest

from scala40_env.core.cards import NUM_KINDS
from scala40_env.core.game import Game
from scala40_env.core.rules import Rules
from tests.differential.rulesets import RULEBOOKS
from tests.laws.rounds import CARDS, KNOWN, NO_PROBLEM, NOTHING_LEGAL, ORDER, SIZE, broken_law, play_uniform


@pytest.mark.parametrize("name", RULEBOOKS)
def test_rounds_keep_the_laws_and_end(name: str):
    rules = Rules.load(name)
    for players in range(rules.min_players, rules.max_players + 1):
        tally = play_uniform(rules, players, 60)
        assert (tally.problem, tally.rounds) == ("none", 60)
        assert sum(tally.ends.values()) == 60
        assert rules.max_turns_per_round is None or tally.longest <= rules.max_turns_per_round


LEFT = np.zeros(NUM_KINDS, dtype=np.int64)


def test_broken_laws_are_found():
    game = Game("standard", 3, seed=1)
    legal = game.legal_actions()
    vector = game.rules.vector()
    assert broken_law(game.row, vector, legal, len(legal), LEFT) == NO_PROBLEM
    assert broken_law(game.row, Rules(jokers=3).vector(), legal, len(legal), LEFT) == CARDS
    assert broken_law(game.row, vector, legal, 0, LEFT) == NOTHING_LEGAL
    assert broken_law(game.row, vector, np.array([5, 5], dtype=np.int16), 2, LEFT) == ORDER
    game.row.known_jokers[1] = 4
    assert broken_law(game.row, vector, legal, len(legal), LEFT) == KNOWN
    game.row.hand_size[2] += 1
    assert broken_law(game.row, vector, legal, len(legal), LEFT) == KNOWN, "of the first seat at which one is broken"
    game.row.known_jokers[1] = 0
    assert broken_law(game.row, vector, legal, len(legal), LEFT) == SIZE
