"""``Game``: what is no action and what is no number is refused in one line, before anything changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scala40_env.core.actions import DISCARD
from scala40_env.core.game import Game, IllegalActionError
from scala40_env.core.invariants import explain
from scala40_env.core.position import position_from_json


@pytest.mark.parametrize(("action", "shown"), [("0", "'0'"), (0.5, "0.5"), (None, "None"), ([0], r"\[0\]")])
def test_what_is_no_integer_is_no_action(action: Any, shown: str) -> None:
    game = Game()
    before = game.rows.tobytes()
    with pytest.raises(ValueError, match=f"^action: expected an integer, got {shown}$"):
        game.play(action)
    assert game.rows.tobytes() == before


@pytest.mark.parametrize(
    ("rules", "action", "line"),
    [
        ("standard", 9999, "there is no action 9999; they are 0 ... 634"),
        ("standard", -5, "there is no action -5; they are 0 ... 634"),
        ("standard", 745, "there is no action 745; they are 0 ... 634"),
        ("standard", 10**30, f"there is no action {10**30}; they are 0 ... 634"),
        ("standard", 10**400, "there is no action so large; they are 0 ... 634"),
        ("international", 745, "there is no action 745; they are 0 ... 744"),
    ],
)
def test_a_number_that_is_no_action_is_named(rules: str, action: int, line: str) -> None:
    game = Game(rules)
    assert explain(game.row, game.rules, action) == line
    with pytest.raises(IllegalActionError) as caught:
        game.play(action)
    assert str(caught.value).endswith(line)
    assert len(str(caught.value)) < 200


def test_numbers_of_numpy_are_actions() -> None:
    game = Game()
    game.play(np.int16(0))
    assert game.row.drew == 1


@pytest.mark.parametrize("value", [-1, 2**64, 1.5, "1", None, True, 10**400])
@pytest.mark.parametrize("name", ["seed", "game"])
def test_a_bad_number_of_a_deal_is_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: expected an integer from 0 to 2\*\*64 - 1, got [^\n]+$") as caught:
        Game(**{name: value})
    assert len(str(caught.value)) < 120


def test_the_count_of_discards_of_a_kind_stays_at_its_most():
    position = {"rules": "standard", "players": 2, "seat": 0, "phase": "play", "turns": [300, 300]}
    position |= {"hands": [["7H", "8D"], [{"hidden": 9}]], "has_opened": [True, True], "pile": ["QH"]}
    position |= {"discards": [["8D"] * 255, []], "rules": {"max_turns_per_round": 2000}}
    game = Game.from_rows(*position_from_json(position))
    game.play(DISCARD + 20)
    assert int(game.row.discards[0][20]) == 255
