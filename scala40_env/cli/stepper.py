"""Stepping through a record: a screen of text a turn, and lines that say where to go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from scala40_env.core.notation import format_action
from scala40_env.core.quoting import shown
from scala40_env.core.state import DREW_NOTHING
from scala40_env.replay.record import Record, states
from scala40_env.replay.render import render_text

HELP = """\
  n, next, or Enter    the next turn
  p, previous          the turn before
  j N, jump N, or N    turn N of the record
  first, last          its ends
  q, quit              leave
"""
_LONGEST_NUMBER = 9


def turn_texts(record: Record, viewer: int | None = None, *, color: bool = False) -> Iterator[str]:
    """Each turn of a record as text, the state in which it begins and what is played in it; last how all ends.

    Args:
        record: a record that was verified.
        viewer: the seat that looks; ``None`` sees everything.
        color: with ANSI colours.
    """
    text = ""
    for game, action in states(record):
        if action is None or game.row.drew == DREW_NOTHING:
            if text:
                yield text
            text = render_text(game.row, game.rules, viewer, color=color)
        if action is not None:
            text += f"    seat {game.seat}: {format_action(action, game.row, game.rules)}\n"
    yield text


def step_through(turns: Sequence[str], lines: TextIO, write: Callable[[str], object]) -> None:
    """Show a turn, and go where each line says, until one says quit or there are no more.

    Args:
        turns: the text of each turn, at least one.
        lines: where the commands come from, one a line.
        write: what prints text.
    """
    place = 0
    write(turns[place])
    while True:
        write(f"turn {place + 1} of {len(turns)} (n, p, j N, q; h for help) ")
        line = lines.readline()
        if not line:
            write("\n")
            return
        found = _destination(line.lower().split(), place, len(turns) - 1)
        if found is None:
            return
        if isinstance(found, str):
            write(found)
        else:
            place = found
            write(turns[place])


def _destination(words: list[str], place: int, last: int) -> int | str | None:
    """The turn to show, a text to print instead, or ``None`` to leave."""
    verb = words[0] if words else "n"
    if len(words) == 1 and verb.isascii() and verb.isdigit():
        words = ["j", verb]
        verb = "j"
    if verb in ("j", "jump"):
        return _jump(words[1:], last)
    if len(words) <= 1:
        if verb in ("q", "quit"):
            return None
        if verb in ("n", "next"):
            return place + 1 if place < last else "this is the last turn\n"
        if verb in ("p", "previous"):
            return place - 1 if place > 0 else "this is the first turn\n"
        if verb in ("first", "last"):
            return 0 if verb == "first" else last
        if verb in ("h", "help", "?"):
            return HELP
    return f"there is no command {shown(' '.join(words))}; h for help\n"


def _jump(words: list[str], last: int) -> int | str:
    number = words[0] if len(words) == 1 else ""
    if not (number.isascii() and number.isdigit() and len(number) <= _LONGEST_NUMBER and 1 <= int(number) <= last + 1):
        return f"jump: turns are 1 to {last + 1}, got {shown(' '.join(words))}\n"
    return int(number) - 1
