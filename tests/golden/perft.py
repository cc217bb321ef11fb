"""How many sequences of actions there are to a depth, from fixed deals and from positions in the middle of games.

A number says little and is hard to get right by accident: one action too many or too few anywhere changes it.  Where it
differs, ``divide`` gives the number below each first action, which shows where to look.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from scala40_env.core.game import Game
from scala40_env.core.rules import Rules
from tests.golden.games import FOLDER, GAMES, decisions
from tests.reference.adapter import from_row
from tests.reference.legality import legal_actions
from tests.reference.rules_of_play import apply

PATH = FOLDER / "perft.json"
TWIN_DEPTH = 2
_MOST_NODES = 2500
_AT_DECISIONS = (0, 40, 90)
"""Before which decisions of the golden games the sequences are counted."""


def places() -> Iterator[tuple[str, Game]]:
    """The positions from which sequences are counted, each with its name."""
    for name, players, episode in GAMES:
        if episode == "match":
            continue
        for number, (game, _) in enumerate(decisions(name, players, episode)):
            if number in _AT_DECISIONS:
                yield f"{name}, {players} players, decision {number}", game.copy()
    for seed in range(3):
        yield f"tiny, 2 players, deal {seed}", Game("tiny", 2, seed=seed)


def perft(game: Game, depth: int) -> int:
    """How many sequences of so many actions there are; those that end the episode sooner count once."""
    legal = game.legal_actions()
    if depth == 0 or game.is_over:
        return 1
    if depth == 1:
        return len(legal)
    return sum(perft(_after(game, int(action)), depth - 1) for action in legal)


def divide(game: Game, depth: int) -> dict[int, int]:
    """The same number, by first action."""
    return {int(action): perft(_after(game, int(action)), depth - 1) for action in game.legal_actions()}


def counts(game: Game) -> list[int]:
    """The numbers to depth 1, 2 and so on, while they stay small enough to be counted in a moment."""
    made: list[int] = []
    while not made or (made[-1] * _growth(made) <= _MOST_NODES and len(made) < 8):
        made.append(perft(game, len(made) + 1))
    return made


def _growth(made: list[int]) -> float:
    """By how much the next number is likely to be larger: the most that it has grown in one step."""
    return max(after / before for before, after in zip([1, *made], made, strict=False))


def twin_divide(game: Game, depth: int) -> dict[int, int]:
    """What the slow twin counts, by first action; no pile may become the stock on the way."""
    state = from_row(game.row, game.rules)
    return {action: _twin_perft(apply(state, action), depth - 1) for action in legal_actions(state)}


def _twin_perft(state: Any, depth: int) -> int:
    legal = legal_actions(state)
    if depth == 0 or not legal:
        return 1
    return sum(_twin_perft(apply(state, action), depth - 1) for action in legal)


def _after(game: Game, action: int) -> Game:
    after = game.copy()
    after.play(action)
    return after


def stored() -> dict[str, list[int]]:
    """The numbers as they were when last looked at, by the names of the places."""
    return dict(json.loads(PATH.read_text(encoding="utf-8")))


def write(make: Callable[[Game], list[int]] = counts) -> None:
    """Count everything and store it, a line for each place."""
    lines = [f"{json.dumps(name)}: {json.dumps(make(game))}" for name, game in places()]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def rules_of(name: str) -> Rules:
    """The rules of a place, from its name."""
    return Rules.load(name.split(",")[0])
