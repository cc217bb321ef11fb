"""The arena: exact where it can be, the same however it is run, and not brought down by anybody."""

from dataclasses import replace

import numpy as np
import pytest

from agents.playout import SEAT_DECISIONS, SEAT_POINTS, SEAT_ROUNDS
from agents.registry import make
from scala40_env.core.rules import Rules
from tests.training.players import First
from training.arena import play
from training.deals import ArenaError, plan
from training.play_deals import AGENT_ILLEGAL, AGENT_RAISED, AGENT_WON, forfeit_points, play_deals
from training.results import ArenaResult, labels

BOOKS = ("standard", "italian", "cerchio", "hops", "international")
STANDARD = Rules.load("standard")
HERE = "tests.training.players:First"


def _facts(result: ArenaResult) -> ArenaResult:
    """A result without the time that it took."""
    return replace(result, seconds=0.0, processes=1)


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("players", [2, 4])
def test_greedy_beats_uniform_in_every_rulebook(book: str, players: int):
    result = play(plan(["greedy", "uniform"], Rules.load(book), 100, players=players, seed=1))
    greedy, uniform = result.agents
    difference = result.differences[0].points
    assert difference.high < 0
    assert difference.mean == pytest.approx(greedy.points.mean - uniform.points.mean)
    assert greedy.closed > 0.8 > uniform.closed
    assert greedy.opened > uniform.opened
    assert result.rounds == 200 == sum(result.ends.values())
    assert result.ends["forfeited"] == greedy.illegal == greedy.raised == 0


@pytest.mark.parametrize("name", ["greedy", "uniform"])
@pytest.mark.parametrize("players", [2, 3, 6])
def test_equal_agents_come_out_exactly_equal(name: str, players: int):
    result = play(plan([name] * players, STANDARD, 20))
    for difference in result.differences:
        assert difference.points.mean == 0
        assert difference.points.half_width == 0
    assert len({agent.decisions for agent in result.agents}) == 1
    assert result.agents[0].points.half_width > 0


def test_exchanging_the_agents_exchanges_the_table():
    one = play(plan(["greedy", "uniform"], STANDARD, 60, seed=4))
    other = play(plan(["uniform", "greedy"], STANDARD, 60, seed=4))
    assert one.agents == other.agents[::-1]
    assert one.ends == other.ends
    assert one.differences[0].points.mean == -other.differences[0].points.mean
    rotated = play(plan(["uniform:seed=1", "uniform", "greedy"], STANDARD, 20))
    turned = play(plan(["greedy", "uniform:seed=1", "uniform"], STANDARD, 20))
    assert sorted(rotated.agents, key=lambda agent: agent.name) == sorted(turned.agents, key=lambda agent: agent.name)


@pytest.mark.parametrize(
    ("agents", "options"),
    [
        (["greedy", "uniform"], {}),
        (["greedy", "uniform", "uniform:seed=5"], {"players": 6, "episode": "match"}),
        (["uniform", "uniform:seed=9"], {"turn_limit": 30}),
    ],
)
def test_the_compiled_loop_and_python_play_the_same_games(agents: list[str], options: dict[str, object]):
    rules = Rules.load("international")
    made = plan(agents, rules, 3, seed=6, **options)  # type: ignore[arg-type]
    line_up = made.make_agents()
    fast = play_deals(made, line_up, 1, 3)
    slow = play_deals(made, line_up, 1, 3, compiled=False)
    assert np.array_equal(fast.agents, slow.agents)
    assert np.array_equal(fast.deals, slow.deals)
    assert fast.agents[:, :, SEAT_DECISIONS].min() > 5


def test_a_deal_does_not_depend_on_the_deals_before_it():
    made = plan(["greedy", "uniform"], STANDARD, 9)
    line_up = made.make_agents()
    whole, part = play_deals(made, line_up, 0, 9), play_deals(made, line_up, 4, 3)
    assert np.array_equal(whole.agents[4:7], part.agents)


def test_the_seed_changes_the_deals():
    one, other = (play(plan(["greedy", "uniform"], STANDARD, 30, seed=seed)) for seed in (1, 2))
    assert one.agents != other.agents


def test_results_do_not_depend_on_the_number_of_processes():
    made = plan(["greedy", HERE], Rules.load("hops"), 9, seed=3)
    assert _facts(play(made, processes=2)) == _facts(play(made))


def test_matches_have_winners():
    result = play(plan(["greedy", "uniform"], STANDARD, 30, players=4, episode="match"))
    greedy, uniform = result.agents
    assert greedy.won.mean + uniform.won.mean == pytest.approx(1)
    assert greedy.won.low > 0.9
    assert result.rounds > 2 * 30 * 2


def test_a_limit_of_turns_truncates():
    result = play(plan(["uniform", "uniform:seed=1"], STANDARD, 10, turn_limit=4))
    assert result.ends["truncated"] == 20
    assert result.turns_a_round == 4
    assert result.agents[0].points.mean == 0


@pytest.mark.parametrize(
    ("then", "column", "message"),
    [
        ("raise", AGENT_RAISED, "RuntimeError: out of ideas for good"),
        ("exit", AGENT_RAISED, "SystemExit: 3"),
        ("illegal", AGENT_ILLEGAL, "not legal: action 744"),
        ("far", AGENT_ILLEGAL, "not legal: action 1000000"),
        ("huge", AGENT_ILLEGAL, "not legal: action a huge number"),
        ("stop", AGENT_RAISED, "Stop: at once"),
        ("wordless", AGENT_RAISED, "WordlessError"),
        ("surrogate", AGENT_RAISED, r"RuntimeError: bad \ud800 name"),
        ("key", AGENT_RAISED, "KeyError: <object object>"),
        ("object", AGENT_ILLEGAL, "not an action: object"),
        ("list", AGENT_ILLEGAL, "not an action: list"),
        ("long", AGENT_ILLEGAL, "not an action: 'xxx"),
        ("none", AGENT_ILLEGAL, "not an action: None"),
        ("text", AGENT_ILLEGAL, "not an action: 'draw'"),
        ("half", AGENT_ILLEGAL, "not an action: 1.5"),
    ],
)
def test_an_agent_that_misbehaves_forfeits_and_is_named(then: str, column: int, message: str):
    made = plan(["uniform", f"{HERE}:then={then},after=2"], STANDARD, 3)
    tally = play_deals(made, made.make_agents(), 0, 3)
    assert tally.agents[:, 1, column].tolist() == [2, 2, 2]
    assert tally.agents[:, 0, AGENT_ILLEGAL:AGENT_WON].sum() == 0
    assert tally.agents[:, 1, SEAT_POINTS].tolist() == [2 * forfeit_points(STANDARD)] * 3
    assert tally.agents[:, 0, SEAT_POINTS].sum() == 0
    assert tally.agents[:, :, SEAT_ROUNDS].tolist() == [[2, 2]] * 3
    result = play(made)
    assert result.ends["forfeited"] == 6
    assert result.ends["closed"] == 0
    assert result.agents[1].first_fault is not None
    assert result.agents[1].first_fault.startswith("deal 0, rotation 0: ")
    assert message in result.agents[1].first_fault
    assert result.agents[0].first_fault is None


def test_who_forfeits_a_match_loses_it():
    result = play(plan(["uniform", f"{HERE}:then=raise,after=1", "greedy"], STANDARD, 4, episode="match"))
    assert [agent.won.mean for agent in result.agents] == [0.5, 0, 0.5]


def test_a_forfeit_never_pays():
    for book in BOOKS:
        rules = Rules.load(book)
        worst = 14 * 25 if rules.jokers >= 14 else 4 * 25 + 8 * 11 + 2 * 10
        assert forfeit_points(rules) >= worst * rules.close_in_hand_multiplier
        assert forfeit_points(rules) >= (rules.unopened_penalty or 0)


def test_an_agent_cannot_change_the_game_through_what_it_is_shown():
    honest = play(plan(["greedy", HERE], STANDARD, 3))
    meddling = play(plan(["greedy", f"{HERE}:then=mutate,after=0"], STANDARD, 3))
    assert honest.agents[0] == meddling.agents[0]
    assert honest.agents[1].points == meddling.agents[1].points
    assert meddling.agents[1].illegal == 0


def test_a_process_that_dies_is_one_line():
    made = plan(["greedy", f"{HERE}:then=die,after=0"], STANDARD, 12)
    with pytest.raises(ArenaError, match="a process died"):
        play(made, processes=2)


def test_agents_may_be_given_as_objects():
    made = plan(["greedy", "mine"], STANDARD, 3)
    result = play(made, agents=[make("greedy"), First()])
    assert [agent.name for agent in result.agents] == ["greedy", "first-first"]
    with pytest.raises(ArenaError, match="play in one process"):
        play(made, agents=[make("greedy"), First()], processes=2)
    with pytest.raises(ArenaError, match="the plan has 2, got 1"):
        play(made, agents=[make("greedy")])


def test_agents_of_one_name_are_told_apart():
    texts = [f"{HERE}:after=1", f"{HERE}:after=2"]
    assert [agent.name for agent in play(plan(texts, STANDARD, 1)).agents] == texts
    assert labels(["a", "b", "a", "a"]) == ["a", "b", "a #2", "a #3"]
