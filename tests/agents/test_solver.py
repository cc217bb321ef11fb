"""What the solver does in positions whose best play is plain, and that it is stronger than greedy play."""

from typing import Any

import pytest

from agents.solver import Solver
from scala40_env.core.rules import Rules
from tests.agents.choosing import choice
from training.arena import play
from training.deals import plan

OPENED = {"has_opened": [True, True], "turn": {"drew": "stock"}}
UNOPENED = {"turn": {"drew": "stock"}}
DRAWING = {"phase": "draw", "has_opened": [True, True]}


def solved(position: dict[str, Any]) -> str:
    return choice(Solver(), position)


def test_opens_as_soon_as_it_can():
    hand = ["KH", "KD", "KS", "QH", "QD", "QS", "2H", "4D", "6C", "8S", "9H", "AD", "3C", "5S"]
    assert solved({"hands": [hand, [{"hidden": 13}]], **UNOPENED}) in ("lay KH KD KS", "lay QH QD QS")


def test_cards_of_two_melds_go_where_least_is_left():
    # the run of sevens would break both sets: 5H 6H 7H leaves 5D 5S 6D 6S
    hand = ["5H", "6H", "7H", "5D", "5S", "6D", "6S", "KC"]
    assert solved({"hands": [hand, [{"hidden": 5}]], **OPENED}) in ("lay 5H 5D 5S", "lay 6H 6D 6S")


def test_a_card_that_a_meld_needs_is_not_laid_off():
    hand = ["7D", "8D", "9D", "2C", "JS"]
    table = [["4D", "5D", "6D"], ["JH", "JD", "JC"]]
    # the jack goes first or the run of seven; either way nothing but the two stays
    first = solved({"hands": [hand, [{"hidden": 5}]], "table": table, **OPENED})
    assert first in ("lay 7D 8D 9D", "off JS @1", "off 7D @0")
    hand = ["7D", "7H", "7S", "2C", "KS"]
    assert solved({"hands": [hand, [{"hidden": 5}]], "table": table, **OPENED}) == "lay 7H 7D 7S"


def test_goes_out_when_it_can():
    table = [["4D", "5D", "6D"]]
    assert solved({"hands": [["7D", "KH"], [{"hidden": 9}]], "table": table, **OPENED}) == "off 7D @0"
    assert solved({"hands": [["KH"], [{"hidden": 9}]], "table": table, **OPENED}) == "discard KH"


def test_a_joker_waits_for_a_meld_of_its_own_until_the_end_is_near():
    table = [["4D", "5D", "6D"]]
    hand = ["JK", "KH", "2S", "9C", "JD"]
    assert solved({"hands": [hand, [{"hidden": 9}]], "table": table, **OPENED}).startswith("discard")
    assert solved({"hands": [hand, [{"hidden": 2}]], "table": table, **OPENED}).startswith("off JK=")


def test_a_swap_is_made_where_the_joker_finds_a_meld():
    table = [["4D", "JK=5D", "6D"]]
    assert solved({"hands": [["5D", "KH", "KS", "2C"], [{"hidden": 9}]], "table": table, **OPENED}) == "swap 5D @0"


@pytest.mark.parametrize(
    ("upcard", "hand", "table", "choice_text"),
    [
        ("7D", ["KH", "2S", "9C"], [["4D", "5D", "6D"]], "take"),  # could be laid off
        ("9D", ["9H", "9S", "2C", "4S"], [["4D", "5D", "6D"]], "take"),  # makes a set
        ("QD", ["9H", "9S", "2C", "4S"], [["4D", "5D", "6D"]], "draw"),  # helps nothing
        ("9H", ["9H", "9S", "2C", "4S"], [["4D", "5D", "6D"]], "draw"),  # a second copy helps nothing
        ("5D", ["9H", "9S", "2C", "KS"], [["4D", "JK=5D", "6D"]], "take"),  # buys a joker for the nines
        ("5D", ["9H", "3S", "2C", "KS"], [["4D", "JK=5D", "6D"], ["TH", "TD", "TS"]], "take"),  # or for the table
    ],
)
def test_takes_the_upcard_where_it_leaves_no_more(
    upcard: str, hand: list[str], table: list[list[str]], choice_text: str
):
    position = {"rules": "italian", "hands": [hand, [{"hidden": 9}]], "table": table, "pile": [upcard], **DRAWING}
    if choice_text == "take" and table[0][1].startswith("JK") and len(table) == 2:
        position["rules"] = "standard"
    assert solved(position) == choice_text


@pytest.mark.parametrize(
    ("hand", "pile", "gone"),
    [
        (["KH", "2S", "5C"], ["4C"], "discard KH"),  # the dearest
        (["KH", "KD", "9C", "5S"], ["4C"], "discard 9C"),  # a pair is kept
        (["QH", "KH", "9C", "5S"], ["4C"], "discard 9C"),  # and neighbours
        (["KH", "KH", "QH", "9C"], ["4C"], "discard KH"),  # the spare copy goes
        (["JK", "2S"], ["4C"], "discard 2S"),  # a joker stays
        (["JK", "JK"], ["4C"], "discard JK"),  # unless there is nothing else
        # two pairs, but of the nines both copies of both others are in the pile
        (["9H", "9D", "8C", "8S", "2D"], ["9C", "9C", "9S", "9S", "3H"], "discard 9"),
        (["9H", "9D", "8C", "8S", "2D"], ["8H", "8H", "8D", "8D", "3H"], "discard 8"),
    ],
)
def test_discards_what_costs_most_and_may_still_help_least(hand: list[str], pile: list[str], gone: str):
    table = [["4D", "JK=5D", "6D"]]  # there is no room for another joker
    position = {"hands": [hand, [{"hidden": 5}]], "table": table, "pile": pile, **OPENED}
    assert solved(position).startswith(gone)


def test_does_not_give_away_a_card_that_buys_a_joker():
    hand = ["KH", "QC", "2H", "4D", "6C", "8S", "9H", "AD", "3C", "5S", "JH", "7C", "TD", "9C"]
    position = {"hands": [hand, [{"hidden": 5}]], "has_opened": [False, True], "turn": {"drew": "stock"}}
    without = solved({**position, "table": [["4H", "5H", "6H"]]})
    bought = without.removeprefix("discard ")
    rank, suit = bought
    others = [rank + other for other in "HDCS" if other != suit][:2]
    assert solved({**position, "table": [[*others, f"JK={bought}"]]}) != without


@pytest.mark.parametrize("book", ["standard", "international"])
def test_is_stronger_than_greedy_play(book: str):
    result = play(plan(["solver", "greedy"], Rules.load(book), 4_000, seed=11))
    points = result.differences[0].points
    assert points.mean < 0
    assert points.excludes_zero
