"""Agents see what their seat may know, and nothing else moves their choice."""

import numpy as np
import pytest

from agents.base import decision_rng
from agents.bots import NUM_BOTS
from agents.playout import PlayoutScratch
from agents.registry import make
from scala40_env.core.cards import NO_KIND
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
    agents = [make("greedy"), make("uniform")]
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
            game.play(choices[step % 2])
    assert positions > 60
    assert differing > positions * 0.9


def test_the_compiled_loop_redacts_what_a_bot_sees():
    from agents.bots import choose_blind
    from scala40_env.core.jit import kernel

    @kernel
    def look(rows, view, R, legal, bot):  # noqa: ANN001, ANN202
        return choose_blind(bot, rows[0], view, R, legal, len(legal), np.uint64(5), np.uint64(0))

    scratch = PlayoutScratch()
    game = Game("standard", 3, seed=2)
    game.play(0)
    for bot in range(NUM_BOTS):
        scratch.view[:] = game.rows
        action = look(game.rows, scratch.view, game.vector, game.legal_actions(), bot)
        assert action in game.legal_actions()
        assert np.array_equal(scratch.view, game.redacted(game.seat))
