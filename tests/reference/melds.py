"""Sets and runs: which cards make one, what they are worth, what fits onto them, what a joker in them gives back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from scala40_env.core import actions
from scala40_env.core.cards import ACE, HIGH_ACE, JOKER, KING, NUM_RANKS, NUM_SUITS
from scala40_env.core.rules import Rules

Place = tuple[int, int]
"""A suit and a rank; in a run the rank 13 is the ace above the king."""

LONGEST_BEFORE_SPLIT = 10
"""A run that is to be split grows to two runs of five at most."""


@dataclass(frozen=True, slots=True)
class Meld:
    """A set or a run.

    Attributes:
        is_set: A set; else a run.
        places: What each card is or, if it is the joker, stands for; a run from low to high, a set by suit.
        joker: Which of the places the joker takes, counted from 0; ``None`` where all cards are natural.
    """

    is_set: bool
    places: tuple[Place, ...]
    joker: int | None = None

    def __len__(self) -> int:
        return len(self.places)

    @property
    def suits(self) -> list[int]:
        """The suit of each place."""
        return [suit for suit, _ in self.places]

    @property
    def ranks(self) -> list[int]:
        """The rank of each place."""
        return [rank for _, rank in self.places]

    def kinds(self) -> list[int]:
        """The cards that lie there, the joker as a joker."""
        return [JOKER if i == self.joker else natural_kind(place) for i, place in enumerate(self.places)]


def natural_kind(place: Place) -> int:
    """The card that belongs in a place; the low and the high ace are the same card."""
    suit, rank = place
    return suit * NUM_RANKS + (ACE if rank == HIGH_ACE else rank)


def make_set(places: Iterable[Place], joker: Place | None = None) -> Meld:
    """A set, its cards put in the order of suits; ``joker`` is the one of the places that a joker takes."""
    ordered = tuple(sorted(places))
    return Meld(True, ordered, None if joker is None else ordered.index(joker))


def make_run(suit: int, low: int, length: int, joker_rank: int | None = None) -> Meld:
    """A run from a lowest rank; ``joker_rank`` is the rank for which a joker stands."""
    places = tuple((suit, rank) for rank in range(low, low + length))
    return Meld(False, places, None if joker_rank is None else joker_rank - low)


def exists(place: Place, rules: Rules) -> bool:
    """Whether the deck has this card; the high ace needs a king below it."""
    suit, rank = place
    if rank == HIGH_ACE:
        return suit < rules.suits and rules.ranks > KING
    return 0 <= rank < rules.ranks and suit < rules.suits


def longest_run(rules: Rules) -> int:
    """How long a run may be while cards are being added to it."""
    return LONGEST_BEFORE_SPLIT if rules.run_overflow == "split" else rules.max_run


def is_valid(meld: Meld, rules: Rules, longest: int | None = None) -> bool:
    """Whether the cards are a meld; ``longest`` allows a run that must still be split."""
    if not all(exists(place, rules) for place in meld.places):
        return False
    return _is_valid_set(meld) if meld.is_set else _is_valid_run(meld, rules, longest or rules.max_run)


def _is_valid_set(meld: Meld) -> bool:
    one_rank = len(set(meld.ranks)) == 1
    different_suits = len(set(meld.suits)) == len(meld)
    return len(meld) in (3, 4) and one_rank and different_suits and HIGH_ACE not in meld.ranks


def _is_valid_run(meld: Meld, rules: Rules, longest: int) -> bool:
    low = meld.ranks[0]
    one_suit = len(set(meld.suits)) == 1
    in_order = meld.ranks == list(range(low, low + len(meld)))
    if not (one_suit and in_order and 3 <= len(meld) <= longest):
        return False
    if meld.ranks[0] == ACE and meld.ranks[-1] == HIGH_ACE:
        joker_is_an_ace = meld.joker in (0, len(meld) - 1)
        return rules.double_ace_run == "with_joker" and joker_is_an_ace
    return True


def card_points(meld: Meld, index: int, rules: Rules) -> int:
    """What one card of a meld counts towards the opening."""
    if index == meld.joker and rules.joker_opening_value == "fixed_11":
        return 11
    rank = meld.ranks[index]
    if meld.is_set and rank == ACE:
        rank = HIGH_ACE  # only before the two is an ace worth 1
    return rules.rank_points[rank]


def points(meld: Meld, rules: Rules) -> int:
    """What a meld counts towards the opening."""
    return sum(card_points(meld, i, rules) for i in range(len(meld)))


# --- laying three cards ------------------------------------------------------------------------------------------


@cache
def lays(rules: Rules) -> dict[int, Meld]:
    """Every meld of three that the deck allows, by the action that lays it."""
    found = {**_set_lays(), **_run_lays()}
    return {action: meld for action, meld in found.items() if is_valid(meld, rules)}


@cache
def cards_of_lays(rules: Rules) -> tuple[tuple[int, Meld, tuple[int, ...]], ...]:
    """The same, each with its three cards: action, meld, cards."""
    return tuple((action, meld, tuple(meld.kinds())) for action, meld in lays(rules).items())


def _set_lays() -> dict[int, Meld]:
    suits = range(NUM_SUITS)
    patterns: list[tuple[tuple[int, ...], int | None]] = [(triple, None) for triple in combinations(suits, 3)]
    for pair in combinations(suits, 2):
        patterns += [((*pair, other), other) for other in suits if other not in pair]
    made = {}
    for number, (pattern, joker_suit) in enumerate(patterns):
        for rank in range(NUM_RANKS):
            joker = None if joker_suit is None else (joker_suit, rank)
            action = actions.LAY_SET + number * NUM_RANKS + rank
            made[action] = make_set([(suit, rank) for suit in pattern], joker)
    return made


def _run_lays() -> dict[int, Meld]:
    made = {}
    for joker_place in range(4):
        for suit in range(NUM_SUITS):
            for start in range(actions.NUM_RUN_STARTS):
                joker_rank = None if joker_place == 0 else start + joker_place - 1
                action = actions.LAY_RUN + (joker_place * NUM_SUITS + suit) * actions.NUM_RUN_STARTS + start
                made[action] = make_run(suit, start, 3, joker_rank)
    return made


# --- adding a card -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Extension:
    """One card that fits onto a meld: at which end, which card, in which place, and the meld afterwards."""

    end: int
    kind: int
    place: Place
    grown: Meld


@cache
def extensions(meld: Meld, rules: Rules) -> tuple[Extension, ...]:
    """All that fits onto a meld, whoever may do it: natural cards and jokers."""
    found = _set_extensions(meld, rules) if meld.is_set else _run_extensions(meld, rules)
    return tuple(one for one in found if is_valid(one.grown, rules, longest_run(rules)))


def _set_extensions(meld: Meld, rules: Rules) -> list[Extension]:
    if len(meld) != 3:
        return []
    rank = meld.ranks[0]
    joker = None if meld.joker is None else meld.places[meld.joker]
    found = []
    for missing in [(suit, rank) for suit in range(NUM_SUITS) if suit not in meld.suits]:
        four = [*meld.places, missing]
        found.append(Extension(actions.LOW, natural_kind(missing), missing, make_set(four, joker)))
        if joker is None:
            found.append(Extension(actions.JOKER_LOW, JOKER, missing, make_set(four, missing)))
        elif rules.joker_identity == "any_missing":
            # The card that the joker was declared as comes itself, and the joker moves to the other missing suit.
            found.append(Extension(actions.HIGH, natural_kind(joker), joker, make_set(four, missing)))
    return found


def _run_extensions(meld: Meld, rules: Rules) -> list[Extension]:
    suit, low, high = meld.suits[0], meld.ranks[0], meld.ranks[-1]
    below, above = (suit, low - 1), (suit, high + 1)
    shifted = None if meld.joker is None else meld.joker + 1
    found = []
    if exists(below, rules):
        places = (below, *meld.places)
        found.append(Extension(actions.LOW, natural_kind(below), below, Meld(False, places, shifted)))
        if meld.joker is None:
            found.append(Extension(actions.JOKER_LOW, JOKER, below, Meld(False, places, 0)))
    if exists(above, rules):
        places = (*meld.places, above)
        found.append(Extension(actions.HIGH, natural_kind(above), above, Meld(False, places, meld.joker)))
        if meld.joker is None:
            found.append(Extension(actions.JOKER_HIGH, JOKER, above, Meld(False, places, len(meld))))
    return found


def fitting_kinds(table: Iterable[Meld], rules: Rules) -> set[int]:
    """The natural cards that could be added to some meld of the table."""
    return {one.kind for meld in table for one in extensions(meld, rules) if one.kind != JOKER}


# --- the joker, and the run that is too long ----------------------------------------------------------------------


def exchanges(meld: Meld, rules: Rules) -> list[tuple[int, Meld]]:
    """The cards for which the joker may be taken, the preferred one first, each with the meld afterwards."""
    if meld.joker is None:
        return []
    declared = meld.places[meld.joker]
    found = [(natural_kind(declared), Meld(meld.is_set, meld.places))]
    if meld.is_set and len(meld) == 3 and rules.joker_identity == "any_missing":
        naturals = [place for place in meld.places if place != declared]
        for suit in range(rules.suits):
            if suit not in meld.suits:
                other = (suit, declared[1])
                found.append((natural_kind(other), make_set([*naturals, other])))
    return found


def split_lengths(meld: Meld) -> list[int]:
    """How long the first part may be when a run is split: both parts have three to five cards."""
    return [first for first in (3, 4, 5) if 3 <= len(meld) - first <= 5]


def split(meld: Meld, first_length: int) -> tuple[Meld, Meld]:
    """The two parts of a run."""
    joker = meld.joker
    in_first = joker is not None and joker < first_length
    first = Meld(False, meld.places[:first_length], joker if in_first else None)
    rest = Meld(False, meld.places[first_length:], None if joker is None or in_first else joker - first_length)
    return first, rest
