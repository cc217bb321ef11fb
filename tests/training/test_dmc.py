"""Training by deep Monte Carlo: it learns, a run that was killed ends as one that was not, and its weights play."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")
# ruff: noqa: E402  what is imported below needs them

from agents.base import AgentError
from agents.registry import make
from agents.weights import load as load_weights
from agents.weights import save
from scala40_env.core.actions import DISCARD, LAY_OFF, LAY_SET
from scala40_env.core.cards import JOKER, NUM_KINDS
from scala40_env.core.game import Game
from scala40_env.core.notation import format_action
from scala40_env.core.rules import Rules
from scala40_env.envs.derived import NOT_HELD
from scala40_env.envs.observation import layout
from training import cli, dmc
from training.action_codes import NUM_FEATURES, PARTS, action_features
from training.config import DMC, ConfigError, load
from training.evaluate import VALIDATION_SEED, against_bot

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of matplotlib's and tensorboard's own imports

ALONE = ["opponents.current=1.0", "opponents.snapshots=0.0", "opponents.bots=0.0"]
SMALL = ["games=16", "steps=32", "minibatch=64", "evaluate_every=2", "evaluate_deals=6", "hidden=[32, 16]"]
SMALL += ["opponents.every=1", "opponents.pool=2", "opponents.snapshots=0.25", "opponents.bots=0.25"]
SMALL += ["opponents.current=0.5", "decisions=2500"]


def arguments(folder: Path) -> list[str]:
    """The command line of a small run."""
    return ["dmc", "--quiet", "--out", str(folder), *[f"--set={change}" for change in SMALL]]


def untimed(path: Path) -> list[dict[str, str]]:
    """The rows of a file of a run, without what depends on the clock."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{k: v for k, v in row.items() if k not in ("seconds", "per_second")} for row in csv.DictReader(file)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    assert cli.main(arguments(folder)) == 0
    return folder


class Killed(BaseException):
    """What takes a run away between two lines of it."""


def test_a_run_that_was_killed_ends_in_the_same_weights(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder, advance, left = tmp_path / "killed", dmc.Trainer.advance, [5]

    def dies(trainer: dmc.Trainer) -> dict[str, float]:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        return advance(trainer)

    with monkeypatch.context() as patched:
        patched.setattr(dmc.Trainer, "advance", dies)
        with pytest.raises(Killed):
            cli.main(arguments(folder))
    with (folder / "metrics.csv").open("a", encoding="utf-8") as file:
        file.write("5,99")  # and it was writing when it died
    assert cli.main(["resume", str(folder), "--quiet"]) == 0
    kept = [torch.load(path / "checkpoint.pt", weights_only=True) for path in (run, folder)]
    for part in ("model", "waiting"):
        for name, tensor in kept[0][part].items():
            assert torch.equal(tensor, kept[1][part][name]), name
    assert len(kept[0]["waiting"]["actions"]) > 0
    assert len(kept[0]["snapshots"]) == 2
    assert (folder / "last.safetensors").read_bytes()[-4096:] == (run / "last.safetensors").read_bytes()[-4096:]
    for name in ("metrics.csv", "evaluations.csv"):
        assert untimed(run / name) == untimed(folder / name)
    assert len(untimed(run / "metrics.csv")) > 5


def test_a_run_keeps_what_is_needed_to_believe_it(run: Path):
    names = {path.name for path in run.iterdir()}
    assert {"config.json", "run.json", "metrics.csv", "evaluations.csv", "checkpoint.pt"} <= names
    assert {"best.safetensors", "last.safetensors", "curves.png", "test.json", "tensorboard"} <= names
    assert '"algorithm": "dmc"' in (run / "config.json").read_text("utf-8")


def test_weights_play_as_the_network_that_was_trained(run: Path):
    policy = make(f"policy:path={run / 'last.safetensors'}")
    trainer = dmc.Trainer(load(DMC, None, SMALL))
    trainer.model.load_state_dict(torch.load(run / "checkpoint.pt", weights_only=True)["model"])
    game, batch, checked = Game("standard", 2, seed=4), trainer.collector.batch, 0
    while not game.is_over and checked < 20:
        legal, rows = game.legal_actions(), game.redacted(game.seat)
        batch.rows[0] = game.row
        batch.look()
        actions = torch.from_numpy(legal.astype(np.int64))
        with torch.no_grad():
            owners = torch.zeros(len(legal), dtype=torch.int64)
            seen = trainer.collector.seen(batch.observations[:1])
            expected = trainer.model(seen, actions, owners, trainer.model.of_actions()).numpy()
        assert np.allclose(policy.logits(rows, legal, game.rules), expected, atol=1e-5)
        choice = policy.act(rows, legal, game.rules)
        assert choice == trainer.best_actions(batch)[0]
        checked += len(legal) > 1
        game.play(choice)
    assert checked > 10
    warm = make(f"policy:path={run / 'last.safetensors'},temperature=10")
    game = Game("standard", 2, seed=4)
    drawn = {warm.act(game.redacted(game.seat), game.legal_actions(), game.rules, rng) for rng in range(40)}
    assert drawn == set(game.legal_actions().tolist())


@pytest.mark.parametrize("name", ["actor.features", "actor.action.weight", "actor.2.bias"])
def test_weights_that_lack_a_part_are_refused(run: Path, tmp_path: Path, name: str):
    arrays, card = load_weights(run / "last.safetensors")
    for number, array in enumerate((None, np.zeros(7, np.float32), np.full(arrays[name].shape, np.nan, np.float32))):
        given = {key: value for key, value in arrays.items() if key != name}
        path = tmp_path / f"{number}.safetensors"
        save(path, given if array is None else {**given, name: array}, card)
        with pytest.raises(AgentError, match=r"^policy: actor.* expected finite float32 of shape \("):
            load_weights(path)


# --- what it learns --------------------------------------------------------------------------------------------------


def test_it_learns_a_task_whose_answer_is_known():
    """Of eight discards the one that is shown brings 1, the others nothing."""
    trainer = dmc.Trainer(
        load(DMC, None, [*ALONE, "games=4", "minibatch=256", "learning_rate=0.003", "hidden=[64, 64]"])
    )
    rng, n = np.random.default_rng(0), 4096
    shown, done = rng.integers(8, size=(2, n))
    observations = np.zeros((n, trainer.collector.batch.observations.shape[1]), dtype=np.uint8)
    observations[np.arange(n), shown] = 2  # an input of about 1
    leaves = layout("standard", 2, derived=True)["discard_leaves"].offset
    observations[:, leaves : leaves + NUM_KINDS] = NOT_HELD
    empty = np.zeros(n, dtype=np.int64)
    made = dmc.Decisions(observations, (DISCARD + done).astype(np.int16), empty, empty)
    returns = (shown == done).astype(np.float32)
    told: dict[str, float] = {}
    for _ in range(6):
        told = dmc.update(trainer.config, trainer.model, trainer.optimizer, trainer.collector, made, returns, 0.0)
    legal = np.tile(np.arange(DISCARD, DISCARD + 8, dtype=np.int16), (8, 1))
    asked = trainer.collector.seen(np.stack([observations[shown == k][0] for k in range(8)]))
    with torch.no_grad():
        picks = dmc.greedy_picks(trainer.model, trainer.model.of_actions(), asked, legal, np.full(8, 8))
    assert picks.tolist() == list(range(8))
    assert told["explained_variance"] > 0.9


def test_it_learns_to_play():
    trainer = dmc.Trainer(load(DMC, None, ["games=64", "steps=48", "minibatch=256", "hidden=[64]", "epsilon=0.1"]))
    rules = Rules.load("standard")

    def gained() -> float:
        return against_bot(rules, trainer.config, make("greedy"), trainer.best_actions, VALIDATION_SEED, 40).gained.mean

    before = gained()
    for _ in range(10):
        trainer.advance()
    assert gained() > before + 5


def test_equal_seeds_give_equal_weights():
    weights = []
    for seed in (0, 0, 1):
        trainer = dmc.Trainer(load(DMC, None, [*SMALL, f"seed={seed}"]))
        trainer.advance()
        trainer.advance()
        weights.append(trainer.model.actor["1"].weight)
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_decisions_are_paid_what_their_round_brings():
    trainer = dmc.Trainer(load(DMC, None, [*ALONE, "games=8", "steps=40", "hidden=[16]"]))
    collector, batch = trainer.collector, trainer.collector.batch
    step, open_rounds, expected = batch.step, [[] for _ in range(8)], []

    def watched(actions: Any) -> None:
        for game in range(8):
            seat = int(batch.seats[game])
            open_rounds[game].append((batch.observations[game].tobytes(), int(actions[game]), game, seat))
        step(actions)
        for game in np.flatnonzero(batch.ended):
            expected.extend((*one, float(batch.rewards[game, one[-1]])) for one in open_rounds[game])
            open_rounds[game] = []

    batch.step = watched
    for _ in range(6):
        expected.clear()
        made, returns = collector.collect(0.5)
        found = [
            (made.observations[i].tobytes(), int(made.actions[i]), int(made.games[i]), int(made.seats[i]), float(paid))
            for i, paid in enumerate(returns)
        ]
        assert sorted(found) == sorted(expected)
        assert len(collector.waiting.games) == sum(map(len, open_rounds))
    assert len(expected) > 100
    assert min(returns) < 0 < max(returns)


def test_the_first_layer_is_that_of_a_network_over_both():
    trainer = dmc.Trainer(load(DMC, None, [*ALONE, "games=4", "hidden=[24, 8]"]))
    model, rng = trainer.model, np.random.default_rng(1)
    observations = rng.integers(3, size=(5, trainer.collector.inputs.size), dtype=np.uint8)
    seen = torch.from_numpy(trainer.collector.inputs(observations))
    given = trainer.collector.seen(observations)
    actions, owners = torch.from_numpy(rng.integers(600, size=12)), torch.from_numpy(rng.integers(5, size=12))
    with torch.no_grad():
        both = torch.cat([seen[owners], model.actor.features[actions]], dim=1)
        weight = torch.cat([model.actor["0"].weight, model.actor["action"].weight], dim=1)
        hidden = torch.relu(both @ weight.T + model.actor["0"].bias)
        hidden = torch.relu(model.actor["1"](hidden))
        expected = model.actor["2"](hidden)[:, 0]
        assert torch.allclose(model(given, actions, owners, model.of_actions()), expected, atol=1e-5)


# --- the features of actions -----------------------------------------------------------------------------------------


def test_features_tell_actions_apart():
    for name, size in (("standard", 635), ("international", 745)):
        made = action_features(Rules.load(name))
        assert made.shape == (size, NUM_FEATURES)
        assert len(np.unique(made, axis=0)) == size
        assert 0 <= made.min() <= made.max() <= 2


def test_features_name_the_cards_that_leave_the_hand():
    rules, game = Rules.load("standard"), Game("standard", 2, seed=0)
    made = action_features(rules)
    begin = PARTS["sort"]
    names = {format_action(DISCARD + kind, game.row).split()[-1]: kind for kind in range(NUM_KINDS)}
    for action in (*range(LAY_SET, LAY_OFF), *range(DISCARD, DISCARD + NUM_KINDS)):
        words = format_action(action, game.row).split()[1:]
        kinds = {JOKER if word.startswith("JK") else names[word] for word in words}
        assert set(np.flatnonzero(made[action, begin : begin + NUM_KINDS])) == kinds


# --- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("entropy=0.1", "config: Object contains unknown field `entropy`"),
        ("algorithm=ppo", "config: Invalid value 'ppo' - at `$.algorithm`"),
        ("epsilon=1.5", "config: epsilon: expected a number from 0 to 1, got 1.5"),
        ("opponents.current=0.5", "config: opponents: expected shares of 0 or more that sum to 1, got 0.8"),
        ("hidden=[]", "config: hidden: expected widths of 1 or more, got []"),
    ],
)
def test_bad_settings_are_one_line(change: str, words: str):
    with pytest.raises(ConfigError) as caught:
        load(DMC, None, [change])
    assert str(caught.value) == words


def test_the_settings_in_the_repository_are_good():
    folder = Path(__file__).parents[2] / "configs" / "train"
    assert load(DMC, folder / "dmc_2p.toml", []).games == 512
