"""A training run and its folder: settings, versions, metrics, checkpoints, the best agent, a plot of the curves.

A run that was killed goes on from its last checkpoint, and ends in the same weights as one that was not, on the same
machine and with the same number of threads.
"""

from __future__ import annotations

import csv
import json
import signal
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import numpy as np
import torch
from torch.utils.tensorboard import SummaryWriter

from agents.action_features import NUM_FEATURES
from agents.inputs import BY_USE
from agents.weights import Card, layout_digest, save
from scala40_env.core.rules import Rules
from training.config import PPO, ConfigError
from training.evaluate import TEST_SEED, VALIDATION_SEED, Result
from training.ppo import Trainer
from training.results import versions
from training.training_progress import TrainingProgress

CHECKPOINT, METRICS, EVALUATIONS, BEST, LAST = (
    "checkpoint.pt",
    "metrics.csv",
    "evaluations.csv",
    "best.safetensors",
    "last.safetensors",
)
_METRICS = (
    "update",
    "decisions",
    "seconds",
    "per_second",
    "learned_from",
    "policy_loss",
    "value_loss",
    "entropy",
    "clipped",
    "kl",
    "explained_variance",
    "learning_rate",
)
_EVALUATIONS = ("update", "decisions", "seconds", "anchor", "gained", "half_width", "won")


class Run:
    """A run in its folder; ``train`` goes on until it is done, or is asked to stop."""

    def __init__(self, folder: Path, config: PPO, command: str) -> None:
        self.folder, self.config, self.command = folder, config, command
        self.trainer = Trainer(config)
        self.best = -np.inf
        self.tests: dict[str, Result] = {}
        self._stop = False
        self._last: dict[str, Result] = {}

    @classmethod
    def begin(cls, folder: Path, config: PPO, command: str) -> Run:
        """A new run; ``ConfigError`` where the folder holds something."""
        if folder.exists() and any(folder.iterdir()):
            raise ConfigError(f"--out: {folder} is not empty; `scala40 train resume {folder}` goes on with a run")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_bytes(msgspec.json.format(msgspec.json.encode(config), indent=2))
        told = {"command": command, "seed": config.seed, "versions": versions()}
        (folder / "run.json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")
        return cls(folder, config, command)

    @classmethod
    def resume(cls, folder: Path) -> Run:
        """A run as its last checkpoint has it; ``ConfigError`` where there is none."""
        try:
            config = msgspec.json.decode((folder / "config.json").read_bytes(), type=PPO)
            command = str(json.loads((folder / "run.json").read_text("utf-8"))["command"])
        except (OSError, ValueError, KeyError, msgspec.ValidationError) as error:
            raise ConfigError(f"{folder}: no run to resume: {' '.join(str(error).split())}") from None
        run = cls(folder, config, command)
        if (folder / CHECKPOINT).exists():
            run._load()
        return run

    def train(self, *, quiet: bool = False) -> bool:
        """Train until the run is done; returns whether it is, and not merely asked to stop by Ctrl-C."""
        trainer, config = self.trainer, self.config
        previous = signal.signal(signal.SIGINT, self._ask_to_stop)
        try:
            board = SummaryWriter(str(self.folder / "tensorboard"), purge_step=trainer.updates + 1)
            with board, TrainingProgress(config.decisions, quiet=quiet) as progress:
                progress.update(trainer.decisions, 0.0, self._shown())
                while not trainer.is_done() and not self._stop:
                    told = trainer.advance()
                    self._note(
                        METRICS, _METRICS, {"update": trainer.updates, "seconds": round(trainer.seconds, 1), **told}
                    )
                    for name, value in told.items():
                        board.add_scalar(name, value, trainer.updates)
                    if trainer.updates % config.evaluate_every == 0 or trainer.is_done():
                        self._evaluate()
                        self._save()
                    progress.update(trainer.decisions, told["per_second"], self._shown())
        finally:
            signal.signal(signal.SIGINT, previous)
        self._save()
        if trainer.is_done():
            self._finish()
        return trainer.is_done()

    def _ask_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop = True

    def _shown(self) -> str:
        return "  ".join(
            f"{name} {result.gained.mean:+.1f}, won {result.won:.0%}" for name, result in self._last.items()
        )

    def _evaluate(self) -> None:
        trainer = self.trainer
        self._last = trainer.evaluate(VALIDATION_SEED, self.config.evaluate_deals)
        for name, result in self._last.items():
            row = {
                "update": trainer.updates,
                "decisions": trainer.decisions,
                "seconds": round(trainer.seconds, 1),
                "anchor": name,
                "gained": round(result.gained.mean, 3),
                "half_width": round(result.gained.half_width, 3),
                "won": round(result.won, 4),
            }
            self._note(EVALUATIONS, _EVALUATIONS, row)
        first = next(iter(self._last.values()))
        if first.gained.mean > self.best:
            self.best = first.gained.mean
            self.export(BEST)

    def export(self, name: str, strength: dict[str, str] | None = None) -> None:
        """Write the actor as it is, with its card."""
        config, rules = self.config, Rules.load(self.config.rules)
        actor = self.trainer.model.actor.state_dict()
        card = Card(
            rules=rules.to_mapping(),
            players=config.players,
            derived=config.derived,
            layout=layout_digest(rules, config.players, derived=config.derived),
            hidden=tuple(config.hidden),
            algorithm="ppo",
            command=self.command,
            strength=strength or {},
            inputs=BY_USE,
            action_features=NUM_FEATURES if config.action_features else 0,
        )
        save(self.folder / name, {f"actor.{key}": value.numpy() for key, value in actor.items()}, card)

    def _finish(self) -> None:
        """Measure the best weights on deals that chose nothing, and write the last ones beside them."""
        from safetensors.torch import load_file

        self.export(LAST)
        kept = {f"actor.{key}": value.clone() for key, value in self.trainer.model.actor.state_dict().items()}
        best = load_file(self.folder / BEST)
        self.trainer.model.load_state_dict({**self.trainer.model.state_dict(), **best})
        self.tests = self.trainer.evaluate(TEST_SEED, 4 * self.config.evaluate_deals)
        deals = 4 * self.config.evaluate_deals
        told = {
            name: f"{result.gained.mean:+.2f} ± {result.gained.half_width:.2f} points a round over {deals} test deals"
            for name, result in self.tests.items()
        }
        self.export(BEST, told)
        self.trainer.model.load_state_dict({**self.trainer.model.state_dict(), **kept})
        (self.folder / "test.json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")
        from training.plots import plot_run

        plot_run(self.folder)

    # --- files -------------------------------------------------------------------------------------------------------

    def _note(self, name: str, columns: tuple[str, ...], row: dict[str, Any]) -> None:
        path = self.folder / name
        is_new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore")
            if is_new:
                writer.writeheader()
            writer.writerow({key: round(value, 6) if isinstance(value, float) else value for key, value in row.items()})

    def _save(self) -> None:
        trainer = self.trainer
        kept = {
            "model": trainer.model.state_dict(),
            "optimizer": trainer.optimizer.state_dict(),
            "snapshots": [model.actor.state_dict() for model in trainer.league.models],
            "league": {name: torch.from_numpy(array) for name, array in trainer.league.state().items()},
            "batch": {name: torch.from_numpy(array) for name, array in _words_as_bytes(trainer).items()},
            "torch_rng": torch.get_rng_state(),
            "numpy_rng": json.dumps(trainer.rng.bit_generator.state),
            "counters": json.dumps(
                {
                    "updates": trainer.updates,
                    "decisions": trainer.decisions,
                    "seconds": trainer.seconds,
                    "best": self.best if np.isfinite(self.best) else None,
                }
            ),
        }
        part = self.folder / f"{CHECKPOINT}.part"
        torch.save(kept, part)
        part.replace(self.folder / CHECKPOINT)

    def _load(self) -> None:
        trainer = self.trainer
        try:
            kept = torch.load(self.folder / CHECKPOINT, weights_only=True)
            counters = json.loads(kept["counters"])
            trainer.model.load_state_dict(kept["model"])
            trainer.optimizer.load_state_dict(kept["optimizer"])
            trainer.league.set_state(
                {name: tensor.numpy() for name, tensor in kept["league"].items()}, kept["snapshots"]
            )
            state = trainer.collector.batch.get_state()
            given = {name: tensor.numpy() for name, tensor in kept["batch"].items()}
            trainer.collector.batch.set_state({name: given[name].view(state[name].dtype) for name in state})
            torch.set_rng_state(kept["torch_rng"])
            trainer.rng.bit_generator.state = json.loads(kept["numpy_rng"])
        except (OSError, KeyError, ValueError, RuntimeError) as error:
            text = " ".join(str(error).split())
            raise ConfigError(f"{self.folder / CHECKPOINT}: it does not belong to this run: {text[:200]}") from None
        trainer.updates, trainer.decisions = counters["updates"], counters["decisions"]
        trainer.seconds = counters["seconds"]
        self.best = -np.inf if counters["best"] is None else counters["best"]
        for name in (METRICS, EVALUATIONS):
            self._forget_after(name, trainer.updates)

    def _forget_after(self, name: str, update: int) -> None:
        """Take out of a file what was written after the checkpoint, since it will be written again."""
        path = self.folder / name
        if not path.exists():
            return
        lines = path.read_text("utf-8").splitlines(keepends=True)
        kept = [line for line in lines[1:] if line.endswith("\n") and int(line.partition(",")[0]) <= update]
        path.write_text("".join([lines[0], *kept]), "utf-8")


def _words_as_bytes(trainer: Trainer) -> dict[str, np.ndarray]:
    """The state of the games; PyTorch has no unsigned words, and so they go as signed ones."""
    state = trainer.collector.batch.get_state()
    return {name: array.view(np.int64) if array.dtype == np.uint64 else array for name, array in state.items()}
