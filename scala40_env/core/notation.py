"""Text for actions (and, from ``meld_text``, for cards, hands and melds): parse and format.

Actions are written ``draw``, ``take``, ``lay 7H 7D JK=7C``, ``off 7D @3``, ``off JK=7D @3``, ``swap 7C @2``,
``discard QS``, ``split @4 after 3``, ``reenter`` and ``leave``; slots count from 0.  Reading what was written gives the
action again.  Two things are written only where the card alone would not tell: an end, ``off AC @3 low`` (the run
2 ... K takes the ace at either end), and no card at all, ``off @3 high``, for an action that names no card here.

``lay`` takes a meld of any length: a window of three of its cards is laid and the rest is laid off on it.  ``off``
takes several cards, in any order.  Which window is the right one can depend on what else the turn must do (a joker
that may be laid but not laid off, an upcard that counts only if it is laid), so ``parse_choices`` returns every way and
who has the engine at hand takes the first that is legal; ``parse_action`` returns the likeliest.
"""

from __future__ import annotations

from typing import Any

from scala40_env.core import actions as act
from scala40_env.core.actions import HIGH, JOKER_HIGH, JOKER_LOW, LOW, MAX_SLOTS, NO_SUIT, SET_JOKER, SET_SUITS
from scala40_env.core.cards import JOKER, JOKER_NAME, LANE_BITS, NO_KIND, NUM_RANKS, NUM_SUITS
from scala40_env.core.meld_text import (
    CARD_NAMES,
    Meld,
    NoSuchPlayError,
    NotationError,
    format_card,
    format_hand,
    format_meld,
    hand_kinds,
    hand_masks,
    meld_fault,
    parse_card,
    parse_hand,
    parse_meld,
)
from scala40_env.core.quoting import shown
from scala40_env.core.rules import Rules
from scala40_env.core.state import EMPTY, NO_JOKER, RUN, SET

__all__ = [
    "CARD_NAMES",
    "Meld",
    "NoSuchPlayError",
    "NotationError",
    "format_action",
    "format_card",
    "format_hand",
    "format_meld",
    "hand_kinds",
    "hand_masks",
    "holds",
    "lay_of_meld",
    "lowest_free_slot",
    "meld_fault",
    "meld_of_lay",
    "no_such_action",
    "num_actions",
    "parse_action",
    "parse_card",
    "parse_choices",
    "parse_hand",
    "parse_meld",
    "swap_card",
]

_SIDES = {"low": 0, "high": 1}
_USAGE = {
    "draw": "draw",
    "take": "take",
    "lay": "lay 7H 7D JK=7C",
    "off": "off 7D @3",
    "swap": "swap 7C @2",
    "discard": "discard QS",
    "split": "split @4 after 3",
    "reenter": "reenter",
    "leave": "leave",
}
_MANY_DIGITS = 40
_HUGE = 10**_MANY_DIGITS
"""A number that is shown no more; a text may have more digits than Python reads."""
_PLAIN = {"draw": act.DRAW, "take": act.TAKE, "reenter": act.REENTER, "leave": act.LEAVE}


# --- format -----------------------------------------------------------------------------------------------

_PATTERN = {(int(suits), int(joker)): i for i, (suits, joker) in enumerate(zip(SET_SUITS, SET_JOKER, strict=True))}


def meld_of_lay(action: int) -> Meld:
    """The meld of three that a ``lay`` action lays."""
    if action < act.LAY_RUN:
        pattern, rank = divmod(action - act.LAY_SET, NUM_RANKS)
        joker = int(SET_JOKER[pattern])
        suits = int(SET_SUITS[pattern]) | (0 if joker == NO_SUIT else 1 << joker)
        return Meld(SET, rank, suits, 3, NO_JOKER if joker == NO_SUIT else joker)
    rest, start = divmod(action - act.LAY_RUN, act.NUM_RUN_STARTS)
    place, suit = divmod(rest, NUM_SUITS)
    return Meld(RUN, start, suit, 3, start + place - 1 if place else NO_JOKER)


def lay_of_meld(meld: Meld) -> int:
    """The ``lay`` action of a meld of three."""
    if meld.type == RUN:
        return act.lay_run(0 if meld.joker == NO_JOKER else meld.joker - meld.rank + 1, meld.suits, meld.rank)
    joker = NO_SUIT if meld.joker == NO_JOKER else meld.joker
    natural = meld.suits & ~(0 if joker == NO_SUIT else 1 << joker)
    return act.lay_set(_PATTERN[natural, joker], meld.rank)


def holds(row: Any, seat: int, kind: int) -> bool:
    """Whether a seat is known to hold a card of a kind."""
    if kind == JOKER:
        return bool(row.hand_jokers[seat])
    bit = 1 << (kind + (LANE_BITS - NUM_RANKS) * (kind // NUM_RANKS))
    return bool(int(row.hand_one[seat]) & bit)


def num_actions(rules: Rules) -> int:
    """The size of the action space: 745, or 635 where the rules have no splits and no choice of re-entry."""
    whole = rules.run_overflow == "split" or rules.reentry == "paid_optional"
    return act.NUM_ACTIONS if whole else act.NUM_COMMON_ACTIONS


def no_such_action(action: int, rules: Rules) -> str:
    """What is wrong with a number that is none of an action."""
    number = str(action) if abs(action) < _HUGE else "so large"
    return f"there is no action {number}; they are 0 ... {num_actions(rules) - 1}"


def swap_cards(row: Any, slot: int, rules: Rules | None) -> list[int]:
    """The cards that the joker in a slot may be had for: its own first, then, where any missing one will do, the other.

    None where no joker lies there.  Without ``rules`` any missing one will do.
    """
    meld = Meld.from_row(row, slot)
    if meld.joker == NO_JOKER or meld.type not in (SET, RUN):
        return []
    face = (meld.joker if meld.type == SET else meld.suits) * NUM_RANKS
    face += meld.rank if meld.type == SET else meld.joker % NUM_RANKS
    if meld.type == RUN or meld.size != 3 or (rules is not None and rules.joker_identity == "declared"):
        return [face]
    other = meld.missing_suit()
    return [face] if rules is not None and other >= rules.suits else [face, other * NUM_RANKS + meld.rank]


def swap_card(row: Any, slot: int, rules: Rules | None) -> int | None:
    """The card that a swap gives: the joker's own, or, where any missing one will do, the other if only that is held.

    A slot has one swap.  So where both are in hand it gives the joker's own.
    """
    cards = swap_cards(row, slot, rules)
    seat = int(row.seat)
    held = [card for card in cards if seat < row.num_seats and holds(row, seat, card)]
    return next(iter([*held, *cards]), None)


def format_action(action: int, row: Any, rules: Rules | None = None) -> str:
    """The text of any action number; the card of a lay-off or a swap is read from the table of ``row``.

    Without ``rules`` the text is right for every legal action.
    """
    action = int(action)
    if action < act.LAY_SET:
        return "draw" if action == act.DRAW else "take"
    if action < act.LAY_OFF:
        return f"lay {format_meld(meld_of_lay(action))}"
    if action < act.SWAP:
        return _format_lay_off(*divmod(action - act.LAY_OFF, act.NUM_ENDS), row)
    if action < act.DISCARD:
        card = swap_card(row, action - act.SWAP, rules)
        return f"swap @{action - act.SWAP}" if card is None else f"swap {CARD_NAMES[card]} @{action - act.SWAP}"
    if action < act.SPLIT:
        return f"discard {CARD_NAMES[action - act.DISCARD]}"
    if action < act.REENTER:
        slot, first = divmod(action - act.SPLIT, act.NUM_SPLITS)
        return f"split @{slot} after {first + act.SHORTEST_RUN}"
    return "reenter" if action == act.REENTER else "leave"


def _format_lay_off(slot: int, end: int, row: Any) -> str:
    meld = Meld.from_row(row, slot)
    face = meld.face_at(end)
    side = "low" if end in (LOW, JOKER_LOW) else "high"
    joker = end in (JOKER_LOW, JOKER_HIGH)
    if face is None:
        return f"off {JOKER_NAME} @{slot} {side}" if joker else f"off @{slot} {side}"
    card = f"{JOKER_NAME}={CARD_NAMES[face]}" if joker else CARD_NAMES[face]
    both = meld.type == RUN and meld.face_at(LOW) == meld.face_at(HIGH)
    return f"off {card} @{slot} {side}" if both else f"off {card} @{slot}"


# --- parse -----------------------------------------------------------------------------------------------------------


def parse_action(text: object, row: Any, rules: Rules) -> list[int]:
    """The action numbers that a text means at ``row``, in the order in which they are played.

    Raises:
        NotationError: the text is badly written.
        NoSuchPlayError: it is well written, but no action means it on this table.
    """
    return parse_choices(text, row, rules)[0]


def parse_choices(text: object, row: Any, rules: Rules) -> list[list[int]]:
    """Every sequence of actions that a text can mean at ``row``, the likeliest first; never empty."""
    if isinstance(text, int) and not isinstance(text, bool):
        return [[_number(text, rules)]]
    if not isinstance(text, str):
        raise NotationError(f"action: expected text or a number, got {shown(text)}")
    words = text.split()
    if len(words) == 1 and words[0].isascii() and words[0].removeprefix("-").isdigit():
        return [[_number(_integer(words[0]), rules)]]
    verb = words[0] if words else ""
    if verb not in _USAGE:
        raise NotationError(f"action: {shown(text)} does not begin with one of {', '.join(_USAGE)}")
    rest = words[1:]
    if verb in _PLAIN:
        if rest:
            raise _malformed(verb, text)
        return [[_PLAIN[verb]]]
    if verb == "lay":
        return _lay(rest, row, rules)
    if verb == "off":
        return [_lay_off(rest, row, text)]
    if verb == "swap":
        return [[_swap(rest, row, rules, text)]]
    if verb == "discard":
        if len(rest) != 1:
            raise _malformed(verb, text)
        return [[act.DISCARD + parse_card(rest[0], "action")]]
    return [[_split(rest, text)]]


def _number(action: int, rules: Rules) -> int:
    if not 0 <= action < act.NUM_ACTIONS:
        raise NotationError(f"action: {no_such_action(action, rules)}")
    return action


def _integer(digits: str) -> int:
    """The number that digits write; one that is too large for any action where they are too many to read."""
    return int(digits) if len(digits) <= _MANY_DIGITS else _HUGE


def _malformed(verb: str, text: str) -> NotationError:
    return NotationError(f"action: {shown(text)} is badly written; write it as '{_USAGE[verb]}'")


def _slot(word: str, verb: str, text: str) -> int:
    digits = word[1:]
    if not (word.startswith("@") and digits.isascii() and digits.isdigit() and len(digits) <= 2):
        raise _malformed(verb, text)
    if int(digits) >= MAX_SLOTS:
        raise NotationError(f"action: slots are 0 to {MAX_SLOTS - 1}, got {digits}")
    return int(digits)


def _lay(words: list[str], row: Any, rules: Rules) -> list[list[int]]:
    meld = parse_meld(words, "action")
    if meld.size == act.SHORTEST_RUN:
        return [[lay_of_meld(meld)]]  # an action, whatever the rules say of it
    fault = meld_fault(meld, rules)
    if fault:
        raise NoSuchPlayError(f"action: {fault}")
    slot = lowest_free_slot(int(row.used_slots))
    if slot is None:
        raise NoSuchPlayError("action: the table has no free slot")
    taken = NO_KIND if row.taken_played else int(row.taken)
    windows = _windows(meld)
    windows.sort(key=lambda window: (taken not in window.kinds(), window.joker == NO_JOKER))
    return [_lay_by(window, meld, slot) for window in windows]


def lowest_free_slot(used_slots: int) -> int | None:
    """The slot into which the next meld goes, or ``None`` where all are taken."""
    slot = (~used_slots & (used_slots + 1)).bit_length() - 1
    return slot if slot < MAX_SLOTS else None


def _windows(meld: Meld) -> list[Meld]:
    """The melds of three cards that are part of a meld."""
    if meld.type == SET:
        left = [meld.suits & ~(1 << suit) for suit in reversed(range(4))]
        return [Meld(SET, meld.rank, suits, 3, _joker_in(meld.joker, suits)) for suits in left]
    starts = range(meld.rank, min(meld.rank + meld.size - 2, act.NUM_RUN_STARTS))
    return [Meld(RUN, low, meld.suits, 3, meld.joker if low <= meld.joker < low + 3 else NO_JOKER) for low in starts]


def _joker_in(joker: int, suits: int) -> int:
    return joker if joker != NO_JOKER and suits >> joker & 1 else NO_JOKER


def _lay_by(window: Meld, meld: Meld, slot: int) -> list[int]:
    """Lay the window, then lay off what the whole meld has beyond it."""
    made = [lay_of_meld(window)]
    while window != meld:
        low = window.type == SET or window.rank > meld.rank
        if window.type == SET:
            joker = meld.joker == window.missing_suit()
        else:
            joker = meld.joker == (window.rank - 1 if low else window.rank + window.size)
        end = (JOKER_LOW if joker else LOW) if low else (JOKER_HIGH if joker else HIGH)
        made.append(act.lay_off(slot, end))
        window = window.grown(end)
    return made


def _lay_off(words: list[str], row: Any, text: str) -> list[int]:
    side = _SIDES.get(words[-1]) if words else None
    if side is not None:
        words = words[:-1]
    if not words:
        raise _malformed("off", text)
    slot = _slot(words[-1], "off", text)
    cards = words[:-1]
    if side is not None and cards in ([], [JOKER_NAME]):
        return [act.lay_off(slot, side + (JOKER_LOW if cards else LOW))]
    faces = [_lay_off_face(card) for card in cards]
    if not faces:
        raise _malformed("off", text)
    meld = Meld.from_row(row, slot)
    if meld.type == EMPTY:
        raise NoSuchPlayError(f"action: no meld lies in slot {slot}")
    return _in_fitting_order(faces, meld, slot, side)


def _lay_off_face(word: str) -> tuple[int, bool]:
    """The kind that a card shows or stands for, and whether it is a joker."""
    if word == JOKER_NAME:
        raise NotationError("action: say which card the joker stands for, as JK=7C")
    joker = word.startswith(f"{JOKER_NAME}=")
    face = parse_card(word[len(JOKER_NAME) + 1 :] if joker else word, "action")
    if face == JOKER:
        raise NotationError(f"action: {shown(word)} is not a card; a joker is JK, or JK=7C")
    return face, joker


def _in_fitting_order(faces: list[tuple[int, bool]], meld: Meld, slot: int, side: int | None) -> list[int]:
    made: list[int] = []
    left = list(faces)
    while left:
        found = next(((face, end) for face in left if (end := _fitting_end(meld, *face, side)) is not None), None)
        if found is None:
            face, joker = left[0]
            card = f"{JOKER_NAME}={CARD_NAMES[face]}" if joker else CARD_NAMES[face]
            raise NoSuchPlayError(f"action: {card} does not fit the meld in slot {slot}, {format_meld(meld)}")
        left.remove(found[0])
        made.append(act.lay_off(slot, found[1]))
        meld = meld.grown(found[1])
    return made


def _fitting_end(meld: Meld, face: int, joker: bool, side: int | None) -> int | None:
    """The end at which a card fits; the high one where both do and no side is named."""
    for end in (JOKER_HIGH, JOKER_LOW) if joker else (HIGH, LOW):
        if meld.face_at(end) == face and side in (None, 0 if end in (LOW, JOKER_LOW) else 1):
            return end
    return None


def _swap(words: list[str], row: Any, rules: Rules, text: str) -> int:
    if not 1 <= len(words) <= 2:
        raise _malformed("swap", text)
    slot = _slot(words[-1], "swap", text)
    if len(words) == 1:
        return act.SWAP + slot
    card = parse_card(words[0], "action")
    meld = Meld.from_row(row, slot)
    if meld.type == EMPTY:
        raise NoSuchPlayError(f"action: no meld lies in slot {slot}")
    given = swap_card(row, slot, rules)
    if given is None:
        raise NoSuchPlayError(f"action: the meld in slot {slot}, {format_meld(meld)}, has no joker")
    if given != card:
        raise NoSuchPlayError(f"action: {_no_swap(card, given, row, slot, rules)}")
    return act.SWAP + slot


def _no_swap(card: int, given: int, row: Any, slot: int, rules: Rules) -> str:
    """Why the swap of a slot does not give a card, but ``given``."""
    cards = swap_cards(row, slot, rules)
    if card not in cards:
        names = " or ".join(CARD_NAMES[kind] for kind in cards)
        return f"the joker in slot {slot} is to be had for {names}, not {CARD_NAMES[card]}"
    if not holds(row, int(row.seat), card):
        return f"{CARD_NAMES[card]} is not in hand"
    return (
        f"with {CARD_NAMES[given]} in hand, for which the joker was laid, the one swap of slot {slot} gives that card"
    )


def _split(words: list[str], text: str) -> int:
    if len(words) != 3 or words[1] != "after" or words[2] not in ("3", "4", "5"):
        raise _malformed("split", text)
    return act.split(_slot(words[0], "split", text), int(words[2]))
