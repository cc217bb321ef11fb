"""What holds in every game, under every rule: laws tried on games that Hypothesis makes up, and makes smaller."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scala40_env.core import actions
from scala40_env.core.cards import NUM_SUITS
from scala40_env.core.game import Game, IllegalActionError
from scala40_env.core.rules import Rules
from scala40_env.core.state import DRAW, END_NONE, END_TRUNCATED, NOBODY, PLAY
from tests.differential.positions import position
from tests.differential.rulesets import RULEBOOKS, wide_rules
from tests.laws.suits import fields_of, renamed_action, renamed_row
from tests.reference.adapter import deck, from_row
from tests.reference.random_play import cards_in

_MOST_ACTIONS_OF_A_TURN = 60
"""A draw, at most 14 plays that shed a card, swaps of at most 4 jokers that come and go, splits, a discard."""

law = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def games(draw: Callable[..., Any]) -> Game:
    """A game under any rules, at its deal or in a position built by hand of chance."""
    seed = draw(st.integers(0, 10_000))
    players = draw(st.integers(2, 6))
    name = draw(st.sampled_from(["random", *RULEBOOKS]))
    rules = wide_rules(random.Random(seed), players) if name == "random" else Rules.load(name)
    players = min(players, rules.max_players)
    episode = draw(st.sampled_from(["round", "match"]))
    if draw(st.booleans()):
        return Game(rules, players, seed=seed, episode=episode)
    return Game.from_rows(rules, position(rules, players, episode, seed))


choices = st.lists(st.integers(0, 2**16), min_size=1, max_size=60)
"""Which of the legal actions is played, counted from the first and round again."""


def _fields(game: Game) -> list[bytes]:
    return fields_of(game.rows)


def _played(game: Game, picks: list[int]) -> Iterator[tuple[list[int], int]]:
    """The legal actions and the one that is played next, until the picks or the episode end; plays it afterwards."""
    for pick in picks:
        if game.is_over:
            return
        legal = [int(action) for action in game.legal_actions()]
        action = legal[pick % len(legal)]
        yield legal, action
        game.play(action)


@law
@given(games(), choices)
def test_the_cards_are_always_all_there(game: Game, picks: list[int]):
    whole = deck(game.rules)
    assert sum(whole) == game.rules.deck_size
    for _ in _played(game, picks):
        assert cards_in(from_row(game.row, game.rules)) == whole


@law
@given(games(), choices)
def test_there_is_always_something_to_do_and_it_is_listed_in_order(game: Game, picks: list[int]):
    for pick in picks:
        legal = game.legal_actions().tolist()
        assert legal == sorted(set(legal))
        assert game.action_mask().nonzero()[0].tolist() == legal
        assert (legal == []) == game.is_over == (game.seat == NOBODY)
        if game.is_over:
            return
        assert all(_is_of_phase(action, game.phase) for action in legal)
        game.play(legal[pick % len(legal)])


def _is_of_phase(action: int, phase: int) -> bool:
    if phase == DRAW:
        return action in (actions.DRAW, actions.TAKE)
    if phase == PLAY:
        return actions.LAY_SET <= action < actions.REENTER
    return action in (actions.REENTER, actions.LEAVE)


@law
@given(games(), choices)
def test_a_copy_and_the_same_action_give_the_same_row(game: Game, picks: list[int]):
    for _, action in _played(game, picks):
        before = _fields(game)
        other = game.copy()
        other.play(action)
        assert _fields(game) == before
        again = Game.from_rows(game.rules, game.rows)
        again.play(action)
        assert _fields(again) == _fields(other)
        assert again.legal_actions().tolist() == other.legal_actions().tolist()


@law
@given(games(), choices)
def test_what_is_not_legal_is_refused_and_changes_nothing(game: Game, picks: list[int]):
    for legal, _ in _played(game, picks[:8]):
        before = _fields(game)
        for action in (set(range(0, actions.NUM_ACTIONS, 7)) | {-1, actions.NUM_ACTIONS, 10**6}) - set(legal):
            with pytest.raises(IllegalActionError):
                game.play(action)
        assert _fields(game) == before


@law
@given(games(), choices, st.permutations(range(NUM_SUITS)))
def test_suits_are_only_names(game: Game, picks: list[int], order: list[int]):
    present = [suit for suit in order if suit < game.rules.suits]
    permutation = [*present, *range(game.rules.suits, NUM_SUITS)]
    other = Game.from_rows(game.rules, renamed_row(game.rows, permutation))
    for legal, action in _played(game, picks):
        assert sorted(renamed_action(one, permutation) for one in legal) == other.legal_actions().tolist()
        after = game.copy()
        after.play(action)
        if _knows_suits(game, after):
            return
        other.play(renamed_action(action, permutation))
        assert fields_of(renamed_row(after.rows, permutation)) == _fields(other)


def _knows_suits(before: Game, after: Game) -> bool:
    """Whether something happened in which the suits have an order: a deal, or a set of four put under the stock."""
    dealt = after.row["round"] != before.row["round"]
    return dealt or int(after.row.used_slots).bit_count() < int(before.row.used_slots).bit_count()


@settings(law, max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 6), st.sampled_from(["random", *RULEBOOKS]))
def test_every_round_ends(seed: int, players: int, name: str):
    rng = random.Random(seed)
    rules = wide_rules(rng, players) if name == "random" else Rules.load(name)
    turns = 3000 if rules.max_turns_per_round is None else rules.max_turns_per_round
    game = Game(rules, min(players, rules.max_players), seed=seed)
    for _ in range(turns * _MOST_ACTIONS_OF_A_TURN):
        if game.is_over:
            break
        game.play(rng.choice(game.legal_actions().tolist()))
    assert game.is_over
    assert game.row.end not in (END_NONE, END_TRUNCATED)
    assert game.row.ended_turns == game.row.round_turns == game.row.turns.sum() <= turns
