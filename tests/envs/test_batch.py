"""The batch: the games it plays are the games that ``Game`` plays, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scala40_env.core.game import Game, IllegalActionError
from scala40_env.core.rules import RulesError
from scala40_env.envs.batch import Batch
from scala40_env.envs.observation import layout


def _digest(num_games: int, steps: int = 400) -> list[bytes]:
    """What game 0 of a batch shows, step by step, until its first episode ends."""
    batch = Batch("italian", 3, num_games, seed=11)
    seen = []
    for step in range(steps):
        seen.append(batch.observations[0].tobytes() + batch.masks[0].tobytes())
        batch.step(np.array([batch.legal[i, (step * 7919) % batch.counts[i]] for i in range(num_games)]))
        if batch.ended[0]:
            break
    return seen


def test_a_game_is_the_same_whatever_the_size_of_the_batch():
    alone = _digest(1)
    assert len(alone) > 30
    assert _digest(7) == alone
    assert _digest(256) == alone


@pytest.mark.parametrize(("rules", "players", "episode"), [("standard", 2, "round"), ("international", 4, "match")])
def test_games_are_those_of_the_engine(rules: str, players: int, episode: str):
    batch = Batch(rules, players, 5, seed=2, episode=episode)
    games: dict[int, Any] = {i: Game(rules, players, seed=2, game=i, episode=episode) for i in range(5)}
    rng = np.random.default_rng(0)
    number, ends = list(range(5)), 0
    for _ in range(1500):
        actions = np.array([rng.choice(batch.legal[i, : batch.counts[i]]) for i in range(5)])
        batch.step(actions)
        for i, game in games.items():
            game.play(int(actions[i]))
            assert game.is_over == batch.ended[i]
            if game.is_over:
                assert batch.points[i].tolist() == game.row.totals[:players].tolist()
                number[i] += 5
                games[i] = game = Game(rules, players, seed=2, game=number[i], episode=episode)
                ends += 1
            assert batch.legal[i, : batch.counts[i]].tolist() == game.legal_actions().tolist()
            assert batch.masks[i].tolist() == game.action_mask().tolist()
            assert batch.seats[i] == game.seat
            assert batch.games[i] == number[i]
    assert ends > (5 if episode == "round" else 0)
    assert batch.observations.shape[1] == layout(rules, players).size


def test_an_illegal_action_changes_nothing():
    batch = Batch("standard", 2, 4)
    before = batch.rows.copy(), batch.masks.copy()
    with pytest.raises(IllegalActionError, match=r"^game 2, action 600: .+"):
        batch.step(np.array([0, 0, 600, 0]))
    assert np.array_equal(batch.rows, before[0])
    assert np.array_equal(batch.masks, before[1])
    batch.step(np.zeros(4, dtype=np.int64))


@pytest.mark.parametrize("actions", [np.zeros(3, dtype=np.int64), np.zeros(4), np.zeros((4, 1), dtype=np.int64)])
def test_actions_of_another_shape_are_refused(actions: Any):
    with pytest.raises(ValueError, match=r"^actions: expected integers of shape \(4,\), got "):
        Batch("standard", 2, 4).step(actions)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"players": 5, "rules": "hops"}, RulesError, "players: these rules are for 2 to 4, got 5"),
        ({"num_games": 0}, ValueError, "num_games: expected an integer from 1 to 2147483647, got 0"),
        ({"episode": "day"}, ValueError, "episode: expected one of 'round', 'match', got 'day'"),
        ({"seed": -1}, ValueError, "seed: expected an integer from 0 to 2**64 - 1, got -1"),
    ],
)
def test_bad_options_are_one_line(options: dict[str, Any], error: type[Exception], words: str):
    with pytest.raises(error) as caught:
        Batch(**options)
    assert str(caught.value) == words
