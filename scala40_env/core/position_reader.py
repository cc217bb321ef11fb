"""Reads the JSON of a position into a row; see ``position`` for its fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.actions import MAX_SLOTS
from scala40_env.core.cards import MAX_CARDS, MAX_SEATS, NUM_KINDS
from scala40_env.core.deal import shuffle, stream
from scala40_env.core.jit import kernel
from scala40_env.core.json_fields import (
    members_of,
    read_cards,
    read_cards_and_hidden,
    read_flag,
    read_flags,
    read_integer,
    read_list,
    read_mapping,
    read_name,
    read_per_seat,
    read_set,
)
from scala40_env.core.melds import LONGEST_UNSPLIT, note_tables
from scala40_env.core.notation import (
    CARD_NAMES,
    NotationError,
    hand_kinds,
    hand_masks,
    meld_fault,
    parse_card,
    parse_meld,
)
from scala40_env.core.position_fields import (
    DREW_NAMES,
    DUTY_NAMES,
    EPISODES,
    FIELDS,
    LARGEST_HAND,
    MAX_COUNT,
    MAX_SEED,
    TURN_FIELDS,
    hold_what_the_turn_says,
    read_count,
    read_discards,
    read_hand,
    read_last_round,
    read_players,
    read_points,
    read_slot,
    reveal,
)
from scala40_env.core.rules import Rules
from scala40_env.core.rules_json import deck_counts, read_rules
from scala40_env.core.state import (
    DRAW,
    DREW_STOCK,
    DREW_UPCARD,
    DUTY_NONE,
    DUTY_OPEN,
    DUTY_OPEN_WITH,
    DUTY_PLAY,
    MATCH_OVER,
    NO_SLOT,
    NOBODY,
    PHASE_NAMES,
    PLAY,
    ROUND_OVER,
    ROW,
    RUN,
    allocate,
    blank,
)

_STREAM = 1 << 22
"""The stream of random numbers that places hidden cards: none that a deal or a reshuffle uses."""

_BLANK = blank()
_KINDS = np.arange(NUM_KINDS, dtype=np.uint8)


@kernel
def _shuffle_unseen(kinds: NDArray[np.uint8], rows: Any) -> None:
    shuffle(kinds, kinds.shape[0], stream(rows[0].seed, rows[0].game, 0, _STREAM))


def position_from_json(data: object) -> tuple[Rules, Any]:
    """The rules and the state (a record array of one row) of a position.

    Raises:
        NotationError: a field is badly written or impossible; one line that names it.
        RulesError: the same, of the rules.
    """
    fields = read_mapping(data, "position", FIELDS)
    reader = _Reader(fields, read_rules(fields.get("rules", "standard")))
    return reader.rules, reader.read()


class _Reader:
    """Fills a row field by field; what a field defaults to may depend on those read before it."""

    def __init__(self, fields: Mapping[str, Any], rules: Rules) -> None:
        self.fields = fields
        self.rules = rules
        self.rows = allocate(1)
        self.rows[0] = _BLANK[0]
        self.row: Any = np.ndarray((1,), ROW, self.rows)[0]  # a plain view: quicker to fill than a record
        self.left = list(deck_counts(rules))
        self.seats = 0
        self.seat = NOBODY
        self.phase = DRAW
        self.has_opened = 0
        self.in_round = 0
        self.in_match = 0
        self.opened_now = False

    def read(self) -> Any:
        """The row of the position, as a record array of one."""
        self._match()
        self._phase_and_seat()
        turn = self._turn()
        self._counts()
        if turn is not None:
            self._duty(turn)
        self.row["closer"] = NOBODY
        if self.fields.get("last_round") is not None:
            read_last_round(self.fields["last_round"], self.row, self.seats)
        elif self.phase == MATCH_OVER or (self.phase == ROUND_OVER and not self.row["whole_match"]):
            raise NotationError(f"last_round: needed in phase {PHASE_NAMES[self.phase]!r}")
        self._table()
        self._piles_and_hands()
        self._memory()
        note_tables(self.rows, self.rules.vector())
        return self.rows

    def _get_integer(self, name: str, default: int, high: int = MAX_COUNT) -> int:
        return read_integer(self.fields[name], name, 0, high) if name in self.fields else default

    def _get_flags(self, name: str, default: int) -> int:
        return read_flags(self.fields[name], name, self.seats) if name in self.fields else default

    def _set_counts(
        self, name: str, field: str, default: list[int], read: Callable[[object, str], int] = read_count
    ) -> list[int]:
        counts = default
        if name in self.fields:
            counts = read_per_seat(self.fields[name], name, self.seats, read)
        if any(counts):
            self.row[field][: self.seats] = counts
        return counts

    def _match(self) -> None:
        hands = self.fields.get("hands", ())
        given = len(hands) if isinstance(hands, (list, tuple)) else 0
        default = max(self.rules.min_players, min(given, MAX_SEATS))
        self.seats = read_players(self.fields.get("players", default), self.rules)
        row, everybody = self.row, (1 << self.seats) - 1
        row["num_seats"] = self.seats
        row["seed"] = self._get_integer("seed", 0, MAX_SEED)
        row["game"] = self._get_integer("game", 0, MAX_SEED)
        row["round"] = self._get_integer("round", 0)
        row["whole_match"] = read_name(self.fields.get("episode", "round"), "episode", EPISODES)
        in_match = self._get_flags("in_match", everybody)
        self.in_round = self._get_flags("in_round", in_match)
        self.in_match = in_match
        row["in_match"], row["in_round"] = in_match, self.in_round
        self.has_opened = row["has_opened"] = self._get_flags("has_opened", 0)
        self._set_counts("scores", "totals", [0] * self.seats, read_points)
        self._set_counts("reentries", "reentries", [0] * self.seats)
        row["winners"] = read_set(self.fields.get("winners", ()), "winners", self.seats)

    def _phase_and_seat(self) -> None:
        default = "draw" if self.fields.get("turn") is None else "play"
        self.phase = self.row["phase"] = read_name(self.fields.get("phase", default), "phase", PHASE_NAMES)
        pending = self.row["pending_reentry"] = read_set(self.fields.get("pending", ()), "pending", self.seats)
        if pending and self.phase != ROUND_OVER:
            raise NotationError(f"pending: nobody chooses re-entry in phase {PHASE_NAMES[self.phase]!r}")
        last = self.seats - 1
        dealer = self._get_integer("dealer", NOBODY, last)
        seat = self._seat(dealer, pending)
        self.seat = self.row["seat"] = seat
        self.row["dealer"] = dealer if dealer != NOBODY else last if seat == NOBODY else (seat - 1) % self.seats

    def _seat(self, dealer: int, pending: int) -> int:
        acts = self.phase in (DRAW, PLAY)
        among = self.in_round if acts else pending
        if acts and not among:
            raise NotationError("in_round: no seat is in the round")
        absent = members_of(among & ~self.in_match)
        if absent:
            field = f"in_round[{absent[0]}]" if acts else "pending"
            raise NotationError(f"{field}: seat {absent[0]} is not in the match")
        given = self.fields.get("seat")
        if given is None:
            start = dealer if dealer != NOBODY else self.seats - 1
            turn_order = [(start + step) % self.seats for step in range(1, self.seats + 1)]
            return next((seat for seat in turn_order if among >> seat & 1), NOBODY)
        seat = read_integer(given, "seat", 0, self.seats - 1)
        if not among >> seat & 1:
            why = "is not in the round" if acts else f"does not act in phase {PHASE_NAMES[self.phase]!r}"
            raise NotationError(f"seat: seat {seat} {why}")
        return seat

    def _turn(self) -> Mapping[str, Any] | None:
        """The turn's fields, all but its duty, which depends on how many turns there were."""
        given = self.fields.get("turn")
        if self.phase != PLAY:
            if given is not None:
                raise NotationError(f"turn: there is no turn in phase {PHASE_NAMES[self.phase]!r}")
            return None
        turn = read_mapping({} if given is None else given, "turn", TURN_FIELDS)
        row, opened = self.row, bool(self.has_opened >> self.seat & 1)
        points = row["laid_points"] = read_points(turn.get("laid_points", 0), "turn.laid_points")
        new = row["new_slots"] = read_set(turn.get("new", ()), "turn.new", MAX_SLOTS)
        laid = row["laid_any"] = read_flag(turn.get("laid_any", points > 0 or new > 0), "turn.laid_any")
        self.opened_now = read_flag(turn.get("opened_now", opened and points > 0), "turn.opened_now")
        row["opened_now"] = self.opened_now
        if self.opened_now and not opened:
            raise NotationError("turn.opened_now: has_opened says that the seat has not opened")
        if not opened and points >= max(self.rules.opening_min, 1):
            raise NotationError("turn.laid_points: they are enough to open, but has_opened says otherwise")
        if (points or new) and not laid:
            raise NotationError("turn.laid_any: a meld laid this turn, or its points, say otherwise")
        row["jokers_owed"] = read_integer(turn.get("jokers_owed", 0), "turn.jokers_owed", 0, self.rules.jokers)
        last = row["last_slot"] = read_slot(turn.get("last"), "turn.last")
        if last != NO_SLOT and not new >> last & 1:
            raise NotationError(f"turn.last: slot {last} is not among turn.new, the melds laid this turn")
        row["split_slot"] = read_slot(turn.get("split"), "turn.split")
        return turn

    def _counts(self) -> None:
        """Turns and recycles."""
        before = self.has_opened & ~(1 << self.seat if self.opened_now else 0)
        turns = self._set_counts("turns", "turns", [before >> seat & 1 for seat in range(self.seats)])
        round_turns = self.row["round_turns"] = self._get_integer("round_turns", sum(turns))
        match_turns = self.row["match_turns"] = self._get_integer("match_turns", round_turns)
        if match_turns < round_turns:
            raise NotationError(f"match_turns: {match_turns} are fewer than those of the round, {round_turns}")
        self.row["recycles"] = self._get_integer("recycles", 0)

    def _duty(self, turn: Mapping[str, Any]) -> None:
        row = self.row
        drew = row["drew"] = read_name(turn.get("drew", "stock"), "turn.drew", DREW_NAMES)
        if drew not in (DREW_STOCK, DREW_UPCARD):
            raise NotationError("turn.drew: a seat that plays has drawn from the stock, or taken the upcard")
        if drew == DREW_STOCK:
            for name in ("card", "card_played", "duty"):
                if turn.get(name) not in (None, False, "none"):
                    raise NotationError(f"turn.{name}: only where the upcard was drawn")
            return
        if turn.get("card") is None:
            raise NotationError("turn.card: name the upcard that was taken")
        row["taken"] = parse_card(turn["card"], "turn.card")
        played = row["taken_played"] = read_flag(turn.get("card_played", False), "turn.card_played")
        if "duty" in turn:
            row["duty"] = read_name(turn["duty"], "turn.duty", DUTY_NAMES)
        else:
            row["duty"] = DUTY_NONE if played else self._duty_of_take()

    def _duty_of_take(self) -> int:
        rules = self.rules
        if self.row["round_turns"] == 0 and rules.first_player_may_keep_upcard:
            return DUTY_NONE
        if self.has_opened >> self.seat & 1 and not self.opened_now:
            return DUTY_PLAY if rules.take_after_opening == "must_use" else DUTY_NONE
        if rules.take_before_opening == "never":
            raise NotationError("turn.drew: a seat that has not opened may not take the upcard under these rules")
        if rules.take_before_opening == "must_use_in_opening":
            return DUTY_OPEN_WITH
        return DUTY_NONE if self.opened_now else DUTY_OPEN

    def _table(self) -> None:
        row, used = self.row, 0
        for slot, words in enumerate(read_list(self.fields.get("table", ()), "table", MAX_SLOTS)):
            if words is None:
                continue
            where = f"table[{slot}]"
            meld = parse_meld(read_list(words, where, MAX_CARDS), where)
            fault = meld_fault(meld, self.rules, LONGEST_UNSPLIT if slot == row["split_slot"] else None)
            if fault:
                raise NotationError(f"{where}: {fault}")
            self._take(meld.kinds(), where)
            used |= 1 << slot
            row["meld_type"][slot], row["meld_rank"][slot], row["meld_suits"][slot] = meld.type, meld.rank, meld.suits
            row["meld_size"][slot], row["meld_joker"][slot] = meld.size, meld.joker
        row["used_slots"] = used
        if int(row["new_slots"]) & ~used:
            raise NotationError("turn.new: a slot in which no meld lies")
        self._check_split(int(row["split_slot"]))

    def _check_split(self, slot: int) -> None:
        if slot == NO_SLOT:
            return
        row = self.row
        if (
            self.rules.run_overflow != "split"
            or row["meld_type"][slot] != RUN
            or row["meld_size"][slot] <= self.rules.max_run
        ):
            raise NotationError("turn.split: not a run that these rules split")

    def _take(self, kinds: Sequence[int], where: str) -> None:
        """Take cards that a field names out of the deck."""
        for kind in kinds:
            if kind >= 0:
                self.left[kind] -= 1
                if self.left[kind] < 0:
                    copies = deck_counts(self.rules)[kind]
                    what = f"the deck of these rules has {copies}" if copies else "it is not in the deck of these rules"
                    raise NotationError(f"{where}: too many of {CARD_NAMES[kind]}, {what}")

    def _piles_and_hands(self) -> None:
        row = self.row
        pile = read_cards(self.fields.get("pile", ()), "pile", MAX_CARDS)
        self._take(pile, "pile")
        hands = self._hands()
        stock: list[int] | None = None
        if self.fields.get("stock") is not None:
            stock = read_cards_and_hidden(self.fields["stock"], "stock", MAX_CARDS)
            self._take(stock, "stock")
        unseen = self._unseen()
        for seat, hand in enumerate(hands):
            reveal(hand, unseen, f"hands[{seat}]")
            row["hand_one"][seat], row["hand_two"][seat], row["hand_jokers"][seat] = hand_masks(hand)
            row["hand_size"][seat] = len(hand)
        if stock is None:
            stock, unseen = unseen, []
        reveal(stock, unseen, "stock")
        if unseen:
            raise NotationError(
                f"stock: {len(unseen)} cards lie nowhere; leave stock out, and it has all that are unseen"
            )
        row["pile"][: len(pile)], row["pile_size"] = pile, len(pile)
        row["stock"][: len(stock)], row["stock_size"] = stock, len(stock)
        row["stock_known"] = self._get_integer("stock_known", 0, len(stock))

    def _hands(self) -> list[list[int]]:
        """The hands, hidden cards as -1."""
        given = read_list(self.fields.get("hands", ()), "hands", self.seats)
        hands = []
        for seat in range(self.seats):
            where = f"hands[{seat}]"
            if seat < len(given) and given[seat] is not None:
                hand = read_cards_and_hidden(given[seat], where, LARGEST_HAND)
            elif self.in_round >> seat & 1:
                hand = [-1] * (self.rules.hand_size + (self.phase == PLAY and seat == self.seat))
            else:
                hand = []
            if hand and not self.in_round >> seat & 1:
                raise NotationError(f"{where}: the seat is not in the round")
            if seat == self.seat and self.phase == PLAY:
                hold_what_the_turn_says(hand, self.row, where)
            self._take(hand, where)
            hands.append(hand)
        return hands

    def _unseen(self) -> list[int]:
        """All the cards that no field names, in an order drawn from the seed."""
        if not any(self.left):
            return []
        kinds = np.repeat(_KINDS, self.left)
        _shuffle_unseen(kinds, self.rows)
        made: list[int] = kinds.tolist()
        return made

    def _memory(self) -> None:
        """What everybody saw: known cards and discards."""
        row = self.row
        if "known" in self.fields:
            known = read_per_seat(self.fields["known"], "known", self.seats, read_hand)
            for seat, kinds in enumerate(known):
                one, two, jokers = hand_masks(kinds)
                held = (one & ~int(row["hand_one"][seat])) | (two & ~int(row["hand_two"][seat])) == 0
                if not held or jokers > row["hand_jokers"][seat] or len(hand_kinds(one, two, jokers)) < len(kinds):
                    raise NotationError(f"known[{seat}]: not all of these cards are in that hand")
                row["known_one"][seat], row["known_two"][seat], row["known_jokers"][seat] = one, two, jokers
        if "discards" in self.fields:
            discards = read_per_seat(self.fields["discards"], "discards", self.seats, read_discards)
            for seat, kinds in enumerate(discards):
                for kind in kinds:
                    row["discards"][seat][kind] += 1
