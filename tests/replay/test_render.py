"""A state as text: all that is known stands in it, and nothing that is hidden."""

from __future__ import annotations

import re

import numpy as np

from scala40_env.core.game import Game
from scala40_env.core.position import position_from_json
from scala40_env.core.rules import Rules
from scala40_env.replay.render import render_text

POSITION = {
    "rules": {"opening_min": 50},
    "hands": [["7H", "JK"], ["3C", "3D"]],
    "has_opened": [False, True],
    "scores": [12, 101],
    "turns": [2, 2],
    "table": [["7S", "7D", "JK=7C"], None, ["4D", "5D", "6D"]],
    "pile": ["2S", "QH"],
    "known": [["JK"], ["3D"]],
    "turn": {"laid_points": 15, "new": [2], "last": 2},
}

WHOLE = """\
standard with house rules, 2 seats, round 1, turn 5, play
  upcard QH   pile 2   stock 96
  table @0 7D JK=7C 7S   @2* 4D 5D 6D
> seat 0          12 points  7H JK
  seat 1 D open  101 points  3D 3C
  seat 0 drew from the stock, opening 15 of 50 points
"""


def strip(text: str) -> str:
    return re.sub(r"\x1b\[\d*m", "", text)


def test_a_state_as_text() -> None:
    rules, rows = position_from_json(POSITION)
    assert render_text(rows[0], rules) == WHOLE
    assert strip(render_text(rows[0], rules, color=True)) == WHOLE
    assert "\x1b[31m" in render_text(rows[0], rules, color=True)


def test_a_viewer_sees_what_everybody_saw_of_the_other_hands() -> None:
    rules, rows = position_from_json(POSITION)
    assert "3D ?? x1" in render_text(rows[0], rules, viewer=0)
    assert "7H JK" in render_text(rows[0], rules, viewer=0)
    assert "JK ?? x1" in render_text(rows[0], rules, viewer=1)


def test_nothing_hidden_shows_and_no_state_of_play_is_without_text() -> None:
    rules = Rules.from_mapping(
        {"base": "international", "match_limit": 40, "opening_min": 10, "max_turns_per_round": 40}
    )
    game = Game(rules, 3, seed=2, episode="match")
    rng = np.random.default_rng(2)
    for _ in range(600):
        if game.is_over:
            break
        legal = game.legal_actions()
        game.play(int(legal[0] if rng.random() < 0.3 else rng.choice(legal)))
        whole = render_text(game.row, rules, viewer=1)
        redacted = render_text(game.redacted(1)[0], rules, viewer=1)
        assert whole == redacted
        assert render_text(game.row, rules).endswith("\n")


def test_the_end_of_a_round_and_of_a_match() -> None:
    over = {"phase": "round_over", "last_round": {"closer": 1, "closed_in_hand": True, "points": [30, 0], "turns": 9}}
    rules, rows = position_from_json(over)
    assert "round closed by seat 1 in hand after 9 turns; points 30 0" in render_text(rows[0], rules)
    assert "round 1, turn 1, round_over" in render_text(rows[0], rules)
    rules, rows = position_from_json({**over, "phase": "match_over", "winners": [1]})
    assert "the match is won by seat 1" in render_text(rows[0], rules)
    choice = {**over, "rules": "international", "episode": "match", "pending": [0], "scores": [130, 3]}
    rules, rows = position_from_json(choice)
    assert "seat 0 may re-enter or leave" in render_text(rows[0], rules)
    rules, rows = position_from_json({"players": 3, "in_match": [True, False, True], "scores": [1, 104, 3]})
    assert "seat 1  out of the match, 104 points" in render_text(rows[0], rules)
