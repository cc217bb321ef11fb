"""What a run of self-play goes on from, as tensors and texts by name: what ``torch.save`` keeps and loads without code.

The model, its optimiser, the frozen policies and who plays where, the games, and the states of both random streams.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch


def pack(trainer: Any) -> dict[str, Any]:
    """The state of a trainer that has ``model``, ``optimizer``, ``league``, ``collector.batch`` and ``rng``."""
    return {
        "model": trainer.model.state_dict(),
        "optimizer": trainer.optimizer.state_dict(),
        "snapshots": [model.actor.state_dict() for model in trainer.league.models],
        "league": {name: torch.from_numpy(array) for name, array in trainer.league.state().items()},
        "batch": {name: torch.from_numpy(array) for name, array in _words_as_numbers(trainer).items()},
        "torch_rng": torch.get_rng_state(),
        "numpy_rng": json.dumps(trainer.rng.bit_generator.state),
    }


def unpack(trainer: Any, kept: dict[str, Any]) -> None:
    """Go on from what ``pack`` returned; an error of any kind where it belongs to a trainer of other settings."""
    trainer.model.load_state_dict(kept["model"])
    trainer.optimizer.load_state_dict(kept["optimizer"])
    trainer.league.set_state({name: tensor.numpy() for name, tensor in kept["league"].items()}, kept["snapshots"])
    state = trainer.collector.batch.get_state()
    given = {name: tensor.numpy() for name, tensor in kept["batch"].items()}
    trainer.collector.batch.set_state({name: given[name].view(state[name].dtype) for name in state})
    torch.set_rng_state(kept["torch_rng"])
    trainer.rng.bit_generator.state = json.loads(kept["numpy_rng"])


def _words_as_numbers(trainer: Any) -> dict[str, np.ndarray]:
    """The state of the games; PyTorch has no unsigned words, and so they go as signed ones."""
    state = trainer.collector.batch.get_state()
    return {name: array.view(np.int64) if array.dtype == np.uint64 else array for name, array in state.items()}
