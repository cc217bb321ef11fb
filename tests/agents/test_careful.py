"""What careful play does in positions whose best play is plain, and that it is stronger than the solver."""

from typing import Any

import pytest

from agents.careful import CAREFUL_WEIGHTS, Careful
from agents.weighing import NUM_WEIGHTS
from scala40_env.core.rules import Rules
from tests.agents.choosing import choice
from training.arena import play
from training.deals import plan

OPENED = {"has_opened": [True, True], "turn": {"drew": "stock"}}


def careful(position: dict[str, Any]) -> str:
    return choice(Careful(), position)


def test_a_line_of_weights_for_two_players_and_one_for_more():
    assert CAREFUL_WEIGHTS.shape == (2, NUM_WEIGHTS)
    assert not (CAREFUL_WEIGHTS[0] == CAREFUL_WEIGHTS[1]).all()


def test_opens_when_another_hand_is_nearly_empty():
    hand = ["KH", "KD", "KS", "QH", "QD", "QS", "2H", "4D", "6C", "8S", "9H", "AD", "3C", "5S"]
    position = {"has_opened": [False, True], "table": [["4H", "5H", "6H"]], "turn": {"drew": "stock"}}
    assert careful({"hands": [hand, [{"hidden": 2}]], **position}) in ("lay KH KD KS", "lay QH QD QS")


def test_lays_its_melds_and_goes_out_when_it_can():
    table = [["4D", "5D", "6D"]]
    assert careful({"hands": [["2H", "2D", "2S", "TH", "TD", "TS", "5C"], [{"hidden": 5}]], **OPENED}).startswith("lay")
    assert careful({"hands": [["7D", "KH"], [{"hidden": 9}]], "table": table, **OPENED}) == "off 7D @0"
    assert careful({"hands": [["KH"], [{"hidden": 9}]], "table": table, **OPENED}) == "discard KH"


def test_keeps_what_goes_out_with_the_next_card():
    # of the nines both others can still come; of the eights none
    hand = ["9H", "9D", "8C", "8S"]
    pile = ["8H", "8H", "8D", "8D", "3H"]
    position = {"hands": [hand, [{"hidden": 5}]], "table": [["4D", "5D", "6D"]], "pile": pile, **OPENED}
    assert careful(position) in ("discard 8C", "discard 8S")


def test_does_not_discard_for_the_table_while_the_next_seat_may_play_it():
    hand = ["KH", "QC", "2H", "4D", "6C", "8S", "9H", "AD", "3C", "5S", "JH", "7C", "TD", "9C"]
    position = {"hands": [hand, [{"hidden": 5}]], "has_opened": [False, True], "turn": {"drew": "stock"}}
    plain = careful({**position, "table": [["4H", "5H", "6H"]]}).removeprefix("discard ")
    rank, suit = plain
    others = [rank + other for other in "HDCS" if other != suit]
    assert careful({**position, "table": [others]}) != f"discard {plain}"  # it would be laid off
    assert careful({**position, "table": [[*others[:2], f"JK={plain}"]]}) != f"discard {plain}"  # it buys the joker


def test_what_the_seat_after_it_cannot_play_is_no_danger():
    hand = ["KH", "QC", "2H", "4D", "6C", "8S", "9H", "AD", "3C", "5S", "JH", "7C", "TD", "9C"]
    hands = [hand, [{"hidden": 13}], [{"hidden": 5}]]
    position = {
        "players": 3,
        "hands": hands,
        "turns": [3, 3, 3],
        "has_opened": [False, False, True],
        "turn": {"drew": "stock"},
    }
    plain = careful({**position, "table": [["4H", "5H", "6H"]]})
    assert plain == careful({**position, "table": [["4H", "5H", "6H"]], "hands": [hand, [{"hidden": 12}], hands[2]]})


@pytest.mark.parametrize("players", [2, 4])
def test_is_stronger_than_the_solver(players: int):
    result = play(plan(["careful", "solver"], Rules.load("standard"), 4_000, players=players, seed=12))
    points = result.differences[0].points
    assert points.mean < 0
    assert points.excludes_zero
