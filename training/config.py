"""Settings of a training run: a typed record over TOML; an unknown key or a wrong type is refused with its path."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agents.registry import BOT, kind_of, make
from scala40_env.core.quoting import shown


class ConfigError(ValueError):
    """Settings that cannot be; the message is one line and names the key."""


class Opponents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who plays the other seats, as shares of the games that sum to 1."""

    current: float = 0.7
    """The policy as it is: then every seat learns."""
    snapshots: float = 0.15
    """Frozen policies of earlier in the run."""
    bots: float = 0.15
    """The bots in ``names``."""
    names: tuple[str, ...] = ("greedy",)
    sampling: str = "uniform"
    """How snapshots are drawn: ``"uniform"``, or ``"prioritised"`` by how often they win."""
    pool: int = 10
    """How many snapshots are kept at most."""
    every: int = 20
    """Updates between two snapshots."""


class PPO(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of ``training.ppo``."""

    rules: str = "standard"
    players: int = 2
    seed: int = 0
    decisions: int = 20_000_000
    """Decisions of learning seats after which the run ends."""
    minutes: float = 0.0
    """Minutes after which it ends; 0: no limit.  A run with a limit is not repeatable to the bit."""
    games: int = 256
    steps: int = 64
    """Steps of each game between two updates."""
    epochs: int = 2
    minibatch: int = 2048
    learning_rate: float = 5e-4
    learning_rate_end: float = 1e-4
    clip: float = 0.2
    gamma: float = 1.0
    gae_lambda: float = 0.95
    entropy: float = 0.02
    entropy_end: float = 0.003
    value_weight: float = 0.5
    max_grad_norm: float = 0.5
    hidden: tuple[int, ...] = (256, 256)
    derived: bool = True
    action_features: bool = True
    """Whether the actor weighs what an action is about (``agents.action_features``); needs ``derived``."""
    privileged: bool = True
    """Whether the critic sees the hidden cards."""
    reward: str = "zero_sum"
    shaping: float = 0.0
    """Weight of the potential -deadwood / 100: it changes no optimal policy (Ng, Harada and Russell, 1999)."""
    threads: int = 1
    """Of PyTorch; equal numbers give equal weights."""
    evaluate_every: int = 50
    """Updates between two evaluations."""
    evaluate_deals: int = 500
    """Validation deals, each played from both sides."""
    anchors: tuple[str, ...] = ("greedy",)
    """Compiled bots that it is measured against; the first decides which weights are best."""
    warm_start: str = ""
    """Weights to begin with."""
    opponents: Opponents = Opponents()


class DMC(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="algorithm", tag="dmc"):
    """Settings of ``training.dmc``."""

    rules: str = "standard"
    players: int = 2
    seed: int = 0
    decisions: int = 20_000_000
    """Decisions of learning seats, in rounds that ended, after which the run ends."""
    minutes: float = 0.0
    """Minutes after which it ends; 0: no limit.  A run with a limit is not repeatable to the bit."""
    games: int = 256
    steps: int = 64
    """Steps of each game between two updates."""
    epochs: int = 1
    minibatch: int = 2048
    learning_rate: float = 1e-3
    learning_rate_end: float = 1e-4
    epsilon: float = 0.05
    """How often a seat that learns does anything that is legal."""
    epsilon_end: float = 0.01
    max_grad_norm: float = 10.0
    hidden: tuple[int, ...] = (256, 256, 256)
    derived: bool = True
    reward: str = "zero_sum"
    threads: int = 1
    """Of PyTorch; equal numbers give equal weights."""
    evaluate_every: int = 50
    """Updates between two evaluations."""
    evaluate_deals: int = 500
    """Validation deals, each played from both sides."""
    anchors: tuple[str, ...] = ("greedy",)
    """Compiled bots that it is measured against; the first decides which weights are best."""
    opponents: Opponents = Opponents()


class SB3(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="algorithm", tag="sb3"):
    """Settings of ``training.sb3_maskable_ppo``: names and meanings as Stable-Baselines3 has them."""

    rules: str = "standard"
    players: int = 2
    seed: int = 0
    decisions: int = 2_000_000
    """Decisions of the learner, rounded up to whole updates."""
    games: int = 256
    n_steps: int = 64
    """Steps of each game between two updates."""
    batch_size: int = 2048
    n_epochs: int = 2
    learning_rate: float = 5e-4
    ent_coef: float = 0.01
    clip_range: float = 0.2
    gamma: float = 1.0
    gae_lambda: float = 0.95
    hidden: tuple[int, ...] = (256, 256)
    derived: bool = True
    reward: str = "zero_sum"
    opponents: str = "greedy"
    """Who plays the other seats: one agent of the registry."""
    threads: int = 1
    """Of PyTorch."""
    evaluate_deals: int = 2000
    """Test deals, each played from every seat, at the end."""
    anchors: tuple[str, ...] = ("greedy",)
    """Compiled bots that it is measured against."""


class Clone(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="algorithm", tag="clone"):
    """Settings of ``training.clone``; what is not said here means what it means for PPO."""

    rules: str = "standard"
    players: int = 2
    seed: int = 0
    teacher: str = "careful"
    """The compiled bot that is imitated."""
    noise: float = 0.05
    """How often a move is drawn at random instead; what is learned stays the teacher's."""
    decisions: int = 2_000_000
    games: int = 512
    steps: int = 64
    epochs: int = 1
    minibatch: int = 1024
    learning_rate: float = 1e-3
    value_weight: float = 0.5
    max_grad_norm: float = 0.5
    hidden: tuple[int, ...] = (256, 256)
    derived: bool = True
    action_features: bool = True
    privileged: bool = True
    reward: str = "zero_sum"
    threads: int = 1
    evaluate_every: int = 20
    evaluate_deals: int = 500
    anchors: tuple[str, ...] = ("careful", "solver", "greedy")


Settings = TypeVar("Settings", bound=msgspec.Struct)
ALGORITHMS: dict[str, type[PPO] | type[Clone] | type[DMC] | type[SB3]] = {
    "ppo": PPO,
    "clone": Clone,
    "dmc": DMC,
    "sb3": SB3,
}
"""Settings by algorithm.  Those of ``ppo`` bear no name in a file, the others may, and do in the folder of a run."""


def load(kind: type[Settings], path: Path | None, changes: list[str]) -> Settings:
    """Settings from a TOML file, then ``key=value`` changes, keys with dots for what lies deeper.

    Raises:
        ConfigError: a file that cannot be read, an unknown key, or a value of a wrong type, named with its path.
    """
    data: dict[str, Any] = {}
    if path is not None:
        try:
            data = msgspec.toml.decode(path.read_bytes())
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror}") from None
        except (msgspec.DecodeError, ValueError) as error:
            raise ConfigError(f"{path}: {' '.join(str(error).split())}") from None
    for change in changes:
        _change(data, change)
    try:
        made = msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"config: {' '.join(str(error).split())}") from None
    check(made)
    return made


def _change(data: dict[str, Any], change: str) -> None:
    key, equals, text = change.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set: expected key=value, got {change!r}")
    *path, last = key.strip().split(".")
    for name in path:
        data = data.setdefault(name, {})
        if not isinstance(data, dict):
            raise ConfigError(f"--set: {name!r} in {key.strip()!r} is not a table")
    try:
        data[last] = msgspec.toml.decode(f"value = {text}")["value"]
    except (msgspec.DecodeError, ValueError):
        data[last] = text.strip()


_LEAST = {
    "decisions": 1,
    "games": 4,
    "steps": 2,
    "n_steps": 2,
    "epochs": 1,
    "n_epochs": 1,
    "minibatch": 1,
    "batch_size": 2,
    "threads": 1,
    "evaluate_deals": 2,
    "evaluate_every": 1,
}
_ABOVE_ZERO = ("learning_rate", "clip", "clip_range", "max_grad_norm")
_PARTS = ("gamma", "gae_lambda", "epsilon", "epsilon_end")


def check(config: msgspec.Struct) -> None:
    """Raise ``ConfigError`` for numbers that make no sense, and for names that may not be made."""
    given = msgspec.structs.asdict(config)
    for name, low in _LEAST.items():
        if name in given and given[name] < low:
            raise ConfigError(f"config: {name}: expected at least {low}, got {given[name]}")
    for name in _ABOVE_ZERO:
        if name in given and not 0 < given[name] < 1e6:
            raise ConfigError(f"config: {name}: expected a number above 0, got {given[name]}")
    for name in _PARTS:
        if name in given and not 0 <= given[name] <= 1:
            raise ConfigError(f"config: {name}: expected a number from 0 to 1, got {given[name]}")
    if isinstance(given.get("opponents"), Opponents):
        _check_shares(given["opponents"])
    _check_names(given)
    if given.get("action_features") and not given["derived"]:
        raise ConfigError("config: action_features: they need derived = true")
    if "hidden" in given and (not given["hidden"] or min(given["hidden"]) < 1):
        raise ConfigError(f"config: hidden: expected widths of 1 or more, got {list(given['hidden'])}")


def _check_names(given: dict[str, Any]) -> None:
    """Names come from files of others: only agents of the registry may be made for them."""
    names = [("anchors", name) for name in given.get("anchors", ())]
    names += [("teacher", given["teacher"])] if "teacher" in given else []
    if isinstance(given.get("opponents"), Opponents):
        names += [("opponents.names", name) for name in given["opponents"].names]
    for field, name in names:
        _check_bot(field, name)
    if isinstance(given.get("opponents"), str) and kind_of(given["opponents"]) is None:
        raise ConfigError(f"config: opponents: {shown(given['opponents'])} is no agent of the registry")


def _check_bot(field: str, name: str) -> None:
    if kind_of(name) != BOT:
        raise ConfigError(f"config: {field}: {shown(name)} is not a compiled bot")


def bot_named(field: str, name: str) -> Any:
    """The compiled bot of the registry that a setting names; ``ConfigError`` where it is none, and nothing is made."""
    _check_bot(field, name)
    return make(name)


def _check_shares(shares: Opponents) -> None:
    total = shares.current + shares.snapshots + shares.bots
    if min(shares.current, shares.snapshots, shares.bots) < 0 or abs(total - 1) > 1e-9:
        raise ConfigError(f"config: opponents: expected shares of 0 or more that sum to 1, got {total:g}")
    if shares.sampling not in ("uniform", "prioritised"):
        raise ConfigError(f"config: opponents.sampling: expected 'uniform' or 'prioritised', got {shares.sampling!r}")
