"""Between the twin and the engine: a state from a row and back, what differs, and the engine's deal taken over.

Only here does the twin read the engine's fields, and only by their documented meaning.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from scala40_env.core import state as engine
from scala40_env.core.cards import JOKER, NO_KIND, NUM_KINDS, NUM_RANKS, RANK_NAMES, SUIT_NAMES
from scala40_env.core.rules import Rules
from tests.reference import state as twin
from tests.reference.melds import Meld, make_run, make_set
from tests.reference.state import Hand, State, Turn

_PHASES = {
    engine.DRAW: twin.DRAW,
    engine.PLAY: twin.PLAY,
    engine.ROUND_OVER: twin.ROUND_OVER,
    engine.MATCH_OVER: twin.MATCH_OVER,
}
_ENDS = {
    engine.END_NONE: None,
    engine.END_CLOSED: twin.CLOSED,
    engine.END_DEAD_POSITION: twin.DEAD_POSITION,
    engine.END_STOCK_OUT: twin.STOCK_OUT,
    engine.END_TURN_CAP: twin.TURN_CAP,
    engine.END_STUCK: twin.STUCK,
    engine.END_TRUNCATED: "truncated",
}
_DREW = {engine.DREW_NOTHING: None, engine.DREW_STOCK: twin.STOCK, engine.DREW_UPCARD: twin.UPCARD}
_DUTIES = {
    engine.DUTY_NONE: None,
    engine.DUTY_PLAY: twin.MUST_PLAY,
    engine.DUTY_OPEN_WITH: twin.MUST_OPEN_WITH,
    engine.DUTY_OPEN: twin.MUST_OPEN,
}

# --- reading a row ------------------------------------------------------------------------------------------------


def from_row(row: Any, rules: Rules) -> State:
    """The twin's state from one record of ``ROW``; the row must be full, not redacted."""
    row = dict(zip(engine.ROW.names or (), row.item(), strict=True))  # many times quicker to read
    seats = range(int(row["num_seats"]))
    return State(
        rules=rules,
        num_seats=len(seats),
        whole_match=bool(row["whole_match"]),
        round=int(row["round"]),
        in_match=_members(row["in_match"]),
        in_round=_members(row["in_round"]),
        dealer=int(row["dealer"]),
        totals=[int(row["totals"][seat]) for seat in seats],
        reentries=[int(row["reentries"][seat]) for seat in seats],
        winners=_members(row["winners"]),
        end=_ENDS[int(row["end"])],
        closer=_or_none(row["closer"], engine.NOBODY),
        closed_in_hand=bool(row["closed_in_hand"]),
        points=[int(row["points"][seat]) for seat in seats],
        ended_opened=_members(row["ended_opened"]),
        ended_in_round=_members(row["ended_in_round"]),
        ended_turns=int(row["ended_turns"]),
        phase=_PHASES[int(row["phase"])],
        seat=_or_none(row["seat"], engine.NOBODY),
        pending_reentry=_members(row["pending_reentry"]),
        round_turns=int(row["round_turns"]),
        match_turns=int(row["match_turns"]),
        turns=[int(row["turns"][seat]) for seat in seats],
        has_opened=_members(row["has_opened"]),
        recycles=int(row["recycles"]),
        hands=[_hand(row["hand_one"][seat], row["hand_two"][seat], row["hand_jokers"][seat]) for seat in seats],
        known=[_hand(row["known_one"][seat], row["known_two"][seat], row["known_jokers"][seat]) for seat in seats],
        table=_table(row),
        stock=[int(kind) for kind in row["stock"][: int(row["stock_size"])]],
        stock_known=int(row["stock_known"]),
        pile=[int(kind) for kind in row["pile"][: int(row["pile_size"])]],
        discards=[[int(count) for count in row["discards"][seat]] for seat in seats],
        turn=_turn(row),
    )


def _turn(row: Any) -> Turn:
    return Turn(
        drew=_DREW[int(row["drew"])],
        taken=_or_none(row["taken"], NO_KIND),
        taken_played=bool(row["taken_played"]),
        duty=_DUTIES[int(row["duty"])],
        laid_points=int(row["laid_points"]),
        laid_any=bool(row["laid_any"]),
        opened_now=bool(row["opened_now"]),
        jokers_owed=int(row["jokers_owed"]),
        new_slots=_members(row["new_slots"]),
        last_slot=_or_none(row["last_slot"], engine.NO_SLOT),
        split_slot=_or_none(row["split_slot"], engine.NO_SLOT),
    )


def _members(mask: Any) -> set[int]:
    """The bits that are set."""
    bits = int(mask)
    return {i for i in range(bits.bit_length()) if bits >> i & 1}


def _or_none(value: Any, nothing: int) -> int | None:
    return None if int(value) == nothing else int(value)


def _hand(one: Any, two: Any, jokers: Any) -> Hand:
    """Counts by kind from two masks of 16-bit lanes, one lane a suit."""
    hand = twin.empty_hand()
    for mask in (int(one), int(two)):
        for bit in _members(mask):
            suit, rank = divmod(bit, 16)
            hand[suit * NUM_RANKS + rank] += 1
    hand[JOKER] = int(jokers)
    return hand


def _table(row: Any) -> dict[int, Meld]:
    table = {}
    for slot in sorted(_members(row["used_slots"])):
        joker = _or_none(row["meld_joker"][slot], engine.NO_JOKER)
        rank, suits = int(row["meld_rank"][slot]), int(row["meld_suits"][slot])
        if int(row["meld_type"][slot]) == engine.SET:
            places = [(suit, rank) for suit in sorted(_members(suits))]
            table[slot] = make_set(places, None if joker is None else (joker, rank))
        else:
            table[slot] = make_run(suits, rank, int(row["meld_size"][slot]), joker)
    return table


# --- writing a row -----------------------------------------------------------------------------------------------


def to_row(state: State) -> Any:
    """A record array of one ``ROW`` with everything that the twin's state says; seed and game are 0."""
    rows = engine.blank()
    row = rows[0]
    row.num_seats, row.whole_match = state.num_seats, state.whole_match
    for name in ("round", "dealer", "round_turns", "match_turns", "recycles", "stock_known", "ended_turns"):
        setattr(row, name, getattr(state, name))
    for name in ("in_match", "in_round", "winners", "ended_opened", "ended_in_round", "pending_reentry", "has_opened"):
        setattr(row, name, _mask(getattr(state, name)))
    row.closer, row.closed_in_hand = _or_value(state.closer, engine.NOBODY), state.closed_in_hand
    row.phase, row.seat = _key_of(_PHASES, state.phase), _or_value(state.seat, engine.NOBODY)
    row.end = _key_of(_ENDS, state.end)
    for seat in range(state.num_seats):
        for name in ("totals", "reentries", "points", "turns"):
            getattr(row, name)[seat] = getattr(state, name)[seat]
        row.hand_one[seat], row.hand_two[seat], row.hand_jokers[seat] = _hand_fields(state.hands[seat])
        row.known_one[seat], row.known_two[seat], row.known_jokers[seat] = _hand_fields(state.known[seat])
        row.hand_size[seat] = sum(state.hands[seat])
        row.discards[seat] = state.discards[seat]
    row.stock_size, row.pile_size = len(state.stock), len(state.pile)
    row.stock[: len(state.stock)], row.pile[: len(state.pile)] = state.stock, state.pile
    _write_table(row, state.table)
    _write_turn(row, state.turn)
    return rows


def _write_table(row: Any, table: dict[int, Meld]) -> None:
    row.used_slots = _mask(set(table))
    for slot, meld in table.items():
        row.meld_type[slot] = engine.SET if meld.is_set else engine.RUN
        row.meld_rank[slot] = meld.ranks[0]
        row.meld_suits[slot] = _mask(set(meld.suits)) if meld.is_set else meld.suits[0]
        row.meld_size[slot] = len(meld)
        if meld.joker is not None:
            row.meld_joker[slot] = (meld.suits if meld.is_set else meld.ranks)[meld.joker]


def _write_turn(row: Any, turn: Turn) -> None:
    row.drew, row.duty = _key_of(_DREW, turn.drew), _key_of(_DUTIES, turn.duty)
    row.taken = _or_value(turn.taken, NO_KIND)
    for name in ("taken_played", "laid_points", "laid_any", "opened_now", "jokers_owed"):
        setattr(row, name, getattr(turn, name))
    row.new_slots = _mask(turn.new_slots)
    row.last_slot = _or_value(turn.last_slot, engine.NO_SLOT)
    row.split_slot = _or_value(turn.split_slot, engine.NO_SLOT)


def _mask(members: set[int]) -> int:
    return sum(1 << member for member in members)


def _or_value(value: int | None, nothing: int) -> int:
    return nothing if value is None else value


def _key_of(names: dict[int, Any], name: Any) -> int:
    return next(number for number, other in names.items() if other == name)


def _hand_fields(hand: Hand) -> tuple[int, int, int]:
    """The two masks and the count of jokers from counts by kind."""
    masks = [0, 0]
    for kind, count in enumerate(hand[:JOKER]):
        suit, rank = divmod(kind, NUM_RANKS)
        for copy in range(count):
            masks[copy] |= 1 << (16 * suit + rank)
    return masks[0], masks[1], hand[JOKER]


# --- comparing ----------------------------------------------------------------------------------------------------


def differences(state: State, row: Any) -> list[str]:
    """What the twin's state and the engine's row disagree on, a line for each; none where they agree."""
    other = from_row(row, state.rules)
    found = []
    for name in (field.name for field in fields(State) if field.name not in ("rules", "turn")):
        found += _compare(name, getattr(state, name), getattr(other, name))
    for name in (field.name for field in fields(Turn)):
        found += _compare(f"turn.{name}", getattr(state.turn, name), getattr(other.turn, name))
    return found + _inconsistencies(other, row)


def _compare(name: str, ours: Any, theirs: Any) -> list[str]:
    if ours == theirs:
        return []
    if name in ("hands", "known", "discards") and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [
            f"{name}[{seat}]: twin {_names_of_hand(a)}, engine {_names_of_hand(b)}" for seat, (a, b) in pairs if a != b
        ]
    if name == "table":
        return [
            f"table[{slot}]: twin {_name_of_meld(ours.get(slot))}, engine {_name_of_meld(theirs.get(slot))}"
            for slot in sorted(set(ours) | set(theirs))
            if ours.get(slot) != theirs.get(slot)
        ]
    if name in ("stock", "pile"):
        return [f"{name}: twin {' '.join(map(_name, ours))}, engine {' '.join(map(_name, theirs))}"]
    return [f"{name}: twin {ours!r}, engine {theirs!r}"]


def _inconsistencies(state: State, row: Any) -> list[str]:
    """Fields of the row that repeat others, and must agree with them."""
    found = []
    for seat, hand in enumerate(state.hands):
        if int(row["hand_size"][seat]) != sum(hand):
            found.append(f"hand_size[{seat}]: engine {int(row['hand_size'][seat])}, but it holds {sum(hand)} cards")
    for slot, meld in state.table.items():
        if int(row["meld_size"][slot]) != len(meld):
            found.append(f"meld_size[{slot}]: engine {int(row['meld_size'][slot])}, but {len(meld)} cards lie there")
    return found


def _name(kind: int) -> str:
    suit, rank = divmod(kind, NUM_RANKS)
    return "JK" if kind == JOKER else RANK_NAMES[rank] + SUIT_NAMES[suit]


def _names_of_hand(hand: Hand) -> str:
    return " ".join(_name(kind) for kind, count in enumerate(hand) for _ in range(count)) or "nothing"


def _name_of_meld(meld: Meld | None) -> str:
    if meld is None:
        return "nothing"
    names = [RANK_NAMES[rank % NUM_RANKS] + SUIT_NAMES[suit] for suit, rank in meld.places]
    return " ".join(f"JK={name}" if i == meld.joker else name for i, name in enumerate(names))


# --- the next round -----------------------------------------------------------------------------------------------


def adopt_deal(state: State, row: Any) -> tuple[State, list[str]]:
    """The next round as the engine dealt it, and what is wrong with the deal.

    Args:
        state: A state of the twin that awaits a deal.
        row: The engine's row after the same action.
    """
    assert state.awaits_deal, "the twin expects no deal here"
    dealt = from_row(row, state.rules)
    expected = _expected_deal(state)
    expected.hands, expected.stock, expected.pile = dealt.hands, dealt.stock, dealt.pile
    return dealt, differences(expected, row) + _wrong_cards(dealt)


def _expected_deal(state: State) -> State:
    """The next round but for its cards."""
    expected = state.copy()
    fresh = twin.new_state(state.rules, state.num_seats)
    expected.phase = twin.DRAW
    expected.seat = next(seat for seat in state.seats_after(state.dealer) if seat in state.in_round)
    expected.round_turns, expected.recycles, expected.stock_known = 0, 0, 0
    expected.turns, expected.known, expected.discards = fresh.turns, fresh.known, fresh.discards
    expected.has_opened, expected.table, expected.turn = set(), {}, Turn()
    return expected


def _wrong_cards(dealt: State) -> list[str]:
    """Whether every card of the deck is there once, each hand has its size, and one card is turned up."""
    rules = dealt.rules
    found = []
    for seat, hand in enumerate(dealt.hands):
        size = rules.hand_size if seat in dealt.in_round else 0
        if sum(hand) != size:
            found.append(f"deal: seat {seat} has {sum(hand)} cards, not {size}")
    if len(dealt.pile) != 1:
        found.append(f"deal: {len(dealt.pile)} cards are turned up")
    elif dealt.pile[0] == JOKER and rules.upcard_joker == "redraw":
        found.append("deal: a joker is turned up")
    counts = [sum(hand[kind] for hand in dealt.hands) for kind in range(NUM_KINDS)]
    for kind in dealt.stock + dealt.pile:
        counts[kind] += 1
    if counts != deck(rules):
        found.append("deal: the cards are not those of the deck")
    return found


def deck(rules: Rules) -> Hand:
    """How many cards of each kind are in the game."""
    counts = twin.empty_hand()
    for suit in range(rules.suits):
        for rank in range(rules.ranks):
            counts[suit * NUM_RANKS + rank] = rules.packs
    counts[JOKER] = rules.jokers
    return counts
