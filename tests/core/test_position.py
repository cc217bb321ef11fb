"""Positions: what absent fields are, what is refused, and that every state survives the round trip."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scala40_env.core.game import Game
from scala40_env.core.notation import NotationError, hand_kinds
from scala40_env.core.position import position_from_json, position_to_json
from scala40_env.core.rules import Rules, RulesError, rulebook_names
from scala40_env.core.rules_json import deck_counts, rules_to_json
from scala40_env.core.state import (
    DRAW,
    DREW_STOCK,
    DREW_UPCARD,
    DUTY_NONE,
    DUTY_OPEN,
    DUTY_OPEN_WITH,
    DUTY_PLAY,
    NO_SLOT,
    NOBODY,
    PLAY,
)

SIMPLE: dict[str, Any] = {
    "rules": "standard",
    "players": 2,
    "dealer": 1,
    "seat": 0,
    "phase": "draw",
    "hands": [["7H", "7D", "JK"], ["3C", {"hidden": 11}]],
    "has_opened": [False, True],
    "turns": [0, 1],
    "scores": [0, 0],
    "table": [["7H", "7D", "JK=7C"], ["4D", "5D", "6D"]],
    "pile": ["2S", "QH"],
}

HOUSES = [
    *rulebook_names(),
    {"base": "international", "joker_identity": "any_missing", "opening_joker": "allowed"},
    {"base": "hops", "joker_swap": "to_hand", "joker_swap_needs_opened": False, "opening_min": 20},
    {
        "max_run": 14,
        "double_ace_run": "with_joker",
        "opening_min": 0,
        "match_limit": 60,
        "dead_round_result": "all_count",
    },
    {"base": "international", "reentry_max": 1, "match_limit": 50},
    {"stock_recycle": "flip", "completed_quartet": "to_stock_bottom", "opening_min": 10, "take_after_opening": "free"},
]


def row_of(position: Any) -> Any:
    """The state of a position, through JSON text as a program would send it."""
    return position_from_json(json.loads(json.dumps(position)))[1][0]


def cards_of(row: Any) -> Counter[int]:
    """Every card that lies anywhere but on the table."""
    kinds = row.stock[: int(row.stock_size)].tolist() + row.pile[: int(row.pile_size)].tolist()
    for seat in range(int(row.num_seats)):
        kinds += hand_kinds(row.hand_one[seat], row.hand_two[seat], row.hand_jokers[seat])
    return Counter(kinds)


def test_the_simple_form_is_enough() -> None:
    row = row_of(SIMPLE)
    assert (row.num_seats, row.dealer, row.seat, row.phase) == (2, 1, 0, DRAW)
    assert row.hand_size[:2].tolist() == [3, 12]
    assert row.stock_size == 108 - 3 - 12 - 6 - 2
    assert cards_of(row).total() == 108 - 6
    assert row.round_turns == row.match_turns == 1
    assert (row.in_match, row.in_round, row.has_opened) == (3, 3, 2)
    assert row.used_slots == 3


def test_an_empty_position_is_a_deal() -> None:
    row = row_of({})
    assert (row.num_seats, row.dealer, row.seat, row.phase, row.pile_size) == (2, 1, 0, DRAW, 0)
    assert row.hand_size[:3].tolist() == [13, 13, 0]
    assert cards_of(row) == Counter(dict(enumerate(deck_counts(Rules()))))


def test_hidden_cards_follow_from_the_seed() -> None:
    rows = [row_of({"seed": seed, "game": game}) for seed, game in ((0, 0), (0, 0), (1, 0), (0, 1), (2**64 - 1, 7))]
    assert rows[0].stock.tolist() == rows[1].stock.tolist()
    assert len({tuple(row.stock.tolist()) for row in rows}) == 4


@pytest.mark.parametrize(
    ("position", "seat", "dealer"),
    [
        ({"players": 3}, 0, 2),
        ({"players": 3, "dealer": 0}, 1, 0),
        ({"players": 3, "seat": 0}, 0, 2),
        ({"players": 3, "seat": 2}, 2, 1),
        ({"players": 3, "dealer": 0, "in_match": [True, False, True]}, 2, 0),
        ({"hands": [[], [], []]}, 0, 2),
    ],
)
def test_dealer_and_seat_follow_from_each_other(position: dict[str, Any], seat: int, dealer: int) -> None:
    row = row_of(position)
    assert (row.seat, row.dealer, row.num_seats) == (seat, dealer, 3)


def test_a_seat_that_plays_holds_the_card_that_it_drew() -> None:
    row = row_of({"phase": "play"})
    assert (row.phase, row.drew, row.last_slot, row.split_slot) == (PLAY, DREW_STOCK, NO_SLOT, NO_SLOT)
    assert row.hand_size[:2].tolist() == [14, 13]
    assert row_of({"turn": {}}).phase == PLAY


@pytest.mark.parametrize(
    ("rules", "opened", "turns", "duty"),
    [
        ("standard", True, [1, 1], DUTY_PLAY),
        ("italian", True, [1, 1], DUTY_NONE),
        ("italian", False, [1, 1], DUTY_OPEN_WITH),
        ("international", False, [1, 1], DUTY_OPEN),
        ({"first_player_may_keep_upcard": True}, False, [0, 0], DUTY_NONE),
    ],
)
def test_what_the_upcard_obliges_to_follows_from_the_rules(
    rules: Any, opened: bool, turns: list[int], duty: int
) -> None:
    position = {"rules": rules, "has_opened": [opened, False], "turns": turns, "turn": {"drew": "upcard", "card": "7H"}}
    row = row_of(position)
    assert (row.drew, row.taken, row.taken_played, row.duty) == (DREW_UPCARD, 6, 0, duty)
    position["turn"]["card_played"] = True
    assert row_of(position).duty == DUTY_NONE


def test_a_hidden_hand_has_what_the_turn_says() -> None:
    turn = {"drew": "upcard", "card": "7H", "jokers_owed": 2}
    for seed in range(5):
        row = row_of({"seed": seed, "rules": "italian", "has_opened": [True, False], "turn": turn})
        assert row.hand_jokers[0] >= 2
        assert 6 in hand_kinds(row.hand_one[0], row.hand_two[0], 0)
        assert row.hand_size[0] == 14


def test_the_largest_numbers_that_are_read_do_not_overflow() -> None:
    position = {**SIMPLE, "scores": [2**30] * 2, "turns": [2**23] * 2, "match_turns": 2**24, "round": 2**24}
    rules, rows = position_from_json({**position, "episode": "match", "rules": {"max_turns_per_round": None}})
    game = Game.from_rows(rules, rows)
    for _ in range(3):
        game.play(int(game.legal_actions()[-1]))
        assert game.row.match_turns >= 2**24
        assert game.row.totals.min() >= 0


def test_the_turn_of_an_opening() -> None:
    turn = {"laid_points": 42, "new": [0], "last": 0}
    row = row_of({"table": [["KH", "KD", "KS"]], "has_opened": [True, False], "turns": [3, 4], "turn": turn})
    assert (row.laid_points, row.laid_any, row.opened_now, row.new_slots, row.last_slot) == (42, 1, 1, 1, 0)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"hand": []}, "position: there is no field 'hand'; did you mean 'hands'?"),
        ({"rules": "burraco"}, "rules: there is no rulebook 'burraco'"),
        ({"rules": {"opening": 3}}, "rules: there is no flag 'opening'"),
        ({"rules": {"opening_min": "3"}}, "rules.opening_min: expected an integer"),
        ({"rules": ["standard"]}, "rules: expected the name of a rulebook or flags by name, got a list"),
        ({"players": 7}, "players: these rules are for 2 to 6, got 7"),
        ({"players": 1}, "players: these rules are for 2 to 6, got 1"),
        ({"players": 3}, "has_opened: expected 3 entries, one a seat, got 2"),
        ({"players": "2"}, "players: expected an integer"),
        ({"players": True}, "players: expected an integer from 2 to 6, got true"),
        ({"rules": "hops", "players": 5}, "players: these rules are for 2 to 4"),
        ({"dealer": 2}, "dealer: expected an integer from 0 to 1, got 2"),
        ({"players": -1}, "players: these rules are for 2 to 6, got -1"),
        ({"players": 10**400}, "players: these rules are for 2 to 6, got a huge number"),
        ({"rules": {"opening_min": None}}, "rules.opening_min: expected an integer from 0 to 200, got null"),
        ({"rules": {"reentry_cost": 10**400}}, "expected a number from 0 to 1000000, got a huge number"),
        ({"scores": [2**30 + 1, 0]}, "scores[0]: expected an integer from 0 to 1073741824"),
        ({"turns": [2**24 + 1, 1]}, "turns[0]: expected an integer from 0 to 16777216"),
        ({"round": 2**31 - 1}, "round: expected an integer from 0 to 16777216"),
        ({"round_turns": 2**31 - 1}, "round_turns: expected an integer from 0 to 16777216"),
        ({"match_turns": 2**31 - 1}, "match_turns: expected an integer from 0 to 16777216"),
        ({"recycles": 2**31 - 1}, "recycles: expected an integer from 0 to 16777216"),
        ({"reentries": [2**31 - 1, 0]}, "reentries[0]: expected an integer from 0 to 16777216"),
        ({"match_turns": 0}, "match_turns: 0 are fewer than those of the round, 1"),
        ({"in_match": [False, True], "in_round": [True, True]}, "in_round[0]: seat 0 is not in the match"),
        ({"phase": "play", "turn": {"last": 0}}, "turn.last: slot 0 is not among turn.new"),
        ({"phase": "play", "turn": {"jokers_owed": 2}}, "turn.jokers_owed: 2, but the jokers in hands[0] are 1"),
        (
            {"rules": "italian", "has_opened": [True, True], "turn": {"drew": "upcard", "card": "8H"}, "phase": "play"},
            "turn.card: 8H is not in hands[0]",
        ),
        ({"seat": -1}, "seat: expected an integer from 0 to 1, got -1"),
        ({"seat": 1.0}, "seat: expected an integer from 0 to 1, got 1.0"),
        ({"phase": "discard"}, "phase: expected one of draw, play, round_over, match_over, got 'discard'"),
        ({"phase": 0}, "phase: expected one of"),
        ({"hands": [["7H", "7H", "7H"]]}, "hands[0]: too many of 7H, the deck of these rules has 2"),
        ({"hands": [["JK"] * 4]}, "hands[0]: too many of JK, the deck of these rules has 4"),
        ({"hands": [["10H"]]}, "hands[0]: '10H' is not a card"),
        ({"hands": [["JK=7H"]]}, "hands[0]: 'JK=7H' is not a card"),
        ({"hands": ["7H"]}, "hands[0]: expected a list, got '7H'"),
        ({"hands": [[], [], []]}, "hands: at most 2 entries, got 3"),
        ({"hands": [[{"hidden": 17}]]}, "hands[0].hidden: expected an integer from 0 to 16, got 17"),
        ({"hands": [[{"hide": 3}]]}, "hands[0]: there is no field 'hide'"),
        ({"hands": [[{}]]}, "hands[0].hidden: expected an integer from 0 to 16, got null"),
        ({"has_opened": [0, 1]}, "has_opened[0]: expected true or false, got 0"),
        ({"turns": [0]}, "turns: expected 2 entries"),
        ({"turns": [0, -1]}, "turns[1]: expected an integer"),
        ({"scores": [0, 10**12]}, "scores[1]: expected an integer"),
        ({"table": [["7H", "7D"]]}, "table[0]: a meld has at least three cards"),
        ({"table": [["7H", "7D", "JK"]]}, "table[0]: say which card the joker stands for"),
        ({"table": [["7H", "7D", "JK=8C"]]}, "table[0]: the cards are neither of one rank nor of one suit"),
        ({"table": [["7H", "JK=7D", "JK=7C"]]}, "table[0]: a meld has at most one joker"),
        ({"table": [["QS", "KS", "AS", "2S"]]}, "table[0]: the cards of a run follow one another"),
        ({"table": [[]]}, "table[0]: a meld has at least three cards"),
        ({"table": [None] * 37}, "table: at most 36 entries"),
        (
            {"rules": {"max_run": 5}, "table": [["4D", "5D", "6D", "7D", "8D", "9D"]]},
            "table[0]: a run has at most 5 cards",
        ),
        ({"rules": {"ranks": 9}, "table": [["TD", "JD", "QD"]]}, "table[0]: TD is not in the deck of these rules"),
        ({"rules": {"suits": 3}, "pile": ["7S"]}, "pile: too many of 7S, it is not in the deck of these rules"),
        ({"pile": ["QH"] * 109}, "pile: at most 108 entries"),
        ({"pile": "QH"}, "pile: expected a list"),
        ({"stock": ["QH"]}, "stock: 84 cards lie nowhere; leave stock out"),
        ({"stock": [{"hidden": 108}]}, "stock: more hidden cards than are unseen"),
        ({"turn": {"drew": "stock"}}, "turn: there is no turn in phase 'draw'"),
        ({"phase": "play", "turn": {"drew": "none"}}, "turn.drew: a seat that plays has drawn"),
        ({"phase": "play", "turn": {"drew": "upcard"}}, "turn.card: name the upcard that was taken"),
        ({"phase": "play", "turn": {"card": "7H"}}, "turn.card: only where the upcard was drawn"),
        ({"phase": "play", "turn": {"drew": "upcard", "card": "7H"}}, "turn.drew: a seat that has not opened may not"),
        ({"phase": "play", "turn": {"laid_points": 40}}, "turn.laid_points: they are enough to open"),
        ({"phase": "play", "turn": {"opened_now": True}}, "turn.opened_now: has_opened says"),
        ({"phase": "play", "turn": {"new": [5]}}, "turn.new: a slot in which no meld lies"),
        ({"phase": "play", "turn": {"new": [0], "laid_any": False}}, "turn.laid_any"),
        ({"phase": "play", "turn": {"jokers_owed": 5}}, "turn.jokers_owed: expected an integer from 0 to 4"),
        ({"phase": "play", "turn": {"split": 1}}, "turn.split: not a run that these rules split"),
        ({"phase": "play", "turn": {"last": 36}}, "turn.last: expected an integer from 0 to 35"),
        ({"phase": "play", "turn": {"points": 3}}, "turn: there is no field 'points'"),
        ({"phase": "play", "turn": []}, "turn: expected an object, got a list"),
        ({"seed": -1}, "seed: expected an integer"),
        ({"seed": 2**64}, "seed: expected an integer"),
        ({"seed": 10**3000}, "got a huge number"),
        ({"in_round": [False, False]}, "in_round: no seat is in the round"),
        ({"in_round": [False, True]}, "seat: seat 0 is not in the round"),
        ({"seat": 1, "in_round": [False, True]}, "hands[0]: the seat is not in the round"),
        ({"known": [["8H"], []]}, "known[0]: not all of these cards are in that hand"),
        ({"known": [["7H", "7H"], []]}, "known[0]: not all of these cards are in that hand"),
        ({"discards": [["7H"] * 256, []]}, "discards[0]: at most 255 of a kind"),
        ({"stock_known": 109}, "stock_known: expected an integer"),
        ({"phase": "round_over", "seat": None}, "last_round: needed in phase 'round_over'"),
        ({"phase": "match_over", "seat": 0}, "seat: seat 0 does not act in phase 'match_over'"),
        ({"pending": [0]}, "pending: nobody chooses re-entry in phase 'draw'"),
        ({"last_round": {"end": "none"}}, "last_round.end: leave last_round out"),
        ({"last_round": {"end": "closed"}}, "last_round.closer: a seat where the round was closed"),
        ({"winners": [2]}, "winners: expected an integer from 0 to 1"),
        ({"episode": "game"}, "episode: expected one of round, match"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(change: dict[str, Any], line: str) -> None:
    with pytest.raises((NotationError, RulesError)) as caught:
        position_from_json({**SIMPLE, **change} if "seat" in change or change.get("phase") != "match_over" else change)
    message = str(caught.value)
    assert line in message
    assert "\n" not in message
    assert len(message) < 250


@pytest.mark.parametrize("data", [None, [], "x", 3, True, [SIMPLE]])
def test_only_an_object_is_a_position(data: Any) -> None:
    with pytest.raises(NotationError, match="position: expected an object"):
        position_from_json(data)


def test_rules_are_written_by_their_nearest_name() -> None:
    assert rules_to_json(Rules()) == "standard"
    assert rules_to_json(Rules.load("hops")) == "hops"
    assert rules_to_json(Rules(opening_min=30)) == {"base": "standard", "opening_min": 30}
    for house in HOUSES:
        assert Rules.of(rules_to_json(Rules.of(house))) == Rules.of(house)


def test_remembered_rules_do_not_take_one_for_true() -> None:
    assert position_from_json({"rules": {"close_on_first_turn": True}})[0].close_on_first_turn
    with pytest.raises(RulesError):
        position_from_json({"rules": {"close_on_first_turn": 1}})


def survives(game: Game) -> None:
    """The state of a game, written and read, is the same to the last byte."""
    data = json.loads(json.dumps(position_to_json(game.row, game.rules)))
    rules, rows = position_from_json(data)
    assert rules == game.rules
    names = rows.dtype.names or ()
    assert [name for name in names if not np.array_equal(rows[name], game.rows[name])] == []
    assert rows.tobytes() == game.rows.tobytes()


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(HOUSES), st.integers(2, 6), st.integers(0, 2**64 - 1), st.sampled_from(["round", "match"]))
def test_every_reachable_state_survives_the_round_trip(house: Any, players: int, seed: int, episode: str) -> None:
    rules = Rules.of(house)
    players = min(max(players, rules.min_players), rules.max_players)
    game = Game(rules, players, seed=seed, episode=episode)
    rng = np.random.default_rng(seed)
    for _ in range(250):
        survives(game)
        if game.is_over:
            break
        # Plays before discards: the states in the middle of a turn are the ones with the most fields.
        legal = game.legal_actions()
        game.play(int(legal[0] if rng.random() < 0.3 else rng.choice(legal)))
    survives(game)


def test_a_redacted_state_is_written_with_hidden_cards() -> None:
    game = Game("hops", 3, seed=5)
    position = position_to_json(game.redacted(1)[0], game.rules)
    assert position["hands"][0] == [{"hidden": 13}]
    assert len(position["hands"][1]) == 13
    assert position["stock"] == [{"hidden": 108 - 39 - 1}]
    drawn = row_of({**position, "seed": 3})
    assert cards_of(drawn) == cards_of(game.row)
    assert drawn.hand_one[1] == game.row.hand_one[1]
    assert row_of({"seat": 0}).closer == NOBODY
