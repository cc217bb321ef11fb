"""A training run and its folder: settings, versions, metrics, checkpoints, the best agent, a plot of the curves.

A run that was killed goes on from its last checkpoint, and ends in the same weights as one that was not, on the same
machine and with the same number of threads.
"""

from __future__ import annotations

import csv
import json
import math
import os
import signal
from importlib import metadata
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import msgspec
import numpy as np
import torch
from torch.utils.tensorboard import SummaryWriter

from agents.action_features import NUM_FEATURES
from agents.inputs import BY_USE
from agents.weights import Card, layout_digest, save
from scala40_env.core.rules import Rules
from training import clone, dmc, ppo
from training.config import ALGORITHMS, DMC, PPO, Clone, ConfigError, check
from training.evaluate import TEST_SEED, VALIDATION_SEED, Result
from training.results import versions
from training.training_progress import TrainingProgress

try:
    import fcntl
except ImportError:  # where there are no such locks, two runs in one folder are the user's care
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
CHECKPOINT, METRICS, EVALUATIONS, BEST, LAST = (
    "checkpoint.pt",
    "metrics.csv",
    "evaluations.csv",
    "best.safetensors",
    "last.safetensors",
)
_EVALUATIONS = ("update", "decisions", "seconds", "anchor", "gained", "half_width", "won", "rating")


class Trainer(Protocol):
    """What a run asks of an algorithm.

    Attributes:
        algorithm: its name, for the card of its weights.
        columns: what ``advance`` tells and ``metrics.csv`` keeps.
        model: a module whose part ``actor`` is what plays.
        updates, decisions, seconds: how far the run is.
    """

    algorithm: str
    columns: tuple[str, ...]
    model: Any
    updates: int
    decisions: int
    seconds: float

    def advance(self) -> dict[str, float]:
        """Make one update; returns what to log, ``per_second`` among it."""

    def is_done(self) -> bool:
        """Whether the run has had its decisions, or its minutes."""

    def evaluate(self, seed: int, deals: int) -> dict[str, Result]:
        """How it does against each anchor on some deals."""

    def state(self) -> dict[str, Any]:
        """What a run goes on from, besides the counters, in what ``torch.load`` reads without running code."""

    def set_state(self, kept: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""


def trainer_of(config: PPO | Clone | DMC) -> Trainer:
    """A trainer of the algorithm whose settings these are."""
    if isinstance(config, DMC):
        return dmc.Trainer(config)
    return clone.Cloner(config) if isinstance(config, Clone) else ppo.Trainer(config)


def begin_folder(folder: Path, config: msgspec.Struct, command: str, *libraries: str) -> None:
    """Make the folder of a run, with what it needs to be repeated; ``ConfigError`` where it holds something.

    Args:
        folder: which.
        config: the settings.
        command: the command line.
        libraries: packages whose versions it depends on, besides those of every result.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"--out: {folder} is not empty; `scala40 train resume {folder}` goes on with a run")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_bytes(msgspec.json.format(msgspec.json.encode(config), indent=2))
    found = {**versions(), **{name: metadata.version(name) for name in libraries}}
    told = {"command": command, "seed": config.seed, "versions": found}  # type: ignore[attr-defined]
    (folder / "run.json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")


def rating_over(won: float, rounds: int) -> float:
    """The rating over an opponent, 400 points being odds of ten to one, from the share of so many rounds that were won.

    Half a round is added to either side, so that it is finite (Bradley and Terry's model of two).  With more players it
    is the rating over all others together.
    """
    return 400 * math.log10((won * rounds + 0.5) / ((1 - won) * rounds + 0.5))


class Run:
    """A run in its folder; ``train`` goes on until it is done, or is asked to stop."""

    def __init__(self, folder: Path, config: PPO | Clone | DMC, command: str) -> None:
        self.folder, self.config, self.command = folder, config, command
        self.trainer = trainer_of(config)
        self.best = -np.inf
        self.tests: dict[str, Result] = {}
        self._stop = False
        self._lock: int | None = None
        self._last: dict[str, Result] = {}

    @classmethod
    def begin(cls, folder: Path, config: PPO | Clone | DMC, command: str) -> Run:
        """A new run; ``ConfigError`` where the folder holds something."""
        begin_folder(folder, config, command, "torch")
        return cls(folder, config, command)._locked()

    @classmethod
    def resume(cls, folder: Path) -> Run:
        """A run as its last checkpoint has it; ``ConfigError`` where there is none."""
        try:
            told = msgspec.json.decode((folder / "config.json").read_bytes(), type=dict[str, Any])
            kind = ALGORITHMS[told.get("algorithm", "ppo")]
            config = msgspec.convert(told, kind)
            check(config)
            command = str(json.loads((folder / "run.json").read_text("utf-8"))["command"])
        except (OSError, ValueError, KeyError, msgspec.ValidationError) as error:
            raise ConfigError(f"{folder}: no run to resume: {' '.join(str(error).split())}") from None
        if not isinstance(config, PPO | Clone | DMC):
            raise ConfigError(f"{folder}: runs of {told['algorithm']} cannot be resumed")
        run = cls(folder, config, command)._locked()
        if (folder / CHECKPOINT).exists():
            run._load()
        return run

    def _locked(self) -> Run:
        """Keep other runs out of the folder while this one lives; ``ConfigError`` where one is in it."""
        if fcntl is not None:
            self._lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._unlock()
                raise ConfigError(f"{self.folder}: another run is writing to it") from None
        return self

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

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
                        METRICS,
                        ("update", "decisions", "seconds", *trainer.columns),
                        {"update": trainer.updates, "seconds": round(trainer.seconds, 1), **told},
                    )
                    for name, value in told.items():
                        board.add_scalar(name, value, trainer.updates)
                    if trainer.updates % config.evaluate_every == 0 or trainer.is_done():
                        self._evaluate()
                        self._save()
                    progress.update(trainer.decisions, told["per_second"], self._shown())
            self._save()
            if trainer.is_done():
                self._finish()
        finally:
            signal.signal(signal.SIGINT, previous)
            self._unlock()
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
                "rating": round(rating_over(result.won, self.config.evaluate_deals * self.config.players), 1),
            }
            self._note(EVALUATIONS, _EVALUATIONS, row)
        first = next(iter(self._last.values()))
        if first.gained.mean > self.best:
            self.best = first.gained.mean
            self.export(BEST)

    def export(self, name: str, strength: dict[str, str] | None = None) -> None:
        """Write the networks as they are, with their card."""
        config, rules = self.config, Rules.load(self.config.rules)
        kept = self.trainer.model.state_dict()
        card = Card(
            rules=rules.to_mapping(),
            players=config.players,
            derived=config.derived,
            layout=layout_digest(rules, config.players, derived=config.derived),
            hidden=tuple(config.hidden),
            algorithm=self.trainer.algorithm,
            command=self.command,
            strength=strength or {},
            inputs=BY_USE,
            privileged=bool(getattr(config, "privileged", False)),
            action_features=NUM_FEATURES if getattr(config, "action_features", False) else 0,
        )
        save(self.folder / name, {key: value.numpy() for key, value in kept.items()}, card)

    def _finish(self) -> None:
        """Measure the best weights on deals that chose nothing, and write the last ones beside them."""
        from safetensors.torch import load_file

        self.export(LAST)
        kept = {key: value.clone() for key, value in self.trainer.model.state_dict().items()}
        self.trainer.model.load_state_dict({**kept, **load_file(self.folder / BEST)})
        self.tests = self.trainer.evaluate(TEST_SEED, 4 * self.config.evaluate_deals)
        deals = 4 * self.config.evaluate_deals
        told = {
            name: f"{result.gained.mean:+.2f} ± {result.gained.half_width:.2f} points a round over {deals} test deals"
            for name, result in self.tests.items()
        }
        self.export(BEST, told)
        self.trainer.model.load_state_dict(kept)
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
            **trainer.state(),
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
            trainer.set_state(kept)
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
