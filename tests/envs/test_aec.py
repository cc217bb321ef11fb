"""The loop of the PettingZoo environment: agents, masks, infos, seeds, ends."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from scala40_env import scala40_v0
from scala40_env.core.game import Game
from tests.envs.loops import plain, play_on, replay, returns_of
from tests.envs.play import CASES, short

INFO_KEYS = {
    "action_mask",
    "end",
    "final_scores",
    "game",
    "illegal_action",
    "phase",
    "result",
    "round",
    "scores",
    "seat",
    "seed",
    "stock",
    "truncation_reason",
    "turn",
    "winners",
}
AT_THE_END = ("result", "final_scores", "winners", "truncation_reason", "seed", "game")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("name", "players"), CASES)
def test_only_the_agent_to_act_has_a_mask(name: str, players: int) -> None:
    env = scala40_v0.raw_env(rules=short(name), players=players, episode="match")

    def see(env: Any) -> None:
        over = env.terminations[env.agent_selection] or env.truncations[env.agent_selection]
        for agent in env.agents:
            observation = env.observe(agent)
            assert observation["action_mask"].any() == (agent == env.agent_selection and not over)
            assert (env.infos[agent]["action_mask"] == observation["action_mask"]).all()
            assert observation["action_mask"].dtype == np.int8
            assert observation["observation"].dtype == np.uint8

    for seed in range(2):
        env.reset(seed=seed)
        play_on(env, rng(), see=see)


@pytest.mark.parametrize(("name", "players"), CASES)
def test_the_mask_and_the_game_are_the_engine_s(name: str, players: int) -> None:
    env = scala40_v0.raw_env(rules=name, players=players)
    env.reset(seed=5)
    game = Game(name, players, seed=5)
    for agent, action in play_on(env, rng()):
        assert agent == f"player_{game.seat}"
        assert game.is_legal(action)
        game.play(action)
    assert game.is_over


def test_one_agent_acts_until_its_turn_is_over() -> None:
    env = scala40_v0.raw_env(players=3)
    env.reset(seed=0)
    steps = play_on(env, rng())
    order = [agent for i, (agent, _) in enumerate(steps) if i == 0 or steps[i - 1][0] != agent]
    for before, after in itertools.pairwise(order):
        assert (int(after[-1]) - int(before[-1])) % 3 == 1
    assert len(steps) > 2 * len(order) - 2


def test_infos_always_have_the_same_keys_and_hide_the_deal_until_the_end() -> None:
    env = scala40_v0.raw_env(rules=short("standard"), players=4, episode="match")
    env.reset(seed=3)
    ends: list[dict[str, Any]] = []

    def see(env: Any) -> None:
        for agent, info in env.infos.items():
            assert set(info) == INFO_KEYS
            assert info["seat"] == int(agent[-1])
            assert info["phase"] in ("draw", "play", "round_over", "match_over")
            assert type(info["turn"]) is int
            assert len(info["scores"]) == 4
            if not env.terminations[agent]:
                assert all(info[key] is None for key in AT_THE_END)
        if env.terminations[env.agent_selection]:
            ends.append(env.last()[4])

    play_on(env, rng(), see=see)
    assert len(ends) == 4
    assert sorted(info["result"] for info in ends) == ["loss", "loss", "loss", "win"]
    for info in ends:
        everybody_is_out = info["winners"] is not None
        assert (info["seed"], info["game"]) == ((3, 0) if everybody_is_out else (None, None))
        assert info["truncation_reason"] is None
        assert info["end"] != "none"
        assert isinstance(info["final_scores"], tuple)


def test_flags_and_rewards_are_plain_python_values() -> None:
    env = scala40_v0.raw_env(rules=short("standard"), players=3, episode="match")
    env.reset(seed=1)

    def see(env: Any) -> None:
        _, reward, terminated, truncated, _ = env.last()
        assert type(reward) is float
        assert type(terminated) is bool
        assert type(truncated) is bool
        for values, kind in ((env.rewards, float), (env.terminations, bool), (env.truncations, bool)):
            assert list(values) == env.agents
            assert all(type(value) is kind for value in values.values())

    play_on(env, rng(), see=see)


def test_numpy_integers_are_actions_and_what_is_no_integer_is_refused() -> None:
    env = scala40_v0.raw_env()
    env.reset(seed=0)
    env.step(np.int32(0))
    assert env.infos[env.agent_selection]["phase"] == "play"
    before = plain(env.get_state())
    for bad in (None, 1.0, "draw", [0]):
        with pytest.raises(ValueError, match=r"^action: [^\n]+$"):
            env.step(bad)
    assert plain(env.get_state()) == before


def test_looking_changes_nothing() -> None:
    env = scala40_v0.raw_env(players=4)
    env.reset(seed=2)
    play_on(env, rng(), most=25)
    before = plain(env.get_state())
    first = plain(env.last())
    for _ in range(3):
        for agent in env.agents:
            env.observe(agent)
        env.state()
        env.render()
        assert plain(env.last()) == first
    assert plain(env.get_state()) == before


def test_what_is_handed_out_belongs_to_the_caller() -> None:
    env = scala40_v0.raw_env()
    env.reset(seed=2)
    observation, _, _, _, info = env.last()
    kept = plain(observation)
    for array in (*observation.values(), info["action_mask"]):
        array[:] = 0
    assert plain(env.observe(env.agent_selection)) == kept
    env.step(0)
    assert env.observe(env.agent_selection)["action_mask"].any()
    saved = env.last()[0]
    copy = plain(saved)
    play_on(env, rng(), most=10)
    assert plain(saved) == copy


@pytest.mark.parametrize("wrapped", [False, True])
def test_seeds_and_the_games_that_follow(wrapped: bool) -> None:
    make = scala40_v0.env if wrapped else scala40_v0.raw_env
    one, two = make(), make()

    def deal(env: Any, *arguments: Any, **named: Any) -> bytes:
        env.reset(*arguments, **named)
        return env.state().tobytes()

    first, second, third = deal(one, seed=7), deal(one), deal(one)
    assert len({first, second, third}) == 3
    assert [deal(two, seed=7), deal(two), deal(two)] == [first, second, third]
    assert deal(one, seed=7) == first
    assert deal(two, seed=8) not in (first, second, third)
    assert deal(two, seed=7, options={"game": 2}) == third
    assert deal(two, seed=7, options={"options": 1}) == first
    game = Game("standard", 2, seed=7, game=1)
    one.reset(seed=7)
    one.reset()
    assert one.unwrapped.game().rows.tobytes() == game.rows.tobytes()


def test_without_any_seed_the_deals_differ() -> None:
    deals = set()
    for _ in range(3):
        env = scala40_v0.raw_env()
        env.reset()
        deals.add(env.state().tobytes())
    assert len(deals) == 3


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", True])
def test_bad_seeds_are_refused(seed: Any) -> None:
    env = scala40_v0.raw_env()
    with pytest.raises(ValueError, match=r"^seed: expected an integer from 0 to 2\*\*64 - 1, got [^\n]+$"):
        env.reset(seed=seed)
    with pytest.raises(ValueError, match=r"^options.game: [^\n]+$"):
        env.reset(seed=0, options={"game": seed})


def test_eliminated_agents_leave_at_different_times_and_never_act_again() -> None:
    env = scala40_v0.raw_env(rules=short("standard"), players=4, episode="match")
    several = 0
    for seed in range(6):
        env.reset(seed=seed)
        gone: list[tuple[int, str]] = []
        seen_after: set[str] = set()

        def see(env: Any, gone: list[tuple[int, str]] = gone, seen_after: set[str] = seen_after) -> None:
            agent = env.agent_selection
            seen_after.add(agent)
            assert agent not in [name for _, name in gone]
            if env.terminations[agent]:
                gone.append((env.infos[agent]["turn"], agent))
                out_of_match = not int(env.game().row.in_match) >> int(agent[-1]) & 1
                assert out_of_match or env.infos[agent]["phase"] == "match_over"

        play_on(env, rng(), see=see)
        assert len(gone) == 4
        assert env.agents == []
        several += len({turn for turn, _ in gone}) > 1
    assert several >= 4


def test_a_dead_agent_takes_none_alone() -> None:
    env = scala40_v0.raw_env(rules="tiny")
    env.reset(seed=0)
    while not env.terminations[env.agent_selection]:
        play_on(env, rng(), most=1)
    agents = list(env.agents)
    with pytest.raises(ValueError, match=r"^action: player_\d is out of the game, and only None can follow; got 0$"):
        env.step(0)
    assert env.agents == agents
    for left in (1, 0):
        env.step(None)
        assert len(env.agents) == left
        assert set(env.rewards) == set(env.infos) == set(env.terminations) == set(env.agents)


def test_the_choice_to_come_back_is_the_agent_s_own_action() -> None:
    rules = {"base": "international", "max_turns_per_round": 40, "dead_round_result": "all_count", "match_limit": 250}
    env = scala40_v0.raw_env(rules={**rules, "reentry_max": 2}, players=4, episode="match")
    asked = left = back = 0
    for seed in range(16):
        env.reset(seed=seed)
        random = rng(seed)
        while env.agents:
            observation, _, terminated, _, info = env.last()
            if terminated:
                env.step(None)
                continue
            agent = env.agent_selection
            legal = observation["action_mask"].nonzero()[0].tolist()
            if info["phase"] == "round_over":
                assert legal == [743, 744]
                asked += 1
                env.step(744 if random.random() < 0.4 else 743)
                if env.infos[agent]["result"] == "loss":
                    left += 1
                    assert env.terminations[agent]
                else:
                    back += 1
                    assert not env.terminations[agent] or env.infos[agent]["phase"] == "match_over"
            else:
                env.step(int(random.choice(legal)))
    assert asked == left + back
    assert left > 3
    assert back > 3


@pytest.mark.parametrize("episode", ["round", "match"])
def test_the_limit_of_turns_truncates_and_does_not_terminate(episode: str) -> None:
    env = scala40_v0.raw_env(turn_limit=7, episode=episode, players=3, reward="zero_sum")
    env.reset(seed=0)
    play_on(env, rng(), most=10_000, see=None)
    env.reset(seed=0)
    while not env.truncations[env.agent_selection]:
        assert env.infos[env.agent_selection]["turn"] < 7
        assert not any(env.terminations.values())
        play_on(env, rng(), most=1)
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
    for agent in env.agents:
        info = env.infos[agent]
        assert info["truncation_reason"] == "turn_limit"
        assert info["turn"] == 7
        assert info["result"] is None
        assert info["winners"] is None
        assert not env.observe(agent)["action_mask"].any()
    assert returns_of(env, rng()) == dict.fromkeys(env.possible_agents, 0.0)
    assert env.agents == []


def test_a_game_that_ends_at_the_limit_of_turns_is_terminated() -> None:
    env = scala40_v0.raw_env(rules={"base": "tiny", "max_turns_per_round": 2}, turn_limit=2)
    for seed in range(10):
        env.reset(seed=seed)
        while env.agents and not any((*env.terminations.values(), *env.truncations.values())):
            play_on(env, rng(), most=1)
        assert all(env.terminations.values())
        assert not any(env.truncations.values())


@pytest.mark.parametrize(("name", "players"), CASES)
def test_every_episode_ends_with_one_flag_for_each_agent(name: str, players: int) -> None:
    env = scala40_v0.env(rules=short(name), players=players, episode="match", turn_limit=150)
    for seed in range(2):
        env.reset(seed=seed)
        flags: dict[str, int] = {}

        def see(env: Any, flags: dict[str, int] = flags) -> None:
            _, _, terminated, truncated, _ = env.last()
            assert not (terminated and truncated)
            if terminated or truncated:
                flags[env.agent_selection] = flags.get(env.agent_selection, 0) + 1

        play_on(env, rng(), see=see)
        assert flags == dict.fromkeys(env.possible_agents, 1)


def test_the_same_steps_show_the_same() -> None:
    env = scala40_v0.raw_env(rules=short("international"), players=4, episode="match")
    env.reset(seed=11)
    steps = play_on(env, rng())
    env.reset(seed=11)
    one = replay(env, steps)
    wrapped = scala40_v0.env(rules=short("international"), players=4, episode="match")
    wrapped.reset(seed=11)
    assert replay(wrapped, steps) == one


@pytest.mark.parametrize("mode", ["ansi", None])
def test_rendering_returns_text_or_nothing(mode: str | None) -> None:
    env = scala40_v0.raw_env(render_mode=mode)
    env.reset(seed=0)
    text = env.render()
    assert text is None if mode is None else isinstance(text, str) and len(text.splitlines()) > 3


def test_the_version_and_the_public_names() -> None:
    import scala40_env

    assert scala40_env.__version__.count(".") == 2
    assert scala40_env.scala40_v0 is scala40_v0
    assert scala40_env.Game is Game
    assert set(scala40_env.__all__) <= set(dir(scala40_env))
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = scala40_env.nothing_such
