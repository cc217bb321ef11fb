"""Every state of play keeps the laws, every broken one is named; and why an action is not legal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scala40_env.core import actions as act
from scala40_env.core.game import Game
from scala40_env.core.invariants import check, explain
from scala40_env.core.notation import format_action, parse_action
from scala40_env.core.position import position_from_json
from scala40_env.core.rules import Rules, rulebook_names

HOUSES = [
    *rulebook_names(),
    {"base": "international", "joker_identity": "any_missing", "opening_joker": "only_if_clean_melds_reach_min"},
    {"base": "hops", "joker_swap": "to_hand", "joker_swap_needs_opened": False, "opening_min": 20},
    {
        "max_run": 14,
        "double_ace_run": "with_joker",
        "opening_min": 0,
        "match_limit": 60,
        "lay_off_in_opening_turn": "none",
    },
    {"base": "international", "reentry_max": 1, "match_limit": 50, "opening_min": 10, "joker_discard": "closing_only"},
    {"base": "italian", "lay_off_in_opening_turn": "own_melds_only", "opening_joker": "forbidden", "opening_min": 10},
    {
        "base": "tiny",
        "ranks": 8,
        "suits": 3,
        "hand_size": 5,
        "close_needs_discard": False,
        "playable_discard_opened": "forbidden",
    },
]


def eager(game: Game, rng: np.random.Generator) -> int:
    """An action at random, plays rather than discards, so that tables fill."""
    legal = game.legal_actions()
    return int(legal[0] if rng.random() < 0.4 else rng.choice(legal))


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(HOUSES), st.integers(2, 6), st.integers(0, 2**32), st.sampled_from(["round", "match"]))
def test_play_keeps_every_law(house: Any, players: int, seed: int, episode: str) -> None:
    rules = Rules.of(house)
    game = Game(rules, min(max(players, rules.min_players), rules.max_players), seed=seed, episode=episode)
    rng = np.random.default_rng(seed)
    for _ in range(300):
        assert check(game.row, rules) == []
        assert check(game.redacted(0)[0], rules) == []
        if game.is_over:
            break
        game.play(eager(game, rng))


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(HOUSES), st.integers(0, 2**32))
def test_an_action_is_explained_as_legal_if_and_only_if_it_is(house: Any, seed: int) -> None:
    rules = Rules.of(house)
    game = Game(rules, rules.min_players, seed=seed, episode="match")
    rng = np.random.default_rng(seed)
    for _ in range(60):
        legal = set(game.legal_actions().tolist())
        for action in {*legal, *rng.integers(0, act.NUM_ACTIONS, 25).tolist()}:
            reason = explain(game.row, rules, action)
            assert (reason == "legal") == (action in legal), (format_action(action, game.row, rules), reason)
            assert "\n" not in reason
            assert "could not be ended" not in reason, format_action(action, game.row, rules)
        if game.is_over:
            break
        game.play(eager(game, rng))


BROKEN = {
    "hand_size: a card too many": ("hand_size", lambda row: row.hand_size.__setitem__(0, 15), "cards"),
    "a hand has more than its size": ("hand_size", lambda row: row.hand_size.__setitem__(0, 9), "hand_size[0]"),
    "a second copy alone": ("hand_two", lambda row: row.hand_two.__setitem__(0, ~row.hand_one[0]), "hand_two[0]"),
    "a known card not held": ("known_one", lambda row: row.known_one.__setitem__(0, ~row.hand_one[0]), "known_one[0]"),
    "a meld without a slot": ("meld_type", lambda row: row.meld_type.__setitem__(7, 1), "used_slots"),
    "a slot without a meld": (
        "used_slots",
        lambda row: setattr(row, "used_slots", row.used_slots | 1 << 9),
        "meld_type[9]",
    ),
    "a long set": ("meld_size", lambda row: row.meld_size.__setitem__(0, 5), "meld_type[0]"),
    "a joker elsewhere": ("meld_joker", lambda row: row.meld_joker.__setitem__(1, 9), "meld_type[1]"),
    "a short run": ("meld_size", lambda row: row.meld_size.__setitem__(1, 2), "meld_type[1]"),
    "a card above the top": ("pile", lambda row: row.pile.__setitem__(50, 3), "pile"),
    "no such kind": ("stock", lambda row: row.stock.__setitem__(0, 99), "stock"),
    "a card twice": ("stock", lambda row: row.stock.__setitem__(slice(0, 3), 5), "cards"),
    "known stock": ("stock_known", lambda row: setattr(row, "stock_known", 108), "stock_known"),
    "an absent seat opened": ("has_opened", lambda row: setattr(row, "has_opened", 8), "has_opened"),
    "nobody acts": ("seat", lambda row: setattr(row, "seat", 255), "seat"),
    "no such phase": ("phase", lambda row: setattr(row, "phase", 7), "phase"),
    "a winner too soon": ("winners", lambda row: setattr(row, "winners", 1), "winners"),
    "a turn too many": ("round_turns", lambda row: setattr(row, "round_turns", 9), "round_turns"),
    "a debt in the draw": ("jokers_owed", lambda row: setattr(row, "jokers_owed", 1), "drew"),
    "an early choice": ("pending_reentry", lambda row: setattr(row, "pending_reentry", 1), "pending_reentry"),
    "a negative total": ("totals", lambda row: row.totals.__setitem__(0, -1), "totals"),
    "a dealer who is absent": ("dealer", lambda row: setattr(row, "dealer", 5), "dealer"),
    "no seats": ("num_seats", lambda row: setattr(row, "num_seats", 0), "num_seats"),
}

TABLE = [["7H", "7D", "JK=7C"], ["4D", "5D", "6D"]]


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_law_is_named(name: str) -> None:
    _, breaks, law = BROKEN[name]
    rules, rows = position_from_json({"table": TABLE, "has_opened": [True, True]})
    assert check(rows[0], rules) == []
    breaks(rows[0])
    assert any(line.startswith(law) for line in check(rows[0], rules)), check(rows[0], rules)


@pytest.mark.parametrize(
    ("change", "law"),
    [
        ({"drew": 0}, "drew"),
        ({"taken": 3}, "taken"),
        ({"duty": 1}, "duty"),
        ({"duty": 3, "drew": 2, "taken": 3}, "duty"),
        ({"opened_now": 1}, "opened_now"),
        ({"laid_points": 5}, "laid_points"),
        ({"jokers_owed": 4}, "jokers_owed"),
        ({"new_slots": 8}, "new_slots"),
        ({"last_slot": 1}, "new_slots"),
        ({"split_slot": 1}, "split_slot"),
        ({"split_slot": 200}, "split_slot"),
        ({"has_opened": 0, "laid_any": 1, "laid_points": 50}, "has_opened"),
    ],
)
def test_a_broken_turn_is_named(change: dict[str, int], law: str) -> None:
    rules, rows = position_from_json({"table": TABLE, "has_opened": [True, True], "phase": "play"})
    assert check(rows[0], rules) == []
    for field, value in change.items():
        rows[0][field] = value
    assert any(line.startswith(law) for line in check(rows[0], rules)), check(rows[0], rules)


PLAYED: dict[str, Any] = {"phase": "play", "table": TABLE, "has_opened": [True, True]}
UNOPENED: dict[str, Any] = {"phase": "play", "table": TABLE, "has_opened": [False, True], "turns": [1, 1]}
SPLIT: dict[str, Any] = {
    "rules": "international",
    "turns": [1, 1],
    "has_opened": [True, True],
    "table": [["4S", "5S", "6S", "7S", "8S", "9S"]],
    "hands": [["TS", "KD", "2C"]],
    "turn": {"split": 0},
}


@pytest.mark.parametrize(
    ("position", "action", "reason"),
    [
        ({"hands": [["KH"]]}, "discard KH", "a turn begins with a card from the stock"),
        ({}, "take", "the pile is empty"),
        ({"pile": ["KH"]}, "take", "a seat that has not opened may not take the upcard"),
        ({"pile": ["KH"], "rules": "hops"}, "take", "KH could not be part of an opening of 40 points"),
        ({"pile": ["KH"], "rules": "international"}, "take", "the seat could not open this turn with 40 points"),
        (
            {"pile": ["KH"], "has_opened": [True, False], "hands": [["2C", "3S"]]},
            "take",
            "KH could not be with a card left to discard",
        ),
        ({"rules": {"stock_recycle": "end_hand"}, "stock": [], "pile": []}, "draw", "the stock is empty"),
        (PLAYED, "draw", "a card has been drawn already"),
        (PLAYED, "reenter", "no seat chooses"),
        ({**PLAYED, "hands": [["KH", "2C"]]}, "discard 3C", "3C is not in hand"),
        ({**PLAYED, "hands": [["KH", "2C"]]}, "lay KH KD KS", "KD and KS are not in hand"),
        ({**PLAYED, "hands": [["KH", "KD"]]}, "lay KH KD JK=KS", "JK is not in hand"),
        ({**PLAYED, "hands": [["KH", "2C"]]}, "off 7D @1", "7D is not in hand"),
        ({**PLAYED, "hands": [["JK", "2C"]]}, "off JK=7S @0", "has a joker already"),
        ({**PLAYED, "hands": [["JK", "2C"]]}, "off @5 low", "no meld lies in slot 5"),
        ({**PLAYED, "hands": [["7C", "2C"]]}, "off 7C @0", "stands for that card"),
        ({**PLAYED, "hands": [["JK", "2C"]]}, "off JK @0 high", "has a joker already"),
        ({**PLAYED, "hands": [["7C", "2C"]], "rules": {"joker_swap": "off"}}, "swap 7C @0", "no swaps"),
        ({**PLAYED, "hands": [["8C", "2C"]]}, "swap 7C @0", "7C is not in hand"),
        ({**PLAYED, "hands": [["8C", "2C"]]}, "swap @1", "has no joker"),
        ({**PLAYED, "hands": [["8C", "2C"]]}, "swap @3", "no meld lies in slot 3"),
        (
            {**PLAYED, "table": [["7H", "7D", "JK=7C", "7S"]], "hands": [["7C", "KD", "2H"]]},
            "swap 7C @0",
            "the joker taken must be played this turn, and could not be with a card left",
        ),
        ({**PLAYED, "hands": [["7S"]]}, "off 7S @0", "no card would be left to discard"),
        ({**PLAYED, "turns": [0, 0], "hands": [["7S", "8C"]]}, "off 7S @0", "nobody goes out on the first turn"),
        ({**PLAYED, "turns": [0, 0], "hands": [["7S"]]}, "discard 7S", "nobody goes out on the first turn"),
        ({**UNOPENED, "hands": [["7S", "8C"]]}, "off 7S @0", "a seat that has not opened lays off only"),
        ({**UNOPENED, "hands": [["7C", "8C"]]}, "swap 7C @0", "only a seat that has opened"),
        (
            {**UNOPENED, "hands": [["KH", "KD", "KS", "2C", "4H"]]},
            "lay KH KD KS",
            "the opening could not reach 40 points with a card left to discard",
        ),
        (
            {**UNOPENED, "rules": {"opening_joker": "forbidden"}, "hands": [["KH", "KD", "JK", "KS", "2C", "4H"]]},
            "lay KH KD JK=KS",
            "the melds of an opening may have no joker",
        ),
        ({**UNOPENED, "hands": [["2C"]]}, "split @0 after 3", "these rules do not split runs"),
        (
            {**UNOPENED, "table": [["KH", "KD", "KS"]], "turn": {"laid_points": 30, "new": [0]}, "hands": [["2C"]]},
            "discard 2C",
            "the opening has 30 of the 40 points",
        ),
        (
            {**PLAYED, "hands": [["7D", "2C"]], "turn": {"drew": "upcard", "card": "7D"}},
            "discard 2C",
            "7D was taken and must be played this turn",
        ),
        (
            {**PLAYED, "rules": "italian", "hands": [["8D", "2C"]], "turn": {"drew": "upcard", "card": "8D"}},
            "discard 8D",
            "8D was taken this turn and may not be discarded again",
        ),
        (
            {**PLAYED, "rules": "international", "hands": [["7D", "2C"]]},
            "discard 7D",
            "7D could be laid off, and these rules forbid",
        ),
        (
            {**PLAYED, "rules": {"joker_discard": "closing_only"}, "hands": [["JK", "2C"]]},
            "discard JK",
            "only to go out",
        ),
        (
            {**PLAYED, "hands": [["JK", "2C"]], "turn": {"jokers_owed": 1}},
            "discard 2C",
            "the joker taken must be played",
        ),
        (SPLIT, "discard KD", "is too long and must be split first"),
        (SPLIT, "lay KD QD JD", "is too long and must be split first"),
        (SPLIT, "split @0 after 5", "would not be of three to five cards"),
        (SPLIT, "split @1 after 3", "slot 1 holds no run that must be split"),
        ({**PLAYED, "table": [["QH", "KH", "AH"]], "hands": [["2C"]]}, "off @0 high", "nothing comes after the ace"),
        (
            {**PLAYED, "table": [["2H", "3H", "4H", "5H", "6H"]], "rules": {"max_run": 5}, "hands": [["7H", "9C"]]},
            "off 7H @0",
            "a run has at most 5 cards",
        ),
        (
            {**PLAYED, "rules": {"lay_off_in_opening_turn": "own_melds_only"}, "hands": [["7S", "9C"]]}
            | {"turn": {"laid_points": 40, "new": [1], "last": 1}},
            "off 7S @0",
            "only on its own new melds",
        ),
        (
            {**PLAYED, "rules": {"lay_off_in_opening_turn": "none"}, "hands": [["7S", "9C"]]}
            | {"turn": {"laid_points": 40, "new": [0, 1], "last": 1}},
            "off 7S @0",
            "only lengthens the meld that it has just laid",
        ),
        ({"phase": "round_over", "last_round": {"closer": 0}}, "draw", "the round is over"),
        ({"phase": "match_over", "last_round": {"closer": 0}, "winners": [0]}, "draw", "the match is over"),
        (
            {"rules": "international", "phase": "round_over", "episode": "match", "pending": [1], "scores": [3, 101]},
            "draw",
            "only the choice to re-enter or to leave",
        ),
    ],
)
def test_the_first_rule_that_an_action_breaks_is_named(position: dict[str, Any], action: str, reason: str) -> None:
    if "stock" in position:  # the whole deck lies on the table or is held
        runs = [[rank + suit for rank in "A23456789TJQK"] for suit in "HDCS" for _ in range(2)]
        position = {**position, "table": runs, "hands": [["JK"] * 4, []]}
    rules, rows = position_from_json(position)
    (number,) = parse_action(action, rows[0], rules)
    assert reason in explain(rows[0], rules, number)
