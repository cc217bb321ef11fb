"""Behaviour cloning, and what the networks are fed: actions told by their features, observations by what is usual."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")
# ruff: noqa: E402  what is imported below needs them

from agents.action_features import NAMES, ActionFeatures
from agents.inputs import BY_RANGE, BY_USE, Inputs
from agents.policy import Policy
from agents.registry import make
from agents.teaching import Teacher
from scala40_env.core.actions import DISCARD
from scala40_env.core.game import Game
from scala40_env.core.position import position_from_json
from scala40_env.core.rules import Rules
from scala40_env.envs.batch import Batch
from scala40_env.envs.observation import layout
from training import cli
from training.clone import Cloner
from training.config import PPO, Clone, ConfigError, load
from training.ppo import Trainer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of matplotlib's and tensorboard's own imports
SMALL = ["games=16", "steps=32", "hidden=[32]", "minibatch=128", "evaluate_every=5", "evaluate_deals=6"]


def test_a_teacher_does_what_the_bot_does():
    batch, bot = Batch("standard", 2, 8, play_forced=True), make("careful")
    for step in range(60):
        wanted = Teacher(bot).choices(batch, step)
        for i in range(8):
            game = Game.from_rows("standard", batch.rows[i : i + 1])
            assert wanted[i] == bot.act(game.redacted(game.seat), game.legal_actions(), game.rules)
        batch.step(wanted)


def test_it_learns_to_do_as_its_teacher():
    config = Clone(games=64, steps=32, hidden=(64,), minibatch=256, decisions=30_000, noise=0.1, teacher="greedy")
    cloner = Cloner(config)
    first = cloner.advance()
    while not cloner.is_done():
        last = cloner.advance()
    assert last["agreement"] > first["agreement"] + 0.15
    assert last["value_loss"] < first["value_loss"]


def test_its_weights_begin_a_run_of_ppo(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / "clone"
    assert (
        cli.main(["clone", "--quiet", "--out", str(folder), *[f"--set={c}" for c in [*SMALL, "decisions=2000"]]]) == 0
    )
    weights = folder / "last.safetensors"
    same = [*[c for c in SMALL if not c.startswith("evaluate_every")], f"warm_start={weights}"]
    trainer = Trainer(load(PPO, None, same))
    policy = make(f"policy:{weights}")
    assert isinstance(policy, Policy)
    assert policy.network.has_critic
    own = trainer.model.state_dict()
    for name, array in policy.network.arrays.items():
        assert np.array_equal(own[name].numpy(), array), name
    batch = trainer.collector.batch
    with torch.no_grad():
        expected = trainer.collector.values(trainer.collector.seen(batch.observations), batch.hidden).numpy()
    assert np.allclose(policy.network.values(batch.observations, batch.hidden), expected, atol=1e-5)
    with pytest.raises(ConfigError, match="for other hidden than this run"):
        Trainer(load(PPO, None, [*same, "hidden=[16]"]))
    capsys.readouterr()


def test_features_say_what_a_discard_is_about():
    hands = [["7H", "7D", "7S", "5C", "6C", "KD", "2H"], [{"hidden": 9}]]
    position = {"rules": "standard", "players": 2, "seat": 0, "phase": "play", "turns": [4, 4]}
    position |= {"hands": hands, "has_opened": [True, True], "table": [["TD", "JD", "QD"]], "pile": ["4C"]}
    game = Game.from_rows(*position_from_json(position))
    batch = Batch(game.rules, 2, 1, derived=True)
    batch.rows[:] = game.rows
    batch.look()
    made = ActionFeatures(game.rules, 2)(batch.observations, batch.legal, batch.counts)
    legal = batch.legal[0, : batch.counts[0]].tolist()
    told = {action: dict(zip(NAMES, made[i].tolist())) for i, action in enumerate(legal)}

    def discard(kind: int, name: str) -> float:
        return told[DISCARD + kind][f"discard: {name}"]

    seven, five, king, two = 6, 26 + 4, 13 + 12, 1
    assert discard(seven, "it makes a meld with natural cards of the hand") == 1
    assert discard(five, "it makes a meld with natural cards of the hand") == 0
    # beside 5C and 6C: one 4C (the other is in the pile) and two 7C, in fours
    assert discard(five, "unseen cards that would make a meld of it and a card of the hand, in fours") == 0.75
    assert discard(king, "it fits onto the table") == 1
    assert discard(two, "it fits onto the table") == 0
    assert discard(king, "points of the card, in tens") == 1
    assert discard(two, "points of the card, in tens") == pytest.approx(0.2)
    assert discard(two, "unseen copies, in twos") == 0.5
    assert sum(features["discard"] for features in told.values()) == 7


def test_inputs_are_about_one_and_tell_discards_apart():
    rules = Rules.load("standard")
    batch = Batch(rules, 2, 64, derived=True, play_forced=True)
    teacher = Teacher(make("greedy"))
    for step in range(25):
        batch.step(teacher.choices(batch, step))
    made = Inputs(rules, 2, derived=True)(batch.observations)
    assert made.dtype == np.float32
    assert np.abs(made).max() < 20
    part = layout(rules, 2, derived=True)["discard_leaves"]
    leaves = made[:, part.offset : part.offset + part.length]
    assert (leaves.max(axis=1) == 1).all()
    assert (leaves.min(axis=1) >= -1).all()
    plain = Inputs(rules, 2, derived=True, way=BY_RANGE)(batch.observations)
    assert 0 <= plain.min() <= plain.max() <= 1


@pytest.mark.parametrize("way", [BY_RANGE, BY_USE])
@pytest.mark.parametrize("derived", [True, False])
def test_the_inputs_that_are_not_zero_are_the_same(derived: bool, way: str):
    batch = Batch("standard", 2, 64, seed=1, derived=derived)
    for step in range(40):
        batch.step(batch.legal[np.arange(64), step % batch.counts])
    inputs = Inputs(Rules.load("standard"), 2, derived=derived, way=way)
    columns, numbers, starts = inputs.nonzero(batch.observations)
    made = np.zeros((64, inputs.size), dtype=np.float32)
    made[np.repeat(np.arange(64), np.diff(starts, append=len(columns))), columns] = numbers
    assert np.array_equal(made, inputs(batch.observations))
    assert numbers.all()
