"""Every house option of Scala 40 as data: ``Rules``, a frozen record, read from TOML, given to kernels as integers.

A rulebook is a TOML file in ``rulebooks/``: a table ``[flags]`` with a value for every flag and a table ``[sources]``
with the words of the source text that each value follows.  ``Rules.load("hops")`` reads one, ``Rules.from_mapping``
takes ``{"base": "standard", "opening_min": 30}``.

What each flag means is said once, in ``FLAGS``.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.cards import LANE_BITS, MAX_CARDS, MAX_JOKERS, MAX_SEATS, NUM_RANKS, NUM_SUITS
from scala40_env.core.quoting import shown

_RULEBOOKS = Path(__file__).parent / "rulebooks"
NO_LIMIT = -1
"""Stands in the vector for a flag that is ``None``: no limit, no penalty."""


class RulesError(ValueError):
    """A flag that does not exist, or a value that it cannot have; the message names the flag."""


@dataclass(frozen=True)
class Flag:
    """One house option: its name, the values it takes, what it decides and the row of the rules reference."""

    name: str
    values: str | tuple[str, ...] | tuple[int, int]
    """``"bool"``, ``"float"``, ``"uses"``, the names it chooses among, or the lowest and highest integer."""
    meaning: str
    optional: bool = False
    """May be ``None``."""


FLAGS: tuple[Flag, ...] = (
    Flag("min_players", (2, MAX_SEATS), "fewest players"),
    Flag("max_players", (2, MAX_SEATS), "most players"),
    Flag("packs", (1, 2), "packs of cards"),
    Flag("jokers", (0, MAX_JOKERS), "jokers in all"),
    Flag("suits", (1, NUM_SUITS), "suits of a pack"),
    Flag("ranks", (3, NUM_RANKS), "ranks of a suit, from the ace up"),
    Flag("hand_size", (1, 13), "cards dealt to each seat"),
    Flag("upcard_joker", ("allow", "redraw"), "a joker turned as the first upcard stays, or goes back into the stock"),
    Flag("first_player_may_keep_upcard", "bool", "the first player's first turn may take the upcard and keep it"),
    Flag("min_run", (3, 3), "shortest run; the actions lay runs of three"),
    Flag("max_run", (3, 14), "longest run; 14 needs double_ace_run"),
    Flag("run_overflow", ("forbid", "split"), "a run past max_run is forbidden, or is split in two by who made it"),
    Flag("double_ace_run", ("never", "with_joker"), "a run may have an ace at both ends if one of them is a joker"),
    Flag("max_jokers_per_meld", (1, 1), "jokers in one meld"),
    Flag(
        "joker_identity",
        ("declared", "any_missing"),
        "a joker in a set stands for the declared card, or any missing one",
    ),
    Flag("opening_min", (0, 200), "points that the opening must reach"),
    Flag("point_scale", ("faces_10", "rank_values"), "figures 10 and high ace 11, or J 11, Q 12, K 13 and high ace 14"),
    Flag("joker_opening_value", ("represented", "fixed_11"), "a joker counts in the opening as its card, or always 11"),
    Flag(
        "opening_joker",
        ("allowed", "forbidden", "only_if_clean_melds_reach_min"),
        "jokers in the opening turn's melds: free; never; or only if the melds without one reach opening_min",
    ),
    Flag(
        "take_before_opening",
        ("never", "must_use_in_opening", "must_open"),
        "an unopened seat takes the upcard: never; if it is in the opening; or if the seat opens this turn",
    ),
    Flag("take_after_opening", ("must_use", "free"), "an opened seat must play the upcard it took, or may keep it"),
    Flag("taken_card_uses", "uses", "what counts as playing the upcard under must_use: lay, lay_off, swap"),
    Flag("rediscard_taken", "bool", "the upcard just taken and not played may be discarded, though the only copy"),
    Flag(
        "lay_off_in_opening_turn",
        ("any", "own_melds_only", "none"),
        "lay-offs after the opening, in its turn: on any meld; on melds laid this turn; only on the meld just laid",
    ),
    Flag(
        "joker_swap",
        ("must_use", "must_use_or_return", "to_hand", "off"),
        "a joker taken by a swap must be played this turn, or may stay in hand; or there are no swaps",
    ),
    Flag("joker_swap_needs_opened", "bool", "only a seat that has opened may swap"),
    Flag("completed_quartet", ("stay", "to_stock_bottom"), "a set of four stays, or goes under the stock"),
    Flag("table_rearrangement", (0, 0), "melds on the table may be taken apart (no source allows it)"),
    Flag("playable_discard_unopened", ("allowed", "forbidden"), "an unopened seat may discard what could be laid off"),
    Flag("playable_discard_opened", ("allowed", "forbidden"), "an opened seat may discard what could be laid off"),
    Flag("playable_discard_closing", ("allowed", "forbidden"), "the last card may be one that could be laid off"),
    Flag("playable_discard_min_players", (2, MAX_SEATS), "seats in the round from which those three rules apply"),
    Flag("no_legal_discard", ("any_card",), "where every discard is forbidden, any card may go"),
    Flag("joker_discard", ("allowed", "closing_only"), "a joker may be discarded, or only as the last card"),
    Flag("close_needs_discard", "bool", "going out takes a discard; else the last card may be laid"),
    Flag("close_on_first_turn", "bool", "a seat may go out on its first turn"),
    Flag(
        "close_in_hand_multiplier", (1, 4), "what the others pay, times this, where the closer opened in the same turn"
    ),
    Flag("close_in_hand_needs_opening_min", "bool", "opening and going out in one turn still takes opening_min points"),
    Flag(
        "stock_recycle",
        ("shuffle", "flip", "end_hand"),
        "the pile becomes the stock: shuffled; turned over; or the round ends",
    ),
    Flag("stock_recycle_when", ("last_card_drawn", "draw_from_empty"), "when the pile becomes the stock"),
    Flag("stock_recycle_keeps_top", "bool", "the upcard stays when the pile becomes the stock"),
    Flag("max_stock_recycles", (0, 1000), "recycles after which an empty stock ends the round", optional=True),
    Flag(
        "max_turns_per_round",
        (1, 30000),
        "turns after which the round ends",
        optional=True,
    ),
    Flag("dead_round_result", ("void", "all_count"), "a round that nobody closed scores nothing, or every hand"),
    Flag("hand_joker_points", (0, 100), "points of a joker left in hand"),
    Flag("hand_ace_points", (0, 100), "points of an ace left in hand"),
    Flag("lone_ace_points", (0, 100), "points of a hand that is one ace"),
    Flag("unopened_penalty", (0, 1000), "points of a seat that never opened, whatever it holds", optional=True),
    Flag("match_mode", ("elimination", "single_hand", "lowest_at_target"), "how a match is won"),
    Flag("match_limit", (1, 30000), "points that put a seat out, or end the match"),
    Flag("limit_test", ("ge", "gt"), "the limit is met by reaching it, or by passing it"),
    Flag(
        "reentry",
        ("none", "automatic", "paid_optional"),
        "a seat over the limit may come back at the worst total below it",
    ),
    Flag("reentry_max", (0, 1000), "re-entries of one seat", optional=True),
    Flag("reentry_cost", "float", "stake paid for a re-entry"),
    Flag("tie_break", ("shared", "extra_hand"), "seats tied for the win share it, or play on"),
)
FLAG_BY_NAME = {flag.name: flag for flag in FLAGS}

TAKEN_USES = ("lay", "lay_off", "swap")
"""The values of ``taken_card_uses``; in the vector a set of bits in this order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """A complete set of house options; the defaults are the rulebook ``standard``."""

    min_players: int = 2
    max_players: int = 6
    packs: int = 2
    jokers: int = 4
    suits: int = 4
    ranks: int = 13
    hand_size: int = 13
    upcard_joker: str = "allow"
    first_player_may_keep_upcard: bool = False
    min_run: int = 3
    max_run: int = 13
    run_overflow: str = "forbid"
    double_ace_run: str = "never"
    max_jokers_per_meld: int = 1
    joker_identity: str = "declared"
    opening_min: int = 40
    point_scale: str = "faces_10"
    joker_opening_value: str = "represented"
    opening_joker: str = "allowed"
    take_before_opening: str = "never"
    take_after_opening: str = "must_use"
    taken_card_uses: tuple[str, ...] = TAKEN_USES
    rediscard_taken: bool = False
    lay_off_in_opening_turn: str = "any"
    joker_swap: str = "must_use"
    joker_swap_needs_opened: bool = True
    completed_quartet: str = "stay"
    table_rearrangement: bool = False
    playable_discard_unopened: str = "allowed"
    playable_discard_opened: str = "allowed"
    playable_discard_closing: str = "allowed"
    playable_discard_min_players: int = 2
    no_legal_discard: str = "any_card"
    joker_discard: str = "allowed"
    close_needs_discard: bool = True
    close_on_first_turn: bool = False
    close_in_hand_multiplier: int = 1
    close_in_hand_needs_opening_min: bool = True
    stock_recycle: str = "shuffle"
    stock_recycle_when: str = "last_card_drawn"
    stock_recycle_keeps_top: bool = False
    max_stock_recycles: int | None = 4
    max_turns_per_round: int | None = 400
    dead_round_result: str = "void"
    hand_joker_points: int = 25
    hand_ace_points: int = 11
    lone_ace_points: int = 11
    unopened_penalty: int | None = None
    match_mode: str = "elimination"
    match_limit: int = 101
    limit_test: str = "ge"
    reentry: str = "none"
    reentry_max: int | None = 0
    reentry_cost: float = 0.0
    tie_break: str = "shared"

    def __post_init__(self) -> None:
        for flag in FLAGS:
            _check_value(flag, getattr(self, flag.name))
        _check_together(self)

    @classmethod
    def load(cls, name: str) -> Rules:
        """The named rulebook; raises ``RulesError`` where there is none of that name."""
        return cls(**_with_tuples(read_rulebook(name)["flags"]))

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Rules:
        """Rules from flags by name, over the rulebook named by the key ``base`` (``standard`` where absent)."""
        changes = dict(mapping)
        base = changes.pop("base", "standard")
        if not isinstance(base, str):
            raise RulesError(f"rules.base: expected the name of a rulebook, got {shown(base)}")
        flags = dict(read_rulebook(base)["flags"])
        for name in changes:
            if name not in FLAG_BY_NAME:
                raise RulesError(f"rules: there is no flag {shown(name)}{_nearest(name, FLAG_BY_NAME)}")
        return cls(**_with_tuples({**flags, **changes}))

    @classmethod
    def of(cls, rules: Rules | str | Mapping[str, Any]) -> Rules:
        """Rules from what a caller may give: rules, a rulebook's name, or flags by name."""
        if isinstance(rules, Rules):
            return rules
        if isinstance(rules, str):
            return cls.load(rules)
        if isinstance(rules, Mapping):
            return cls.from_mapping(rules)
        raise RulesError(f"rules: expected the name of a rulebook or flags by name, got {type(rules).__name__}")

    def to_mapping(self) -> dict[str, Any]:
        """The flags by name, as JSON can hold them."""
        flags = asdict(self)
        flags["taken_card_uses"] = list(self.taken_card_uses)
        return flags

    def check_players(self, num_players: int) -> None:
        """Raise ``RulesError`` unless this many may play."""
        if isinstance(num_players, bool) or not isinstance(num_players, (int, np.integer)):
            raise RulesError(f"players: expected an integer, got {shown(num_players)}")
        if not self.min_players <= num_players <= self.max_players:
            raise RulesError(
                f"players: these rules are for {self.min_players} to {self.max_players}, got {shown(int(num_players))}"
            )
        if num_players * self.hand_size + 2 > self.deck_size:
            raise RulesError(f"players: {self.deck_size} cards are too few for {num_players} hands of {self.hand_size}")

    @property
    def deck_size(self) -> int:
        """How many cards are in play."""
        return self.packs * self.suits * self.ranks + self.jokers

    @property
    def rank_points(self) -> tuple[int, ...]:
        """Points in a meld by rank 0 ... 13: the ace before the two, 2 ... K, the ace elsewhere."""
        figures = (10, 10, 10, 11) if self.point_scale == "faces_10" else (11, 12, 13, 14)
        return (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, *figures)

    def vector(self) -> NDArray[np.int64]:
        """The rules as kernels read them: ``int64``, shape ``(RULES_SIZE,)``; see the names ``R_...`` below."""
        return _vector(self)


def rulebook_names() -> list[str]:
    """The names that ``Rules.load`` knows, in alphabetical order."""
    return sorted(path.stem for path in _RULEBOOKS.glob("*.toml"))


@cache
def read_rulebook(name: str) -> dict[str, Any]:
    """The tables ``flags`` and ``sources`` of a named rulebook; do not change what is returned."""
    if name not in rulebook_names():
        raise RulesError(f"rules: there is no rulebook {shown(name)}; there are {', '.join(rulebook_names())}")
    with (_RULEBOOKS / f"{name}.toml").open("rb") as file:
        content = tomllib.load(file)
    for flag in FLAGS:
        if flag.optional and content["flags"].get(flag.name) == "none":
            content["flags"][flag.name] = None  # TOML has no null
    return content


def _with_tuples(flags: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(flags)
    uses = made.get("taken_card_uses")
    if isinstance(uses, list):
        made["taken_card_uses"] = tuple(uses)
    return made


def _nearest(name: str, names: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, list(names), n=1) if isinstance(name, str) and len(name) < 40 else []
    return f"; did you mean {near[0]!r}?" if near else ""


def _check_value(flag: Flag, value: Any) -> None:
    where = f"rules.{flag.name}"
    if value is None and flag.optional:
        return
    if flag.values == "bool" or flag.name == "table_rearrangement":
        if not isinstance(value, bool):
            raise RulesError(f"{where}: expected true or false, got {shown(value)}")
        if flag.values != "bool" and value:
            raise RulesError(f"{where}: only false; no source text lets melds on the table be taken apart")
    elif flag.values == "float":
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1e6:
            raise RulesError(f"{where}: expected a number from 0 to 1000000, got {shown(value)}")
    elif flag.values == "uses":
        uses = value if isinstance(value, tuple) else ()
        if not uses or any(use not in TAKEN_USES for use in uses) or len(set(uses)) < len(uses):
            raise RulesError(f"{where}: expected some of {', '.join(TAKEN_USES)}, got {shown(value)}")
    elif isinstance(flag.values[0], str):
        if not isinstance(value, str) or value not in flag.values:
            raise RulesError(f"{where}: expected {' or '.join(map(str, flag.values))}, got {shown(value)}")
    else:
        low, high = flag.values[0], flag.values[1]
        if isinstance(value, bool) or not isinstance(value, int) or not int(low) <= value <= int(high):
            none = ", or none" if flag.optional else ""
            span = f"{low}" if low == high else f"an integer from {low} to {high}"
            raise RulesError(f"{where}: expected {span}{none}, got {shown(value)}")


def _check_together(rules: Rules) -> None:
    if rules.min_players > rules.max_players:
        raise RulesError(f"rules.min_players: {rules.min_players} is more than max_players, {rules.max_players}")
    if rules.max_run == 14 and rules.double_ace_run == "never":
        raise RulesError("rules.max_run: a run of 14 has two aces, which double_ace_run = 'never' forbids")
    if rules.run_overflow == "split" and rules.max_run != 5:
        raise RulesError("rules.run_overflow: 'split' is for runs of at most 5 (max_run = 5)")
    _check_rounds_end(rules)
    if rules.min_players * rules.hand_size + 2 > rules.deck_size:
        raise RulesError(
            f"rules.hand_size: {rules.deck_size} cards are too few for {rules.min_players} hands of {rules.hand_size}"
        )


def _check_rounds_end(rules: Rules) -> None:
    """Every round ends: by its turns, or because the stock runs out and no card goes round the pile for ever."""
    if rules.max_turns_per_round is not None:
        return
    if rules.max_stock_recycles is None and rules.stock_recycle != "end_hand":
        raise RulesError("rules.max_turns_per_round: null, and so is max_stock_recycles: nothing would end a round")
    if rules.take_after_opening == "free":
        raise RulesError(
            "rules.max_turns_per_round: null, but take_after_opening = 'free' lets a card go round the pile for ever"
        )


# The vector: one integer a flag, in the order of the record, then what kernels would else compute each time.
# A flag of named values holds the index of the name in ``FLAGS``; bool is 0 or 1; ``None`` is ``NO_LIMIT``;
# ``taken_card_uses`` is a set of bits; ``reentry_cost`` is in hundredths.

_INDEX = {field.name: i for i, field in enumerate(fields(Rules))}
R_PACKS = _INDEX["packs"]
R_JOKERS = _INDEX["jokers"]
R_SUITS = _INDEX["suits"]
R_RANKS = _INDEX["ranks"]
R_HAND_SIZE = _INDEX["hand_size"]
R_UPCARD_JOKER = _INDEX["upcard_joker"]
R_FIRST_KEEPS = _INDEX["first_player_may_keep_upcard"]
R_MAX_RUN = _INDEX["max_run"]
R_OVERFLOW = _INDEX["run_overflow"]
R_DOUBLE_ACE = _INDEX["double_ace_run"]
R_IDENTITY = _INDEX["joker_identity"]
R_OPENING_MIN = _INDEX["opening_min"]
R_JOKER_VALUE = _INDEX["joker_opening_value"]
R_OPENING_JOKER = _INDEX["opening_joker"]
R_TAKE_BEFORE = _INDEX["take_before_opening"]
R_TAKE_AFTER = _INDEX["take_after_opening"]
R_TAKEN_USES = _INDEX["taken_card_uses"]
R_REDISCARD = _INDEX["rediscard_taken"]
R_OPENING_OFF = _INDEX["lay_off_in_opening_turn"]
R_SWAP = _INDEX["joker_swap"]
R_SWAP_OPENED = _INDEX["joker_swap_needs_opened"]
R_QUARTET = _INDEX["completed_quartet"]
R_PLAYABLE_UNOPENED = _INDEX["playable_discard_unopened"]
R_PLAYABLE_OPENED = _INDEX["playable_discard_opened"]
R_PLAYABLE_CLOSING = _INDEX["playable_discard_closing"]
R_PLAYABLE_SEATS = _INDEX["playable_discard_min_players"]
R_JOKER_DISCARD = _INDEX["joker_discard"]
R_CLOSE_DISCARD = _INDEX["close_needs_discard"]
R_CLOSE_FIRST = _INDEX["close_on_first_turn"]
R_IN_HAND_TIMES = _INDEX["close_in_hand_multiplier"]
R_IN_HAND_MIN = _INDEX["close_in_hand_needs_opening_min"]
R_RECYCLE = _INDEX["stock_recycle"]
R_RECYCLE_WHEN = _INDEX["stock_recycle_when"]
R_RECYCLE_KEEPS = _INDEX["stock_recycle_keeps_top"]
R_MAX_RECYCLES = _INDEX["max_stock_recycles"]
R_MAX_TURNS = _INDEX["max_turns_per_round"]
R_DEAD_RESULT = _INDEX["dead_round_result"]
R_HAND_JOKER = _INDEX["hand_joker_points"]
R_HAND_ACE = _INDEX["hand_ace_points"]
R_LONE_ACE = _INDEX["lone_ace_points"]
R_UNOPENED = _INDEX["unopened_penalty"]
R_MATCH_MODE = _INDEX["match_mode"]
R_LIMIT = _INDEX["match_limit"]
R_LIMIT_TEST = _INDEX["limit_test"]
R_REENTRY = _INDEX["reentry"]
R_REENTRY_MAX = _INDEX["reentry_max"]
R_TIE = _INDEX["tie_break"]

NUM_FLAGS = len(FLAGS)
R_DECK_SIZE = NUM_FLAGS
R_DECK_MASK = NUM_FLAGS + 1
"""The natural kinds of the deck, as a hand mask (61 bits)."""
R_POINTS = NUM_FLAGS + 2
"""The first of 14: the points in a meld of rank 0 ... 13."""
R_PREFIX = R_POINTS + NUM_RANKS + 1
"""The first of 15: the points in a run of all ranks below 0 ... 14."""
R_TOP_RANK = R_PREFIX + NUM_RANKS + 2
"""The highest rank of a run: 13, the high ace, where the deck has a king."""
R_HIGH_ACES = R_TOP_RANK + 1
"""The aces of a hand mask that also stand above the king: all of them, or none."""
R_SUIT_BITS = R_HIGH_ACES + 1
"""The suits of the deck as bits 0 ... 3."""
R_WINDOWS = R_SUIT_BITS + 1
"""The first of 3: where a window of 3, 4, 5 ranks may start in the deck, as a hand mask."""
RULES_SIZE = R_WINDOWS + 3

UPCARD_REDRAW = 1
OVERFLOW_SPLIT = 1
DOUBLE_ACE_WITH_JOKER = 1
IDENTITY_ANY = 1
JOKER_FIXED_11 = 1
OPENING_JOKER_ALLOWED, OPENING_JOKER_FORBIDDEN, OPENING_JOKER_IF_CLEAN = 0, 1, 2
TAKE_NEVER, TAKE_IN_OPENING, TAKE_TO_OPEN = 0, 1, 2
TAKE_MUST_USE, TAKE_FREE = 0, 1
USE_LAY, USE_LAY_OFF, USE_SWAP = 1, 2, 4
OFF_ANY, OFF_OWN, OFF_NONE = 0, 1, 2
SWAP_MUST_USE, SWAP_OR_RETURN, SWAP_TO_HAND, SWAP_OFF = 0, 1, 2, 3
QUARTET_TO_STOCK = 1
FORBIDDEN = 1
JOKER_CLOSING_ONLY = 1
RECYCLE_SHUFFLE, RECYCLE_FLIP, RECYCLE_END = 0, 1, 2
RECYCLE_LAST_DRAWN, RECYCLE_FROM_EMPTY = 0, 1
DEAD_ALL_COUNT = 1
MATCH_ELIMINATION, MATCH_SINGLE, MATCH_LOWEST = 0, 1, 2
LIMIT_GT = 1
REENTRY_NONE, REENTRY_AUTOMATIC, REENTRY_PAID = 0, 1, 2
TIE_EXTRA_HAND = 1


def _as_integer(flag: Flag, value: Any) -> int:
    if value is None:
        return NO_LIMIT
    if flag.values == "uses":
        return sum(1 << TAKEN_USES.index(use) for use in value)
    if flag.values == "float":
        hundredths: int = round(100 * value)
        return hundredths
    if isinstance(value, str):
        return flag.values.index(value)
    return int(value)


@cache
def _vector(rules: Rules) -> NDArray[np.int64]:
    made = np.zeros(RULES_SIZE, dtype=np.int64)
    for i, flag in enumerate(FLAGS):
        made[_INDEX[flag.name]] = _as_integer(flag, getattr(rules, flag.name))
        assert _INDEX[flag.name] == i, "FLAGS and Rules list the flags in one order"
    made[R_DECK_SIZE] = rules.deck_size
    made[R_DECK_MASK] = sum(((1 << rules.ranks) - 1) << (LANE_BITS * suit) for suit in range(rules.suits))
    made[R_POINTS : R_POINTS + NUM_RANKS + 1] = rules.rank_points
    made[R_PREFIX : R_PREFIX + NUM_RANKS + 2] = [sum(rules.rank_points[:rank]) for rank in range(NUM_RANKS + 2)]
    top = made[R_TOP_RANK] = NUM_RANKS if rules.ranks == NUM_RANKS else rules.ranks - 1
    lanes = [LANE_BITS * suit for suit in range(rules.suits)]
    made[R_HIGH_ACES] = sum(1 << lane for lane in lanes) if rules.ranks == NUM_RANKS else 0
    made[R_SUIT_BITS] = (1 << rules.suits) - 1
    for length in (3, 4, 5):
        starts = (1 << max(int(top) - length + 2, 0)) - 1
        made[R_WINDOWS + length - 3] = sum(starts << lane for lane in lanes)
    made.setflags(write=False)
    assert rules.deck_size <= MAX_CARDS
    return made
