"""A record as frames: what a page or a screen shows after each action, as plain values.

A frame is made from the row as the viewer may know it, so that what a viewer may not see is in no frame of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from scala40_env.core.game import Game
from scala40_env.core.json_fields import flags_of, members_of
from scala40_env.core.notation import CARD_NAMES, Meld, format_action, hand_kinds
from scala40_env.core.position_writer import plain
from scala40_env.core.state import DRAW, DREW_NOTHING, NOBODY, PHASE_NAMES
from scala40_env.replay.record import Record, play_action, start
from scala40_env.replay.render import round_line, status_lines


def frames(record: Record, viewer: int | None = None) -> Iterator[dict[str, Any]]:
    """The game before its first action and after each.

    Args:
        record: a record that was verified.
        viewer: the seat that looks; ``None`` sees everything.

    Yields:
        A dictionary of values for JSON: the fields of ``frame_of``; ``move``, the action that led here as ``{"seat",
        "text", "first"}`` (``first``: it began a turn), ``null`` in the first frame; ``notes``, lines about the turn
        and about a round that ended; ``thought``, what the seat that moved thought, ``null`` where nobody noted it or
        the viewer is another seat.
    """
    game = start(record)
    yield {**_seen(game, viewer), "move": None, "notes": status_lines(game.row, game.rules), "thought": None}
    thoughts = record.thoughts or []
    for number, action in enumerate(record.actions):
        seat = game.seat
        # what is played lies open: its text is read from the whole row, also the card that a swap gives
        text = format_action(action, game.row, game.rules)
        move = {"seat": seat, "text": text, "first": bool(game.row.drew == DREW_NOTHING)}
        ended = play_action(game, action)
        notes = status_lines(game.row, game.rules)
        if ended and game.phase == DRAW:
            notes.insert(0, round_line(game.row))
        thought = thoughts[number] if thoughts and viewer in (None, seat) else None
        yield {**_seen(game, viewer), "move": move, "notes": notes, "thought": thought}


def _seen(game: Game, viewer: int | None) -> dict[str, Any]:
    return frame_of(game.rows[0] if viewer is None else game.redacted(viewer)[0], viewer)


def frame_of(row: Any, viewer: int | None = None) -> dict[str, Any]:
    """A row as plain values.

    Args:
        row: one state, whole or redacted; all that it holds of the hand of ``viewer`` is shown, and of every hand where
            that is ``None``.
        viewer: the seat that looks.

    Returns:
        ``round`` and ``turn`` from 1, ``phase``, ``seat`` to act or ``null``, ``dealer``, ``stock`` and ``pile`` (how
        many cards), ``upcard``, ``table`` (lists of slot, whether it was laid this turn, cards), ``opened``, ``in``,
        ``totals`` and ``size`` by seat; for each seat ``known0`` ..., what everybody saw it take, and ``hand0`` ...
        where the viewer sees the hand.
    """
    s = plain(row)
    seats = range(s.num_seats)
    made: dict[str, Any] = {
        "round": int(s.round) + 1,
        "turn": int(s.round_turns) + 1,
        "phase": PHASE_NAMES[s.phase],
        "seat": None if s.seat == NOBODY else int(s.seat),
        "dealer": int(s.dealer),
        "stock": int(s.stock_size),
        "pile": int(s.pile_size),
        "upcard": CARD_NAMES[s.pile[s.pile_size - 1]] if s.pile_size else None,
        "table": [
            [slot, bool(s.new_slots >> slot & 1), Meld.from_row(s, slot).texts()] for slot in members_of(s.used_slots)
        ],
        "opened": flags_of(s.has_opened, s.num_seats),
        "in": flags_of(s.in_match, s.num_seats),
        "totals": [int(s.totals[seat]) for seat in seats],
        "size": [int(s.hand_size[seat]) for seat in seats],
    }
    for seat in seats:
        made[f"known{seat}"] = _names(s.known_one[seat], s.known_two[seat], s.known_jokers[seat])
        if viewer in (None, seat):
            made[f"hand{seat}"] = _names(s.hand_one[seat], s.hand_two[seat], s.hand_jokers[seat])
    return made


def _names(one: int, two: int, jokers: int) -> list[str]:
    return [CARD_NAMES[kind] for kind in hand_kinds(one, two, jokers)]


def changes(frames: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each frame as the fields that differ from the frame before it; the first is whole."""
    last: dict[str, Any] = {}
    for frame in frames:
        yield {name: value for name, value in frame.items() if name not in last or last[name] != value}
        last = frame
