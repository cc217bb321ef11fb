"""One learner and its opponents: the games are those of the engine, and every reward arrives.

The twin of these tests plays the same games with ``Game``, one by one, and asks the agents itself.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from agents.greedy import Greedy
from agents.registry import make
from agents.uniform import Uniform
from scala40_env.core.deal import decision_rng
from scala40_env.core.game import Game, IllegalActionError
from scala40_env.envs.batch import Batch
from scala40_env.envs.learners import Learners
from scala40_env.envs.rewards import forfeit_rewards
from tests.envs.play import short


class Asked:
    """A compiled agent that does not say so: it is asked from Python."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self.name = agent.name

    def act(self, *arguments: Any) -> int:
        return self._agent.act(*arguments)


def twin_episode(rules: Any, players: int, seed: int, number: int, learner: int, episode: str, picks: Any) -> Any:
    """The learner's steps of one game (its legal actions, and the one taken), and what each seat was charged in all."""
    game = Game(rules, players, seed=seed, game=number, episode=episode)
    bot, steps, actions, waiting = Greedy(), [], 0, True
    charged = np.zeros(players, dtype=np.int64)
    while not game.is_over and int(game.row.in_match) >> learner & 1:
        before = int(game.row["round"]), game.phase
        if game.seat == learner:
            legal = game.legal_actions().tolist()
            action = picks(legal)
            steps.append((legal, action))
            waiting = False
        else:
            rng = int(decision_rng(np.uint64(seed), np.uint64(number), game.seat, actions))
            action = bot.act(game.redacted(game.seat), game.legal_actions(), game.rules, rng)
        game.play(action)
        actions += 1
        if before[1] <= 1 and (game.phase > 1 or int(game.row["round"]) != before[0]):
            charged += game.row.points[:players]
    return None if waiting else (steps, charged, game)


CASES = [
    ("standard", 2, "round", 1),
    ("standard", 4, "match", 0),
    ("italian", 3, "match", "rotate"),
    ("hops", 2, "round", "random"),
    ("international", 4, "match", "random"),
]


@pytest.mark.parametrize(("name", "players", "episode", "seat"), CASES)
@pytest.mark.parametrize("asked", [False, True])
def test_the_games_are_those_of_the_engine(name: str, players: int, episode: str, seat: Any, asked: bool):
    rules, seed, rng = short(name), 3, np.random.default_rng(5)
    opponents = Asked(Greedy()) if asked else "greedy"
    games = Learners(1, rules=rules, players=players, opponents=opponents, seat=seat, episode=episode, reward="points")
    games.reset(seed)
    batch = games.batch
    for _ in range(6):
        number, learner = int(batch.games[0]), int(batch.learners[0])
        picked: list[int] = []

        def pick(legal: list[int], picked: list[int] = picked) -> int:
            picked.append(int(rng.choice(legal)))
            return picked[-1]

        steps, charged, game = twin_episode(rules, players, seed, number, learner, episode, pick)
        paid = 0.0
        for step, (legal, action) in enumerate(steps):
            assert batch.legal[0, : batch.counts[0]].tolist() == legal
            games.step(np.array([action]))
            paid += float(games.rewards[0])
            assert bool(games.terminated[0]) == (step == len(steps) - 1)
        assert paid == pytest.approx(-charged[learner] / 100)
        assert batch.points[0].tolist() == game.row.totals[:players].tolist()
    if seat == "rotate":
        assert learner == number % players


@pytest.mark.parametrize(("name", "players", "episode", "seat"), CASES)
@pytest.mark.parametrize("reward", ["zero_sum", "win"])
def test_it_makes_no_difference_who_asks_the_opponents(name: str, players: int, episode: str, seat: Any, reward: str):
    options = {"rules": short(name), "players": players, "seat": seat, "episode": episode, "reward": reward}
    inside = Learners(5, opponents=["greedy", *["uniform"] * (players - 2)], turn_limit=70, **options)
    outside = Learners(
        5, opponents=[Asked(Greedy()), *[Asked(Uniform())] * (players - 2)], turn_limit=70, play_forced=False, **options
    )
    rng, ends = np.random.default_rng(1), 0
    inside.reset(8)
    outside.reset(8)
    for _ in range(300):
        for name_ in ("observations", "masks", "learners", "games", "rows"):
            assert np.array_equal(getattr(inside.batch, name_), getattr(outside.batch, name_)), name_
        picks = np.array([rng.choice(np.flatnonzero(mask)) for mask in inside.batch.masks])
        inside.step(picks)
        outside.step(picks)
        for name_ in ("rewards", "terminated", "truncated"):
            assert np.array_equal(getattr(inside, name_), getattr(outside, name_)), name_
        ended = inside.terminated | inside.truncated
        ends += int(ended.sum())
        for name_ in ("points", "winners", "final_observations"):
            mine, other = getattr(inside.batch, name_), getattr(outside.batch, name_)
            assert np.array_equal(mine[ended], other[ended]), name_
    assert ends > 5


def test_the_sum_of_rewards_is_the_score_of_the_seat():
    games = Learners(64, opponents="uniform", seat="random", reward="points", play_forced=True)
    games.reset(1)
    batch, rng = games.batch, np.random.default_rng(0)
    sums, checked = np.zeros(64), 0
    while checked < 600:
        acting = batch.learners.copy()
        games.step(batch.legal[np.arange(64), rng.integers(batch.counts)])
        sums += games.rewards
        for game in np.flatnonzero(games.terminated):
            assert sums[game] == pytest.approx(-batch.points[game, acting[game]] / 100)
            won = int(batch.winners[game]) >> acting[game] & 1
            assert games.results()[game] == (1 if won else -1) or bin(batch.winners[game]).count("1") > 1
            sums[game], checked = 0.0, checked + 1
    assert batch.forced.sum() > 0


def test_forced_actions_change_no_game():
    plain = Learners(1, opponents="greedy", seat=0)
    forced = Learners(1, opponents="greedy", seat=0, play_forced=True)
    plain.reset(4)
    forced.reset(4)
    decisions = skipped = 0
    while decisions < 400:
        if plain.batch.counts[0] == 1:
            plain.step(plain.batch.legal[:, 0])
            skipped += 1
            continue
        assert np.array_equal(plain.batch.rows, forced.batch.rows)
        action = plain.batch.legal[:, (decisions * 7) % plain.batch.counts[0]]
        forced.step(action)
        plain.step(action)
        decisions += 1
    assert forced.batch.forced[0] >= skipped > 50


def test_a_game_that_is_over_before_the_learner_acts_is_skipped_and_nothing_of_it_is_paid():
    rules = {"base": "tiny", "opening_min": 0, "close_on_first_turn": True}
    games = Learners(64, rules=rules, opponents="greedy", seat="random", reward="points")
    games.reset(0)
    batch, rng = games.batch, np.random.default_rng(0)
    sums, ended = np.zeros(64), 0
    while ended < 500:
        acting = batch.learners.copy()
        games.step(batch.legal[np.arange(64), rng.integers(batch.counts)])
        sums += games.rewards
        for game in np.flatnonzero(games.terminated):
            assert sums[game] == pytest.approx(-batch.points[game, acting[game]] / 100)
            sums[game], ended = 0.0, ended + 1
    assert batch.skipped.sum() > 0
    assert (batch.games >= 64).any()


def _answers(games: Learners, steps: int) -> list[bytes]:
    seen, rng = [], np.random.default_rng(2)
    for _ in range(steps):
        batch = games.batch
        games.step(batch.legal[np.arange(batch.num_games), rng.integers(batch.counts)])
        shown = (batch.rows, batch.observations, batch.masks, games.rewards, games.terminated, batch.final_observations)
        seen.append(b"".join(np.asarray(array).tobytes() for array in shown))
    return seen


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda games: pickle.loads(pickle.dumps(games))])
@pytest.mark.parametrize("opponents", ["greedy", Asked(Greedy())])
def test_a_copy_goes_on_alike_and_touches_nothing(copied: Any, opponents: Any):
    games = Learners(3, players=3, rules="italian", opponents=opponents, episode="match")
    games.reset(5)
    _answers(games, 40)
    twin = copied(games)
    before = games.batch.rows.tobytes()
    theirs = _answers(twin, 60)
    assert games.batch.rows.tobytes() == before
    assert _answers(games, 60) == theirs
    assert np.array_equal(twin.batch.rows, games.batch.rows)


def test_what_an_illegal_action_costs():
    for policy in ("penalty", "terminate"):
        games = Learners(3, opponents="greedy", seat=0, illegal_action=policy, illegal_penalty=0.5, reward="points")
        games.reset(1)
        before = games.batch.rows.copy()
        legal = games.batch.legal[:, 0].astype(np.int64)
        games.step(np.array([legal[0], 300, legal[2]]))
        assert games.illegal.tolist() == [-1, 300, -1]
        if policy == "penalty":
            assert np.array_equal(games.batch.rows[1], before[1])
            assert games.rewards[1] == -0.5
            assert not games.terminated[1]
        else:
            assert games.terminated.tolist() == [False, True, False]
            assert games.rewards[1] == pytest.approx(forfeit_rewards("points", games.batch.rules, 0, [0, 1], 2)[0])
            assert games.results()[1] == -1
            assert games.batch.games[1] == 4
        assert not np.array_equal(games.batch.rows[0], before[0])
    games = Learners(2, opponents="greedy", seat=0, illegal_action="raise")
    games.reset(1)
    before = games.batch.rows.copy()
    with pytest.raises(IllegalActionError, match=r"^game 1, action 300: .+"):
        games.step(np.array([0, 300]))
    assert np.array_equal(games.batch.rows, before)


class Wrong:
    name = "wrong"

    def act(self, rows: Any, legal: Any, rules: Any, rng: Any = None) -> int:
        return 634 if 634 not in legal else 0


def test_an_opponent_that_plays_what_is_not_legal_is_named():
    games = Learners(8, opponents=Wrong(), seat=0)
    with pytest.raises(IllegalActionError, match=r"^opponent 'wrong': action 634 is not legal$"):
        games.reset(0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"opponents": "gready"}, "agent: there is no agent 'gready'"),
        ({"opponents": []}, "opponents: expected 1, got 0"),
        ({"opponents": ["greedy", "greedy"]}, "opponents: expected 1, got 2"),
        ({"opponents": None}, "opponents: expected agents, got None"),
        ({"opponents": 3}, "opponents: expected the name of an agent, or an agent, got 3"),
        ({"seat": 2}, "seat: expected an integer from 0 to 1, 'rotate' or 'random', got 2"),
        ({"seat": "left"}, "seat: expected one of 'rotate', 'random' or a number below 2, got 'left'"),
        ({"illegal_action": "pass"}, "illegal_action: expected one of"),
        ({"illegal_penalty": -1}, "illegal_penalty: expected a number from 0 to 1e.09, got -1"),
        ({"players": 7}, "players: these rules are for 2 to 6, got 7"),
        ({"turn_limit": 0}, "turn_limit: expected an integer from 1"),
        ({"threads": 0}, "threads: expected an integer from 1"),
    ],
)
def test_bad_options_are_one_line(options: dict[str, Any], words: str):
    with pytest.raises(ValueError, match="^" + words.replace("(", r"\(")) as caught:
        Learners(1, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        (np.zeros(3), "actions: expected integers of shape"),
        (np.zeros((2, 1), dtype=np.int64), "actions: expected integers of shape"),
        (np.array([True, False]), "actions: expected integers of shape"),
        (np.array([0, 635]), "actions: game 1: expected an integer from 0 to 634, got 635"),
        (np.array([-1, 0]), "actions: game 0: expected an integer from 0 to 634, got -1"),
    ],
)
def test_bad_actions_change_nothing(actions: Any, words: str):
    games = Learners(2, opponents="greedy")
    games.reset(0)
    before = games.batch.rows.tobytes(), games.batch.masks.tobytes(), games.rewards.tobytes()
    with pytest.raises(ValueError, match="^" + words):
        games.step(actions)
    assert (games.batch.rows.tobytes(), games.batch.masks.tobytes(), games.rewards.tobytes()) == before


def test_a_step_after_the_end_is_refused():
    games = Learners(2, opponents="greedy", auto_reset=False)
    games.reset(0)
    while not games.terminated.any():
        games.step(games.batch.legal[:, 0])
    over = int(np.flatnonzero(games.terminated)[0])
    assert not games.batch.masks[over].any()
    with pytest.raises(ValueError, match=rf"^game {over}: its episode is over; reset it before it is stepped$"):
        games.step(games.batch.legal[:, 0])
    games.reset(where=np.arange(2) == over)
    assert games.batch.masks.any(axis=1).all()


def test_every_agent_of_the_registry_may_be_an_opponent():
    from agents.registry import names

    for name in names():
        games = Learners(2, opponents=make(name), seat="random")
        games.reset(0)
        most = np.zeros(2, dtype=np.int64)
        for _ in range(40):
            games.step(games.batch.legal[np.arange(2), games.batch.counts - 1])
            assert (games.batch.seats == games.batch.learners).all(), name
            most = np.maximum(most, games.batch.rows.match_turns)
        assert (most >= 4).all(), name


def test_a_batch_takes_compiled_bots_only():
    with pytest.raises(ValueError, match=r"^opponents: 'greedy' is not a compiled bot$"):
        Batch(opponents=Asked(Greedy()))
