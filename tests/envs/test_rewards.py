"""Rewards: what each way pays, that the sums are what they should be, and what an illegal action costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scala40_env import scala40_v0
from scala40_env.core.game import IllegalActionError
from scala40_env.core.rules import Rules
from scala40_env.envs.rewards import (
    REWARDS,
    forfeit_rewards,
    round_rewards,
    round_winners,
    win_share,
    worst_hand,
)
from tests.envs.loops import plain, play_on, returns_of
from tests.envs.play import CASES, short

PENALTY = 0.5


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def paid_for(reward: str, points: list[int], in_round: int) -> list[float]:
    paid = np.zeros(len(points))
    round_rewards(REWARDS.index(reward), np.array(points, dtype=np.int32), in_round, paid)
    return paid.tolist()


def test_a_round_by_hand() -> None:
    points, seats = [0, 30, 50, 0], 0b0111
    assert paid_for("points", points, seats) == [0.0, -0.3, -0.5, 0.0]
    assert paid_for("zero_sum", points, seats) == pytest.approx([0.4, -0.05, -0.35, 0.0])
    assert paid_for("win", points, seats) == [0.0] * 4


def test_shares_of_the_win_by_hand() -> None:
    assert [win_share(True, 1, 4), win_share(False, 1, 4)] == pytest.approx([1.0, -1 / 3])
    assert [win_share(True, 2, 4), win_share(False, 2, 4)] == pytest.approx([1 / 3, -1 / 3])
    assert win_share(True, 4, 4) == pytest.approx(0.0)
    assert [win_share(True, 1, 2), win_share(False, 1, 2)] == [1.0, -1.0]


def test_who_wins_a_round() -> None:
    def winners(points: list[int], in_round: int, closer: int) -> int:
        return round_winners(np.array(points, dtype=np.int32), in_round, closer)

    assert winners([0, 12, 0], 0b111, closer=2) == 0b100
    assert winners([9, 12, 9], 0b111, closer=255) == 0b101
    assert winners([0, 12, 9], 0b110, closer=255) == 0b100


def test_the_worst_hand_by_hand() -> None:
    assert worst_hand(Rules()) == 4 * 25 + 8 * 11 + 10
    assert worst_hand(Rules.load("hops")) == max(4 * 25 + 8 * 11 + 10, 100)
    assert worst_hand(Rules.from_mapping({"close_in_hand_multiplier": 2})) == 2 * 198
    assert worst_hand(Rules.from_mapping({"jokers": 0, "unopened_penalty": 500})) == 500


@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize("reward", ["points", "zero_sum", "win"])
@pytest.mark.parametrize(("name", "players"), CASES)
def test_what_last_pays_adds_up(name: str, players: int, reward: str, episode: str) -> None:
    env = scala40_v0.raw_env(rules=short(name), players=players, reward=reward, episode=episode)
    for seed in range(3):
        env.reset(seed=seed)
        sums = returns_of(env, rng(seed))
        row = env.game().row
        if reward == "points" and episode == "round":
            assert list(sums.values()) == pytest.approx([-p / 100 for p in row.points[:players]])
        elif reward == "points" and not row.reentries.any():
            assert list(sums.values()) == pytest.approx([-t / 100 for t in row.totals[:players]])
        elif reward != "points":
            assert sum(sums.values()) == pytest.approx(0.0, abs=1e-9)
        if reward == "win" and episode == "match":
            winners = [seat for seat in range(players) if int(row.winners) >> seat & 1]
            expected = [win_share(seat in winners, len(winners), players) for seat in range(players)]
            assert list(sums.values()) == pytest.approx(expected)


@pytest.mark.parametrize("reward", ["zero_sum", "win"])
def test_every_payment_of_a_round_sums_to_zero(reward: str) -> None:
    env = scala40_v0.raw_env(rules=short("standard"), players=4, reward=reward, episode="round")
    paid = 0
    for seed in range(8):
        env.reset(seed=seed)
        sums: list[float] = []
        play_on(env, rng(seed), see=lambda env, sums=sums: sums.append(sum(env.rewards.values())))
        assert sums[0] == 0.0
        assert [total for total in sums if abs(total) > 1e-9] == []
        paid += any(env.game().row.points)
    assert paid > 3


def test_each_round_of_a_match_pays_when_it_ends() -> None:
    env = scala40_v0.raw_env(rules=short("standard"), players=2, reward="zero_sum", episode="match")
    env.reset(seed=4)
    moments: list[tuple[int, float]] = []
    play_on(env, rng(), see=lambda env: moments.append((env.last()[4]["round"], max(env.rewards.values()))))
    rounds = [number for number, _ in moments]
    paid = [i for i, (_, reward) in enumerate(moments) if reward > 0]
    assert len(paid) >= 2
    assert all(rounds[i] > rounds[i - 1] or i >= len(moments) - 2 for i in paid)


def illegal_for(env: Any) -> int:
    return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"] == 0)[5])


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("reward", ["points", "zero_sum", "win"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_an_illegal_action_loses_the_game(wrapped: bool, reward: str, players: int) -> None:
    make = scala40_v0.env if wrapped else scala40_v0.raw_env
    env = make(players=players, reward=reward)
    env.reset(seed=0)
    play_on(env, rng(), most=9)
    offender, action = env.agent_selection, illegal_for(env)
    env.step(action)
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    expected = forfeit_rewards(reward, Rules(), int(offender[-1]), range(players), players)
    assert list(env.rewards.values()) == expected
    assert env.rewards[offender] == min(env.rewards.values()) < 0
    assert reward == "points" or sum(expected) == pytest.approx(0.0)
    if reward != "win":
        assert env.rewards[offender] == -worst_hand(Rules()) / 100
    for agent in env.agents:
        info = env.infos[agent]
        assert info["end"] == "illegal_action"
        assert info["illegal_action"] == action
        assert info["result"] == ("loss" if agent == offender else "win")
        assert offender not in info["winners"]
        assert not env.observe(agent)["action_mask"].any()
    sums = returns_of(env, rng())
    assert list(sums.values()) == expected
    assert env.agents == []


@pytest.mark.parametrize("action", [-1, 635, 10**6, -(10**6)])
def test_numbers_that_are_no_action_are_illegal_too(action: int) -> None:
    env = scala40_v0.raw_env()
    env.reset(seed=0)
    env.step(action)
    assert all(env.terminations.values())


@pytest.mark.parametrize("reward", ["points", "zero_sum", "win"])
def test_a_penalty_moves_nothing(reward: str) -> None:
    env = scala40_v0.raw_env(players=3, reward=reward, illegal_action="penalty", illegal_penalty=PENALTY)
    env.reset(seed=0)
    play_on(env, rng(), most=7)
    offender, before = env.agent_selection, env.state().tobytes()
    mask = env.observe(offender)["action_mask"].tobytes()
    env.step(illegal_for(env))
    assert env.agent_selection == offender
    assert env.state().tobytes() == before
    assert env.observe(offender)["action_mask"].tobytes() == mask
    assert env.last()[1] == -PENALTY
    others = [value for agent, value in env.rewards.items() if agent != offender]
    assert others == ([0.0, 0.0] if reward == "points" else [PENALTY / 2] * 2)
    env.step(illegal_for(env))
    assert env.last()[1] == -PENALTY
    env.step(int(np.flatnonzero(env.observe(offender)["action_mask"])[0]))
    assert set(env.rewards.values()) == {0.0}
    sums = returns_of(env, rng())
    if reward != "points":  # the second penalty reaches the others with what the round pays; the sum stays zero
        assert sum(sums.values()) == pytest.approx(2 * PENALTY)  # the offender's own two were seen above


def test_an_illegal_action_may_raise_and_change_nothing() -> None:
    env = scala40_v0.raw_env(illegal_action="raise")
    env.reset(seed=0)
    before = plain(env.get_state())
    for action in (illegal_for(env), -1, 635, 10**9):
        with pytest.raises(IllegalActionError, match=rf"^action {action}[^\n]*: [^\n]+$"):
            env.step(action)
    assert plain(env.get_state()) == before
    env.step(0)


def test_legal_play_never_meets_the_policy() -> None:
    env = scala40_v0.raw_env(rules=short("hops"), players=4, episode="match", illegal_action="raise")
    for seed in range(5):
        env.reset(seed=seed)
        assert len(play_on(env, rng(seed))) > 50
