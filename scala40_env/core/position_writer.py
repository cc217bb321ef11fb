"""Writes a row as the JSON of a position; see ``position`` for its fields."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from scala40_env.core.cards import NO_KIND
from scala40_env.core.json_fields import flags_of, members_of
from scala40_env.core.notation import CARD_NAMES, Meld, hand_kinds
from scala40_env.core.position_fields import DREW_NAMES, DUTY_NAMES, EPISODES
from scala40_env.core.rules import Rules
from scala40_env.core.rules_json import rules_to_json
from scala40_env.core.state import DREW_UPCARD, END_NAMES, END_NONE, NO_SLOT, NOBODY, PHASE_NAMES, PLAY, ROW

_NAMES = ROW.names or ()


def plain(row: Any) -> SimpleNamespace:
    """The fields of a row as Python integers and arrays: many times quicker to read than the row's own."""
    return SimpleNamespace(**dict(zip(_NAMES, row.item(), strict=True))) if isinstance(row, np.void) else row


def position_to_json(row: Any, rules: Rules) -> dict[str, Any]:
    """A position from which ``position_from_json`` makes an equal row.

    What is hidden in a redacted row is written as hidden cards, so that reading it draws them at random.
    """
    row = plain(row)
    seats = row.num_seats
    made: dict[str, Any] = {
        "rules": rules_to_json(rules),
        "players": seats,
        "dealer": int(row.dealer),
        "seat": _or_none(row.seat, NOBODY),
        "phase": PHASE_NAMES[int(row.phase)],
        "hands": [_hand(row, seat) for seat in range(seats)],
        "has_opened": flags_of(row.has_opened, seats),
        "turns": row.turns[:seats].tolist(),
        "scores": row.totals[:seats].tolist(),
        "table": table_to_json(row),
        "pile": _cards(row.pile[: int(row.pile_size)].tolist()),
        "stock": _cards(row.stock[: int(row.stock_size)].tolist()),
    }
    if row.phase == PLAY:
        made["turn"] = _turn(row)
    _add_rest(made, row, seats)
    return made


def table_to_json(row: Any) -> list[list[str] | None]:
    """The melds of the table by slot, null where a slot is empty."""
    used = int(row.used_slots)
    return [Meld.from_row(row, slot).texts() if used >> slot & 1 else None for slot in range(used.bit_length())]


def _or_none(value: Any, nothing: int) -> int | None:
    return None if value == nothing else int(value)


def _cards(kinds: list[int]) -> list[Any]:
    """Cards as text; hidden ones in a row as one object."""
    made: list[Any] = []
    for kind in kinds:
        if kind != NO_KIND:
            made.append(CARD_NAMES[kind])
        elif made and isinstance(made[-1], dict):
            made[-1]["hidden"] += 1
        else:
            made.append({"hidden": 1})
    return made


def _hand(row: Any, seat: int) -> list[Any]:
    kinds = hand_kinds(row.hand_one[seat], row.hand_two[seat], row.hand_jokers[seat])
    hidden = int(row.hand_size[seat]) - len(kinds)
    made: list[Any] = [CARD_NAMES[kind] for kind in kinds]
    return [*made, {"hidden": hidden}] if hidden > 0 else made


def _turn(row: Any) -> dict[str, Any]:
    turn: dict[str, Any] = {"drew": DREW_NAMES[int(row.drew)]}
    if row.drew == DREW_UPCARD:
        turn["card"] = CARD_NAMES[int(row.taken)]
        turn["card_played"] = bool(row.taken_played)
        turn["duty"] = DUTY_NAMES[int(row.duty)]
    turn["laid_points"] = int(row.laid_points)
    turn["jokers_owed"] = int(row.jokers_owed)
    if row.laid_any:
        turn["laid_any"] = True
        turn["opened_now"] = bool(row.opened_now)
        turn["new"] = members_of(row.new_slots)
        turn["last"] = _or_none(row.last_slot, NO_SLOT)
    if row.split_slot != NO_SLOT:
        turn["split"] = int(row.split_slot)
    return turn


def _add_rest(made: dict[str, Any], row: Any, seats: int) -> None:
    """The fields that a reader would not guess."""
    everybody = (1 << seats) - 1
    round_turns = int(row.round_turns)
    rest: list[tuple[str, Any, Any]] = [
        ("seed", int(row.seed), 0),
        ("game", int(row.game), 0),
        ("episode", EPISODES[int(row.whole_match)], "round"),
        ("round", int(row.round), 0),
        ("in_match", flags_of(row.in_match, seats), flags_of(everybody, seats)),
        ("in_round", flags_of(row.in_round, seats), flags_of(row.in_match, seats)),
        ("reentries", row.reentries[:seats].tolist(), [0] * seats),
        ("round_turns", round_turns, sum(made["turns"])),
        ("match_turns", int(row.match_turns), round_turns),
        ("recycles", int(row.recycles), 0),
        ("stock_known", int(row.stock_known), 0),
        ("known", [_known(row, seat) for seat in range(seats)], [[]] * seats),
        ("discards", [_discards(row, seat) for seat in range(seats)], [[]] * seats),
        ("pending", members_of(row.pending_reentry), []),
        ("winners", members_of(row.winners), []),
    ]
    made.update((name, value) for name, value, default in rest if value != default)
    if row.end != END_NONE:
        made["last_round"] = _last_round(row, seats)


def _known(row: Any, seat: int) -> list[str]:
    kinds = hand_kinds(row.known_one[seat], row.known_two[seat], row.known_jokers[seat])
    return [CARD_NAMES[kind] for kind in kinds]


def _discards(row: Any, seat: int) -> list[str]:
    counts = row.discards[seat]
    return [CARD_NAMES[kind] for kind in counts.nonzero()[0].tolist() for _ in range(int(counts[kind]))]


def _last_round(row: Any, seats: int) -> dict[str, Any]:
    return {
        "end": END_NAMES[int(row.end)],
        "closer": _or_none(row.closer, NOBODY),
        "closed_in_hand": bool(row.closed_in_hand),
        "points": row.points[:seats].tolist(),
        "opened": flags_of(row.ended_opened, seats),
        "in_round": flags_of(row.ended_in_round, seats),
        "turns": int(row.ended_turns),
    }
