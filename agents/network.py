"""The networks of a file of weights in NumPy, for many positions at once: the actor's choices, the critic's values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.action_features import ActionFeatures
from agents.inputs import Inputs
from agents.weights import CRITIC, Card
from scala40_env.core.cards import JOKER, NUM_KINDS
from scala40_env.core.rules import Rules


def judged(seen: NDArray[np.float32], hidden: NDArray[np.uint8], players: int) -> NDArray[np.float32]:
    """What a critic that sees the hidden cards takes: what its seat sees, the other hands, and the stock.

    Args:
        seen: inputs, shape ``(n, size)``.
        hidden: as ``observe.hidden_part`` writes it, shape ``(n, hidden size)``.
        players: how many seats.
    """
    cards = hidden.astype(np.float32)
    cards[:, (players - 1) * NUM_KINDS :] /= JOKER + 1
    return np.concatenate([seen, cards], axis=1)


class Network:
    """What a policy was trained to be.

    Args:
        arrays, card: as ``weights.load`` returns them.
    """

    def __init__(self, arrays: dict[str, NDArray[np.float32]], card: Card) -> None:
        self.card = card
        self.rules = Rules.from_mapping(card.rules)
        self._arrays = arrays
        self._depth = len(card.hidden)
        self.inputs = Inputs(self.rules, card.players, derived=card.derived, way=card.inputs)
        self._features = ActionFeatures(self.rules, card.players) if card.action_features else None

    @property
    def has_critic(self) -> bool:
        """Whether the file holds a critic too."""
        return CRITIC in self._arrays

    def logits(
        self, observations: NDArray[np.uint8], legal: NDArray[np.int16], counts: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The logits of the legal actions of many decisions, those of one decision after those of another.

        Args:
            observations: with the derived part where the card says so, ``uint8``, shape ``(n, size)``.
            legal, counts: the legal actions of each: ``legal[i, : counts[i]]``.

        Returns:
            ``float32``, shape ``(counts.sum(),)``.
        """
        hidden = self._hidden("actor", self.inputs(observations))
        among = np.arange(legal.shape[1]) < counts[:, None]
        actions, owners = legal[among], np.repeat(np.arange(len(counts)), counts)
        head, bias = self._layer("actor", self._depth)
        logits = np.einsum("kh,kh->k", head[actions], hidden[owners]) + bias[actions]
        if self._features is not None:
            worth, at = self._layer("actor", self._depth + 1)
            described = self._features(observations, legal, counts)
            logits += np.einsum("kf,kf->k", described, (hidden @ worth.T + at)[owners])
        return logits

    def likeliest(
        self, observations: NDArray[np.uint8], legal: NDArray[np.int16], counts: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The likeliest legal action of each decision, of equals the first: ``int64``, shape ``(n,)``."""
        padded = np.full((len(counts), legal.shape[1]), -np.inf, dtype=np.float32)
        padded[np.arange(legal.shape[1]) < counts[:, None]] = self.logits(observations, legal, counts)
        return legal[np.arange(len(counts)), padded.argmax(axis=1)].astype(np.int64)

    def values(self, observations: NDArray[np.uint8], hidden: NDArray[np.uint8]) -> NDArray[np.float32]:
        """What the seat to act gains from here on, in hundreds of points, with all cards seen: shape ``(n,)``."""
        inputs = self.inputs(observations)
        if self.card.privileged:
            inputs = judged(inputs, hidden, self.card.players)
        weight, bias = self._layer("critic", self._depth)
        return (self._hidden("critic", inputs) @ weight.T + bias)[:, 0]

    def _layer(self, net: str, number: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self._arrays[f"{net}.{number}.weight"], self._arrays[f"{net}.{number}.bias"]

    def _hidden(self, net: str, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """The last hidden layer."""
        for number in range(self._depth):
            weight, bias = self._layer(net, number)
            inputs = np.maximum(inputs @ weight.T + bias, 0)
        return inputs


def check_players(network: Network, name: str, rules: Rules, players: int) -> str:
    """Why a network does not fit a game: one line, empty where it does."""
    if players != network.card.players:
        return f"{name}: trained for {network.card.players} players, not {players}"
    if rules is not network.rules and rules != network.rules:
        mine, theirs = network.rules.to_mapping(), rules.to_mapping()
        flag = next(name for name in mine if mine[name] != theirs[name])
        return f"{name}: trained with {flag} = {mine[flag]!r}, not {theirs[flag]!r}"
    return ""


def one_row(observation: NDArray[np.uint8], legal: NDArray[np.int16]) -> tuple[Any, Any, Any]:
    """A single decision as ``Network.logits`` takes many."""
    return observation[None], legal[None], np.array([len(legal)])
