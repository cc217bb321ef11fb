"""Training by PPO: it learns, a run that was killed ends as one that was not, and its weights play without PyTorch."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")
# ruff: noqa: E402  what is imported below needs them

from agents.base import AgentError
from agents.policy import Policy
from agents.registry import make
from scala40_env.core.game import Game
from scala40_env.core.rules import Rules
from scala40_env.envs.observation import layout
from tests.agents.redealing import redeal
from training import cli
from training.config import DMC, PPO, SB3, Clone, ConfigError, load
from training.evaluate import VALIDATION_SEED, against_bot
from training.ppo import Trainer, log_softmax

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of matplotlib's and tensorboard's own imports

SMALL = ["games=16", "steps=16", "minibatch=64", "evaluate_every=2", "evaluate_deals=6", "hidden=[32]"]
SMALL += ["opponents.every=1", "opponents.pool=3", "opponents.snapshots=0.25", "opponents.bots=0.25"]
SMALL += ["opponents.current=0.5"]


def arguments(folder: Path, *changes: str) -> list[str]:
    """The command line of a small run."""
    return ["ppo", "--quiet", "--out", str(folder), *[f"--set={change}" for change in [*SMALL, *changes]]]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def untimed(run: Path) -> list[dict[str, str]]:
    """The metrics of a run that do not depend on the clock."""
    timed = ("seconds", "per_second")
    return [{name: value for name, value in row.items() if name not in timed} for row in rows(run / "metrics.csv")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    assert cli.main(arguments(folder, "decisions=1100")) == 0
    return folder


def test_a_run_keeps_what_is_needed_to_believe_it(run: Path):
    names = {path.name for path in run.iterdir()}
    assert {"config.json", "run.json", "metrics.csv", "evaluations.csv", "checkpoint.pt"} <= names
    assert {"best.safetensors", "last.safetensors", "curves.png", "test.json", "tensorboard"} <= names
    updates = [int(row["update"]) for row in rows(run / "metrics.csv")]
    assert updates == list(range(1, len(updates) + 1))
    assert int(rows(run / "metrics.csv")[-1]["decisions"]) >= 1100
    assert {row["anchor"] for row in rows(run / "evaluations.csv")} == {"greedy"}


def test_a_run_that_was_killed_ends_in_the_same_weights(run: Path, tmp_path: Path):
    folder = tmp_path / "killed"
    code = (
        "import os, sys\n"
        "from training import cli, ppo\n"
        "advance, left = ppo.Trainer.advance, [5]\n"
        "def dies(self):\n"
        "    left[0] -= 1\n"
        "    return advance(self) if left[0] > 0 else os._exit(9)\n"
        "ppo.Trainer.advance = dies\n"
        "cli.main(sys.argv[1:])\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, *arguments(folder, "decisions=1100")], check=False)
    assert killed.returncode == 9
    assert len(rows(folder / "metrics.csv")) == 4
    assert cli.main(["resume", str(folder), "--quiet"]) == 0
    assert (folder / "last.safetensors").read_bytes()[-4096:] == (run / "last.safetensors").read_bytes()[-4096:]
    kept = [torch.load(path / "checkpoint.pt", weights_only=True) for path in (run, folder)]
    for name, tensor in kept[0]["model"].items():
        assert torch.equal(tensor, kept[1]["model"][name]), name
    timed = ("seconds", "per_second")
    told = [
        [{k: v for k, v in row.items() if k not in timed} for row in rows(path / "metrics.csv")]
        for path in (run, folder)
    ]
    assert told[0] == told[1]


def test_weights_play_as_the_network_that_was_trained(run: Path):
    policy = make(f"policy:path={run / 'last.safetensors'}")
    trainer = Trainer(load(PPO, None, SMALL))
    trainer.model.load_state_dict(torch.load(run / "checkpoint.pt", weights_only=True)["model"])
    game, checked = Game("standard", 2, seed=4), 0
    batch = trainer.collector.batch
    for step in range(60):
        if game.is_over:
            break
        legal = game.legal_actions()
        batch.rows[0] = game.row
        batch.look()
        expected = trainer.best_actions(batch)[0]
        choice = policy.act(game.redacted(game.seat), legal, game.rules, step)
        other = redeal(game, step)
        assert choice == expected
        assert choice == policy.act(other.redacted(game.seat), legal, game.rules)
        checked += len(legal) > 1
        game.play(choice)
    assert checked > 15


def test_weights_are_refused_where_they_do_not_belong(run: Path, tmp_path: Path):
    path = run / "last.safetensors"
    policy = Policy(str(path))
    other = Game("hops", 2)
    with pytest.raises(AgentError, match=r"^policy\(last\): trained with \w+ = .+, not "):
        policy.logits(other.redacted(other.seat), other.legal_actions(), other.rules)
    other = Game("standard", 3)
    with pytest.raises(AgentError, match=r"^policy\(last\): trained for 2 players, not 3$"):
        policy.logits(other.redacted(other.seat), other.legal_actions(), other.rules)
    for name, content, words in (
        ("none", None, "there is no file"),
        ("bytes", b"\x00" * 100, "is no safetensors file"),
        ("cut", path.read_bytes()[:-10], "is no safetensors file"),
        ("text", path.read_bytes().replace(b"scala40-policy", b"scala41-policy"), "is no policy of version 1"),
        ("layout", path.read_bytes().replace(layout_of(path), b"0" * 16), "was made for observations of version"),
    ):
        file = tmp_path / name
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(AgentError, match=r"^policy: ") as caught:
            make(f"policy:path={file}")
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)


def layout_of(path: Path) -> bytes:
    return Policy(str(path)).card.layout.encode()


def test_the_log_probabilities_are_those_of_each_decision():
    logits = torch.tensor([1.0, 2.0, 3.0, 0.5, 0.5])
    owners = torch.tensor([0, 0, 0, 1, 1])
    expected = torch.cat([torch.log_softmax(logits[:3], 0), torch.log_softmax(logits[3:], 0)])
    assert torch.allclose(log_softmax(logits, owners, 2), expected)


def test_the_logits_are_those_of_dense_layers():
    trainer = Trainer(load(PPO, None, SMALL))
    model, collector, batch = trainer.model, trainer.collector, trainer.collector.batch
    with torch.no_grad():
        logits, _, made = collector.logits(model, batch.observations, batch.legal, batch.counts)
        hidden = torch.relu(model.actor[0](torch.from_numpy(collector.inputs(batch.observations))))
        expected = model.actor[1](hidden)[made.owners, made.actions]
        expected += (model.actor[2](hidden)[made.owners] * made.described).sum(dim=1)
    assert torch.allclose(logits, expected, atol=1e-5)


def test_the_first_ratios_are_one():
    trainer = Trainer(load(PPO, None, SMALL))
    kept = trainer.collector.collect()
    own = np.flatnonzero(kept.learns.reshape(-1))
    flat = {name: value.reshape(-1, *value.shape[2:]) for name, value in vars(kept).items()}
    with torch.no_grad():
        decisions = flat["observations"][own], flat["legal"][own], flat["counts"][own]
        logits, seen, made = trainer.collector.logits(trainer.model, *decisions)
        log_all = log_softmax(logits, made.owners, len(own)).numpy()
        values = trainer.collector.values(seen, flat["hidden"][own]).numpy()
    assert np.allclose(log_all[made.starts.numpy() + flat["picks"][own]], flat["log_probs"][own], atol=1e-5)
    assert np.allclose(values, flat["values"][own], atol=1e-5)
    assert len(own) > 100


def test_advantages_are_those_of_each_seat_along_its_own_decisions():
    changes = [*SMALL, "opponents.current=1.0", "opponents.snapshots=0.0", "opponents.bots=0.0", "gae_lambda=1.0"]
    trainer = Trainer(load(PPO, None, [*changes, "steps=200", "games=4"]))
    kept = trainer.collector.collect()
    checked = 0
    for game in range(4):
        ends = np.flatnonzero(kept.ended[:, game])
        begins = [0, *(ends[:-1] + 1)]
        for begin, end in zip(begins, ends):
            for seat in range(2):
                own = [t for t in range(begin, end + 1) if kept.seats[t, game] == seat]
                for t in own:
                    paid = kept.rewards[t : end + 1, game, seat].sum()
                    assert kept.advantages[t, game] + kept.values[t, game] == pytest.approx(paid, abs=1e-4)
                    assert kept.learns[t, game]
                    checked += 1
    assert checked > 200


def test_shaping_changes_no_whole_return():
    plain = [
        *SMALL,
        "opponents.current=1.0",
        "opponents.snapshots=0.0",
        "opponents.bots=0.0",
        "gae_lambda=1.0",
        "steps=120",
    ]
    deadwood = layout("standard", 2, derived=True)["deadwood"].offset
    one, other = (Trainer(load(PPO, None, [*plain, f"shaping={weight}"])).collector.collect() for weight in (0.0, 0.5))
    assert np.array_equal(one.picks, other.picks)
    whole = one.learns & (np.cumsum(one.ended[::-1], axis=0)[::-1] > 0)
    shift = other.advantages - one.advantages
    expected = 0.5 * one.observations[..., deadwood].astype(np.float32) / 100
    assert np.allclose(shift[whole], expected[whole], atol=1e-4)
    assert whole.sum() > 200


def test_a_critic_may_see_what_the_actor_sees():
    trainer = Trainer(load(PPO, None, [*SMALL, "privileged=false"]))
    assert trainer.advance()["learned_from"] > 0
    assert trainer.model.critic[0].in_features == trainer.model.actor[0].in_features


def test_it_learns():
    changes = ["games=64", "steps=32", "minibatch=512", "hidden=[64]", "learning_rate=0.002", "epochs=4"]
    trainer = Trainer(load(PPO, None, changes))
    rules = Rules.load("standard")

    def gained() -> float:
        return against_bot(rules, trainer.config, make("greedy"), trainer.best_actions, VALIDATION_SEED, 60).gained.mean

    before = gained()
    for _ in range(20):
        trainer.advance()
    assert gained() > before + 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("entropi=0.1", "config: Object contains unknown field `entropi`"),
        ("entropy=high", "config: Expected `float`, got `str` - at `$.entropy`"),
        ("opponents.pool=x", "config: Expected `int`, got `str` - at `$.opponents.pool`"),
        ("opponents.current=0.5", "config: opponents: expected shares of 0 or more that sum to 1, got 0.8"),
        ("games=1", "config: games: expected at least 4, got 1"),
        ("clip=0.0", "config: clip: expected a number above 0, got 0.0"),
        ("entropy", "--set: expected key=value, got 'entropy'"),
    ],
)
def test_bad_settings_are_one_line(change: str, words: str):
    with pytest.raises(ConfigError) as caught:
        load(PPO, None, [change])
    assert str(caught.value) == words


def test_bad_commands_are_one_line(tmp_path: Path, run: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x", "utf-8")
    bad: list[Any] = [
        ["ppo", "--out", str(tmp_path / "full")],
        ["ppo", "--config", str(tmp_path / "none.toml")],
        ["ppo", str(tmp_path)],
        ["resume"],
        ["resume", str(tmp_path / "full")],
        ["resume", str(run), "--set", "games=4"],
    ]
    for words in bad:
        assert cli.main(words) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_in_which_a_run_is_writing_is_refused(run: Path, capsys: pytest.CaptureFixture[str]):
    import fcntl

    with (run / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert cli.main(["resume", str(run)]) == 2
    assert capsys.readouterr().err == f"scala40 train: {run}: another run is writing to it\n"


@pytest.mark.parametrize("part", ["checkpoint.pt", "config.json"])
def test_a_run_that_was_cut_short_on_the_disk_is_refused(
    run: Path, tmp_path: Path, part: str, capsys: pytest.CaptureFixture[str]
):
    folder = tmp_path / "cut"
    shutil.copytree(run, folder)
    (folder / part).write_bytes((run / part).read_bytes()[:100])
    assert cli.main(["resume", str(folder), "--quiet"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("scala40 train: ")
    assert part.partition(".")[0] in told or "no run to resume" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("kind", "change", "field"),
    [
        (PPO, 'opponents.names=["greedy", "{}"]', "opponents.names"),
        (PPO, 'anchors=["{}"]', "anchors"),
        (DMC, 'anchors=["{}"]', "anchors"),
        (SB3, 'anchors=["{}"]', "anchors"),
        (SB3, 'opponents="{}"', "opponents"),
        (Clone, 'teacher="{}"', "teacher"),
    ],
)
def test_names_in_settings_run_no_code(tmp_path: Path, kind: Any, change: str, field: str):
    for evil in ("subprocess:getoutput:cmd=touch {}", "pimc:bot=subprocess:getoutput:cmd=touch {}"):
        text = evil.format(tmp_path / "x")
        made = make if kind is SB3 and field == "opponents" else lambda name: None
        with pytest.raises((ConfigError, AgentError)) as caught:
            made(getattr(load(kind, None, [change.replace("{}", text)]), field, ""))
        assert not (tmp_path / "x").exists()
        assert "\n" not in str(caught.value)
        assert str(caught.value).startswith((f"config: {field}: ", "bot: "))


def test_a_folder_of_a_run_runs_no_code(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder, touched = tmp_path / "run", tmp_path / "x"
    evil = f"subprocess:getoutput:cmd=touch {touched}"
    kept = json.loads((run / "config.json").read_text("utf-8"))
    for changed in ({"anchors": [evil]}, {"opponents": {**kept["opponents"], "names": [evil]}}):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(run, folder)
        (folder / "config.json").write_text(json.dumps({**kept, "decisions": 10**6, **changed}), "utf-8")
        assert cli.main(["resume", str(folder), "--quiet"]) == 2
        told = capsys.readouterr().err
        assert "is not a compiled bot" in told
        assert told.count("\n") == 1
        assert not touched.exists()


def test_an_opponent_that_is_no_compiled_bot_is_refused():
    with pytest.raises(ConfigError, match=r"^config: opponents.names: 'pimc' is not a compiled bot$"):
        Trainer(load(PPO, None, [*SMALL, 'opponents.names=["pimc"]']))
