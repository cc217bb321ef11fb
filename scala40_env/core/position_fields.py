"""The fields of a position: their names, how large their numbers may be, and the readers that only positions need."""

from __future__ import annotations

from typing import Any

from scala40_env.core.actions import MAX_SLOTS
from scala40_env.core.cards import JOKER, NO_KIND, NUM_KINDS
from scala40_env.core.json_fields import (
    read_cards,
    read_flag,
    read_flags,
    read_integer,
    read_mapping,
    read_name,
    read_per_seat,
)
from scala40_env.core.meld_text import CARD_NAMES, NotationError
from scala40_env.core.rules import Rules
from scala40_env.core.state import END_CLOSED, END_NAMES, END_NONE, NO_SLOT, NOBODY

# fmt: off
FIELDS = (
    "rules", "players", "dealer", "seat", "phase", "hands", "has_opened", "turns", "scores", "table", "pile", "stock",
    "turn", "seed", "game", "episode", "round", "in_match", "in_round", "reentries", "round_turns", "match_turns",
    "recycles", "stock_known", "known", "discards", "pending", "winners", "last_round",
)
TURN_FIELDS = (
    "drew", "card", "card_played", "duty", "laid_points", "laid_any", "opened_now", "jokers_owed", "new", "last",
    "split",
)
# fmt: on
LAST_ROUND_FIELDS = ("end", "closer", "closed_in_hand", "points", "opened", "in_round", "turns")
DREW_NAMES = ("none", "stock", "upcard")
DUTY_NAMES = ("none", "play", "open_with", "open")
EPISODES = ("round", "match")
MAX_POINTS = 1 << 30
"""The most points that are read: what a round adds to them stays a number of 32 bits."""
MAX_COUNT = 1 << 24
"""The most turns, rounds, re-entries and recycles that are read."""
MAX_SEED = (1 << 64) - 1
LARGEST_HAND = 16
"""More than any play leads to; the engine's searches are made for hands of about this size."""


def read_players(value: object, rules: Rules) -> int:
    """How many seats there are, as the rules allow."""
    if isinstance(value, bool) or not isinstance(value, int):
        return read_integer(value, "players", rules.min_players, rules.max_players)
    rules.check_players(value)
    return value


def read_count(value: object, where: str) -> int:
    """A count of turns, rounds and the like."""
    return read_integer(value, where, 0, MAX_COUNT)


def read_points(value: object, where: str) -> int:
    """Points of a round or a match."""
    return read_integer(value, where, 0, MAX_POINTS)


def read_hand(value: object, where: str) -> list[int]:
    """The cards that everybody knows of a hand."""
    return read_cards(value, where, LARGEST_HAND)


def read_discards(value: object, where: str) -> list[int]:
    """The cards that a seat has discarded."""
    kinds = read_cards(value, where, 255 * NUM_KINDS)
    if kinds and max(kinds.count(kind) for kind in set(kinds)) > 255:
        raise NotationError(f"{where}: at most 255 of a kind")
    return kinds


def read_slot(value: object, where: str) -> int:
    """The number of a slot; ``NO_SLOT`` for null."""
    return NO_SLOT if value is None else read_integer(value, where, 0, MAX_SLOTS - 1)


def reveal(cards: list[int], unseen: list[int], where: str) -> None:
    """Put unseen cards in the place of hidden ones."""
    if -1 not in cards:
        return
    for place, kind in enumerate(cards):
        if kind < 0:
            if not unseen:
                raise NotationError(f"{where}: more hidden cards than are unseen")
            cards[place] = unseen.pop()


def hold_what_the_turn_says(hand: list[int], row: Any, where: str) -> None:
    """See that the hand of a seat that plays has the upcard that it has not played and the jokers that it owes.

    They take the places of hidden cards; a hand that names all its cards must have them.
    """
    owed = int(row["jokers_owed"])
    taken = NO_KIND if row["taken_played"] else int(row["taken"])
    if taken != NO_KIND and not _hold(hand, taken, 1):
        raise NotationError(f"turn.card: {CARD_NAMES[taken]} is not in {where}; say card_played if it was played")
    if not _hold(hand, JOKER, owed):
        raise NotationError(f"turn.jokers_owed: {owed}, but the jokers in {where} are {hand.count(JOKER)}")


def _hold(hand: list[int], kind: int, copies: int) -> bool:
    """Put so many of a kind into a hand, for hidden cards; whether it then has them."""
    while hand.count(kind) < copies:
        if -1 not in hand:
            return False
        hand[hand.index(-1)] = kind
    return True


def read_last_round(value: object, row: Any, seats: int) -> None:
    """Fill in how the last round ended."""
    last = read_mapping(value, "last_round", LAST_ROUND_FIELDS)
    row["end"] = read_name(last.get("end", "closed"), "last_round.end", END_NAMES)
    if row["end"] == END_NONE:
        raise NotationError("last_round.end: leave last_round out where no round has ended")
    if last.get("closer") is not None:
        row["closer"] = read_integer(last["closer"], "last_round.closer", 0, seats - 1)
    if (row["closer"] != NOBODY) != (row["end"] == END_CLOSED):
        raise NotationError("last_round.closer: a seat where the round was closed, else null")
    row["closed_in_hand"] = read_flag(last.get("closed_in_hand", False), "last_round.closed_in_hand")
    points = last.get("points", [0] * seats)
    row["points"][:seats] = read_per_seat(points, "last_round.points", seats, read_points)
    for name, field in (("opened", "ended_opened"), ("in_round", "ended_in_round")):
        default = [False] * seats if name == "opened" else [True] * seats
        row[field] = read_flags(last.get(name, default), f"last_round.{name}", seats)
    row["ended_turns"] = read_count(last.get("turns", 0), "last_round.turns")
