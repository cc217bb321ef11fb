"""Rounds of the twin played at random, under rulebooks and under rules drawn at random."""

from __future__ import annotations

import random
from typing import Any

from scala40_env.core import actions
from scala40_env.core.cards import JOKER
from scala40_env.core.rules import FLAGS, Rules, RulesError
from tests.reference.adapter import deck
from tests.reference.legality import legal_actions
from tests.reference.rules_of_play import apply
from tests.reference.state import DRAW, PLAY, State, new_state


def deal(rules: Rules, num_seats: int, rng: random.Random) -> State:
    """A round dealt at random; seat 0 is the first to act."""
    state = new_state(rules, num_seats)
    cards = [card for card, count in enumerate(deck(rules)) for _ in range(count)]
    rng.shuffle(cards)
    for hand in state.hands:
        for _ in range(rules.hand_size):
            hand[cards.pop()] += 1
    state.pile, state.stock, state.dealer = [cards.pop()], cards, num_seats - 1
    return state


def random_rules(rng: random.Random, **fixed: Any) -> Rules:
    """Rules that differ in a few flags from a rulebook, or in many."""
    names = ["standard", "italian", "cerchio", "hops", "international"]
    while True:
        changes: dict[str, Any] = {}
        for flag in rng.sample(FLAGS, rng.choice([3, 10, 25])):
            if isinstance(flag.values, tuple) and isinstance(flag.values[0], str):
                changes[flag.name] = rng.choice(flag.values)
            elif flag.values == "bool":
                changes[flag.name] = rng.random() < 0.5
        changes["opening_min"] = rng.choice([0, 10, 25, 40, 60])
        changes["max_run"] = 5 if changes.get("run_overflow") == "split" else rng.choice([4, 13, 14])
        try:
            return Rules.from_mapping({"base": rng.choice(names), **changes, **fixed})
        except RulesError:
            continue  # flags that do not go together


def random_round(rules: Rules, num_seats: int, seed: int, most: int = 300) -> list[State]:
    """The positions of a round in which plays are preferred to discards."""
    rng = random.Random(seed)
    state = deal(rules, num_seats, rng)
    seen: list[State] = []
    while state.phase in (DRAW, PLAY) and len(seen) < most:
        seen.append(state)
        legal = legal_actions(state)
        assert legal, "there is always something to do"
        active = [action for action in legal if not actions.DISCARD <= action < actions.SPLIT]
        chosen = rng.choice(active if active and rng.random() < 0.8 else legal)
        state = apply(state, chosen, lambda cards: rng.sample(cards, len(cards)))
    return seen


def cards_in(state: State) -> list[int]:
    """How many cards of each kind there are, wherever they lie."""
    counts = [sum(hand[card] for hand in state.hands) for card in range(JOKER + 1)]
    for card in state.stock + state.pile + [card for meld in state.table.values() for card in meld.kinds()]:
        counts[card] += 1
    return counts
