"""A quick share of the comparison of engine and twin; ``python -m tests.long`` compares many more positions."""

from __future__ import annotations

import random

import pytest

from scala40_env.core.rules import Rules
from tests.differential.compare import Disagreement, Pair, Start, again, start_of, walk
from tests.differential.counts import Counts
from tests.differential.policies import POLICIES
from tests.differential.positions import position
from tests.differential.rulesets import RULEBOOKS, wide_rules
from tests.reference.adapter import deck, from_row, to_row
from tests.reference.legality import legal_actions
from tests.reference.random_play import cards_in
from tests.reference.state import State


def _players(rules_name: str, seed: int) -> int:
    return 2 + seed % (3 if rules_name == "hops" else 5)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", RULEBOOKS)
def test_dealt_games(name: str, policy: str):
    seed = RULEBOOKS.index(name) + len(RULEBOOKS) * list(POLICIES).index(policy)
    counts = walk(Start(name, _players(name, seed), "match", seed), 220, policy)
    assert counts["positions", "in all"] > 200


@pytest.mark.parametrize("name", RULEBOOKS)
def test_built_positions(name: str):
    counts = Counts()
    for seed in range(30):
        policy = list(POLICIES)[seed % len(POLICIES)]
        walk(Start(name, _players(name, seed), "match" if seed % 3 else "round", seed, built=True), 14, policy, counts)
    assert counts["obligation", "jokers owed: 1"] + counts["obligation", "must_play"] + counts["opening", "in progress"]
    assert any(how.startswith("closed") for how in counts.of("ends of rounds"))


@pytest.mark.parametrize("first_seed", range(0, 160, 20))
def test_random_rules(first_seed: int):
    counts = Counts()
    for seed in range(first_seed, first_seed + 20):
        rng = random.Random(seed)
        players = rng.choice([2, 2, 3, 4, 5, 6])
        rules = wide_rules(rng, players)
        built = rng.random() < 0.6
        start = start_of(rules, players, episode=rng.choice(["round", "match"]), seed=seed, built=built)
        walk(start, 15 if built else 60, rng.choice(list(POLICIES)), counts)
    assert counts["positions", "in all"] > 200


# --- the tools themselves -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_built_positions_are_whole_and_survive_the_row(seed: int):
    rng = random.Random(seed)
    players = 2 + seed % 5
    rules = wide_rules(rng, players)
    rows = position(rules, players, "match", seed)
    state = from_row(rows[0], rules)
    assert cards_in(state) == deck(rules)
    assert from_row(to_row(state)[0], rules) == state
    assert legal_actions(state)


def test_built_positions_depend_on_the_seed_alone():
    rules = Rules.load("cerchio")
    assert position(rules, 4, "match", 7).tobytes() == position(rules, 4, "match", 7).tobytes()
    assert position(rules, 4, "match", 7).tobytes() != position(rules, 4, "match", 8).tobytes()


def test_a_disagreement_is_found_and_can_be_reproduced(monkeypatch: pytest.MonkeyPatch):
    """The twin is made wrong about one action, and the walk must say which position shows it."""
    start = Start("standard", 2, seed=3)

    def wrong(state: State) -> list[int]:
        legal = legal_actions(state)
        return legal[:-1] if len(legal) > 12 else legal

    monkeypatch.setattr("tests.differential.compare.legal_actions", wrong)
    with pytest.raises(Disagreement) as found:
        walk(start, 100, "uniform")
    assert "legal only to the engine" in str(found.value)
    with pytest.raises(Disagreement) as same:
        again(start, found.value.actions)
    assert (same.value.actions, same.value.lines) == (found.value.actions, found.value.lines)
    monkeypatch.undo()
    again(start, found.value.actions)


def test_a_wrong_field_is_found():
    pair = Pair(Start("standard", 3, seed=5), Counts())
    pair.game.row.hand_size[1] += 1
    with pytest.raises(Disagreement, match=r"hand_size\[1\]"):
        pair.play(0)
