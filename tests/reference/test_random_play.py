"""Random play of the twin: what must hold in every position, and that its short cuts change no answer."""

from __future__ import annotations

import random

import pytest

from scala40_env.core.rules import Rules
from tests.reference import legality, melds, plays
from tests.reference.adapter import deck
from tests.reference.cases import position
from tests.reference.legality import legal_actions
from tests.reference.random_play import cards_in, random_round, random_rules
from tests.reference.rules_of_play import apply


@pytest.mark.parametrize("seed", range(12))
def test_random_play_keeps_the_cards_and_never_gets_stuck(seed: int):
    rules = random_rules(random.Random(seed))
    for state in random_round(rules, 2 + seed % 3, seed):
        assert cards_in(state) == deck(rules)
        for meld in state.table.values():
            assert melds.is_valid(meld, rules, melds.longest_run(rules))
        for known, hand in zip(state.known, state.hands, strict=True):
            assert all(0 <= count <= held for count, held in zip(known, hand, strict=True))


@pytest.mark.parametrize("seed", range(12))
def test_giving_up_early_changes_no_answer(seed: int, monkeypatch: pytest.MonkeyPatch):
    rng = random.Random(1000 + seed)
    rules = random_rules(rng, suits=rng.choice([2, 3, 4]), ranks=rng.choice([6, 8, 13]), hand_size=7, max_players=2)
    positions = random_round(rules, 2, seed, most=80)
    quick = [legal_actions(state) for state in positions]
    monkeypatch.setattr(legality, "_hopeless", lambda state: False)
    assert [legal_actions(state) for state in positions] == quick


def test_too_many_ways_to_play_are_left_undecided(monkeypatch: pytest.MonkeyPatch):
    state = position("KH KD JK QH QD QC 2S 5S 9D", opened=False)
    assert legal_actions(state)
    monkeypatch.setattr(legality, "MOST_TRIED", 0)
    with pytest.raises(legality.UndecidedError):
        legal_actions(state)


def test_apply_leaves_the_state_alone():
    for state in random_round(Rules.load("international"), 3, 7, most=60):
        before = state.copy()
        for action in plays.candidates(state):
            apply(state, action, reshuffle=list)
        assert state == before
