"""A state of the game as text for people: the table, the piles, the hands and the scores."""

from __future__ import annotations

from typing import Any

from scala40_env.core.cards import JOKER_NAME
from scala40_env.core.json_fields import members_of
from scala40_env.core.notation import CARD_NAMES, Meld, hand_kinds
from scala40_env.core.position_writer import plain
from scala40_env.core.rules import Rules
from scala40_env.core.rules_json import rules_to_json
from scala40_env.core.state import (
    DREW_STOCK,
    DREW_UPCARD,
    DUTY_NONE,
    END_CLOSED,
    END_NAMES,
    END_NONE,
    MATCH_OVER,
    NO_SLOT,
    NOBODY,
    PHASE_NAMES,
    PLAY,
    ROUND_OVER,
)

_RED, _JOKER, _BOLD, _DIM, _PLAIN = "\x1b[31m", "\x1b[35m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
_MELDS_WIDTH = 96


def render_text(row: Any, rules: Rules, viewer: int | None = None, *, color: bool = False) -> str:
    """A state as lines of text.

    Args:
        row: one state, whole or redacted.
        rules: its rules.
        viewer: the seat that looks: of the other hands only what everybody saw is shown.  ``None`` shows everything.
        color: with ANSI colours, red for hearts and diamonds.
    """
    s = plain(row)
    paint = _paint if color else _no_paint
    lines = [_heading(s, rules), f"  {_piles(s, paint)}", *_table(s, paint)]
    lines += [_seat(s, seat, viewer, paint) for seat in range(s.num_seats)]
    return "\n".join([*lines, *(f"  {line}" for line in _now(s, rules, paint))]) + "\n"


def status_lines(row: Any, rules: Rules) -> list[str]:
    """What the seat to act has done and owes, or how the round and the match ended: only what everybody knows."""
    return _now(plain(row), rules, _no_paint)


def round_line(row: Any) -> str:
    """How the last round ended, and what each seat was charged; a round has ended."""
    s = plain(row)
    how = f"closed by seat {s.closer}" if s.end == END_CLOSED and s.closer != NOBODY else END_NAMES[s.end]
    in_hand = " in hand" if s.closed_in_hand else ""
    points = " ".join(str(points) for points in s.points[: s.num_seats].tolist())
    return f"round {how}{in_hand} after {s.ended_turns} turns; points {points}"


def _paint(text: str, style: str) -> str:
    return f"{style}{text}{_PLAIN}"


def _no_paint(text: str, style: str) -> str:
    return text


def _card(text: str, paint: Any) -> str:
    if text.startswith(JOKER_NAME):
        return str(paint(text, _JOKER))
    return str(paint(text, _RED)) if text[-1] in "HD" else text


def _cards(texts: list[str], paint: Any) -> str:
    return " ".join(_card(text, paint) for text in texts)


def _heading(s: Any, rules: Rules) -> str:
    name = rules_to_json(rules)
    title = name if isinstance(name, str) else f"{name['base']} with house rules"
    return f"{title}, {s.num_seats} seats, round {s.round + 1}, turn {s.round_turns + 1}, {PHASE_NAMES[s.phase]}"


def _piles(s: Any, paint: Any) -> str:
    upcard = _card(CARD_NAMES[s.pile[s.pile_size - 1]], paint) if s.pile_size else "-"
    return f"upcard {upcard}   pile {s.pile_size}   stock {s.stock_size}"


def _table(s: Any, paint: Any) -> list[str]:
    """The melds with their slots, as many a line as fit."""
    lines: list[str] = []
    width = _MELDS_WIDTH
    for slot in members_of(s.used_slots):
        texts = Meld.from_row(s, slot).texts()
        label = f"@{slot}{'*' if s.new_slots >> slot & 1 else ''}"
        length = len(label) + 1 + len(" ".join(texts)) + 3
        if width + length > _MELDS_WIDTH:
            lines.append("  table ")
            width = len(lines[-1])
        lines[-1] += f"{paint(label, _DIM)} {_cards(texts, paint)}   "
        width += length
    return [line.rstrip() for line in lines] or ["  table -"]


def _seat(s: Any, seat: int, viewer: int | None, paint: Any) -> str:
    mark = ">" if seat == s.seat else " "
    if not s.in_match >> seat & 1:
        return f"{mark} seat {seat}  out of the match, {s.totals[seat]} points"
    opened = "open" if s.has_opened >> seat & 1 else "    "
    dealer = "D" if seat == s.dealer else " "
    state = (
        f"{mark} {paint(f'seat {seat}', _BOLD if seat == s.seat else '')} {dealer} {opened} {s.totals[seat]:>4} points"
    )
    return f"{state}  {_hand(s, seat, viewer, paint)}".rstrip()


def _hand(s: Any, seat: int, viewer: int | None, paint: Any) -> str:
    if viewer is None or viewer == seat:
        kinds = hand_kinds(s.hand_one[seat], s.hand_two[seat], s.hand_jokers[seat])
    else:
        kinds = hand_kinds(s.known_one[seat], s.known_two[seat], s.known_jokers[seat])
    hidden = int(s.hand_size[seat]) - len(kinds)
    shown = _cards([CARD_NAMES[kind] for kind in kinds], paint)
    return f"{shown} {f'?? x{hidden}' if hidden else ''}".strip()


def _now(s: Any, rules: Rules, paint: Any) -> list[str]:
    """What the seat to act owes, or how the round ended."""
    if s.phase == PLAY:
        return [f"seat {s.seat} {', '.join(_turn(s, rules, paint))}"]
    if s.phase not in (ROUND_OVER, MATCH_OVER) or s.end == END_NONE:
        return []
    lines = [round_line(s)]
    if s.pending_reentry:
        lines.append(f"seat {s.seat} may re-enter or leave")
    if s.phase == MATCH_OVER:
        lines.append(f"the match is won by seat {' and '.join(map(str, members_of(s.winners)))}")
    return lines


def _turn(s: Any, rules: Rules, paint: Any) -> list[str]:
    parts = []
    if s.drew == DREW_STOCK:
        parts.append("drew from the stock")
    elif s.drew == DREW_UPCARD:
        parts.append(f"took {_card(CARD_NAMES[s.taken], paint)}{' and must use it' if s.duty != DUTY_NONE else ''}")
    if s.laid_any and not s.has_opened >> s.seat & 1:
        parts.append(f"opening {s.laid_points} of {rules.opening_min} points")
    if s.jokers_owed:
        parts.append("must play the joker taken" if s.jokers_owed == 1 else f"must play {s.jokers_owed} jokers taken")
    if s.split_slot != NO_SLOT:
        parts.append(f"must split @{s.split_slot}")
    return parts
