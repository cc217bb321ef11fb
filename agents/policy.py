"""A trained policy at the table: ``policy:path=FILE``, a forward pass in NumPy, no PyTorch needed.

It plays what its card says, and refuses other rules, other numbers of players and other versions of the observation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.action_features import ActionFeatures
from agents.base import AgentError
from agents.inputs import Inputs
from agents.pimc import rng_of_decision
from agents.thinking import Decision
from agents.weights import PREDICTS_RETURNS, load
from scala40_env.core.rules import Rules
from scala40_env.envs.derived import DERIVE_WORDS, derive_row
from scala40_env.envs.memory import bytes_of
from scala40_env.envs.observation import layout, observation_size, observe_row, shown_rules


class Policy:
    """Plays by the weights of a file.

    Args:
        path: the file, as a training run writes it.
        temperature: 0: the best action; above it, drawn from the policy, flattened by it.  Weights of ``dmc`` predict
            what each action brings, in hundreds of points, and are drawn from as if that were logits.
    """

    def __init__(self, path: str, temperature: float = 0.0) -> None:
        if not 0 <= temperature < 1e6:
            raise AgentError(f"temperature: expected a number from 0 to 1000000, got {temperature}")
        file = Path(path)
        self._arrays, self.card = load(file)
        self.name = f"policy({file.stem})"
        self._temperature = temperature
        self._rules = Rules.from_mapping(self.card.rules)
        self._shown = shown_rules(self._rules)
        self._vector = self._rules.vector()
        players, derived = self.card.players, self.card.derived
        self._plain = observation_size(players)
        self._size = layout(self._rules, players, derived=derived).size
        self._features = ActionFeatures(self._rules, players) if self.card.action_features else None
        self._inputs = Inputs(self._rules, players, derived=derived, way=self.card.inputs)
        self._memory = np.zeros(DERIVE_WORDS, dtype=np.uint64)
        self._weighed: tuple[Decision, NDArray[np.float32]] | None = None
        self._of_actions: NDArray[np.float32] | None = None
        if self.card.algorithm == PREDICTS_RETURNS:
            self._of_actions = self._arrays["actor.features"] @ self._arrays["actor.action.weight"].T

    @property
    def temperature(self) -> float:
        """0: it plays the likeliest action; above it, by chances that this flattens."""
        return self._temperature

    @property
    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The weights by name."""
        return self._arrays

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
        self._check(rules, int(rows[0].num_seats))
        out = np.zeros(self._size, dtype=np.uint8)
        memory, viewer = bytes_of(rows), int(rows[0].seat)
        observe_row(memory, self._vector, self._shown, 0, viewer, out[: self._plain])
        if self.card.derived:
            derive_row(memory, self._vector, 0, viewer, self._memory, out[self._plain :])
        hidden = self._inputs(out[None])[0]
        last = len(self.card.hidden)
        if self._of_actions is not None:
            return self._returns(hidden, self._of_actions[legal], last)
        for i in range(last):
            hidden = np.maximum(self._arrays[f"actor.{i}.weight"] @ hidden + self._arrays[f"actor.{i}.bias"], 0)
        head, bias = self._arrays[f"actor.{last}.weight"], self._arrays[f"actor.{last}.bias"]
        logits = head[legal] @ hidden + bias[legal]
        if self._features is not None:
            described = self._features(out[None], legal[None], np.array([len(legal)]))
            logits += described @ (
                self._arrays[f"actor.{last + 1}.weight"] @ hidden + self._arrays[f"actor.{last + 1}.bias"]
            )
        return logits

    def _returns(self, seen: NDArray[np.float32], of_actions: NDArray[np.float32], last: int) -> NDArray[np.float32]:
        """What a network of ``training.dmc`` expects to be paid: its first layer meets what is seen and each action."""
        values = self._arrays["actor.0.weight"] @ seen + self._arrays["actor.0.bias"] + of_actions
        for i in range(1, last + 1):
            values = np.maximum(values, 0) @ self._arrays[f"actor.{i}.weight"].T + self._arrays[f"actor.{i}.bias"]
        return values[:, 0]

    def _check(self, rules: Rules, players: int) -> None:
        if players != self.card.players:
            raise AgentError(f"{self.name}: trained for {self.card.players} players, not {players}")
        if rules is not self._rules and rules != self._rules:
            mine, theirs = self._rules.to_mapping(), rules.to_mapping()
            flag = next(name for name in mine if mine[name] != theirs[name])
            raise AgentError(f"{self.name}: trained with {flag} = {mine[flag]!r}, not {theirs[flag]!r}")
        self._rules = rules
