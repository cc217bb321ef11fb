"""The derived block again, by trying everything: every meld that the rules know, every way to take some of a hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from scala40_env.core.cards import ACE, JOKER, NUM_KINDS, NUM_RANKS
from scala40_env.core.rules import Rules
from tests.reference.adapter import deck
from tests.reference.melds import Meld, extensions, is_valid, make_run, make_set, points
from tests.reference.state import PLAY, State

Hand = tuple[int, ...]
"""How many cards of each kind, by kind."""
IMPOSSIBLE = -1
MOST = 255


@dataclass(frozen=True)
class Piece:
    """A meld as a hand sees it: its natural cards, its jokers (0 or 1), its points towards the opening."""

    cards: tuple[int, ...]
    jokers: int
    points: int


@cache
def pieces(rules: Rules) -> tuple[Piece, ...]:
    """Every meld of the rules, in every length, a joker in every place."""
    plain: list[Meld] = []
    for rank in range(rules.ranks):
        for size in (3, 4):
            plain += [make_set((suit, rank) for suit in suits) for suits in combinations(range(rules.suits), size)]
    for suit in range(rules.suits):
        for low in range(NUM_RANKS):
            plain += [make_run(suit, low, length) for length in range(3, rules.max_run + 1)]
    best: dict[tuple[tuple[int, ...], int], int] = {}
    for meld in plain:
        for joker in (None, *range(len(meld))):
            made = Meld(meld.is_set, meld.places, joker)
            if is_valid(made, rules):
                cards = tuple(sorted(kind for kind in made.kinds() if kind != JOKER))
                key = cards, 0 if joker is None else 1
                best[key] = max(best.get(key, 0), points(made, rules))
    return tuple(Piece(cards, jokers, worth) for (cards, jokers), worth in best.items())


def card_cost(kind: int, rules: Rules) -> int:
    """What a card costs in the hand."""
    if kind == JOKER:
        return rules.hand_joker_points
    rank = kind % NUM_RANKS
    return rules.hand_ace_points if rank == ACE else rules.rank_points[rank]


def cost_of(hand: Sequence[int], rules: Rules) -> int:
    """What all the cards of a hand cost."""
    return sum(count * card_cost(kind, rules) for kind, count in enumerate(hand))


class Search:
    """The most that melds of a hand are worth, by taking the lowest card into every meld that it fits, or into none.

    Args:
        hand: the largest hand that is asked about.
        worth: what a meld is worth.
        whole: no card may be left over.
    """

    def __init__(self, rules: Rules, hand: Sequence[int], worth: Callable[[Piece], int], whole: bool = False) -> None:
        self._worth = worth
        self._whole = whole
        self._by_lowest: dict[int, list[Piece]] = {}
        for piece in pieces(rules):
            if piece.jokers <= hand[JOKER] and all(hand[kind] for kind in piece.cards):
                self._by_lowest.setdefault(piece.cards[0], []).append(piece)
        self._known: dict[tuple[Hand, int], int] = {}

    def most(self, hand: Sequence[int], room: int = MOST) -> int:
        """The most that melds of a part of the hand are worth, at most ``room`` cards in them."""
        return self._most(tuple(hand), room)

    def _most(self, hand: Hand, room: int) -> int:
        lowest = next((kind for kind in range(JOKER) if hand[kind]), None)
        if lowest is None:
            return IMPOSSIBLE if self._whole and hand[JOKER] else 0
        known = self._known.get((hand, room))
        if known is not None:
            return known
        best = IMPOSSIBLE if self._whole else self._most(without(hand, lowest), room)
        for piece in self._by_lowest.get(lowest, ()):
            size = len(piece.cards) + piece.jokers
            if size > room or piece.jokers > hand[JOKER] or not all(hand[kind] for kind in piece.cards):
                continue
            rest = self._most(without(hand, *piece.cards, *([JOKER] * piece.jokers)), room - size)
            if rest != IMPOSSIBLE:
                best = max(best, rest + self._worth(piece))
        self._known[hand, room] = best
        return best


def without(hand: Sequence[int], *kinds: int) -> Hand:
    """A hand less some cards."""
    left = list(hand)
    for kind in kinds:
        left[kind] -= 1
    return tuple(left)


def by_cost(rules: Rules) -> Callable[[Piece], int]:
    """A meld is worth what its cards cost in the hand."""
    return lambda piece: sum(card_cost(kind, rules) for kind in piece.cards) + piece.jokers * rules.hand_joker_points


def by_points(piece: Piece) -> int:
    """A meld is worth its points towards the opening."""
    return piece.points


def deadwood(hand: Sequence[int], rules: Rules) -> tuple[int, list[int]]:
    """The least deadwood of a hand, and what it is after each discard (255 for what is not held)."""
    search = Search(rules, hand, by_cost(rules))
    leaves = [255] * NUM_KINDS
    for kind in range(NUM_KINDS):
        if hand[kind]:
            rest = without(hand, kind)
            leaves[kind] = min(cost_of(rest, rules) - search.most(rest), 254)
    return min(cost_of(hand, rules) - search.most(hand), MOST), leaves


def best_points_of(cards: Sequence[int], rules: Rules) -> int:
    """The most points of melds that use up all of the cards; ``IMPOSSIBLE`` where none do."""
    return Search(rules, cards, by_points, whole=True).most(cards)


def opening_room(state: State, viewer: int) -> int:
    """How many cards a seat may lay in this turn of its own, or in its next."""
    rules = state.rules
    keeps = 1 if rules.close_needs_discard else 0
    if not rules.close_on_first_turn and state.turns[viewer] == 0:
        keeps = 2
    plays = state.phase == PLAY and state.seat == viewer
    return sum(state.hands[viewer]) + (0 if plays else 1) - keeps


def opening(state: State, viewer: int) -> int:
    """The points laid this turn and the most that melds from the hand add; 0 for a seat that has opened."""
    rules = state.rules
    if viewer in state.has_opened:
        return 0
    hand = list(state.hands[viewer])
    if rules.opening_joker == "forbidden" or (rules.opening_joker != "allowed" and rules.opening_min > 0):
        hand[JOKER] = 0
    laid = state.turn.laid_points if state.phase == PLAY and state.seat == viewer else 0
    return laid + Search(rules, hand, by_points).most(hand, max(opening_room(state, viewer), 0))


def unseen(state: State, viewer: int) -> list[int]:
    """How many cards of each kind the viewer cannot place."""
    left = [*deck(state.rules)]
    for seat, hand in enumerate(state.hands):
        for kind in range(NUM_KINDS):
            left[kind] -= hand[kind] if seat == viewer else state.known[seat][kind]
    for kind in [*state.pile, *state.stock[: state.stock_known]]:
        left[kind] -= 1
    for meld in state.table.values():
        for kind in meld.kinds():
            left[kind] -= 1
    return left


def outs(state: State, viewer: int) -> list[int]:
    """The unseen cards that would be in a new meld, or, once opened, fit onto the table."""
    hand = state.hands[viewer]
    wanted = set()
    for piece in pieces(state.rules):
        missing = [kind for kind in piece.cards if not hand[kind]]
        if piece.jokers and not missing:
            wanted.add(JOKER)
        if piece.jokers <= hand[JOKER]:
            wanted |= set(missing) if len(missing) == 1 else set() if missing else set(piece.cards)
    if viewer in state.has_opened:
        for meld in state.table.values():
            wanted |= {one.kind for one in extensions(meld, state.rules)}
    left = unseen(state, viewer)
    return [left[kind] if kind in wanted else 0 for kind in range(NUM_KINDS)]
