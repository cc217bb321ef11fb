"""Text for cards, hands and melds: parse and format, each the inverse of the other.

Ranks are ``A23456789TJQK``, suits ``H D C S``: ``TH``, ``AS``; a joker is ``JK``, and one that stands for a card
``JK=7C``.  A meld lists its cards in order.

Badly written text raises ``NotationError``.  Text that is well written but that no play can mean (a card that does not
fit, cards that are no meld) raises ``NoSuchPlayError``, whose message is the reason in a player's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from scala40_env.core.actions import HIGH, JOKER_HIGH, JOKER_LOW, LOW, SHORTEST_RUN
from scala40_env.core.cards import (
    ACE,
    HIGH_ACE,
    JOKER,
    JOKER_NAME,
    KING,
    LANE_BITS,
    NO_KIND,
    NUM_RANKS,
    NUM_SUITS,
    RANK_NAMES,
    SUIT_NAMES,
)
from scala40_env.core.quoting import shown
from scala40_env.core.rules import Rules
from scala40_env.core.state import NO_JOKER, RUN, SET

CARD_NAMES = (*(rank + suit for suit in SUIT_NAMES for rank in RANK_NAMES), JOKER_NAME)
"""The text of each kind."""
KIND_OF = {name: kind for kind, name in enumerate(CARD_NAMES)}
_BITS = tuple(1 << (kind + (LANE_BITS - NUM_RANKS) * (kind // NUM_RANKS)) for kind in range(JOKER))
ALL_SUITS = (1 << NUM_SUITS) - 1
LONGEST_RUN = 14


class NotationError(ValueError):
    """Text or JSON that is badly written; one line that names the field and the reason."""


class NoSuchPlayError(NotationError):
    """Text that is well written but means no action on this table; the message says why, as a player would."""


# --- cards and hands -----------------------------------------------------------------------------------------------


def format_card(kind: int) -> str:
    """The text of a kind, or ``??`` for a hidden card."""
    return "??" if kind == NO_KIND else CARD_NAMES[kind]


def parse_card(text: object, where: str = "card") -> int:
    """The kind that a text names; ``where`` is the field for the error message."""
    kind = KIND_OF.get(text) if isinstance(text, str) else None
    if kind is None:
        raise NotationError(f"{where}: {shown(text)} is not a card; write rank and suit, as TH or AS, or JK")
    return kind


def hand_kinds(one: int, two: int, jokers: int) -> list[int]:
    """The kinds of a hand given as two masks and a count of jokers, in order, copies side by side."""
    kinds: list[int] = []
    one, two = int(one), int(two)
    while one:
        bit = one & -one
        place = bit.bit_length() - 1
        kind = place - (LANE_BITS - NUM_RANKS) * (place // LANE_BITS)
        kinds += [kind, kind] if two & bit else [kind]
        one ^= bit
    return kinds + [JOKER] * int(jokers)


def hand_masks(kinds: Iterable[int]) -> tuple[int, int, int]:
    """The two masks and the count of jokers of a hand; more than two copies of a kind do not fit and are lost."""
    one = two = jokers = 0
    for kind in kinds:
        if kind == JOKER:
            jokers += 1
        else:
            bit = _BITS[kind]
            two |= one & bit
            one |= bit
    return one, two, jokers


def format_hand(kinds: Iterable[int]) -> str:
    """The cards of a hand in order, with spaces."""
    return " ".join(CARD_NAMES[kind] for kind in sorted(kinds))


def parse_hand(text: str, where: str = "hand") -> list[int]:
    """The kinds of a hand written with spaces, in order."""
    return sorted(parse_card(word, where) for word in text.split())


# --- melds ---------------------------------------------------------------------------------------------------------


class Meld(NamedTuple):
    """A meld as a row of the state holds it; see the fields ``meld_...`` of ``state.ROW``."""

    type: int
    rank: int
    suits: int
    size: int
    joker: int = NO_JOKER

    @classmethod
    def from_row(cls, row: Any, slot: int) -> Meld:
        """The meld in a slot; its type is ``EMPTY`` where none lies there."""
        return cls(
            int(row.meld_type[slot]),
            int(row.meld_rank[slot]),
            int(row.meld_suits[slot]),
            int(row.meld_size[slot]),
            int(row.meld_joker[slot]),
        )

    def cards(self) -> list[tuple[int, bool]]:
        """The cards in order: the kind that each shows or stands for, and whether it is the joker."""
        if self.type == SET:
            suits = [suit for suit in range(NUM_SUITS) if self.suits >> suit & 1]
            return [(suit * NUM_RANKS + self.rank, suit == self.joker) for suit in suits]
        ranks = range(self.rank, self.rank + self.size)
        return [(self.suits * NUM_RANKS + rank % NUM_RANKS, rank == self.joker) for rank in ranks]

    def texts(self) -> list[str]:
        """The cards in order, as text."""
        return [f"{JOKER_NAME}={CARD_NAMES[kind]}" if joker else CARD_NAMES[kind] for kind, joker in self.cards()]

    def kinds(self) -> list[int]:
        """The real cards, the joker as a joker."""
        return [JOKER if joker else kind for kind, joker in self.cards()]

    def face_at(self, end: int) -> int | None:
        """The kind that a card laid off at an end shows or stands for; ``None`` where nothing can lie there."""
        if self.type == RUN:
            rank = self.rank - 1 if end in (LOW, JOKER_LOW) else self.rank + self.size
            return self.suits * NUM_RANKS + rank % NUM_RANKS if ACE <= rank <= HIGH_ACE else None
        if self.type != SET or self.size != 3 or end == JOKER_HIGH:
            return None
        if end == HIGH:
            return None if self.joker == NO_JOKER else self.joker * NUM_RANKS + self.rank
        return self.missing_suit() * NUM_RANKS + self.rank

    def missing_suit(self) -> int:
        """The suit that a set of three lacks."""
        return (ALL_SUITS & ~self.suits).bit_length() - 1

    def grown(self, end: int) -> Meld:
        """The meld after a lay-off at an end where a card can lie."""
        if self.type == SET:
            joker = self.joker if end == LOW else self.missing_suit()
            return self._replace(suits=ALL_SUITS, size=4, joker=joker)
        low = end in (LOW, JOKER_LOW)
        rank = self.rank - 1 if low else self.rank
        played = rank if low else self.rank + self.size
        return Meld(RUN, rank, self.suits, self.size + 1, played if end in (JOKER_LOW, JOKER_HIGH) else self.joker)


def format_meld(meld: Meld) -> str:
    """The cards of a meld in order, with spaces."""
    return " ".join(meld.texts())


def parse_meld(words: Sequence[object], where: str = "meld") -> Meld:
    """The meld of three or more cards; they may come in any order, which matters only to an ace that fits both ends.

    Raises ``NoSuchPlayError`` where the cards are no meld under any rules.  What depends on the rules (the longest run,
    the deck) is ``meld_fault``.
    """
    faces: list[int] = []
    jokers: list[int] = []
    for place, word in enumerate(words):
        joker = isinstance(word, str) and word.startswith(JOKER_NAME)
        if word == JOKER_NAME:
            raise NotationError(f"{where}: say which card the joker stands for, as JK=7C")
        face = parse_card(word[len(JOKER_NAME) + 1 :] if joker else word, where)  # type: ignore[index]
        if joker and (face == JOKER or word[len(JOKER_NAME)] != "="):  # type: ignore[index]
            raise NotationError(f"{where}: {shown(word)} is not a card; a joker is JK, or JK=7C")
        faces.append(face)
        if joker:
            jokers.append(place)
    if len(faces) < SHORTEST_RUN:
        raise NoSuchPlayError(f"{where}: a meld has at least three cards")
    if len(jokers) > 1:
        raise NoSuchPlayError(f"{where}: a meld has at most one joker")
    return _meld_of(faces, jokers[0] if jokers else -1, where)


def _meld_of(faces: list[int], joker: int, where: str) -> Meld:
    """The set or the run of these faces; ``joker`` is the place of the joker, or -1."""
    ranks = [face % NUM_RANKS for face in faces]
    suits = [face // NUM_RANKS for face in faces]
    if len(set(ranks)) == 1:
        if len(set(suits)) < len(suits):
            raise NoSuchPlayError(f"{where}: a set has each suit only once")
        return Meld(
            SET, ranks[0], sum(1 << suit for suit in suits), len(faces), suits[joker] if joker >= 0 else NO_JOKER
        )
    if len(set(suits)) > 1:
        raise NoSuchPlayError(f"{where}: the cards are neither of one rank nor of one suit")
    ranks = _with_high_aces(ranks, joker, where)
    low = min(ranks)
    if sorted(ranks) != list(range(low, low + len(ranks))):
        raise NoSuchPlayError(f"{where}: the cards of a run follow one another, and an ace is low or high")
    return Meld(RUN, low, suits[0], len(ranks), ranks[joker] if joker >= 0 else NO_JOKER)


def _with_high_aces(ranks: list[int], joker: int, where: str) -> list[int]:
    """The ranks of a run with each ace that lies above the king as rank 13."""
    aces = [place for place, rank in enumerate(ranks) if rank == ACE]
    if not aces or KING not in ranks:
        return ranks
    made = list(ranks)
    if ACE + 1 not in ranks:
        made[aces[0]] = HIGH_ACE
        return made
    two, king = ranks.index(ACE + 1), ranks.index(KING)
    if len(aces) == 2 and joker not in aces:
        raise NoSuchPlayError(f"{where}: a run has at most one natural ace")
    # An ace beside both neighbours: it is the end to which it is written nearer.
    highest = max(aces, key=lambda place: abs(place - two) - abs(place - king))
    if len(aces) == 2 or abs(highest - two) > abs(highest - king):
        made[highest] = HIGH_ACE
    return made


def meld_fault(meld: Meld, rules: Rules, longest: int | None = None) -> str | None:
    """Why a meld cannot lie on the table under these rules, or ``None``; ``longest`` replaces ``max_run``."""
    for kind, _ in meld.cards():
        if kind // NUM_RANKS >= rules.suits or kind % NUM_RANKS >= rules.ranks:
            return f"{CARD_NAMES[kind]} is not in the deck of these rules"
    if meld.joker != NO_JOKER and not rules.jokers:
        return "these rules have no jokers"
    if meld.type == SET:
        return None
    longest = rules.max_run if longest is None else longest
    if meld.rank + meld.size > HIGH_ACE and rules.ranks < NUM_RANKS:
        return "there is no king below the ace in this deck"
    if meld.size > longest:
        return f"a run has at most {longest} cards"
    if meld.size == LONGEST_RUN and (rules.double_ace_run == "never" or meld.joker not in (ACE, HIGH_ACE)):
        return "a run may have an ace at one end only"
    return None
