"""The compiled loop: its ends, its counts, and that it is the same game as one stepped from Python."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.base import CAREFUL, GREEDY, SOLVER, UNIFORM
from agents.playout import (
    GAME_ENDS,
    GAME_ROUNDS,
    GAME_TURNS,
    GAME_WINNERS,
    SEAT_CLOSED,
    SEAT_DECISIONS,
    SEAT_OPENED,
    SEAT_POINTS,
    SEAT_ROUNDS,
    PlayoutScratch,
    play_games,
)
from agents.registry import make
from agents.rollouts import play_from
from scala40_env.core.deal import decision_rng
from scala40_env.core.game import Game
from scala40_env.core.rules import Rules
from scala40_env.core.state import END_CLOSED, END_TRUNCATED

BOOKS = ("standard", "italian", "cerchio", "hops", "international")


def _play(
    rules: Rules, bots: list[int], *, seed: int = 5, first: int = 0, num_games: int = 20, **options: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return play_games(
        PlayoutScratch(),
        rules.vector(),
        np.array(bots, dtype=np.int64),
        np.zeros(len(bots), dtype=np.uint64),
        seed=seed,
        first=first,
        num_games=num_games,
        **options,
    )


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize(
    ("bots", "names"),
    [
        ([GREEDY, UNIFORM, GREEDY], ["greedy", "uniform", "greedy"]),
        ([SOLVER, CAREFUL, UNIFORM], ["solver", "careful", "uniform"]),
    ],
)
def test_it_plays_the_game_that_python_steps(book: str, bots: list[int], names: list[str]):
    rules = Rules.load(book)
    agents = [make(name) for name in names]
    seats, games = _play(rules, bots, num_games=6, first=3)
    for i in range(6):
        game = Game(rules, 3, seed=5, game=3 + i)
        decisions = [0, 0, 0]
        while not game.is_over:
            seat = game.seat
            rng = decision_rng(np.uint64(5), np.uint64(3 + i), seat, sum(decisions))
            decisions[seat] += 1
            game.play(agents[seat].act(game.redacted(seat), game.legal_actions(), rules, rng))
        assert seats[i, :3, SEAT_DECISIONS].tolist() == decisions
        assert seats[i, :3, SEAT_POINTS].tolist() == game.row.points[:3].tolist()
        assert games[i, GAME_TURNS] == game.row.ended_turns
        assert games[i, GAME_ENDS + int(game.row.end)] == 1


@pytest.mark.parametrize("book", BOOKS)
def test_it_plays_on_from_any_row(book: str):
    rules, agents = Rules.load(book), [make("greedy"), make("uniform")]
    games, rng = [Game(rules, 2, seed=1, game=i) for i in range(12)], np.random.default_rng(0)
    for i, game in enumerate(games):
        for _ in range(9 * i):
            if not game.is_over:
                game.play(int(rng.choice(game.legal_actions())))
    rows = np.concatenate([game.rows for game in games]).view(np.recarray)
    salts = np.zeros(2, dtype=np.uint64)
    bots = np.array([GREEDY, UNIFORM], dtype=np.int64)
    seats, _ = play_from(PlayoutScratch(), rows, rules.vector(), bots, salts, seed=4, first=7)
    for i, game in enumerate(games):
        was_over, decision = game.is_over, 0
        while not game.is_over:
            draws = decision_rng(np.uint64(4), np.uint64(7 + i), game.seat, decision)
            agent = agents[game.seat]
            game.play(agent.act(game.redacted(game.seat), game.legal_actions(), rules, draws))
            decision += 1
        assert rows[i] == game.row
        assert seats[i, :2, SEAT_POINTS].tolist() == ([0, 0] if was_over else game.row.points[:2].tolist())


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_counts_agree_with_one_another(book: str, players: int):
    seats, games = _play(Rules.load(book), [(GREEDY, UNIFORM)[i % 2] for i in range(players)])
    assert np.all(games[:, GAME_ROUNDS] == 1)
    assert np.all(games[:, GAME_ENDS:].sum(axis=1) == 1)
    assert np.all(seats[:, :players, SEAT_ROUNDS] == 1)
    assert np.all(seats[:, players:] == 0)
    closed = games[:, GAME_ENDS + END_CLOSED]
    assert np.all(seats[:, :, SEAT_CLOSED].sum(axis=1) == closed)
    assert closed.sum() > 15
    assert np.all(seats[:, :, SEAT_POINTS][seats[:, :, SEAT_CLOSED] == 1] == 0)
    assert np.all(seats[:, :, SEAT_OPENED][seats[:, :, SEAT_CLOSED] == 1] == 1)
    assert np.all(seats[:, :, SEAT_DECISIONS].sum(axis=1) >= 2 * games[:, GAME_TURNS])


def test_a_match_is_played_until_somebody_has_won():
    rules = Rules.load("standard")
    seats, games = _play(rules, [GREEDY, UNIFORM], episode="match", num_games=10)
    assert np.all(games[:, GAME_ROUNDS] > 1)
    assert np.all((games[:, GAME_WINNERS] > 0) & (games[:, GAME_WINNERS] < 4))
    losers = seats[:, :2, SEAT_POINTS].max(axis=1)
    assert np.all(losers >= rules.match_limit)
    assert np.all(games[:, GAME_ENDS:].sum(axis=1) == games[:, GAME_ROUNDS])


def test_re_entries_keep_a_match_going():
    rules = Rules.load("international")
    seats, games = _play(rules, [GREEDY] * 4, episode="match", num_games=10)
    assert np.all(games[:, GAME_WINNERS] > 0)
    assert (seats[:, :4, SEAT_POINTS] > 2 * rules.match_limit).any(), "somebody came back after the limit"


def test_a_limit_of_turns_breaks_an_episode_off():
    seats, games = _play(Rules.load("standard"), [UNIFORM, UNIFORM], turn_limit=5)
    assert np.all(games[:, GAME_ENDS + END_TRUNCATED] == 1)
    assert np.all(games[:, GAME_TURNS] == 5)
    assert np.all(seats[:, :2, SEAT_ROUNDS] == 1)
    assert np.all(seats[:, :, SEAT_POINTS] == 0)


def test_games_do_not_depend_on_those_before_them():
    rules = Rules.load("hops")
    whole = _play(rules, [UNIFORM, GREEDY], num_games=12)
    part = _play(rules, [UNIFORM, GREEDY], first=7, num_games=5)
    assert np.array_equal(whole[0][7:], part[0])
    assert np.array_equal(whole[1][7:], part[1])
    other = _play(rules, [UNIFORM, GREEDY], seed=6, num_games=12)
    assert not np.array_equal(whole[0], other[0])
