"""Agents see what their seat may know, and nothing else moves their choice."""

import numpy as np
import pytest

from agents.bots import NUM_BOTS
from agents.playout import PlayoutScratch, play_games
from agents.registry import make
from scala40_env.core.cards import NO_KIND
from scala40_env.core.deal import decision_rng
from scala40_env.core.game import Game
from scala40_env.core.rules import Rules
from tests.agents.redealing import redeal
from training.arena import play
from training.deals import plan

BOOKS = ("standard", "italian", "cerchio", "hops", "international")


class Spy:
    """Plays as greedy does, and looks at every row that it is shown."""

    name = "spy"

    def __init__(self) -> None:
        self.rows = 0
        self.hidden = 0
        self.greedy = make("greedy")

    def act(self, rows, legal, rules, rng=None):  # noqa: ANN001
        row = rows[0]
        seat = int(row.seat)
        assert int(row.seed) == 0
        assert int(row.game) == 0
        for other in range(int(row.num_seats)):
            if other != seat:
                assert int(row.hand_one[other]) == int(row.known_one[other])
                assert int(row.hand_two[other]) == int(row.known_two[other])
                assert int(row.hand_jokers[other]) == int(row.known_jokers[other])
        stock = row.stock[int(row.stock_known) : int(row.stock_size)]
        assert np.all(stock == NO_KIND)
        self.rows += 1
        self.hidden += len(stock)
        return self.greedy.act(rows, legal, rules, rng)


@pytest.mark.parametrize("book", BOOKS)
def test_an_agent_of_the_arena_is_shown_no_hidden_card(book: str):
    spy = Spy()
    made = plan(["greedy", "greedy"], Rules.load(book), 5, seed=3, players=4)
    result = play(made, agents=[spy, make("uniform")])
    assert result.agents[0].raised == 0, result.agents[0].first_fault
    assert spy.rows == result.agents[0].decisions > 100
    assert spy.hidden > 1000


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("players", [2, 4])
def test_redealing_the_hidden_cards_changes_no_choice(book: str, players: int):
    agents = [make(name) for name in ("greedy", "uniform", "solver", "careful")]
    positions = differing = 0
    for number in range(3):
        game = Game(book, players, seed=8, game=number)
        for step in range(120):
            if game.is_over:
                break
            other = redeal(game, step)
            differing += not np.array_equal(other.rows, game.rows)
            rows, others = game.redacted(game.seat), other.redacted(game.seat)
            assert np.array_equal(rows, others)
            rng = decision_rng(np.uint64(1), np.uint64(number), game.seat, step)
            choices = [agent.act(rows, game.legal_actions(), game.rules, rng) for agent in agents]
            assert choices == [agent.act(others, other.legal_actions(), game.rules, rng) for agent in agents]
            positions += 1
            game.play(choices[step % len(choices)])
    assert positions > 60
    assert differing > positions * 0.9


@pytest.mark.parametrize("bot", range(NUM_BOTS))
def test_the_compiled_loop_shows_a_bot_no_hidden_card(bot: int):
    scratch = PlayoutScratch()
    rules = Rules.load("standard")
    bots, salts = np.array([bot] * 3, dtype=np.int64), np.zeros(3, dtype=np.uint64)
    hidden = 0
    for turns in range(1, 40):
        play_games(scratch, rules.vector(), bots, salts, seed=2, first=turns, num_games=1, turn_limit=turns)
        seen = scratch.view[0]  # what was shown for the last decision
        seat = int(seen.seat)
        assert int(seen.seed) == int(seen.game) == 0
        for other in {0, 1, 2} - {seat}:
            assert int(seen.hand_one[other]) == int(seen.known_one[other])
            assert int(seen.hand_two[other]) == int(seen.known_two[other])
            assert int(seen.hand_jokers[other]) == int(seen.known_jokers[other])
        stock = seen.stock[int(seen.stock_known) : int(seen.stock_size)]
        assert np.all(stock == NO_KIND)
        assert int(seen.hand_one[seat]) > 0
        hidden += len(stock)
    assert hidden > 1000
