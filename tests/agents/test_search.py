"""The searching agents: fair, repeatable, within their budget, and better than the bot that they play out with."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from agents.base import AgentError
from agents.ismcts import Ismcts
from agents.pimc import Pimc
from agents.registry import make
from scala40_env.core.deal import decision_rng
from scala40_env.core.game import Game
from scala40_env.core.position import position_from_json
from scala40_env.core.rules import Rules
from tests.agents.redealing import redeal
from training.arena import play
from training.deals import plan

SEARCHES = [lambda: Pimc(worlds=8), lambda: Ismcts(iterations=40)]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(("book", "players"), [("standard", 2), ("international", 3), ("cerchio", 4)])
def test_hidden_cards_change_no_choice_and_equal_seeds_give_equal_choices(search: Any, book: str, players: int):
    agent, again, game, checked = search(), search(), Game(book, players, seed=8, episode="match"), 0
    for step in range(45):
        if game.is_over:
            break
        rng = decision_rng(np.uint64(1), np.uint64(0), game.seat, step)
        legal, other = game.legal_actions(), redeal(game, step)
        choice = agent.act(game.redacted(game.seat), legal, game.rules, rng)
        assert choice in legal
        assert choice == again.act(other.redacted(game.seat), legal, game.rules, rng)
        assert choice == again.act(other.rows, legal, game.rules, rng), "whole rows tell it nothing more"
        checked += len(legal) > 1
        game.play(choice)
    assert checked > 15


@pytest.mark.parametrize("search", [lambda: Pimc(worlds=32), lambda: Ismcts(iterations=300)])
def test_it_goes_out_when_it_can(search: Any):
    hands = [["7H", "7D", "7S", "KC"], [{"hidden": 9}]]
    position = {"rules": "standard", "players": 2, "seat": 0, "phase": "play", "turns": [4, 4]}
    position |= {"hands": hands, "has_opened": [True, True], "table": [["4D", "5D", "6D"]], "pile": ["QH"]}
    game = Game.from_rows(*position_from_json(position))
    agent = search()
    while not game.is_over and game.seat == 0:
        game.play(agent.act(game.redacted(0), game.legal_actions(), game.rules, 5))
    assert int(game.row.closer) == 0


def test_the_same_worlds_judge_every_action():
    game = Game("standard", 2, seed=3)
    while len(game.legal_actions()) < 10:
        game.play(int(game.legal_actions()[0]))
    rows, legal = game.redacted(game.seat), game.legal_actions()
    values = Pimc(worlds=64).values(rows, legal, game.rules, 1)
    assert np.isfinite(values).sum() <= (len(legal) + 1) // 2
    assert np.isfinite(values).any()
    assert np.array_equal(values, Pimc(worlds=64).values(rows, legal, game.rules, 1))
    assert not np.array_equal(values, Pimc(worlds=64, seed=1).values(rows, legal, game.rules, 1))


@pytest.mark.parametrize("search", [Pimc(milliseconds=30.0), Ismcts(milliseconds=30.0)])
def test_a_budget_of_time_is_kept(search: Any):
    game = Game("standard", 2, seed=3)
    while len(game.legal_actions()) < 10:
        game.play(int(game.legal_actions()[0]))
    rows, legal = game.redacted(game.seat), game.legal_actions()
    search.act(rows, legal, game.rules, 1)
    began = time.perf_counter()
    for rng in range(5):
        assert search.act(rows, legal, game.rules, rng) in legal
    assert 0.02 * 5 < time.perf_counter() - began < 2.0


def test_it_beats_the_bot_that_it_plays_out_with():
    result = play(plan(["pimc:worlds=96", "greedy"], Rules.load("standard"), 40, seed=0))
    assert result.agents[0].raised == result.agents[0].illegal == 0
    assert result.agents[0].points.mean < result.agents[1].points.mean


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pimc:worlds=0", "worlds: expected an integer from 1 to 100000, got 0"),
        ("pimc:milliseconds=-1", "milliseconds: expected a number from 0 to 1000000, got -1.0"),
        ("pimc:bot=pimc", "bot: 'pimc' is not a compiled bot"),
        ("pimc:bot=nobody", "agent: there is no agent 'nobody'"),
        ("ismcts:iterations=0", "iterations: expected an integer from 1 to 1000000, got 0"),
        ("ismcts:exploration=-1", "exploration: expected a number of 0 or more, got -1.0"),
        ("ismcts:seed=-1", "seed: expected an integer from 0"),
    ],
)
def test_bad_options_are_one_line(text: str, words: str):
    with pytest.raises(AgentError) as caught:
        make(text)
    assert str(caught.value).startswith(words)
