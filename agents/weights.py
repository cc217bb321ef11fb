"""Weights of a policy in a file: safetensors with a model card, checked before it is believed.

The card says for what the weights are: rules, players, the layout of the observation, and how they were made.  Loading
runs no code, and a file that does not fit is refused with its reason.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.action_features import NUM_FEATURES
from agents.base import AgentError
from agents.inputs import BY_RANGE, BY_USE
from scala40_env.core.game import num_actions
from scala40_env.core.rules import Rules
from scala40_env.envs.observation import layout
from scala40_env.envs.observe import hidden_size

FORMAT = "scala40-policy"
VERSION = 1
PREDICTS_RETURNS = "dmc"
"""The algorithm whose network takes an action's features and predicts what it brings; the others' give logits."""
CRITIC = "critic.0.weight"
"""An array that a file has which holds a critic too."""
_MOST_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Card:
    """What weights are for.

    Attributes:
        rules: the flags by name.
        players: how many seats.
        derived: whether observations end with the derived part.
        layout: a digest of the slices of the observation; see ``layout_digest``.
        hidden: the widths of the hidden layers of the actor.
        algorithm: what made them.
        command: the training command.
        strength: what was measured, as text by opponent.
        inputs: how the network takes an observation; see ``inputs``.
        privileged: whether the critic, where the file has one, sees the hidden cards.
        action_features: how many features of an action it weighs, see ``action_features``; 0: none.
    """

    rules: dict[str, Any]
    players: int
    derived: bool
    layout: str
    hidden: tuple[int, ...]
    algorithm: str = ""
    command: str = ""
    strength: dict[str, str] = field(default_factory=dict)
    inputs: str = BY_RANGE
    privileged: bool = False
    action_features: int = 0


def layout_digest(rules: Rules, players: int, *, derived: bool) -> str:
    """A digest of the names, places and ranges of the slices of an observation: its version."""
    parts = layout(rules, players, derived=derived).slices
    kept = [(part.name, part.offset, part.length, part.low, part.high) for part in parts]
    return hashlib.blake2b(repr(kept).encode(), digest_size=8).hexdigest()


def save(path: Path, arrays: dict[str, NDArray[Any]], card: Card) -> None:
    """Write weights and their card, whole or not at all."""
    from safetensors.numpy import save_file

    meta = {"format": FORMAT, "version": str(VERSION), "card": json.dumps(asdict(card), sort_keys=True)}
    part = path.with_suffix(path.suffix + ".part")
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, part, metadata=meta)
    part.replace(path)


def load(path: Path) -> tuple[dict[str, NDArray[np.float32]], Card]:
    """The weights and the card of a file.

    Raises:
        AgentError: a file that is not there, is none of ours, or was made for another layout of the observation.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise AgentError("policy: weights need safetensors: pip install 'scala40-env[train]'") from error
    if not path.is_file():
        raise AgentError(f"policy: there is no file {str(path)!r}")
    if path.stat().st_size > _MOST_BYTES:
        raise AgentError(f"policy: {str(path)!r} is larger than {_MOST_BYTES // 2**20} MiB")
    try:
        with safe_open(path, "numpy") as opened:
            meta = opened.metadata() or {}
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118  not a dictionary
    except (SafetensorError, OSError, ValueError) as error:
        raise AgentError(f"policy: {str(path)!r} is no safetensors file: {' '.join(str(error).split())}") from None
    if meta.get("format") != FORMAT or meta.get("version") != str(VERSION):
        raise AgentError(f"policy: {str(path)!r} is no policy of version {VERSION}")
    card = _card(path, meta.get("card", ""))
    _check_arrays(path, arrays, card)
    return arrays, card


def _card(path: Path, text: str) -> Card:
    try:
        told = json.loads(text)
        card = Card(**{**told, "hidden": tuple(int(width) for width in told["hidden"])})
        rules = Rules.from_mapping(card.rules)
        rules.check_players(card.players)
        if card.inputs not in (BY_RANGE, BY_USE):
            raise ValueError(f"inputs: {card.inputs!r:.60} is not one of {BY_RANGE}, {BY_USE}")
        if card.action_features not in (0, NUM_FEATURES if card.derived else 0):
            raise ValueError(f"action_features: {card.action_features!r:.60} is neither 0 nor {NUM_FEATURES}")
    except (ValueError, TypeError, KeyError) as error:
        raise AgentError(f"policy: the card of {str(path)!r} cannot be read: {' '.join(str(error).split())}") from None
    found = layout_digest(rules, card.players, derived=card.derived)
    if card.layout != found:
        raise AgentError(f"policy: {str(path)!r} was made for observations of version {card.layout}, not {found}")
    return card


def _check_arrays(path: Path, arrays: dict[str, NDArray[Any]], card: Card) -> None:
    for name, shape in _shapes(arrays, card).items():
        array = arrays.get(name)
        if array is None or array.shape != shape or array.dtype != np.float32 or not np.isfinite(array).all():
            found = "nothing" if array is None else f"{array.dtype} of shape {array.shape}"
            raise AgentError(f"policy: {name} of {str(path)!r}: expected finite float32 of shape {shape}, got {found}")


def _shapes(arrays: dict[str, NDArray[Any]], card: Card) -> dict[str, tuple[int, ...]]:
    """The shape that each array is to have."""
    rules = Rules.from_mapping(card.rules)
    predicts = card.algorithm == PREDICTS_RETURNS
    last = 1 if predicts else num_actions(rules)
    widths = [layout(rules, card.players, derived=card.derived).size, *card.hidden, last]
    shapes: dict[str, tuple[int, ...]] = {}
    layers = list(itertools.pairwise(widths))
    if card.action_features:
        layers.append((widths[-2], card.action_features))
    if CRITIC in arrays:
        critic = [widths[0] + (hidden_size(card.players) if card.privileged else 0), *card.hidden, 1]
        for i, (given, made) in enumerate(itertools.pairwise(critic)):
            shapes |= {f"critic.{i}.weight": (made, given), f"critic.{i}.bias": (made,)}
    for i, (given, made) in enumerate(layers):
        shapes |= {f"actor.{i}.weight": (made, given), f"actor.{i}.bias": (made,)}
    if predicts:
        features = np.atleast_1d(arrays.get("actor.features", 0)).shape[-1]
        shapes |= {"actor.features": (num_actions(rules), features), "actor.action.weight": (widths[1], features)}
    return shapes
