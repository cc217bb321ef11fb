"""The searching agents: fair, repeatable, within their budget, and better than the bot that they play out with."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from agents import pimc
from agents.base import GREEDY, AgentError
from agents.belief import NO_BELIEF, before_last_discard, draw_world
from agents.ismcts import Ismcts
from agents.pimc import Pimc, SearchScratch
from agents.registry import make
from scala40_env.core.actions import DISCARD
from scala40_env.core.deal import decision_rng
from scala40_env.core.game import Game
from scala40_env.core.position import position_from_json
from scala40_env.core.rules import Rules
from scala40_env.core.state import DRAW, PLAY, allocate
from tests.agents.redealing import redeal
from training.arena import play
from training.deals import plan

SEARCHES = [
    lambda: Pimc(worlds=8, prior=""),
    lambda: Pimc(worlds=8, belief="careful"),
    lambda: Ismcts(iterations=40, prior=""),
    lambda: Ismcts(iterations=40, belief="greedy", doubt=0.1),
]


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
    values = Pimc(worlds=64, prior="").values(rows, legal, game.rules, 1)
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
    ("stubborn", "bold"),
    [
        (Pimc(worlds=8, sure=1e5), Pimc(worlds=8, prior="")),
        (Ismcts(iterations=100, sure=1e5), Ismcts(iterations=100, prior="")),
    ],
)
def test_the_prior_stands_unless_another_action_is_surely_better(stubborn: Any, bold: Any):
    game, careful, stood = Game("standard", 2, seed=5), make("careful"), 0
    for step in range(40):
        if game.is_over:
            break
        rows, legal = game.redacted(game.seat), game.legal_actions()
        usual = careful.act(rows.copy(), legal, game.rules)
        assert stubborn.act(rows.copy(), legal, game.rules, step) == usual
        stood += bold.act(rows.copy(), legal, game.rules, step) != usual
        game.play(usual)
    assert stood > 3, "the worlds are few: without a prior luck decides"


def _discards(game: Game, bot: str) -> bool:
    """Whether the last seat to move would have discarded what it did, with the hand that a world gives it."""
    before = game.rows.copy()
    kind = before_last_discard(before[0], game.seat)
    table = Game.from_rows(game.rules, before)
    assert table.seat == 1 - game.seat
    choice = make(bot).act(table.redacted(table.seat), table.legal_actions(), game.rules)
    return bool(choice == DISCARD + kind)


def test_a_belief_prefers_worlds_in_which_the_last_move_makes_sense():
    game = Game("standard", 2, seed=6)
    for _ in range(13):
        game.play(make("greedy").act(game.redacted(game.seat), game.legal_actions(), game.rules))
    scratch, rows = SearchScratch(), game.redacted(game.seat)
    share = {}
    for believed, doubt in ((NO_BELIEF, 0.0), (GREEDY, 0.0), (GREEDY, 0.3)):
        sensible = 0
        for number in range(60):
            known = rows[0], game.seat, game.rules.vector(), np.uint64(3), number
            assert draw_world(*known, believed, doubt, np.uint64(0), scratch.parts)
            world = Game.from_rows(game.rules, scratch.parts[3])
            assert world.redacted(game.seat).tobytes() == Game.from_rows(game.rules, rows).redacted(game.seat).tobytes()
            sensible += _discards(world, "greedy")
        share[believed, doubt] = sensible / 60
    assert share[NO_BELIEF, 0.0] < share[GREEDY, 0.3] < share[GREEDY, 0.0]
    assert share[GREEDY, 0.0] > 0.9, "but for those that were the last of many tries"


def test_the_position_before_a_discard_is_the_one_that_was():
    game, checked = Game("standard", 3, seed=9), 0
    while not game.is_over:
        before, phase = game.copy(), game.phase
        game.play(make("greedy").act(game.redacted(game.seat), game.legal_actions(), game.rules))
        if phase != PLAY or game.phase != DRAW or game.is_over:
            continue
        rows = game.rows.copy()
        kind = before_last_discard(rows[0], game.seat)
        for name in (
            "seat",
            "hand_one",
            "hand_two",
            "hand_jokers",
            "hand_size",
            "pile",
            "turns",
            "round_turns",
            "phase",
        ):
            assert np.array_equal(rows[0][name], before.rows[0][name]), name
        assert before.is_legal(DISCARD + kind)
        checked += 1
    assert checked > 15


def test_rounds_that_a_policy_plays_on_are_kept_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch):
    game = Game("standard", 2, seed=5)
    game.play(int(game.legal_actions()[0]))
    question = game.redacted(game.seat), game.legal_actions(), game.rules, 7
    sizes: list[int] = []
    for text in ("pimc:bot=policy:default,worlds=5,prior=", "pimc:value=policy:default,worlds=5,prior="):
        whole = make(text).values(*question)
        sizes.clear()
        with monkeypatch.context() as changed:
            changed.setattr(pimc, "_MOST_LEAVES", 3 * len(question[1]))
            changed.setattr(pimc, "allocate", lambda size: sizes.append(size) or allocate(size))
            assert np.allclose(make(text).values(*question), whole, rtol=0, atol=1e-3)
        assert max(sizes) <= 3 * len(question[1])
        assert len(sizes) > 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pimc:sure=-1", "sure: expected a number from 0 to 1000000, got -1.0"),
        ("pimc:prior=pimc", "prior: 'pimc' is not a compiled bot"),
        ("pimc:doubt=2", "doubt: expected a number from 0 to 1, got 2.0"),
        ("ismcts:belief=ismcts", "belief: 'ismcts' is not a compiled bot"),
        ("pimc:worlds=0", "worlds: expected an integer from 1 to 100000, got 0"),
        ("pimc:milliseconds=-1", "milliseconds: expected a number from 0 to 1000000, got -1.0"),
        ("pimc:bot=pimc", "bot: 'pimc' is not a compiled bot"),
        ("pimc:bot=nobody", "bot: 'nobody' is not a compiled bot or a policy"),
        ("pimc:bot=agents.greedy:Greedy", "bot: 'agents.greedy:Greedy' is not a compiled bot or a policy"),
        ("pimc:value=greedy", "value: 'greedy' is not a policy"),
        ("pimc:prior=policy:default", "prior: 'policy:default' is not a compiled bot"),
        ("ismcts:bot=policy:default", "bot: 'policy:default' is not a compiled bot"),
        ("pimc:prior=uniform:sed=1", "agent 'uniform:sed=1': there is no option 'sed'"),
        ("ismcts:iterations=0", "iterations: expected an integer from 1 to 1000000, got 0"),
        ("ismcts:exploration=-1", "exploration: expected a number of 0 or more, got -1.0"),
        ("ismcts:seed=-1", "seed: expected an integer from 0"),
    ],
)
def test_bad_options_are_one_line(text: str, words: str):
    with pytest.raises(AgentError) as caught:
        make(text)
    assert str(caught.value).startswith(words)
