"""The laws that every state keeps, and why an action is not legal, in words.

``check`` looks for states that no play can lead to.  ``explain`` names the first rule that an action breaks, as a card
player would; what is legal it asks the engine, so that the two cannot differ.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from scala40_env.core.actions import MAX_SLOTS
from scala40_env.core.cards import ACE, HIGH_ACE, JOKER, NO_KIND, NUM_KINDS, NUM_RANKS, NUM_SUITS
from scala40_env.core.game import Game
from scala40_env.core.json_fields import members_of
from scala40_env.core.melds import LONGEST_UNSPLIT
from scala40_env.core.notation import CARD_NAMES, Meld, hand_kinds, meld_fault
from scala40_env.core.position_writer import plain
from scala40_env.core.reasons import LEGAL, why_not
from scala40_env.core.rules import Rules
from scala40_env.core.rules_json import deck_counts
from scala40_env.core.state import (
    DRAW,
    DREW_NOTHING,
    DREW_STOCK,
    DREW_UPCARD,
    DUTY_NONE,
    DUTY_OPEN,
    EMPTY,
    MATCH_OVER,
    NO_JOKER,
    NO_SLOT,
    NOBODY,
    PLAY,
    ROUND_OVER,
    RUN,
    SET,
    allocate,
)

__all__ = ["check", "explain"]


def explain(row: Any, rules: Rules, action: int) -> str:
    """``"legal"``, or why the seat to act may not do this; ``action`` is a number of the 745."""
    rows = allocate(1)
    rows[0] = row
    return LEGAL if Game.from_rows(rules, rows).is_legal(action) else why_not(row, rules, action)


def check(row: Any, rules: Rules) -> list[str]:
    """The laws that a state breaks, one line each; none for every state that play can lead to.

    A redacted state is judged by what it shows.
    """
    s = plain(row)
    if not 2 <= s.num_seats <= rules.max_players:
        return [f"num_seats: {s.num_seats}"]
    return [*_seats(s), *_hands(s), *_melds(s, rules), *_piles(s), *_cards(s, rules), *_phase(s), *_turn(s, rules)]


def _seats(s: SimpleNamespace) -> list[str]:
    everybody = (1 << s.num_seats) - 1
    masks = ("in_match", "in_round", "has_opened", "pending_reentry", "winners", "ended_opened", "ended_in_round")
    broken = [f"{name}: a seat that does not exist" for name in masks if getattr(s, name) & ~everybody]
    if s.has_opened & ~s.in_round:
        broken.append("has_opened: a seat that is not in the round")
    if s.pending_reentry & ~s.in_match:
        broken.append("pending_reentry: a seat that is not in the match")
    if s.dealer >= s.num_seats:
        broken.append(f"dealer: seat {s.dealer} does not exist")
    if int(s.turns.sum()) != s.round_turns or s.match_turns < s.round_turns:
        broken.append("round_turns: not the sum of the seats' turns, or more than the match had")
    counts = {name: getattr(s, name) for name in ("totals", "reentries", "points", "turns")}
    bad = [name for name, values in counts.items() if (values < 0).any() or values[s.num_seats :].any()]
    return broken + [f"{name}: negative, or of a seat that does not exist" for name in bad]


def _hands(s: SimpleNamespace) -> list[str]:
    broken = []
    for seat, size in enumerate(s.hand_size.tolist()):
        one, two = int(s.hand_one[seat]), int(s.hand_two[seat])
        known_one, known_two = int(s.known_one[seat]), int(s.known_two[seat])
        held = one.bit_count() + two.bit_count() + int(s.hand_jokers[seat])
        if two & ~one or known_two & ~known_one:
            broken.append(f"hand_two[{seat}]: a second copy without a first")
        if known_one & ~one or known_two & ~two or s.known_jokers[seat] > s.hand_jokers[seat]:
            broken.append(f"known_one[{seat}]: a known card that is not in the hand")
        if held > size:
            broken.append(f"hand_size[{seat}]: {held} cards in a hand of {size}")
        if size and not s.in_round >> seat & 1:
            broken.append(f"hand_size[{seat}]: cards of a seat that is not in the round")
    return broken


def _melds(s: SimpleNamespace, rules: Rules) -> list[str]:
    broken = []
    if s.used_slots >> MAX_SLOTS:
        broken.append("used_slots: a slot that does not exist")
    for slot in range(MAX_SLOTS):
        meld = Meld.from_row(s, slot)
        if not s.used_slots >> slot & 1:
            if meld != Meld(EMPTY, 0, 0, 0):
                broken.append(f"used_slots: slot {slot} is empty but holds {meld}")
            continue
        fault = _shape_fault(meld)
        longest = LONGEST_UNSPLIT if slot == s.split_slot else None
        fault = fault or meld_fault(meld, rules, longest)
        if fault:
            broken.append(f"meld_type[{slot}]: {fault}")
    return broken


def _shape_fault(meld: Meld) -> str | None:
    """Why the numbers of a meld cannot be one."""
    if meld.type == SET:
        if meld.rank >= NUM_RANKS or meld.suits >> NUM_SUITS or not 3 <= meld.size == meld.suits.bit_count():
            return f"not a set: {meld}"
        good = meld.joker == NO_JOKER or (meld.joker < NUM_SUITS and meld.suits >> meld.joker & 1)
    elif meld.type == RUN:
        top = meld.rank + meld.size - 1
        if meld.suits >= NUM_SUITS or meld.size < 3 or not ACE <= meld.rank <= top <= HIGH_ACE:
            return f"not a run: {meld}"
        good = meld.joker == NO_JOKER or meld.rank <= meld.joker <= top
    else:
        return f"neither set nor run: {meld}"
    return None if good else f"a joker outside its meld: {meld}"


def _piles(s: SimpleNamespace) -> list[str]:
    broken = []
    for name, cards, size in (("stock", s.stock, s.stock_size), ("pile", s.pile, s.pile_size)):
        if (cards[size:] != NO_KIND).any():
            broken.append(f"{name}: cards above its top")
        if ((cards[:size] >= NUM_KINDS) & (cards[:size] != NO_KIND)).any():
            broken.append(f"{name}: a kind that does not exist")
    if s.stock_known > s.stock_size:
        broken.append("stock_known: more than the stock has")
    return broken


def _cards(s: SimpleNamespace, rules: Rules) -> list[str]:
    """Every card of the deck is in one place, and no other card is anywhere."""
    counts = [0] * NUM_KINDS
    hidden = 0
    for kind in (*s.stock[: s.stock_size].tolist(), *s.pile[: s.pile_size].tolist()):
        if kind < NUM_KINDS:
            counts[kind] += 1
        else:
            hidden += 1
    for seat in range(s.num_seats):
        kinds = [kind for kind in hand_kinds(s.hand_one[seat], s.hand_two[seat], s.hand_jokers[seat]) if kind <= JOKER]
        hidden += int(s.hand_size[seat]) - len(kinds)
        for kind in kinds:
            counts[kind] += 1
    for slot in members_of(s.used_slots):
        meld = Meld.from_row(s, slot)
        for kind in () if _shape_fault(meld) else meld.kinds():
            counts[kind] += 1
    deck = deck_counts(rules)
    broken = [f"cards: {counts[i]} of {CARD_NAMES[i]}, of {deck[i]}" for i in range(NUM_KINDS) if counts[i] > deck[i]]
    if sum(counts) + hidden != sum(deck):
        broken.append(f"cards: {sum(counts) + hidden} in all, of {sum(deck)}")
    return broken


def _phase(s: SimpleNamespace) -> list[str]:
    broken = []
    if s.phase not in (DRAW, PLAY, ROUND_OVER, MATCH_OVER):
        return [f"phase: {s.phase}"]
    if s.phase in (DRAW, PLAY):
        if s.seat >= s.num_seats or not s.in_round >> s.seat & 1:
            broken.append(f"seat: seat {s.seat} is not in the round")
    elif s.phase == ROUND_OVER and s.pending_reentry:
        if s.seat >= s.num_seats or not s.pending_reentry >> s.seat & 1:
            broken.append(f"seat: seat {s.seat} has no choice of re-entry")
    elif s.seat != NOBODY:
        broken.append(f"seat: seat {s.seat} acts though all is over")
    if s.pending_reentry and s.phase != ROUND_OVER:
        broken.append("pending_reentry: outside ROUND_OVER")
    if (s.winners != 0) != (s.phase == MATCH_OVER):
        broken.append("winners: there are some if and only if the match is over")
    return broken


def _turn(s: SimpleNamespace, rules: Rules) -> list[str]:
    if s.phase != PLAY:
        nothing = (DREW_NOTHING, NO_KIND, 0, DUTY_NONE, 0, 0, 0, 0, 0, NO_SLOT, NO_SLOT)
        values = (s.drew, s.taken, s.taken_played, s.duty, s.laid_points, s.laid_any, s.opened_now, s.jokers_owed)
        fresh = (*values, s.new_slots, s.last_slot, s.split_slot) == nothing
        return [] if fresh else ["drew: something of a turn is left outside PLAY"]
    if s.seat >= s.num_seats:
        return []  # said already
    broken = []
    opened = bool(s.has_opened >> s.seat & 1)
    if s.drew not in (DREW_STOCK, DREW_UPCARD):
        broken.append(f"drew: {s.drew} in PLAY")
    if (s.drew == DREW_UPCARD) != (s.taken <= JOKER):
        broken.append("taken: a card if and only if the upcard was drawn")
    if s.drew != DREW_UPCARD and (s.duty != DUTY_NONE or s.taken_played):
        broken.append("duty: without the upcard")
    if s.duty == DUTY_OPEN and opened:
        broken.append("duty: to open, of a seat that has opened")
    if s.opened_now and not (opened and s.laid_any):
        broken.append("opened_now: without an opening")
    if opened and s.laid_points and not s.opened_now:
        broken.append("laid_points: of a seat that opened in an earlier turn")
    if not opened and s.laid_any and s.laid_points >= rules.opening_min:
        broken.append("has_opened: the points are enough")
    if s.jokers_owed > s.hand_jokers[s.seat]:
        broken.append("jokers_owed: more than the hand has")
    if s.new_slots & ~s.used_slots or (s.last_slot != NO_SLOT and not s.new_slots >> s.last_slot & 1):
        broken.append("new_slots: a slot in which no meld of this turn lies")
    if s.split_slot != NO_SLOT and not _must_be_split(s, rules):
        broken.append("split_slot: not a run that must be split")
    return broken


def _must_be_split(s: SimpleNamespace, rules: Rules) -> bool:
    is_run = s.split_slot < MAX_SLOTS and s.meld_type[s.split_slot] == RUN
    return bool(is_run and rules.run_overflow == "split" and s.meld_size[s.split_slot] > rules.max_run)
