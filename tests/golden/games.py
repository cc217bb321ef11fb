"""Whole games as text: what lies where at each turn, what is legal before each action, and which action is played."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from scala40_env.core import actions
from scala40_env.core.game import Game
from scala40_env.core.meld_text import Meld, format_hand, format_meld, hand_kinds
from scala40_env.core.notation import CARD_NAMES, format_action
from scala40_env.core.rules import Rules
from scala40_env.core.state import DRAW, END_NAMES, PHASE_NAMES, ROUND_OVER

FOLDER = Path(__file__).parent / "data"

GAMES: tuple[tuple[str, int, str], ...] = (
    ("standard", 2, "round"),
    ("standard", 4, "round"),
    ("italian", 2, "round"),
    ("italian", 4, "round"),
    ("cerchio", 2, "round"),
    ("cerchio", 4, "round"),
    ("hops", 2, "round"),
    ("hops", 4, "round"),
    ("international", 2, "round"),
    ("international", 4, "round"),
    ("tiny", 2, "match"),
)
"""Rulebook, players and episode of each game that is kept."""

_PLAYS_RATHER = 0.75
"""How often something is played, where it can be, and not discarded: so that a game shows plays, and ends."""


def path_of(name: str, players: int) -> Path:
    """Where the text of a game is kept."""
    return FOLDER / f"{name}_{players}.txt"


def decisions(name: str, players: int, episode: str) -> Iterator[tuple[Game, int]]:
    """The game before each of its actions, and the action; the same every time."""
    rules = Rules.load(name)
    rng = random.Random(f"golden {name} {players}")
    game = Game(rules, players, seed=players, episode=episode)
    while not game.is_over:
        legal = game.legal_actions().tolist()
        plays = [action for action in legal if not actions.DISCARD <= action < actions.SPLIT]
        among = plays if plays and rng.random() < _PLAYS_RATHER else legal
        action = among[int(rng.random() * len(among))]
        yield game, action
        game.play(action)


def game_text(name: str, players: int, episode: str) -> str:
    """The text of a game, a line for each turn and each action."""
    lines = [f"# {name}, {players} players, one {episode}"]
    last: Game | None = None
    for game, action in decisions(name, players, episode):
        if last is not None and _round_ended(last, game):
            lines.append(_end_line(game))
        if game.phase in (DRAW, ROUND_OVER):
            lines.append(_turn_line(game))
        texts = [format_action(one, game.row, game.rules) for one in game.legal_actions()]
        lines.append(f"  {_grouped(texts)} > {format_action(action, game.row, game.rules)}")
        last = game.copy()
    lines.append(_end_line(game))
    return "\n".join(lines) + "\n"


def _round_ended(before: Game, after: Game) -> bool:
    if after.phase == ROUND_OVER:
        return before.phase != ROUND_OVER
    return bool(after.row["round"] != before.row["round"]) and before.phase != ROUND_OVER


def _turn_line(game: Game) -> str:
    """Who is to act, with what, and what everybody sees."""
    row, seat = game.row, game.seat
    if game.phase == ROUND_OVER:
        return f"seat {seat} chooses; totals {_per_seat(row.totals, game)}"
    hand = hand_kinds(row.hand_one[seat], row.hand_two[seat], row.hand_jokers[seat])
    opened = "opened" if row.has_opened >> seat & 1 else "not opened"
    used = [slot for slot in range(len(row.meld_type)) if int(row.used_slots) >> slot & 1]
    table = "; ".join(f"@{slot} {format_meld(Meld.from_row(row, slot))}" for slot in used)
    upcard = CARD_NAMES[row.pile[row.pile_size - 1]] if row.pile_size else "none"
    sizes = _per_seat(row.hand_size, game)
    return (
        f"turn {row.round_turns} seat {seat} {opened}: {format_hand(hand)} | table {table or 'empty'}"
        f" | upcard {upcard} of {row.pile_size}, stock {row.stock_size}, hands {sizes}"
    )


def _end_line(game: Game) -> str:
    """How a round ended, and what it cost."""
    row = game.row
    how = f"end {END_NAMES[row.end]} after {row.ended_turns} turns"
    points = f"points {_per_seat(row.points, game)}, totals {_per_seat(row.totals, game)}"
    return f"{how}: {points}, winners {int(row.winners)}, then {PHASE_NAMES[game.phase]}"


def _per_seat(values: object, game: Game) -> str:
    return " ".join(str(int(value)) for value in list(values)[: int(game.row.num_seats)])  # type: ignore[call-overload]


def _grouped(texts: list[str]) -> str:
    """The legal actions, those of a verb together: the verb once, and what follows it by commas."""
    by_verb: dict[str, list[str]] = {}
    for text in texts:
        verb, _, rest = text.partition(" ")
        by_verb.setdefault(verb, []).append(rest)
    return "; ".join(f"{verb} {', '.join(rests)}".strip() for verb, rests in by_verb.items())
