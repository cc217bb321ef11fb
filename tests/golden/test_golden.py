"""What the engine does now is what it did when the golden files were last read.

A difference here is a change of behaviour: ``python -m tests.golden.regenerate`` shows it as a difference of text.
"""

from __future__ import annotations

import time
from itertools import zip_longest

import pytest

from scala40_env.core.rules import rulebook_names
from scala40_env.core.signature import signature
from tests.golden import perft
from tests.golden.games import GAMES, game_text, path_of
from tests.golden.regenerate import SIGNATURE

PLACES = dict(perft.places())


@pytest.mark.parametrize(("name", "players", "episode"), GAMES)
def test_games(name: str, players: int, episode: str):
    kept = path_of(name, players).read_text(encoding="utf-8").splitlines()
    now = game_text(name, players, episode).splitlines()
    for number, (before, after) in enumerate(zip_longest(kept, now, fillvalue="(no more lines)"), 1):
        assert after == before, f"line {number} of {path_of(name, players).name}"


def test_games_cover_the_rulebooks():
    assert {(name, players) for name in rulebook_names() for players in (2, 4)} - {("tiny", 4)} == {
        (name, players) for name, players, _ in GAMES
    }


def test_the_places_of_perft_are_those_that_are_stored():
    assert list(PLACES) == list(perft.stored())


@pytest.mark.parametrize("place", PLACES)
def test_perft(place: str):
    expected = perft.stored()[place]
    game = PLACES[place]
    for depth, number in enumerate(expected, 1):
        assert perft.perft(game, depth) == number, f"depth {depth}, by first action: {perft.divide(game, depth)}"


@pytest.mark.parametrize("place", PLACES)
def test_perft_of_the_twin(place: str):
    game = PLACES[place]
    assert perft.twin_divide(game, perft.TWIN_DEPTH) == perft.divide(game, perft.TWIN_DEPTH)


def test_signature():
    assert signature() == SIGNATURE.read_text(encoding="utf-8").strip()


def test_signature_is_quick():
    signature(1)  # compiles, where nothing is compiled yet
    start = time.process_time()
    signature()
    assert time.process_time() - start < 6, "two seconds are meant; a busy machine is given three times as much"
