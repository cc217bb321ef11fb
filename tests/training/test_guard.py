"""Agents that crash, hang or answer nonsense cost their own games and no others."""

import json
from pathlib import Path

import pytest

from agents.registry import make
from scala40_env.core.game import Game
from scala40_env.core.rules import Rules
from training import arena
from training.arena import play
from training.deals import ArenaError
from training.guard import AgentDiedError, AgentFaultError, Guarded, NotAnActionError, one_line
from training.tournament import tournament

HERE = "tests.training.players:First"
STANDARD = Rules.load("standard")


def test_an_agent_answers_from_its_own_process_as_it_would_from_this_one():
    rules = Rules.load("hops")
    game, agent = Game(rules, 2, seed=4), Guarded("uniform:seed=2", 60)
    try:
        for number in range(30):
            question = game.redacted(game.seat), game.legal_actions(), rules, number
            answer = agent.act(*question)
            assert answer == make("uniform:seed=2").act(*question)
            game.play(answer)
            if game.is_over:
                break
    finally:
        agent.close()


@pytest.mark.parametrize(
    ("then", "error", "says"),
    [
        ("raise", AgentFaultError, "RuntimeError: out of ideas for good"),
        ("text", NotAnActionError, "not an action: 'draw'"),
        ("stop", AgentFaultError, "Stop: at once"),
        ("wordless", AgentFaultError, "^WordlessError$"),
        ("surrogate", AgentFaultError, r"^RuntimeError: bad \\ud800 name \\x1b\[31m$"),
        ("key", AgentFaultError, "^KeyError: <object object>$"),
        ("object", NotAnActionError, "^not an action: object$"),
        ("die", AgentDiedError, "process died: exit status 7"),
    ],
)
def test_what_an_agent_does_wrong_comes_back_in_words(then: str, error: type[Exception], says: str):
    game, agent = Game(STANDARD, 2, seed=1), Guarded(f"{HERE}:then={then},after=0", 30)
    try:
        with pytest.raises(error, match=says):
            agent.act(game.redacted(0), game.legal_actions(), STANDARD, 1)
    finally:
        agent.close()


def test_an_agent_that_cannot_be_made_is_a_fault():
    agent = Guarded("nobody", 1)
    with pytest.raises(AgentFaultError, match="there is no agent 'nobody'"):
        agent.act(None, None, STANDARD)  # type: ignore[arg-type]


def test_crashes_and_hangs_are_counted_and_named_and_the_tournament_goes_on():
    agents = [f"{HERE}:then=die,after=2", f"{HERE}:then=hang,after=2"]
    result = play(tournament(agents, STANDARD, 1), limit=2.0)
    dies, hangs = result.agents
    assert (dies.raised, dies.late, dies.illegal) == (1, 0, 0)
    assert (hangs.raised, hangs.late, hangs.illegal) == (0, 1, 0)
    assert dies.first_fault is not None
    assert "process died: exit status 7" in dies.first_fault
    assert hangs.first_fault is not None
    assert "too late: a decision took more than 2 s" in hangs.first_fault
    assert result.ends["forfeited"] == result.rounds == 2
    assert result.times[0].mean > 0


def test_the_first_fault_does_not_depend_on_the_pieces(tmp_path: Path):
    argv = ["uniform", f"{HERE}:then=illegal,after=3", "--deals", "6", "--time-limit", "0", "--quiet"]
    assert arena.main([*argv, "--processes", "1", "--out", str(tmp_path / "a")]) == 0
    made = json.loads((tmp_path / "a" / "results.json").read_bytes())
    assert made["agents"][1]["illegal"] > 0
    assert made["agents"][1]["first_fault"].startswith("deal 0, rotation 0: not legal: action 744")


def test_an_agent_that_is_started_again_may_load_again():
    game, agent = Game(STANDARD, 2, seed=1), Guarded("tests.training.players:Slow", 1.0)
    question = game.redacted(0), game.legal_actions(), STANDARD
    try:
        agent.act(*question, 1)
        with pytest.raises(AgentDiedError):
            agent.act(*question, 0)
        assert agent.act(*question, 1) == game.legal_actions()[0]
    finally:
        agent.close()


def test_a_limit_may_be_longer_than_a_pipe_can_wait():
    game, agent = Game(STANDARD, 2, seed=1), Guarded("uniform", 3e6)
    try:
        assert game.is_legal(agent.act(game.redacted(0), game.legal_actions(), STANDARD, 1))
        assert game.is_legal(agent.act(game.redacted(0), game.legal_actions(), STANDARD, 1))
    finally:
        agent.close()


@pytest.mark.parametrize("text", ["bad \ud800 name", "x" * 10**6, "\x00\x1b[2J\r\n\u2028"])
def test_an_error_in_one_line_is_one(text: str):
    made = one_line(RuntimeError(text))
    assert made.isprintable()
    assert 0 < len(made.encode("utf-8")) <= 200


def test_objects_cannot_be_guarded():
    with pytest.raises(ArenaError, match="play in one process"):
        play(tournament(["a", "b"], STANDARD, 1), agents=[make("greedy"), make("uniform")], limit=1.0)
