"""Which line-ups can be played, and who sits where."""

import numpy as np
import pytest

from scala40_env.core.rules import Rules, RulesError
from training.deals import TURN_LIMITS, ArenaError, Plan, plan

STANDARD = Rules.load("standard")


def test_every_agent_sits_at_every_seat_equally_often():
    for agents, players in ((["a", "b"], 2), (["a", "b"], 4), (["a", "b", "c"], 3), (["a", "b", "c"], 6), (["a"], 3)):
        seating = plan(agents, STANDARD, 1, players=players).seating()
        assert seating.shape == (len(agents), players)
        for seat in range(players):
            assert sorted(seating[:, seat]) == list(range(len(agents)))
        assert seating[0].tolist() == [seat % len(agents) for seat in range(players)]


def test_neighbours_keep_their_order_in_every_rotation():
    seating = plan(["a", "b", "c"], STANDARD, 1).seating()
    assert all(np.array_equal(np.diff(row) % 3, [1, 1]) for row in seating)


def test_what_is_not_said_has_a_default():
    made = plan(["a"], STANDARD, 5)
    assert (made.players, made.seed, made.episode, made.turn_limit) == (2, 0, "round", TURN_LIMITS["round"])
    assert plan(["a", "b", "c"], STANDARD, 5).players == 3
    assert plan(["a", "b"], STANDARD, 5, episode="match").turn_limit == TURN_LIMITS["match"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"deals": 0}, "deals: expected an integer from 1, got 0"),
        ({"deals": -3}, "deals"),
        ({"turn_limit": 0}, "turn limit"),
        ({"agents": ()}, "agents: expected at least one"),
        ({"players": 3}, "agents: 2 agents do not share 3 seats evenly"),
        ({"agents": ("a",) * 3}, "agents: 3 agents do not share 2 seats evenly"),
        ({"players": 7}, "players: these rules are for 2 to 6, got 7"),
        ({"rules": Rules.load("hops"), "players": 6}, "players: these rules are for 2 to 4, got 6"),
        ({"episode": "game"}, "episode: expected round or match, got 'game'"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
    ],
)
def test_what_cannot_be_played_is_named_in_one_line(changes: dict[str, object], says: str):
    given = {"agents": ("a", "b"), "rules": STANDARD, "players": 2, "deals": 10, **changes}
    with pytest.raises((ArenaError, RulesError, ValueError)) as caught:
        Plan(**given)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
