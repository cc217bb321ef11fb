"""What greedy play does in positions whose best play any card player sees."""

from typing import Any

import pytest

from agents.greedy import Greedy
from scala40_env.core.game import Game
from scala40_env.core.notation import format_action
from scala40_env.core.position import position_from_json
from scala40_env.core.position_writer import plain


def choice(position: dict[str, Any]) -> str:
    """What greedy play does in a position, as text."""
    rules, rows = position_from_json({"seat": 0, "phase": "play", "turns": [3, 3], "pile": ["4C"], **position})
    game = Game.from_rows(rules, rows)
    action = Greedy().act(game.redacted(0), game.legal_actions(), game.rules)
    assert game.is_legal(action)
    return format_action(action, plain(game.row), game.rules)


OPENED = {"has_opened": [True, True], "turn": {"drew": "stock"}}
DRAWING = {"phase": "draw", "has_opened": [True, True]}


def test_opens_as_soon_as_it_can():
    hand = ["KH", "KD", "KS", "QH", "QD", "QS", "2H", "4D", "6C", "8S", "9H", "AD", "3C", "5S"]
    play = choice({"hands": [hand, [{"hidden": 13}]], "turn": {"drew": "stock"}})
    assert play in ("lay KH KD KS", "lay QH QD QS")


def test_lays_what_sheds_most():
    hand = ["2H", "2D", "2S", "TH", "TD", "TS", "5C"]
    assert choice({"hands": [hand, [{"hidden": 5}]], **OPENED}) == "lay TH TD TS"


def test_a_card_of_two_melds_goes_to_the_one_that_leaves_another():
    hand = ["5H", "6H", "7H", "5D", "5S", "6D", "6S", "KC"]
    first = choice({"hands": [hand, [{"hidden": 5}]], **OPENED})
    assert first in ("lay 5H 5D 5S", "lay 6H 6D 6S")


def test_melds_without_a_joker_come_first_and_melds_with_one_before_lay_offs():
    table = [["8H", "8D", "8S"]]
    hand = ["2H", "2D", "2S", "KH", "KD", "JK", "5C", "8C"]
    assert choice({"hands": [hand, [{"hidden": 5}]], "table": table, **OPENED}) == "lay 2H 2D 2S"
    hand = ["KH", "KD", "JK", "5C", "8C"]
    assert choice({"hands": [hand, [{"hidden": 5}]], "table": table, **OPENED}).startswith("lay KH KD JK=")


def test_a_joker_waits_for_a_meld_of_its_own_until_the_end_is_near():
    table = [["4D", "5D", "6D"]]
    hand = ["JK", "KH", "2S", "9C", "JD"]
    assert choice({"hands": [hand, [{"hidden": 9}]], "table": table, **OPENED}).startswith("discard")
    assert choice({"hands": [hand, [{"hidden": 2}]], "table": table, **OPENED}).startswith("off JK=")


def test_goes_out_when_it_can():
    table = [["4D", "5D", "6D"]]
    assert choice({"hands": [["7D", "KH"], [{"hidden": 9}]], "table": table, **OPENED}) == "off 7D @0"
    assert choice({"hands": [["KH"], [{"hidden": 9}]], "table": table, **OPENED}) == "discard KH"


def test_buys_a_joker_back_for_a_meld_that_is_ready():
    table = [["4D", "JK=5D", "6D"]]
    hand = ["5D", "KH", "KS", "2C"]
    assert choice({"hands": [hand, [{"hidden": 9}]], "table": table, **OPENED}) == "swap 5D @0"


@pytest.mark.parametrize(
    ("upcard", "hand", "table", "choice_text"),
    [
        ("7D", ["KH", "2S", "9C"], [["4D", "5D", "6D"]], "take"),  # could be laid off
        ("9D", ["9H", "9S", "2C", "4S"], [["4D", "5D", "6D"]], "take"),  # makes a set
        ("QD", ["9H", "9S", "2C", "4S"], [["4D", "5D", "6D"]], "draw"),  # helps nothing
        ("9H", ["9H", "9S", "2C", "4S"], [["4D", "5D", "6D"]], "draw"),  # a second copy helps nothing
        ("JK", ["9H", "3S", "2C", "KS"], [["4D", "5D", "6D"]], "take"),  # a joker always does
        ("5D", ["9H", "9S", "2C", "KS"], [["4D", "JK=5D", "6D"]], "take"),  # buys a joker for the nines
        ("5D", ["9H", "3S", "2C", "KS"], [["4D", "JK=5D", "6D"]], "draw"),  # the joker would find no meld
    ],
)
def test_takes_the_upcard_where_it_can_be_played_at_once(
    upcard: str, hand: list[str], table: list[list[str]], choice_text: str
):
    position = {"rules": "italian", "hands": [hand, [{"hidden": 9}]], "table": table, "pile": [upcard], **DRAWING}
    assert choice(position) == choice_text


@pytest.mark.parametrize(
    ("hand", "gone"),
    [
        (["KH", "2S", "5C"], "discard KH"),  # the dearest
        (["KH", "KD", "9C", "5S"], "discard 9C"),  # a pair is kept
        (["QH", "KH", "9C", "5S"], "discard 9C"),  # and neighbours
        (["JH", "KH", "TC", "5S"], "discard TC"),  # and a gap of one
        (["KH", "KH", "QH", "9C"], "discard KH"),  # the spare copy goes
        (["JK", "2S"], "discard 2S"),  # a joker stays
        (["JK", "JK"], "discard JK"),  # unless there is nothing else
    ],
)
def test_discards_what_costs_most_and_helps_least(hand: list[str], gone: str):
    assert choice({"hands": [hand, [{"hidden": 9}]], "table": [["4C", "4D", "4S", "4H"]], **OPENED}) == gone


def test_keeps_from_others_what_they_could_lay_off():
    table = [["TD", "JD", "QD"]]
    position = {"table": table, "turn": {"drew": "stock"}}
    hands = [["KD", "2S", "KC", "7H"], [{"hidden": 9}]]
    # only the other seat may lay off: of two kings alike the one that fits nowhere goes
    spare = choice({**position, "hands": [["KD", "JC", "2S", "7H"], [{"hidden": 9}]], "has_opened": [False, True]})
    assert spare == "discard JC"
    assert choice({**position, "hands": hands, "has_opened": [False, True]}) in ("discard KC", "discard 7H")


def test_the_choice_is_the_same_whenever_it_is_asked():
    game = Game("standard", 4, seed=11)
    agent = Greedy()
    for _ in range(60):
        rows, legal = game.redacted(game.seat), game.legal_actions()
        action = agent.act(rows, legal, game.rules)
        assert action == Greedy().act(rows.copy(), legal.copy(), game.rules)
        assert action in legal
        game.play(action)
        if game.is_over:
            break
