"""The batch: the games it plays are the games that ``Game`` plays, one by one."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from agents.base import GREEDY
from scala40_env import scala40_v0
from scala40_env.core.completion import MEMORY_WORDS, STACK
from scala40_env.core.game import Game, IllegalActionError
from scala40_env.core.packing import STACK_WORDS
from scala40_env.core.rules import RulesError
from scala40_env.envs.batch import Batch, choose_uniformly
from scala40_env.envs.derived import DERIVE_WORDS, DERIVED_SIZE, derive_row
from scala40_env.envs.lanes import LANE_NUMBERS, NUM_OPTIONS, OPT_PLAYERS, derive_lanes
from scala40_env.envs.memory import bytes_of
from scala40_env.envs.observation import layout
from tests.envs.play import choose, short


def _digest(num_games: int, steps: int = 400) -> list[bytes]:
    """What game 0 of a batch shows, step by step, until its first episode ends."""
    batch = Batch("italian", 3, num_games, seed=11)
    seen = []
    for step in range(steps):
        seen.append(batch.observations[0].tobytes() + batch.masks[0].tobytes())
        batch.step(np.array([batch.legal[i, (step * 7919) % batch.counts[i]] for i in range(num_games)]))
        if batch.ended[0]:
            break
    return seen


def test_a_game_is_the_same_whatever_the_size_of_the_batch():
    alone = _digest(1)
    assert len(alone) > 30
    assert _digest(7) == alone
    assert _digest(256) == alone


@pytest.mark.parametrize(("rules", "players", "episode"), [("standard", 2, "round"), ("international", 4, "match")])
def test_games_are_those_of_the_engine(rules: str, players: int, episode: str):
    batch = Batch(rules, players, 5, seed=2, episode=episode)
    games: dict[int, Any] = {i: Game(rules, players, seed=2, game=i, episode=episode) for i in range(5)}
    rng = np.random.default_rng(0)
    number, ends = list(range(5)), 0
    for _ in range(1500):
        actions = np.array([rng.choice(batch.legal[i, : batch.counts[i]]) for i in range(5)])
        batch.step(actions)
        for i, game in games.items():
            game.play(int(actions[i]))
            assert game.is_over == batch.ended[i]
            if game.is_over:
                assert batch.points[i].tolist() == game.row.totals[:players].tolist()
                number[i] += 5
                games[i] = game = Game(rules, players, seed=2, game=number[i], episode=episode)
                ends += 1
            assert batch.legal[i, : batch.counts[i]].tolist() == game.legal_actions().tolist()
            assert batch.masks[i].tolist() == game.action_mask().tolist()
            assert batch.seats[i] == game.seat
            assert batch.games[i] == number[i]
    assert ends > (5 if episode == "round" else 0)
    assert batch.observations.shape[1] == layout(rules, players).size


def test_an_illegal_action_changes_nothing():
    batch = Batch("standard", 2, 4)
    before = batch.rows.copy(), batch.masks.copy()
    with pytest.raises(IllegalActionError, match=r"^game 2, action 600: .+"):
        batch.step(np.array([0, 0, 600, 0]))
    assert np.array_equal(batch.rows, before[0])
    assert np.array_equal(batch.masks, before[1])
    batch.step(np.zeros(4, dtype=np.int64))


@pytest.mark.parametrize("actions", [np.zeros(3, dtype=np.int64), np.zeros(4), np.zeros((4, 1), dtype=np.int64)])
def test_actions_of_another_shape_are_refused(actions: Any):
    with pytest.raises(ValueError, match=r"^actions: expected integers of shape \(4,\), got "):
        Batch("standard", 2, 4).step(actions)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"players": 5, "rules": "hops"}, RulesError, "players: these rules are for 2 to 4, got 5"),
        ({"num_games": 0}, ValueError, "num_games: expected an integer from 1 to 2147483647, got 0"),
        ({"episode": "day"}, ValueError, "episode: expected one of 'round', 'match', got 'day'"),
        ({"seed": -1}, ValueError, "seed: expected an integer from 0 to 2**64 - 1, got -1"),
    ],
)
def test_bad_options_are_one_line(options: dict[str, Any], error: type[Exception], words: str):
    with pytest.raises(error) as caught:
        Batch(**options)
    assert str(caught.value) == words


def _play_like_pettingzoo(rules: Any, players: int, reward: str, episode: str, seed: int) -> int:
    """The same actions in a batch and in PettingZoo: the same rewards, ends and leaves; returns how many leaves."""
    env = scala40_v0.raw_env(rules=rules, players=players, reward=reward, episode=episode)
    env.reset(seed=seed)
    batch = Batch(rules, players, 1, seed=seed, reward=reward, episode=episode, auto_reset=False)
    rng, leaves = np.random.default_rng(seed), 0
    while env.agents:
        if env.terminations[env.agent_selection]:
            env.step(None)
            continue
        observation = env.observe(env.agent_selection)
        assert observation["observation"].tobytes() == batch.observations[0].tobytes()
        assert observation["action_mask"].tobytes() == batch.masks[0].tobytes()
        action = choose(batch.legal[0, : batch.counts[0]], rng)
        env.step(action)
        batch.step(np.array([action]))
        for agent in env.agents:
            seat = int(agent[-1])
            assert batch.rewards[0, seat] == pytest.approx(env.rewards[agent], abs=1e-6)
            assert batch.left[0, seat] == env.terminations[agent]
        leaves += int(batch.left.sum())
        assert batch.terminated[0] == (not any(not over for over in env.terminations.values()))
    with pytest.raises(ValueError, match=r"^game 0: its episode is over; reset it before it is stepped$"):
        batch.step(np.array([0]))
    return leaves


@pytest.mark.parametrize("reward", ["points", "zero_sum", "win"])
@pytest.mark.parametrize(
    ("name", "players", "episode"), [("standard", 4, "match"), ("international", 3, "match"), ("hops", 2, "round")]
)
def test_rewards_ends_and_leaves_are_those_of_pettingzoo(name: str, players: int, episode: str, reward: str):
    for seed in range(3):
        assert _play_like_pettingzoo(short(name), players, reward, episode, seed) == players


def _trace(batch: Batch, steps: int) -> bytes:
    numbers, actions = np.array([7], dtype=np.uint64), np.zeros(batch.num_games, dtype=np.int64)
    seen = []
    for _ in range(steps):
        choose_uniformly(batch.legal, batch.counts, numbers, actions)
        batch.step(actions)
        shown = (batch.rows, batch.observations, batch.masks, batch.rewards, batch.points, batch.left, batch.seats)
        seen.append(b"".join(np.asarray(array).tobytes() for array in shown))
    return b"".join(seen)


def test_threads_change_no_game():
    one = Batch("standard", 3, 50, seed=1, episode="match", derived=True, hidden=True)
    three = Batch("standard", 3, 50, seed=1, episode="match", derived=True, hidden=True, threads=3)
    assert _trace(one, 200) == _trace(three, 200)
    three.close()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_a_copy_goes_on_alike(copied: Any):
    batch = Batch("italian", 2, 6, seed=1, derived=True)
    _trace(batch, 50)
    twin, before = copied(batch), batch.rows.tobytes()
    theirs = _trace(twin, 80)
    assert batch.rows.tobytes() == before
    assert _trace(batch, 80) == theirs
    assert np.array_equal(twin.rows, batch.rows)
    assert np.array_equal(twin.terminated, batch.terminated)


def test_the_callers_arrays_are_written():
    batch, twin = Batch("standard", 2, 4, seed=1), Batch("standard", 2, 4, seed=1)
    n, size, actions = 4, batch.observations.shape[1], batch.num_actions
    kept = {
        "observations": np.full((9, n, size), 77, dtype=np.uint8),
        "masks": np.full((9, n, actions), 1, dtype=np.int8),
        "rewards": np.zeros((9, n, 2), dtype=np.float32),
    }
    for step in range(9):
        chosen = batch.legal[:, 0].astype(np.int64)
        batch.use(**{name: array[step] for name, array in kept.items()})
        batch.step(chosen)
        twin.step(chosen)
        assert np.array_equal(kept["observations"][step], twin.observations)
        assert np.array_equal(kept["masks"][step], twin.masks)
        assert np.array_equal(kept["rewards"][step], twin.rewards)


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        (
            "observations",
            np.zeros((3, 10), dtype=np.uint8),
            "observations: expected a writable array of uint8 and shape",
        ),
        ("masks", np.zeros((4, 635)), "masks: expected a writable array of int8 and shape"),
        ("masks", np.zeros((4, 1270), dtype=np.int8)[:, ::2], "masks: expected a writable array of int8 and shape"),
        ("rewards", [0.0], "rewards: expected a writable array of float32 and shape"),
        ("counts", np.zeros(4), "use: there is no buffer 'counts'"),
    ],
)
def test_other_arrays_are_refused(name: str, array: Any, words: str):
    batch = Batch("standard", 2, 4)
    mine = batch.masks
    with pytest.raises(ValueError, match="^" + words):
        batch.use(masks=np.zeros_like(mine), **{name: array}) if name != "masks" else batch.use(masks=array)
    assert batch.masks is mine


def test_games_may_be_stepped_and_reset_in_part():
    batch = Batch("standard", 2, 4, seed=3)
    before = batch.rows.copy()
    where = np.array([True, False, False, True])
    batch.step(batch.legal[:, 0], where=where)
    assert [bool(batch.rows[i] == before[i]) for i in range(4)] == [False, True, True, False]
    batch.reset(where=~where)
    assert batch.games.tolist() == [0, 5, 6, 3]
    batch.reset(seed=9, games=[8, 8, 1, 0])
    assert np.array_equal(batch.rows[0], batch.rows[1])
    assert batch.rows[2] == Game("standard", 2, seed=9, game=1).row
    batch.reset(seed=[5, 6, 7, 8])
    assert batch.rows[3] == Game("standard", 2, seed=8, game=0).row
    for wrong, words in (
        (np.ones(3, dtype=np.bool_), "where: expected bool of shape"),
        (np.ones(4), "where: expected"),
    ):
        with pytest.raises(ValueError, match="^" + words):
            batch.step(batch.legal[:, 0], where=wrong)


def test_a_row_may_be_written_and_looked_at():
    batch, other = Batch("standard", 2, 3, seed=1, derived=True), Batch("standard", 2, 1, seed=9, derived=True)
    for _ in range(31):
        other.step(other.legal[:, other.counts[0] - 1])
    batch.rows[1] = other.rows[0]
    batch.look()
    assert np.array_equal(batch.observations[1], other.observations[0])
    assert np.array_equal(batch.masks[1], other.masks[0])
    assert batch.seats[1] == other.seats[0]


def test_redacted_rows_are_those_of_the_engine():
    batch = Batch("standard", 3, 2, seed=4)
    for _ in range(20):
        batch.step(batch.legal[:, 0])
    rows = batch.redacted()
    for i in range(2):
        game = Game.from_rows("standard", batch.rows[i : i + 1])
        assert rows[i] == game.redacted(game.seat)[0]
        assert rows[i].seed == 0


def test_determinized_rows_look_the_same_to_the_seats_to_act():
    batch = Batch("international", 3, 40, seed=4)
    for step in range(60):
        batch.step(batch.legal[np.arange(40), step % batch.counts])
    worlds, seen = Batch("international", 3, 40, seed=4), batch.redacted()
    worlds.rows[:] = batch.determinized(9)
    worlds.look()
    assert np.array_equal(worlds.redacted(), seen)
    assert np.array_equal(worlds.masks, batch.masks)
    assert np.array_equal(worlds.observations, batch.observations)
    assert (worlds.rows.stock != batch.rows.stock).any(axis=1).all()
    assert np.array_equal(batch.determinized(9), batch.determinized(9))
    with pytest.raises(ValueError, match=r"^rng: expected an integer from 0"):
        batch.determinized(-1)


def test_the_hidden_part_is_what_the_viewer_does_not_see():
    batch = Batch("standard", 3, 2, seed=4, hidden=True)
    for _ in range(25):
        batch.step(batch.legal[:, 0])
    for i in range(2):
        row, viewer = batch.rows[i], int(batch.seats[i])
        for place in (1, 2):
            hand = batch.hidden[i, (place - 1) * 53 : place * 53]
            assert hand.sum() == row.hand_size[(viewer + place) % 3]
        stock = batch.hidden[i, 106:]
        size = int(row.stock_size)
        assert stock[:size].tolist() == [int(kind) + 1 for kind in row.stock[:size][::-1]]
        assert not stock[size:].any()
    assert Batch("standard", 3, 2).hidden.shape == (2, 0)


def test_the_derived_part_follows_the_plain_one_also_at_the_end():
    batch, plain = Batch("hops", 2, 8, seed=2, derived=True), Batch("hops", 2, 8, seed=2)
    parts, ends = layout("hops", 2, derived=True), 0
    rng, size = np.random.default_rng(0), plain.observations.shape[1]
    for _ in range(300):
        chosen = plain.legal[np.arange(8), rng.integers(plain.counts)]
        batch.step(chosen)
        plain.step(chosen)
        assert np.array_equal(batch.observations[:, :size], plain.observations)
        for i in np.flatnonzero(batch.ended):
            out, ends = np.zeros(DERIVED_SIZE, dtype=np.uint8), ends + 1
            derive_row(
                bytes_of(batch.final_rows),
                batch.rules.vector(),
                int(i),
                0,
                np.zeros(DERIVE_WORDS, dtype=np.uint64),
                out,
            )
            assert batch.final_observations[i, size:].tolist() == out.tolist()
    assert ends > 3
    assert parts.size == batch.observations.shape[1]
    assert (parts["deadwood"].of(batch.observations) > 0).any()


def test_bots_may_have_seats_of_some_games():
    bots = np.array([[-1, -1], [-1, GREEDY], [GREEDY, -1]])
    batch, plain = Batch("standard", 2, 3, seed=6, bots=bots), Batch("standard", 2, 3, seed=6)
    rng, sums, ended = np.random.default_rng(0), np.zeros((3, 2)), np.zeros(3, dtype=np.int64)
    for _ in range(400):
        assert batch.seats[1] == 0
        assert batch.seats[2] == 1
        assert np.array_equal(batch.rows[0], plain.rows[0])
        chosen = batch.legal[np.arange(3), rng.integers(batch.counts)]
        batch.step(chosen)
        plain.step(np.array([chosen[0], *plain.legal[1:, 0]]))
        sums += batch.rewards
        for i in np.flatnonzero(batch.ended):
            assert sums[i] == pytest.approx(-batch.points[i] / 100)
            assert batch.left[i].all()
            sums[i], ended[i] = 0.0, ended[i] + 1
    assert (ended > 1).all()
    for wrong, words in (([[0, 0]] * 3, "bots: expected a seat"), ([[0.5, -1]] * 3, "bots: expected integers")):
        with pytest.raises(ValueError, match="^" + words):
            Batch("standard", 2, 3, bots=np.array(wrong))


def test_a_saved_state_goes_on_alike():
    options = {"seed": 3, "episode": "match", "bots": np.array([[-1, -1], [-1, GREEDY]]), "derived": True}
    batch, other = Batch("standard", 2, 2, **options), Batch("standard", 2, 2, **{**options, "seed": 9})
    _trace(batch, 50)
    _trace(other, 20)
    saved = batch.get_state()
    theirs = _trace(batch, 60)
    other.set_state(saved)
    assert _trace(other, 60) == theirs
    before = other.rows.tobytes()
    for name, wrong in (("rows", saved["rows"][:-1]), ("_lanes", None), ("options", saved["options"] + 1)):
        with pytest.raises(ValueError, match=f"^state.{name}: "):
            other.set_state({**saved, name: wrong})
    assert other.rows.tobytes() == before


@pytest.mark.parametrize("limit", [None, 12])
def test_an_episode_that_is_over_stays_so_until_it_is_begun_anew(limit: int | None):
    options = {"seed": 3, "auto_reset": False, "turn_limit": limit}
    batch, other = Batch("hops", 2, 2, **options), Batch("hops", 2, 2, **options)
    while not batch.ended[0]:
        batch.step(batch.legal[:, 0], where=batch.counts > 0)
    batch.look()
    other.set_state(batch.get_state())
    for one in (batch, other):
        assert one.seats[0] == -1
        assert not one.masks[0].any()
        with pytest.raises(ValueError, match=r"^game 0: its episode is over"):
            one.step(np.zeros(2, dtype=np.int64))
    batch.reset(where=np.array([True, False]))
    assert batch.masks[0].any()


def test_the_derived_part_leaves_alone_what_the_search_for_actions_remembers():
    batch = Batch("standard", 2, 4, seed=3)
    memory = np.arange(MEMORY_WORDS, dtype=np.uint64)
    n, size = 4, batch.observations.shape[1] + DERIVED_SIZE
    lanes, ends = np.zeros((n, LANE_NUMBERS), dtype=np.int64), np.ones((n, 2), dtype=np.bool_)
    options = np.zeros(NUM_OPTIONS, dtype=np.int64)
    options[OPT_PLAYERS] = 2
    seen, final = np.zeros((n, size), dtype=np.uint8), np.zeros((n, size), dtype=np.uint8)
    rows, vector, actions = bytes_of(batch.rows), batch.rules.vector(), np.zeros(n, dtype=np.int64)
    derive_lanes(0, n, rows, rows, memory, vector, options, actions, lanes, ends, seen, final)
    assert seen.any()
    assert np.array_equal(memory[:STACK], np.arange(STACK))
    assert np.array_equal(memory[STACK + STACK_WORDS :], np.arange(STACK + STACK_WORDS, MEMORY_WORDS))
