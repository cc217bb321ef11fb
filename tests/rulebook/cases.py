"""Positions made by hand for the clauses of the rulebook, played on the engine and on the slow twin at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scala40_env.core.game import Game
from scala40_env.core.notation import NotationError, format_action, parse_action
from tests.differential.compare import shuffled_as
from tests.reference import cases
from tests.reference.adapter import differences, from_row, to_row
from tests.reference.legality import legal_actions
from tests.reference.rules_of_play import apply
from tests.reference.state import State

COVERED: set[tuple[str, Any]] = set()
"""The values of flags for which there is a clause, by the flag's name."""


def clause(flag: str, *values: Any) -> pytest.MarkDecorator:
    """The test is tried with each of these values of a flag, which it gets as ``flags``."""
    COVERED.update((flag, value) for value in values)
    names = [f"{flag}={'+'.join(value) if isinstance(value, tuple) else value}" for value in values]
    return pytest.mark.parametrize("flags", [{flag: value} for value in values], ids=names)


class Case:
    """A position, in the engine and in the twin; what one says of it the other must say."""

    def __init__(self, state: State) -> None:
        self.twin = state
        self.game = Game.from_rows(state.rules, to_row(state))

    @property
    def row(self) -> Any:
        """The engine's state."""
        return self.game.row

    @property
    def legal(self) -> list[str]:
        """The legal actions as text."""
        ours = legal_actions(self.twin)
        assert self.game.legal_actions().tolist() == ours, "engine and twin find other actions legal"
        return [format_action(action, self.row, self.game.rules) for action in ours]

    def starting(self, word: str) -> list[str]:
        """What may follow a word, in the legal actions that begin with it."""
        return [text.removeprefix(word).strip() for text in self.legal if text.split()[0] == word]

    def may(self, *texts: str) -> bool:
        """Whether these actions may be played, one after the other."""
        try:
            self.after(*texts)
        except _NotLegalError:
            return False
        return True

    def after(self, *texts: str) -> Case:
        """The case after some actions, each of which must be legal."""
        case = Case(self.twin)
        for text in texts:
            for action in case._numbers(text):
                case._play(action, text)
        return case

    def _numbers(self, text: str) -> Iterator[int]:
        try:
            yield from parse_action(text, self.row, self.game.rules)
        except NotationError:
            raise _NotLegalError(text) from None

    def _play(self, action: int, text: str) -> None:
        ours = legal_actions(self.twin)
        assert self.game.legal_actions().tolist() == ours, f"engine and twin find other actions legal before {text}"
        if action not in ours:
            raise _NotLegalError(text)
        self.game.play(action)
        row = self.row
        self.twin = apply(self.twin, action, lambda cards: shuffled_as(row, cards))
        if self.twin.awaits_deal:
            self.twin = from_row(row, self.twin.rules)
        assert differences(self.twin, row) == []


class _NotLegalError(Exception):
    """An action that may not be played."""


def case(hand: str, *table: str, also: Callable[[State], None] | None = None, **given: Any) -> Case:
    """A position for seat 0 of two, cards written in words, just after it drew from the stock.

    Args:
        hand: Its cards.
        table: The melds, from slot 0 on.
        also: Changes the position further.
        given: ``rules`` (a rulebook, else standard), ``players``, ``phase``, ``opened`` (True), ``first_turn`` (False),
            ``top_discard``, or a flag of the rules.
    """
    state = cases.position(hand, *table, **given)
    state.whole_match = False
    if also is not None:
        also(state)
    return Case(state)


def dealt(seed: int = 0, players: int = 2, **flags: Any) -> Case:
    """A round just dealt by the engine."""
    game = Game({"base": "standard", **flags}, players, seed=seed)
    return Case(from_row(game.row, game.rules))


def with_stock(*cards: str) -> Callable[[State], None]:
    """The stock is these cards, the last one on top; the others are in the pile, under its top."""

    def change(state: State) -> None:
        kinds = [cases.kind(card) for card in cards]
        for kind in kinds:
            assert kind in state.stock, "the card is elsewhere"
        rest = list(state.stock)
        for kind in kinds:
            rest.remove(kind)
        state.stock, state.pile = kinds, rest + state.pile

    return change
