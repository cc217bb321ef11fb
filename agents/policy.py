"""A trained policy at the table: ``policy:FILE``, a forward pass in NumPy, no PyTorch needed.

It plays what its card says, and refuses other rules, other numbers of players and other versions of the observation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import AgentError
from agents.network import Network, misfit
from agents.pimc import rng_of_decision
from agents.thinking import Decision
from agents.weights import load
from scala40_env.core.rules import Rules
from scala40_env.envs.derived import DERIVE_WORDS, derive_row
from scala40_env.envs.memory import bytes_of
from scala40_env.envs.observation import layout, observation_size, observe_row, shown_rules

DEFAULT = Path(__file__).parent / "trained" / "default.safetensors"
"""The agent that comes with the repository; its card has the command that made it."""


class Policy:
    """Plays by the weights of a file.

    Args:
        path: the file, as a training run writes it; ``default`` for the agent that comes with the repository.
        temperature: 0: the best action; above it, drawn from the policy, flattened by it.  Weights of ``dmc`` predict
            what each action brings, in hundreds of points, and are drawn from as if that were logits.
    """

    def __init__(self, path: str, temperature: float = 0.0) -> None:
        if not 0 <= temperature < 1e6:
            raise AgentError(f"temperature: expected a number from 0 to 1000000, got {temperature}")
        file = DEFAULT if path == "default" else Path(path)
        self.network = Network(*load(file))
        self.card = self.network.card
        self.name = f"policy({file.stem})"
        self._temperature = temperature
        rules, players, derived = self.network.rules, self.card.players, self.card.derived
        self._shown, self._vector = shown_rules(rules), rules.vector()
        self._plain = observation_size(players)
        self._size = layout(rules, players, derived=derived).size
        self._memory = np.zeros(DERIVE_WORDS, dtype=np.uint64)
        self._weighed: tuple[Decision, NDArray[np.float32]] | None = None

    @property
    def temperature(self) -> float:
        """0: it plays the likeliest action; above it, by chances that this flattens."""
        return self._temperature

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> int:
        """The likeliest legal action, or one drawn; see ``Agent.act``."""
        self._weighed = None
        if len(legal) == 1:
            return int(legal[0])
        logits = self.logits(rows, legal, rules)
        self._weighed = Decision(rows, legal, rules), logits
        if self._temperature > 0:
            draws = np.random.default_rng(rng_of_decision(rows, rng))
            logits = logits / self._temperature + draws.gumbel(size=len(logits))
        return int(legal[int(np.argmax(logits))])

    @property
    def thought(self) -> dict[str, Any] | None:
        """Of the last decision: the few likeliest actions with their probabilities, before any temperature."""
        if self._weighed is None:
            return None
        decision, logits = self._weighed
        shares = np.exp(logits - logits.max())
        return {"probability": decision.few(np.argsort(-logits, kind="stable"), shares / shares.sum(), 3)}

    def logits(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules) -> NDArray[np.float32]:
        """The logits of the legal actions, or what weights of ``dmc`` expect of them: ``float32``, one an action.

        Raises:
            AgentError: the game is of other rules, or for another number of players, than the weights are.
        """
        reason = misfit(self.network.card, self.network.rules, self.name, rules, int(rows[0].num_seats))
        if reason:
            raise AgentError(reason)
        out = np.zeros(self._size, dtype=np.uint8)
        memory, viewer = bytes_of(rows), int(rows[0].seat)
        observe_row(memory, self._vector, self._shown, 0, viewer, out[: self._plain])
        if self.card.derived:
            derive_row(memory, self._vector, 0, viewer, self._memory, out[self._plain :])
        return self.network.logits(out[None], legal[None], np.array([len(legal)]))
