"""The networks of a file of weights in NumPy, for many positions at once: the actor's choices, the critic's values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.action_features import ActionFeatures
from agents.inputs import Inputs
from agents.weights import CRITIC, PREDICTS_RETURNS, Card
from scala40_env.core.cards import NUM_KINDS
from scala40_env.core.rules import Rules

STOCK_SCALE = 54.0
"""By what the kinds of the stock, at the end of the hidden part, are divided for a critic."""


def scaled_cards(hidden: NDArray[np.uint8], players: int) -> NDArray[np.float32]:
    """What a critic that sees the hidden cards takes after what its seat sees: the other hands, and the stock.

    Args:
        hidden: as ``observe.hidden_part`` writes it, shape ``(n, hidden size)``.
        players: how many seats.
    """
    cards = hidden.astype(np.float32)
    cards[:, (players - 1) * NUM_KINDS :] /= STOCK_SCALE
    return cards


class Network:
    """What a policy was trained to be.

    Args:
        arrays, card: as ``weights.load`` returns them.

    Attributes:
        arrays: the weights by name.
        card: what they are for; ``rules`` are those of the card, ``inputs`` what an observation becomes.
    """

    def __init__(self, arrays: dict[str, NDArray[np.float32]], card: Card) -> None:
        self.card = card
        self.rules = Rules.from_mapping(card.rules)
        self.arrays = arrays
        self._depth = len(card.hidden)
        self.inputs = Inputs(self.rules, card.players, derived=card.derived, way=card.inputs)
        self._features = ActionFeatures(self.rules, card.players) if card.action_features else None
        self._of_actions: NDArray[np.float32] | None = None
        if card.algorithm == PREDICTS_RETURNS:
            self._of_actions = arrays["actor.features"] @ arrays["actor.action.weight"].T

    @property
    def has_critic(self) -> bool:
        """Whether the file holds a critic too."""
        return CRITIC in self.arrays

    def logits(
        self, observations: NDArray[np.uint8], legal: NDArray[np.int16], counts: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The logits of the legal actions of many decisions, those of one decision after those of another.

        Networks of ``training.dmc`` say what they expect each action to bring, in hundreds of points.

        Args:
            observations: with the derived part where the card says so, ``uint8``, shape ``(n, size)``.
            legal, counts: the legal actions of each: ``legal[i, : counts[i]]``.

        Returns:
            ``float32``, shape ``(counts.sum(),)``.
        """
        among = np.arange(legal.shape[1]) < counts[:, None]
        actions, owners = legal[among], np.repeat(np.arange(len(counts)), counts)
        if self._of_actions is not None:
            return self._returns(self.inputs(observations), owners, self._of_actions[actions])
        hidden = self._hidden("actor", self.inputs(observations))
        head, bias = self._layer("actor", self._depth)
        logits = np.einsum("kh,kh->k", head[actions], hidden[owners]) + bias[actions]
        if self._features is not None:
            worth, at = self._layer("actor", self._depth + 1)
            described = self._features(observations, legal, counts)
            logits += np.einsum("kf,kf->k", described, (hidden @ worth.T + at)[owners])
        return logits

    def _returns(
        self, seen: NDArray[np.float32], owners: NDArray[np.int64], of_actions: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """What each action is expected to bring: the first layer meets what is seen and what is done."""
        weight, bias = self._layer("actor", 0)
        values = (seen @ weight.T + bias)[owners] + of_actions
        for number in range(1, self._depth + 1):
            weight, bias = self._layer("actor", number)
            values = np.maximum(values, 0) @ weight.T + bias
        return values[:, 0]

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
            inputs = np.concatenate([inputs, scaled_cards(hidden, self.card.players)], axis=1)
        weight, bias = self._layer("critic", self._depth)
        return (self._hidden("critic", inputs) @ weight.T + bias)[:, 0]

    def _layer(self, net: str, number: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self.arrays[f"{net}.{number}.weight"], self.arrays[f"{net}.{number}.bias"]

    def _hidden(self, net: str, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """The last hidden layer."""
        for number in range(self._depth):
            weight, bias = self._layer(net, number)
            inputs = np.maximum(inputs @ weight.T + bias, 0)
        return inputs


def misfit(card: Card, trained: Rules, name: str, rules: Rules, players: int) -> str:
    """Why weights do not fit a game: one line, empty where they do.

    Args:
        card, trained: what they were trained for.
        name: what the line calls them.
        rules, players: the game.
    """
    if players != card.players:
        return f"{name}: trained for {card.players} players, not {players}"
    if rules is not trained and rules != trained:
        mine, theirs = trained.to_mapping(), rules.to_mapping()
        flag = next(flag for flag in mine if mine[flag] != theirs[flag])
        return f"{name}: trained with {flag} = {mine[flag]!r}, not {theirs[flag]!r}"
    return ""
