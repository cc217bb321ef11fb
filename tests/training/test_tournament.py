"""Who meets whom, and that the order in which agents are named changes nothing but the order of the table."""

from collections import Counter
from itertools import combinations, permutations

import pytest

from scala40_env.core.rules import Rules
from training.arena import _parser, _test, play
from training.deals import ArenaError
from training.results import ArenaResult
from training.sprt import SequentialTest
from training.tournament import MAX_LINE_UPS, source_digest, tournament

STANDARD = Rules.load("standard")


@pytest.mark.parametrize(("agents", "players"), [(5, 2), (4, 3), (6, 4), (7, 6), (3, 3)])
def test_every_two_agents_meet_equally_often_and_every_agent_sits_everywhere_equally_often(agents: int, players: int):
    names = [f"agent{i}" for i in range(agents)]
    made = tournament(names, STANDARD, 10, players=players)
    met = Counter(pair for line_up in made.line_ups for pair in combinations(sorted(line_up), 2))
    assert set(met) == set(combinations(range(agents), 2))
    assert len(set(met.values())) == 1
    seats: Counter[tuple[int, int]] = Counter()
    for number, line_up in enumerate(made.line_ups):
        for seating in made.plan(number).seating():
            seats.update((line_up[agent], seat) for seat, agent in enumerate(seating))
    assert len(seats) == agents * players
    assert len(set(seats.values())) == 1


def test_a_line_up_that_fills_the_table_repeats():
    made = tournament(["b", "a"], STANDARD, 10, players=4)
    assert made.line_ups == ((1, 0),)
    assert made.plan(0).agents == ("a", "b")
    assert tournament(["a"], STANDARD, 1).players == 2


@pytest.mark.parametrize(
    ("agents", "options", "says"),
    [
        (["a", "b", "c"], {"players": 4}, "3 agents do not share 4 seats evenly"),
        (["a", "b", "c"], {"players": 1}, "players"),
        ([f"a{i}" for i in range(60)], {"players": 2}, f"more than {MAX_LINE_UPS}"),
        (
            ["a", "b", "c"],
            {"players": 2, "test": SequentialTest(0, 1)},
            "sprt: a sequential test is for 2 agents, got 3",
        ),
        ([], {}, "agents: expected at least one"),
        (["a", "b"], {"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_played_is_one_line(agents: list[str], options: dict[str, object], says: str):
    with pytest.raises(ValueError, match=says) as caught:
        tournament(agents, STANDARD, 10, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def _table(result: ArenaResult) -> dict[str, object]:
    """All that a result says of each agent and of each ordered pair."""
    made: dict[str, object] = {agent.name: agent for agent in result.agents}
    for one in result.differences:
        sign = 1 if one.first < one.second else -1
        made[" ".join(sorted((one.first, one.second)))] = (sign * one.points.mean, one.points.half_width)
    if result.ratings is not None:
        made["ratings"] = {agent.name: rating for agent, rating in zip(result.agents, result.ratings.ratings)}
    return made


@pytest.mark.parametrize("players", [2, 3])
def test_permuting_the_agents_permutes_the_table(players: int):
    names = ["greedy", "uniform", "uniform:seed=1", "uniform:seed=2"][: players + 1]
    orders = list(permutations(names))[:: 1 if players == 2 else 7]
    tables = [_table(play(tournament(order, STANDARD, 15, players=players))) for order in orders]
    assert len(tables) > 3
    assert len(tables[0]) > players + 1
    assert all(table == tables[0] for table in tables)


def test_identical_agents_are_exactly_equal_in_a_round_robin():
    result = play(tournament(["greedy"] * 3, STANDARD, 40, players=2))
    assert len(result.differences) == 3
    for difference in result.differences:
        assert difference.points.mean == difference.points.half_width == 0
        assert (difference.ahead.mean, difference.ahead.half_width) == (0.5, 0)
    if result.ratings is not None:
        assert {(rating.points, rating.low, rating.high) for rating in result.ratings.ratings if rating} == {(0, 0, 0)}


def test_a_round_robin_is_its_pairs():
    whole = play(tournament(["greedy", "uniform", "uniform:seed=1"], STANDARD, 30, players=2, seed=5))
    pair = play(tournament(["greedy", "uniform:seed=1"], STANDARD, 30, seed=5))
    assert whole.differences[1] == pair.differences[0]
    assert whole.rounds == 3 * pair.rounds
    assert sum(agent.won.mean for agent in whole.agents) == pytest.approx(1.5)
    assert [len(agent.seats) for agent in whole.agents] == [2, 2, 2]


def test_seats_add_up_to_the_agent():
    agent = play(tournament(["greedy", "uniform"], STANDARD, 30, players=4)).agents[1]
    assert sum(seat.rounds for seat in agent.seats) == agent.rounds
    mean = sum(seat.points * seat.rounds for seat in agent.seats) / agent.rounds
    assert mean == pytest.approx(agent.points.mean)


def test_the_command_plays_the_same_tournament():
    made = tournament(["greedy", "uniform"], Rules.from_mapping({"base": "hops", "opening_min": 30}), 7, seed=3)
    words = made.command()
    assert words[:4] == ["scala40", "arena", "greedy", "uniform"]
    assert words[words.index("--rules") + 1] == '{"base": "hops", "opening_min": 30}'
    assert words[words.index("--deals") + 1] == "7"
    assert len(source_digest()) == 16


@pytest.mark.parametrize("test", [SequentialTest(0, 0.5, 0.1), SequentialTest(-5, 0.123456789, 0.0123456789)])
def test_the_command_has_the_test_to_the_last_digit(test: SequentialTest):
    made = tournament(["greedy", "uniform"], STANDARD, 7, test=test)
    args = _parser().parse_args(made.command()[2:])
    assert _test(args.sprt, args.sprt_error) == test
    assert "--sprt=0,0.5" in made.command() or test.low < 0


def test_deals_below_one_are_refused():
    with pytest.raises(ArenaError, match="deals: expected an integer from 1, got 0"):
        tournament(["a", "b"], STANDARD, 0)
