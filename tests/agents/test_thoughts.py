"""What the agents say they thought: of their last decision, about actions that were legal, and never in its way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.ismcts import Ismcts
from agents.pimc import Pimc
from agents.thinking import FEW
from agents.weights import Card, layout_digest, save
from scala40_env.core.game import Game
from scala40_env.core.notation import format_action
from scala40_env.core.rules import Rules
from scala40_env.envs.observation import layout
from scala40_env.replay.thoughts import thought_of


def decided(agent: Any, least: int = 8) -> tuple[Game, str]:
    """A game in which many actions are legal, and the one that the agent chose, as text."""
    game = Game("standard", 2, seed=3)
    while len(game.legal_actions()) < least:
        game.play(int(game.legal_actions()[0]))
    choice = agent.act(game.redacted(game.seat), game.legal_actions(), game.rules, 5)
    return game, format_action(choice, game.row, game.rules)


def legal_texts(game: Game) -> set[str]:
    return {format_action(action, game.row, game.rules) for action in game.legal_actions()}


def test_pimc_tells_what_the_best_actions_gained() -> None:
    agent = Pimc(worlds=8, prior="")
    assert agent.thought is None
    game, chosen = decided(agent)
    thought = thought_of(agent)
    assert isinstance(thought, dict)
    assert set(thought) == {"gain", "worlds"}
    assert next(iter(thought["gain"])) == chosen
    assert len(thought["gain"]) == FEW
    assert set(thought["gain"]) <= legal_texts(game)
    assert list(thought["worlds"]) == list(thought["gain"])
    worlds = list(thought["worlds"].values())
    assert worlds == sorted(worlds, reverse=True)
    assert worlds[0] > worlds[-1] > 0
    agent.act(game.redacted(game.seat), game.legal_actions()[:1], game.rules, 5)
    assert agent.thought is None, "where there was no choice there was no thought"


@pytest.mark.parametrize(("sure", "stands"), [(1000.0, True), (0.0, False)])
@pytest.mark.parametrize(("search", "budget"), [(Pimc, {"worlds": 32}), (Ismcts, {"iterations": 200})])
def test_a_search_tells_whether_the_choice_of_its_prior_stood(
    search: Any, budget: dict[str, int], sure: float, stands: bool
) -> None:
    agent = search(prior="uniform", sure=sure, **budget)
    game, chosen = decided(agent)
    thought = agent.thought
    assert thought is not None
    assert thought["prior"] in legal_texts(game)
    assert thought["prior_stood"] is stands is (thought["prior"] == chosen)


def test_ismcts_tells_how_often_the_best_actions_were_visited() -> None:
    agent = Ismcts(iterations=60, prior="")
    assert agent.thought is None
    game, chosen = decided(agent)
    thought = thought_of(agent)
    assert isinstance(thought, dict)
    visits = list(thought["visits"].values())
    assert next(iter(thought["visits"])) == chosen
    assert visits == sorted(visits, reverse=True)
    assert 0 < sum(visits) <= 60
    assert list(thought["gain"]) == list(thought["visits"])
    assert set(thought["visits"]) <= legal_texts(game)
    assert len(agent.visits(game.redacted(game.seat), game.legal_actions(), game.rules, 5)) == len(game.legal_actions())
    assert agent.thought is None, "visits are no decision"
    agent.act(game.redacted(game.seat), game.legal_actions()[:1], game.rules, 5)
    assert agent.thought is None


def test_a_policy_tells_its_likeliest_actions(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    from agents.policy import Policy

    rules, rng = Rules.load("standard"), np.random.default_rng(1)
    widths = [layout(rules, 2, derived=False).size, 8, 635]
    arrays = {}
    for i, (given, made) in enumerate([(widths[0], widths[1]), (widths[1], widths[2])]):
        arrays[f"actor.{i}.weight"] = rng.normal(size=(made, given)).astype(np.float32)
        arrays[f"actor.{i}.bias"] = rng.normal(size=made).astype(np.float32)
    card = Card(rules.to_mapping(), 2, False, layout_digest(rules, 2, derived=False), (8,))
    save(tmp_path / "any.safetensors", arrays, card)
    agent = Policy(str(tmp_path / "any.safetensors"))
    assert agent.thought is None
    game, chosen = decided(agent)
    thought = thought_of(agent)
    assert isinstance(thought, dict)
    shares = list(thought["probability"].values())
    assert next(iter(thought["probability"])) == chosen
    assert shares == sorted(shares, reverse=True)
    assert 0 < sum(shares) <= 1.01
    assert set(thought["probability"]) <= legal_texts(game)


@pytest.mark.parametrize("make", [lambda: Pimc(worlds=4, prior="greedy"), lambda: Ismcts(iterations=20)])
def test_reading_a_thought_changes_no_choice(make: Any) -> None:
    read, unread, game = make(), make(), Game("hops", 2, seed=2)
    for rng in range(25):
        if game.is_over:
            break
        question = game.legal_actions(), game.rules, rng
        choice = read.act(game.redacted(game.seat), *question)
        assert thought_of(read) == thought_of(read)
        assert choice == unread.act(game.redacted(game.seat), *question)
        game.play(choice)
