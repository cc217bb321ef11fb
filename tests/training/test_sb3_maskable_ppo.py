"""``scala40 train sb3``: a tiny run leaves a folder, and its actor plays without Stable-Baselines3."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("safetensors")


from sb3_contrib import MaskablePPO

from agents.registry import make
from scala40_env.core.game import Game
from scala40_env.envs.batch import Batch
from scala40_env.envs.spaces import scale_of
from training import cli
from training.config import SB3, load

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of tensorboard's own imports

TINY = ["games=8", "n_steps=16", "decisions=200", "batch_size=64", "evaluate_deals=4", "hidden=[32, 16]"]


def test_a_tiny_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / "run"
    words = ["sb3", "--quiet", "--out", str(folder), *[f"--set={change}" for change in TINY]]
    assert cli.main(words) == 0
    assert "against greedy: -" in capsys.readouterr().out
    names = {path.name for path in folder.iterdir()}
    assert {"config.json", "run.json", "progress.csv", "test.json", "model.zip", "last.safetensors"} <= names
    assert any(name.startswith("events.out.tfevents") for name in names)
    assert {"torch", "sb3-contrib"} < set(json.loads((folder / "run.json").read_text("utf-8"))["versions"])

    model, policy = MaskablePPO.load(folder / "model.zip", device="cpu"), make(f"policy:path={folder}/last.safetensors")
    game, batch, checked = Game("standard", 2, seed=4), Batch("standard", 2, 1, derived=True), 0
    while not game.is_over and checked < 15:
        batch.rows[0] = game.row
        batch.look()
        seen = (batch.observations / scale_of(game.rules, 2, derived=True)).astype(np.float32)
        expected = int(model.predict(seen, action_masks=batch.masks != 0, deterministic=True)[0][0])
        legal = game.legal_actions()
        assert policy.act(game.redacted(game.seat), legal, game.rules) == expected
        checked += len(legal) > 1
        game.play(expected)
    assert checked > 10

    assert cli.main(["resume", str(folder)]) == 2
    assert capsys.readouterr().err == f"scala40 train: {folder}: runs of sb3 cannot be resumed\n"


def test_the_settings_in_the_repository_are_good():
    folder = Path(__file__).parents[2] / "configs" / "train"
    assert load(SB3, folder / "sb3_2p.toml", []).opponents == "solver"
