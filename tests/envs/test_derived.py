"""The derived block against a twin that tries everything; what it may not depend on; its layout."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from scala40_env.core import packing
from scala40_env.core.cards import JOKER, NUM_KINDS
from scala40_env.core.game import Game
from scala40_env.core.packing_best import BEST_WORDS, BY_OPENING, MOST_MELDS, NO_LIMIT, best_partition, list_melds
from scala40_env.core.rules import R_DECK_MASK, Rules
from scala40_env.core.state import PLAY
from scala40_env.envs.derived import DERIVE_WORDS, DERIVED_SIZE, derive_row, derived_slices
from scala40_env.envs.memory import bytes_of
from tests.differential.rulesets import RULEBOOKS, wide_rules
from tests.envs import derived_twin as twin
from tests.envs.play import CASES, positions, short
from tests.laws.redeal import masks_of, redeal
from tests.reference.adapter import deck, from_row
from tests.reference.cases import kind as kind_of

SLICES = {part.name: part for part in derived_slices(0)}
MEMORY = np.full(DERIVE_WORDS, 0xDEAD_BEEF_DEAD_BEEF, dtype=np.uint64)
HANDS = 80
SETTINGS = 40


def derived(rows: Any, rules: Rules, viewer: int) -> dict[str, list[int]]:
    """The block by the names of its slices."""
    out = np.full(DERIVED_SIZE, 77, dtype=np.uint8)
    derive_row(bytes_of(rows), rules.vector(), 0, viewer, MEMORY, out)
    return {name: part.of(out).tolist() for name, part in SLICES.items()}


def with_hand(rules: Rules, hand: Any, *, opened: bool = False, turns: int = 1) -> Any:
    """A row in which seat 0 holds a hand and nothing lies anywhere else."""
    game = Game(rules, rules.min_players, seed=0)
    row = game.row
    row.hand_one[0], row.hand_two[0], row.hand_jokers[0] = masks_of(np.asarray(hand))
    row.hand_size[0] = sum(hand)
    row.pile_size = 0
    row.seat, row.phase = 0, PLAY
    row.turns[0] = turns
    row.has_opened = int(opened)
    return game.rows


def held(text: str) -> list[int]:
    counts = Counter(kind_of(card) for card in text.split())
    return [counts[kind] for kind in range(NUM_KINDS)]


def random_hand(rng: random.Random, rules: Rules) -> list[int]:
    """1 to 14 cards of a deck, often of few suits and ranks, so that melds cross; none to four jokers."""
    suits = rng.sample(range(rules.suits), rng.randint(1, rules.suits))
    low = rng.randint(0, rules.ranks - 3)
    ranks = {rank % rules.ranks for rank in range(low, low + rng.randint(3, rules.ranks))}
    cards = [kind for kind, count in enumerate(deck(rules)) for _ in range(count) if kind != JOKER]
    if rng.random() < 0.7:
        cards = [kind for kind in cards if kind // 13 in suits and kind % 13 in ranks]
    jokers = min(rng.choice([0, 0, 1, 1, 2, 3, 4]), rules.jokers)
    size = min(rng.randint(max(1, jokers), 14), len(cards) + jokers)
    counts = Counter([*rng.sample(cards, size - jokers), *[JOKER] * jokers])
    return [counts[kind] for kind in range(NUM_KINDS)]


def check_hand(found: dict[str, list[int]], rows: Any, rules: Rules, viewer: int) -> None:
    """Every slice that follows from the hand, against the twin."""
    state = from_row(rows[0], rules)
    hand = state.hands[viewer]
    least, leaves = twin.deadwood(hand, rules)
    assert found["deadwood"] == [least]
    assert found["discard_leaves"] == leaves
    melded, opening = found["melded"], found["best_opening"]
    for part in (melded, opening):
        assert all(some <= all_of_it for some, all_of_it in zip(part, hand, strict=True))
    assert twin.best_points_of(melded, rules) != twin.IMPOSSIBLE
    assert min(twin.cost_of(hand, rules) - twin.cost_of(melded, rules), 255) == least
    points = twin.opening(state, viewer)
    assert found["opening_points"] == [points]
    if viewer in state.has_opened:
        assert found["opening_missing"] == [0]
        assert not any(opening)
    else:
        assert found["opening_missing"] == [max(rules.opening_min - points, 0)]
        mine = state.phase == "play" and state.seat == viewer
        assert twin.best_points_of(opening, rules) == points - (state.turn.laid_points if mine else 0)
        assert sum(opening) <= max(twin.opening_room(state, viewer), 0)
    assert found["outs"] == twin.outs(state, viewer)
    assert found["outs_total"] == [sum(found["outs"])]


@pytest.mark.parametrize("name", [*RULEBOOKS, "tiny"])
def test_random_hands_against_the_twin(name: str) -> None:
    rng = random.Random(name)
    rules = Rules.load(name)
    melds = 0
    for _ in range(HANDS):
        rows = with_hand(rules, random_hand(rng, rules), opened=rng.random() < 0.2, turns=rng.randint(0, 1))
        found = derived(rows, rules, 0)
        check_hand(found, rows, rules, 0)
        melds += any(found["melded"])
    assert melds > HANDS // 4


def test_random_rules_against_the_twin() -> None:
    rng = random.Random(4)
    for _ in range(SETTINGS):
        rules = wide_rules(rng, 2)
        for _ in range(3):
            rows = with_hand(rules, random_hand(rng, rules), turns=rng.randint(0, 1))
            check_hand(derived(rows, rules, 0), rows, rules, 0)


@pytest.mark.parametrize(("name", "players"), [*CASES, ("tiny", 2)])
def test_positions_of_play_against_the_twin(name: str, players: int) -> None:
    rules = Rules.load(name)
    opened = begun = 0
    for game, _ in positions(rules, players, seed=11, count=70):
        for viewer in range(players):
            found = derived(game.rows, rules, viewer)
            check_hand(found, game.rows, rules, viewer)
            opened += int(game.row.has_opened) >> viewer & 1
            begun += int(game.row.laid_points) > 0
    assert opened > 0
    assert begun > 0


@pytest.mark.parametrize(("name", "players"), CASES)
def test_hidden_cards_change_no_number(name: str, players: int) -> None:
    rng = np.random.default_rng(5)
    rules = short(name)
    for game, _ in positions(rules, players, seed=2, count=60):
        for viewer in range(players):
            before = derived(game.rows, rules, viewer)
            assert derived(redeal(game.rows, viewer, rng), rules, viewer) == before
            assert derived(game.redacted(viewer), rules, viewer) == before


@pytest.mark.parametrize(("name", "players"), CASES)
def test_ranges_hold(name: str, players: int) -> None:
    rules = short(name)
    for game, _ in positions(rules, players, seed=3, count=300):
        for part, numbers in derived(game.rows, rules, 0).items():
            assert SLICES[part].low <= min(numbers)
            assert max(numbers) <= SLICES[part].high


def test_a_hand_worked_out_by_hand() -> None:
    rules = Rules()
    found = derived(with_hand(rules, held("7H 7D 7S 8S 9S TS KC KD 2C JK")), rules, 0)
    assert found["deadwood"] == [2]
    assert found["melded"] == held("7H 7D 7S 8S 9S TS KC KD JK")
    leaves = {
        "2C": 0,
        "7H": 2 + 7,  # 7S to TS and the kings; 7D is left
        "7D": 2 + 7,
        "7S": 2 + 14,  # 8S to TS and the kings
        "8S": 2 + 19,  # the sevens and the kings
        "9S": 2 + 18,
        "TS": 2 + 14,  # 7S to 9S and the kings
        "KC": 2 + 10,  # the joker lengthens the run
        "KD": 2 + 10,
        "JK": 2 + 20,
    }
    by_kind = [255] * NUM_KINDS
    for card, left in leaves.items():
        by_kind[kind_of(card)] = left
    assert found["discard_leaves"] == by_kind
    assert found["opening_points"] == [21 + 27 + 30]
    assert found["opening_missing"] == [0]
    outs = {card: found["outs"][kind_of(card)] for card in ("KH", "JS", "7S", "5C", "2H", "JK")}
    assert outs == {"KH": 2, "JS": 2, "7S": 1, "5C": 0, "2H": 2, "JK": 3}


def test_enough_cards_stay_for_the_turn_to_end() -> None:
    rules = Rules()
    hand = held("7H 8H 9H TC TD TS")
    assert derived(with_hand(rules, hand), rules, 0)["opening_points"] == [30]
    assert derived(with_hand(Rules.load("hops"), hand), Rules.load("hops"), 0)["opening_points"] == [54]
    assert derived(with_hand(rules, [*hand[:51], 1, 0]), rules, 0)["opening_points"] == [54]


def test_cards_that_can_be_placed_are_no_outs() -> None:
    rules = Rules()
    rows = with_hand(rules, held("7D 7S"))
    assert derived(rows, rules, 0)["outs"] == held("7H 7H 7C 7C JK JK JK JK")
    row = rows[0]
    row.known_one[1], row.known_two[1], row.known_jokers[1] = masks_of(np.asarray(held("7H 7H 2C JK")))
    row.pile[0], row.pile_size = JOKER, 1
    row.stock[0], row.stock_known = kind_of("7C"), 1
    found = derived(rows, rules, 0)
    assert found["outs"] == held("7C JK JK")
    assert found["outs_total"] == [3]


def test_the_same_hand_gives_the_same_cards_whatever_was_looked_at_before() -> None:
    rules = Rules()
    rng = random.Random(8)
    hands = [random_hand(rng, rules) for _ in range(30)]
    first = [derived(with_hand(rules, hand), rules, 0) for hand in hands]
    again = [derived(with_hand(rules, hand), rules, 0) for hand in reversed(hands)]
    assert first == again[::-1]


def test_the_best_opening_is_what_the_packing_search_can_reach_and_no_more() -> None:
    rng = random.Random(6)
    memory, out = np.zeros(BEST_WORDS, dtype=np.uint64), np.zeros(3, dtype=np.uint64)
    stack = np.zeros(packing.STACK_WORDS, dtype=np.uint64)
    for _ in range(1500):
        rules = Rules.load(rng.choice(RULEBOOKS))
        R = rules.vector()
        one, two, jokers = masks_of(np.asarray(random_hand(rng, rules)))
        room = rng.choice([5, 8, NO_LIMIT])
        hand = np.uint64(one), np.uint64(two), jokers
        most = best_partition(*hand, R, BY_OPENING, room, memory, out)
        assert packing.reaches(*hand, R, most, room, stack)
        assert not packing.reaches(*hand, R, most + 1, room, stack)


def test_the_list_of_melds_has_room_for_every_meld_of_the_deck() -> None:
    memory = np.zeros(BEST_WORDS, dtype=np.uint64)
    R = Rules(max_run=14, double_ace_run="with_joker").vector()
    assert list_melds(np.uint64(R[R_DECK_MASK]), 4, R, memory) == 727 <= MOST_MELDS


def test_the_slices_follow_one_another() -> None:
    at = 1000
    for part in derived_slices(1000):
        assert part.offset == at
        at += part.length
    assert at == 1000 + DERIVED_SIZE
    assert DERIVE_WORDS <= packing.STACK_WORDS
