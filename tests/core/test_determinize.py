"""Sampled worlds agree with what a seat knows, are uniform over the rest, and can be played on."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from scala40_env.core.cards import JOKER, NUM_KINDS
from scala40_env.core.determinize import determinized
from scala40_env.core.game import Game, redact
from scala40_env.core.invariants import check
from scala40_env.core.jit import kernel
from scala40_env.core.notation import CARD_NAMES
from scala40_env.core.position import position_from_json
from scala40_env.core.rules import Rules
from scala40_env.core.state import DRAW, MATCH_OVER, PLAY, ROUND_OVER
from scala40_env.core.transition import has_obligation
from tests.core.test_invariants import eager
from tests.differential.rulesets import RULEBOOKS
from tests.envs.play import short
from tests.laws.redeal import bit_of, hand_of, hidden_from, known_of, masks_of

IS_COMPILED = not numba.config.DISABLE_JIT
SAMPLES = 10_000 if IS_COMPILED else 300

Counts = NDArray[np.int64]


@kernel
def _redact_all(rows: Any, seat: int) -> None:
    for i in range(len(rows)):
        redact(rows[i], seat, rows[i])


def shown(rows: NDArray[Any], viewer: int) -> NDArray[np.uint8]:
    """The bytes of each row as the viewer may know it: shape ``(rows, bytes)``."""
    seen = rows.copy().view(np.recarray)
    _redact_all(seen, viewer)
    return seen.view(np.ndarray).view(np.uint8).reshape(len(seen), -1)


def hands_of(rows: NDArray[Any], seat: int) -> Counts:
    """What a seat holds beyond what everybody knows, by kind: shape ``(rows, 53)``."""
    bits = np.array([bit_of(kind).bit_length() - 1 for kind in range(JOKER)], dtype=np.uint64)
    one, two = (
        (rows[f"hand_{word}"][:, seat, None] >> bits & np.uint64(1)).astype(np.int64) for word in ("one", "two")
    )
    counts = np.column_stack([one + two, rows["hand_jokers"][:, seat]])
    return counts - known_of(rows[0], seat)


def places_of(rows: NDArray[Any], viewer: int) -> Counts:
    """How often each kind lay in each hidden place: a column for each other hand, and for each place of the stock."""
    others = [seat for seat in range(rows[0].num_seats) if seat != viewer]
    columns = [hands_of(rows, seat).sum(axis=0) for seat in others]
    columns += [
        np.bincount(rows["stock"][:, place], minlength=NUM_KINDS)
        for place in range(rows[0].stock_known, rows[0].stock_size)
    ]
    return np.column_stack(columns)


def deviation(chi_square: float, degrees: int) -> float:
    """A chi-square in standard deviations of the normal distribution (Wilson and Hilferty, 1931)."""
    part = 2 / (9 * degrees)
    return ((chi_square / degrees) ** (1 / 3) - (1 - part)) / part**0.5


@cache
def mid_round(players: int) -> tuple[Game, int, NDArray[Any]]:
    """A position with melds, known cards and a seat to act that holds many; the seat, and its samples."""
    rng = np.random.default_rng(players)
    for seed in range(1000):
        game = Game("italian", players, seed=seed)
        for _ in range(250):
            if game.is_over:
                break
            game.play(eager(game, rng))
            row = game.row
            known = sum(int(known_of(row, seat).sum()) for seat in range(players) if seat != game.seat)
            hidden = min((int(row.hand_size[seat]) for seat in range(players)), default=0)
            if known >= 2 and hidden >= 7 and row.used_slots and row.phase == DRAW and row.stock_size > 20:
                return game, game.seat, determinized(game.rows, game.rules, game.seat, 7, SAMPLES)
    raise AssertionError("no such position was met")


@pytest.mark.parametrize("players", [2, 4])
def test_samples_agree_with_all_that_the_seat_knows(players: int):
    game, viewer, worlds = mid_round(players)
    assert (shown(worlds, viewer) == shown(game.rows, viewer)).all()
    assert (shown(worlds, viewer) == game.redacted(viewer).view(np.uint8)).all()
    cards = np.bincount(hidden_from(game.row, viewer), minlength=NUM_KINDS)
    stock = worlds["stock"][:, game.row.stock_known : game.row.stock_size]
    dealt = sum(hands_of(worlds, seat) for seat in range(players) if seat != viewer)
    dealt = dealt + np.stack([(stock == kind).sum(axis=1) for kind in range(NUM_KINDS)], axis=1)
    assert (dealt == cards).all()
    assert all(check(row, game.rules) == [] for row in worlds[::20])
    assert len(set(worlds["seed"].tolist())) == len(set(worlds["game"].tolist())) == SAMPLES


@pytest.mark.parametrize("players", [2, 4])
def test_every_hidden_card_is_as_likely_in_every_hidden_place(players: int):
    """Chi-square over kinds and places.

    In one deal of n cards the numbers of a kind in a place have the covariance of two projections, times n / (n - 1):
    so the statistic, less that factor, has (kinds - 1)(places - 1) degrees of freedom.  With every place and every kind
    in it, an error of a thousandth in one of them is seen.  Four standard deviations: one good sample in 16,000 fails,
    and the seed is fixed.
    """
    game, viewer, worlds = mid_round(players)
    counts = places_of(worlds, viewer)
    cards = np.bincount(hidden_from(game.row, viewer), minlength=NUM_KINDS)
    counts, cards = counts[cards > 0], cards[cards > 0]
    n = cards.sum()
    expected = np.outer(cards, counts.sum(axis=0)) / n
    assert counts.sum() == n * SAMPLES
    assert expected.min() > SAMPLES / 200
    chi_square = ((counts - expected) ** 2 / expected).sum() * (n - 1) / n
    degrees = (len(cards) - 1) * (counts.shape[1] - 1)
    assert degrees > 1000
    assert abs(deviation(chi_square, degrees)) < 4


@pytest.mark.parametrize("players", [2, 4])
def test_samples_are_no_nearer_the_truth_than_chance(players: int):
    """Pairs of equal cards of a true hand and the sampled one: the mean, and the variance of draws without return."""
    game, viewer, worlds = mid_round(players)
    cards = np.array(hidden_from(game.row, viewer))
    for seat in range(players):
        if seat == viewer:
            continue
        truth = hands_of(game.rows, seat)[0]
        size, n = truth.sum(), len(cards)
        pairs = hands_of(worlds, seat) @ truth
        weights = truth[cards]
        error = (size * (n - size) / (n - 1) * weights.var() / SAMPLES) ** 0.5
        assert 0 < error < 5 / SAMPLES**0.5
        assert abs(pairs.mean() - size * weights.mean()) < 4 * error


def test_what_is_hidden_changes_no_sample():
    game, viewer, worlds = mid_round(4)
    blind = determinized(game.redacted(viewer), game.rules, viewer, 7, 100)
    assert blind.tobytes() == worlds[:100].tobytes()
    again = determinized(worlds[5:6], game.rules, viewer, 7, 3)
    assert again.tobytes() == worlds[:3].tobytes()
    other = determinized(game.rows, game.rules, viewer, 8, 1)
    assert other.tobytes() != worlds[:1].tobytes()


def test_a_stock_that_was_turned_over_leaves_nothing_to_chance():
    """Two seats, every card of the stock known: the other hand is what is left."""
    rules, rows = position_from_json({"rules": "international", "hands": [["7H", "2C"], ["KD", "JK", "3S"]]})
    rows[0].stock_known = rows[0].stock_size
    for row in determinized(rows, rules, 0, 3, 20):
        assert (hand_of(row, 1) == hand_of(rows[0], 1)).all()
        assert (row.stock == rows[0].stock).all()


# --- random positions --------------------------------------------------------------------------------------------


TABLES = [
    ("tiny", 2),
    *((name, players) for name in RULEBOOKS for players in range(2, Rules.load(name).max_players + 1)),
]
POSITIONS = 60 if IS_COMPILED else 4
"""Of rounds and again of matches at each table, each as one of its seats."""


def agrees(game: Game, viewer: int, seed: int) -> Game:
    """A sample that has been compared with the truth."""
    world = game.determinized(viewer, seed)
    assert (shown(world.rows, viewer) == shown(game.rows, viewer)).all()
    assert check(world.row, game.rules) == []
    assert (world.row.seed, world.row.game) != (game.row.seed, game.row.game)
    blind = determinized(game.redacted(viewer), game.rules, viewer, seed)
    assert blind.tobytes() == world.rows.tobytes()
    if game.phase in (ROUND_OVER, MATCH_OVER) or game.seat == viewer:
        assert world.legal_actions().tolist() == game.legal_actions().tolist()
    else:
        assert len(world.legal_actions()) > 0
    return world


def play_out(game: Game, rng: np.random.Generator) -> None:
    """To the end of the round, by uniform play, and never a broken law."""
    first = game.row["round"]
    for step in range(20_000):
        if game.is_over or game.row["round"] != first:
            assert check(game.row, game.rules) == []
            return
        game.play(int(rng.choice(game.legal_actions())))
        assert step % 20 or check(game.row, game.rules) == []
    raise AssertionError("the round does not end")


def features(game: Game, viewer: int) -> set[str]:
    """What a position shows of the cases that matter."""
    row = game.row
    found = {f"phase {row.phase}"}
    cases = {
        "known stock": row.stock_known > 0,
        "known cards": any(known_of(row, seat).any() for seat in range(row.num_seats) if seat != viewer),
        "recycled": row.recycles > 0,
        "a seat that is out": int(row.in_round).bit_count() < row.num_seats,
        "another's turn": row.phase == PLAY and row.seat != viewer,
        "another's obligation": row.phase == PLAY and row.seat != viewer and has_obligation(row),
        "quartet under the stock": row.stock_known >= 4 and row.recycles == 0,
    }
    return found | {name for name, is_so in cases.items() if is_so}


def test_samples_of_positions_at_random():
    met: Counter[str] = Counter()
    for number, (name, players) in enumerate(TABLES):
        met += compare_table(name, players, seed=number)
    wanted = [*(f"phase {phase}" for phase in (DRAW, PLAY, ROUND_OVER, MATCH_OVER)), "known stock", "known cards"]
    wanted += ["recycled", "a seat that is out", "another's turn", "another's obligation", "quartet under the stock"]
    assert not IS_COMPILED or min(met[feature] for feature in wanted) >= 5, met


def compare_table(name: str, players: int, seed: int) -> Counter[str]:
    """Sample in positions of a long round, then of short matches; how often each feature was met."""
    whole = Rules.load(name)
    return compare(whole, players, "round", seed) + compare(
        whole if name == "tiny" else short(name), players, "match", seed
    )


def compare(rules: Rules, players: int, episode: str, seed: int) -> Counter[str]:
    """Sample in positions at random, each as one seat; how often each feature was met."""
    rng = np.random.default_rng(seed)
    met: Counter[str] = Counter()
    game = Game(rules, players, seed=seed, episode=episode)
    taken = 0
    while taken < POSITIONS:
        chance = 0.3 if game.phase == PLAY and has_obligation(game.row) else 0.1
        if game.phase in (ROUND_OVER, MATCH_OVER) or rng.random() < chance:
            taken += 1
            viewer = int(rng.choice([seat for seat in range(players) if game.row.in_round >> seat & 1]))
            met.update(features(game, viewer))
            world = agrees(game, viewer, int(rng.integers(2**63)))
            if taken % 30 == 0:
                play_out(world, rng)
        if game.is_over:
            game = Game(rules, players, seed=seed, game=taken, episode=episode)
        else:
            game.play(eager(game, rng))
    return met


# --- the turn of another seat ------------------------------------------------------------------------------------


OWES: dict[str, Any] = {
    "rules": "tiny",
    "seat": 1,
    "hands": [["AH", "2D", "3C"], ["2C", {"hidden": 3}]],
    "known": [[], ["2C"]],
    "turn": {"drew": "upcard", "card": "2C"},
}
"""Another seat has taken the upcard and must open with it."""
MUST_TAKE: dict[str, Any] = {
    "rules": {
        "base": "tiny",
        "max_players": 3,
        "hand_size": 2,
        "stock_recycle": "shuffle",
        "stock_recycle_keeps_top": True,
        "max_stock_recycles": 1,
    },
    "seat": 1,
    "hands": [["AH"], [{"hidden": 4}], [{"hidden": 4}]],
    "pile": ["2C"],
    "stock": [],
}
"""Nothing is left to draw, so that the seat to act can take the upcard, or the round would have ended."""


@pytest.mark.parametrize(("position", "orders"), [(OWES, 6), (MUST_TAKE, 1)], ids=["owes", "must take"])
def test_only_deals_in_which_the_turn_can_be_completed_and_all_of_them_alike(position: dict[str, Any], orders: int):
    """A deck of ten cards: every hand that the other seat may hold is tried."""
    rules, rows = position_from_json(position)
    unseen = sorted(hidden_from(rows[0], 0))
    assert len(set(unseen)) == len(unseen)
    hands = list(combinations(unseen, int(rows[0].hand_size[1] - known_of(rows[0], 1).sum())))
    possible = {hand for hand in hands if len(with_hand(rules, rows, hand).legal_actions())}
    assert 2 <= len(possible) < len(hands)
    worlds = determinized(rows, rules, 0, 11, SAMPLES)
    dealt = [tuple(np.flatnonzero(hand).tolist()) for hand in hands_of(worlds, 1)]
    assert set(dealt) <= possible
    expected = SAMPLES / len(possible)
    chi_square = sum((count - expected) ** 2 / expected for count in Counter(dealt).values())
    assert abs(deviation(chi_square, len(possible) - 1)) < 4
    different = len(set(zip(dealt, map(bytes, worlds["stock"]))))
    assert different == orders * len(possible) or not IS_COMPILED  # a few samples do not meet them all


def with_hand(rules: Rules, rows: NDArray[Any], hidden: tuple[int, ...]) -> Game:
    """The position, seat 1 with these cards beside the known ones."""
    changed = rows.copy().view(np.recarray)
    row = changed[0]
    hand = known_of(row, 1)
    hand[list(hidden)] += 1
    row.hand_one[1], row.hand_two[1], row.hand_jokers[1] = masks_of(hand)
    return Game.from_rows(rules, changed)


def test_a_run_that_is_not_yet_split_could_be_lengthened():
    position = {
        "rules": "international",
        "seat": 1,
        "turns": [1, 1],
        "has_opened": [True, True],
        "table": [["4S", "5S", "6S", "7S", "8S", "9S"]],
        "hands": [["TS", "KD", "2C"], [{"hidden": 5}]],
        "turn": {"split": 0},
    }
    rules, rows = position_from_json(position)
    hands = hands_of(determinized(rows, rules, 0, 1, 300), 1)
    helpful = [CARD_NAMES.index(name) for name in ("3S", "TS", "JK")]
    assert (hands[:, helpful].sum(axis=1) >= 1).all()
    assert (hands[:, helpful].sum(axis=0) > 0).all()


# --- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not IS_COMPILED, reason="ten thousand deals take a minute")
def test_a_turn_that_no_hand_can_complete_is_said_to_be_one():
    position = {
        "seat": 1,
        "has_opened": [True, True],
        "hands": [["KD", "2C"], ["7D", {"hidden": 1}]],
        "known": [[], ["7D"]],
        "turn": {"drew": "upcard", "card": "7D"},
    }
    rules, rows = position_from_json(position)
    with pytest.raises(RuntimeError, match="seat 1 could not complete its turn with any of 10000 deals"):
        determinized(rows, rules, 0, 1)
    assert len(determinized(rows, rules, 1, 1)) == 1  # its own hand it knows


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"viewer": 3}, "viewer: expected an integer from 0 to 2, got 3"),
        ({"viewer": -1}, "viewer: expected an integer from 0 to 2, got -1"),
        ({"viewer": True}, "viewer: expected an integer from 0 to 2, got True"),
        ({"viewer": 2}, "viewer: seat 2 does not play this round"),
        ({"rng": -1}, "rng: expected an integer from 0 to 18446744073709551615, got -1"),
        ({"rng": 0.5}, "rng: expected an integer from 0 to 18446744073709551615, got 0.5"),
        ({"count": -1}, "count: expected an integer from 0 to 2147483647, got -1"),
        ({"rules": Rules.load("tiny")}, "rows: the cards are not those of the rules' deck"),
    ],
)
def test_what_is_not_allowed_is_named(change: dict[str, Any], line: str):
    rules, rows = position_from_json({"players": 3, "in_match": [True, True, False]})
    with pytest.raises(ValueError, match=f"^{line}$"):
        determinized(**{"rows": rows, "rules": rules, "viewer": 0, "rng": 1, **change})


def test_rows_are_one_and_are_not_changed():
    game = Game(seed=3)
    before = game.rows.tobytes()
    assert len(determinized(game.rows, game.rules, 0, 2**64 - 1, 0)) == 0
    assert game.determinized(1, 5).rows.tobytes() != before == game.rows.tobytes()
    for rows in (np.concatenate([game.rows, game.rows]), game.rows[:0], np.zeros(1)):
        with pytest.raises(ValueError, match="rows: expected one row of a game"):
            determinized(rows, game.rules, 0, 1)


def test_cards_that_cannot_be_are_refused():
    rules, rows = position_from_json({"pile": ["7H", "7H"]})
    rows[0].known_one[1] |= np.uint64(bit_of(6))
    with pytest.raises(ValueError, match="the cards are not those"):
        determinized(rows, rules, 0, 1)
    rules, rows = position_from_json({"hands": [[], ["7H"]], "known": [[], ["7H"]]})
    rows[0].hand_size[1] = 0
    with pytest.raises(ValueError, match="the cards are not those"):
        determinized(rows, rules, 0, 1)
