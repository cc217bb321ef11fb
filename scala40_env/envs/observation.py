"""The table of an observation: its slices by name, offset, length, meaning and range, generated from the offsets.

``layout`` is for observations, ``state_layout`` for the state of a centralised critic; ``describe`` is what the command
``scala40 observation`` prints.  The kernels that write them are in ``observe``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from scala40_env.core.actions import MAX_SLOTS
from scala40_env.core.cards import JOKER, MAX_CARDS, MAX_JOKERS, MAX_SEATS, NUM_KINDS
from scala40_env.core.rules import NUM_FLAGS, Rules
from scala40_env.core.state import PHASE_NAMES
from scala40_env.envs import observe as at
from scala40_env.envs.derived import derived_slices
from scala40_env.envs.observe import (
    MOST,
    observation_size,
    observe,
    observe_row,
    shown_rules,
    state_row,
    state_size,
    state_vector,
)
from scala40_env.envs.slices import Layout, Slice

__all__ = [
    "Layout",
    "Slice",
    "describe",
    "layout",
    "observation_size",
    "observe",
    "observe_row",
    "shown_rules",
    "state_layout",
    "state_row",
    "state_size",
    "state_vector",
]


_KINDS = "by kind: suit (H D C S) * 13 + rank (A ... K), the joker last"
_SLOTS = "by slot of the table (0 ... 35)"


def _shared_slices() -> Iterator[Slice]:
    """What does not depend on the number of seats, in the order of the offsets."""
    yield Slice("table_type", at.TABLE_TYPE, MAX_SLOTS, f"0 nothing, 1 a set, 2 a run, {_SLOTS}", 0, 2)
    yield Slice("table_rank", at.TABLE_RANK, MAX_SLOTS, f"a set's rank, a run's lowest (A = 0), {_SLOTS}", 0, 12)
    yield Slice(
        "table_suits",
        at.TABLE_SUITS,
        MAX_SLOTS,
        f"a set's suits as bits (H 1, D 2, C 4, S 8), a run's suit 0 ... 3, {_SLOTS}",
        0,
        15,
    )
    yield Slice("table_size", at.TABLE_SIZE, MAX_SLOTS, f"cards in the meld, {_SLOTS}", 0, 14)
    yield Slice(
        "table_joker",
        at.TABLE_JOKER,
        MAX_SLOTS,
        f"0 no joker, else 1 + the suit (set) or rank 0 ... 13 (run, 13 is the high ace) that it stands for, {_SLOTS}",
        0,
        14,
    )
    yield Slice(
        "rules",
        at.RULES,
        NUM_FLAGS,
        "the flags of the rules in the order of their list; where null is possible it is 0, and a number one higher;"
        " match_limit in the unit of a score",
        0,
        MOST,
    )
    yield Slice("taken_played", at.TAKEN_PLAYED, 1, "1: a card of the taken kind has been played since", 0, 1)
    yield Slice("laid_points", at.LAID_POINTS, 1, "points towards the opening this turn", 0, MOST)
    yield Slice("laid_any", at.LAID_ANY, 1, "1: a meld has been laid this turn", 0, 1)
    yield Slice("opened_now", at.OPENED_NOW, 1, "1: the seat to act has opened this turn", 0, 1)
    yield Slice("jokers_owed", at.JOKERS_OWED, 1, "jokers taken by swaps that must still be played", 0, MAX_JOKERS)
    yield Slice("last_slot", at.LAST_SLOT, 1, "1 + the slot laid last this turn, or 0", 0, MAX_SLOTS)
    yield Slice("split_slot", at.SPLIT_SLOT, 1, "1 + the slot whose run must be split, or 0", 0, MAX_SLOTS)
    yield Slice("round", at.ROUND, 1, "number of the round in the match, from 0", 0, MOST)
    yield Slice("round_turns", at.ROUND_TURNS, 1, "turns of the round that are over, of all seats", 0, MOST)
    yield Slice("recycles", at.RECYCLES, 1, "how often the pile has become the stock in this round", 0, MOST)
    yield Slice("stock_size", at.STOCK_SIZE, 1, "cards in the stock", 0, MAX_CARDS)
    yield Slice("stock_known", at.STOCK_KNOWN, 1, "cards at the bottom of the stock that everybody knows", 0, MAX_CARDS)
    yield Slice("pile_size", at.PILE_SIZE, 1, "cards in the pile", 0, MAX_CARDS)
    yield Slice("hand", at.HAND, NUM_KINDS, f"own hand, {_KINDS}", 0, MAX_JOKERS)
    yield Slice(
        "upcard",
        at.UPCARD,
        NUM_KINDS + 1,
        "the top of the pile, one-hot by kind; the last one: the pile is empty",
        0,
        1,
    )
    yield Slice("pile", at.PILE, NUM_KINDS, f"cards in the pile, the upcard too, {_KINDS}", 0, MAX_JOKERS)
    yield Slice("layable", at.LAYABLE, NUM_KINDS, "1: a natural card of the kind fits onto a meld of the table", 0, 1)
    yield Slice(
        "table_jokers", at.TABLE_JOKERS, NUM_KINDS, "jokers on the table by the kind that they stand for", 0, MAX_JOKERS
    )
    yield Slice(
        "known_stock", at.KNOWN_STOCK, NUM_KINDS, f"cards of the stock that everybody knows, {_KINDS}", 0, MAX_JOKERS
    )
    yield Slice(
        "next_card", at.NEXT_CARD, NUM_KINDS + 1, "the next card of the stock, one-hot; the last one: not known", 0, 1
    )
    yield Slice("taken", at.TAKEN, NUM_KINDS + 1, "the upcard taken this turn, one-hot; the last one: none", 0, 1)
    yield Slice("phase", at.PHASE, 4, f"one-hot: {', '.join(PHASE_NAMES)}", 0, 1)
    yield Slice("drew", at.DREW, 3, "one-hot: nothing yet, from the stock, the upcard", 0, 1)
    yield Slice(
        "duty", at.DUTY, 4, "what the taken upcard obliges to, one-hot: nothing, play it, open with it, open", 0, 1
    )
    yield Slice("table_new", at.TABLE_NEW, MAX_SLOTS, f"1: the meld was laid this turn, {_SLOTS}", 0, 1)


def _by_seat(num_seats: int) -> Iterator[tuple[int, str, str]]:
    for place in range(num_seats):
        yield place, "own" if place == 0 else f"opponent_{place}", "you" if place == 0 else f"seat {place} after you"


def _seat_slices(num_seats: int) -> Iterator[Slice]:
    """What there is by seat, in the order of the offsets."""
    for place, name, whose in _by_seat(num_seats):
        meaning = f"{whose}: cards that everybody saw it take and that it still holds, {_KINDS}"
        yield Slice(f"{name}_known", at.KNOWN + place * NUM_KINDS, NUM_KINDS, meaning, 0, MAX_JOKERS)
    for place, name, whose in _by_seat(num_seats):
        offset = at.discards_offset(num_seats) + place * NUM_KINDS
        yield Slice(f"{name}_discards", offset, NUM_KINDS, f"{whose}: discards of this round, {_KINDS}", 0, MOST)
    for place, name, whose in _by_seat(num_seats):
        offset = at.seats_offset(num_seats) + place * at.SEAT_SCALARS
        for what, inside, high, meaning in _SEAT_SCALARS:
            yield Slice(f"{name}_{what}", offset + inside, 1, f"{whose}: {meaning}", 0, high)


_SEAT_SCALARS = (
    ("hand_size", at.SEAT_HAND_SIZE, MAX_CARDS, "cards in hand"),
    ("in_match", at.SEAT_IN_MATCH, 1, "1: still in the match"),
    ("in_round", at.SEAT_IN_ROUND, 1, "1: dealt into this round"),
    ("has_opened", at.SEAT_OPENED, 1, "1: has opened"),
    ("score", at.SEAT_SCORE, MOST, "points of the match; where its limit is above 255, in units of 1 + limit // 256"),
    ("turns", at.SEAT_TURNS, MOST, "turns completed in this round"),
    ("reentries", at.SEAT_REENTRIES, MOST, "how often it has come back into the match"),
    ("to_act", at.SEAT_TO_ACT, 1, "1: it is its turn"),
    ("dealer", at.SEAT_DEALER, 1, "1: it deals"),
    ("reentry_due", at.SEAT_REENTRY_DUE, 1, "1: it has yet to choose whether to come back"),
)


def _check_seats(num_seats: int) -> None:
    if isinstance(num_seats, bool) or not isinstance(num_seats, (int, np.integer)) or not 2 <= num_seats <= MAX_SEATS:
        raise ValueError(f"players: expected an integer from 2 to {MAX_SEATS}, got {num_seats!r}")


@cache
def _observation_slices(num_seats: int) -> tuple[Slice, ...]:
    return (*_shared_slices(), *_seat_slices(num_seats))


def layout(rules: Any, num_seats: int, *, derived: bool = False) -> Layout:
    """The slices of an observation for so many seats.

    They are the same for all rules, so that one network can play every rulebook; the rules only say whether so many
    may play.

    Args:
        rules: rules, the name of a rulebook, or flags by name.
        num_seats: seats at the table, 2 ... 6 as the rules allow.
        derived: whether the derived part follows; see ``derived``.

    Raises:
        RulesError: rules that do not exist, or seats that they do not allow.
    """
    Rules.of(rules).check_players(num_seats)
    _check_seats(num_seats)
    slices = _observation_slices(int(num_seats))
    return Layout((*slices, *derived_slices(observation_size(num_seats))) if derived else slices)


def state_layout(rules: Any, num_seats: int) -> Layout:
    """The slices of the state for a centralised critic: what seat 0 sees, and all hidden cards.

    Args and errors as for ``layout``.
    """
    slices = list(layout(rules, num_seats).slices)
    offset = observation_size(num_seats)
    for seat in range(1, num_seats):
        slices.append(Slice(f"hand_{seat}", offset, NUM_KINDS, f"hand of seat {seat}, {_KINDS}", 0, MAX_JOKERS))
        offset += NUM_KINDS
    meaning = "the stock, the next card to be drawn first: 1 + kind, 0 beyond its end"
    slices.append(Slice("stock", offset, MAX_CARDS, meaning, 0, JOKER + 1))
    return Layout(tuple(slices))


def describe(rules: Any = "standard", players: int = 2) -> list[dict[str, Any]]:
    """The table of slices as plain records: name, offset, length, meaning, low, high.  Errors as for ``layout``."""
    return [
        {
            "name": part.name,
            "offset": part.offset,
            "length": part.length,
            "meaning": part.meaning,
            "low": part.low,
            "high": part.high,
        }
        for part in layout(rules, players).slices
    ]
