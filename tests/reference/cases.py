"""Positions made by hand, cards written in words: what the twin's own tests are written in."""

from __future__ import annotations

from typing import Any

from scala40_env.core import actions
from scala40_env.core.rules import Rules
from tests.reference import melds, scenario
from tests.reference.legality import legal_actions
from tests.reference.rules_of_play import apply
from tests.reference.scenario import parse_card, parse_meld
from tests.reference.state import State


def position(hand: str, *table: str, rules: str = "standard", **given: Any) -> State:
    """A position for seat 0, cards written in words; what else is given is a flag or a field of a scenario."""
    fields = {"players": 2, "phase": "play", "opened": True, "first_turn": False, "top_discard": None}
    overrides = {name: given.pop(name) for name in list(given) if name not in fields}
    cards = {"hand": hand.split(), "table": [meld.split() for meld in table]}
    return scenario.state_of({**fields, **given, **cards, "rules": rules, "overrides": overrides})


def kind(card: str) -> int:
    """The number of a card."""
    return parse_card(card)[0]


def lay(cards: str) -> int:
    """The action that lays these three cards."""
    meld = parse_meld(cards.split(), Rules())
    return next(action for action, three in melds.lays(Rules()).items() if three == meld)


def off(slot: int, end: int = actions.LOW) -> int:
    """The action that lays off on a slot."""
    return actions.LAY_OFF + slot * actions.NUM_ENDS + end


def swap(slot: int) -> int:
    """The action that takes the joker of a slot."""
    return actions.SWAP + slot


def discard(card: str) -> int:
    """The action that discards a card."""
    return actions.DISCARD + kind(card)


def split(slot: int, first: int) -> int:
    """The action that splits a run after so many cards."""
    return actions.SPLIT + slot * actions.NUM_SPLITS + first - 3


def play_all(state: State, *steps: int) -> State:
    """The state after some actions, each of which must be legal."""
    for action in steps:
        assert action in legal_actions(state), action
        state = apply(state, action)
    return state


def on_table(state: State, slot: int, cards: str) -> bool:
    """Whether exactly this meld lies in a slot."""
    return state.table[slot] == parse_meld(cards.split(), state.rules)
