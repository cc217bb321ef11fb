"""The counting of the players that weigh, against the same counting done by trying everything."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from agents.hands import arrange, least_left, near_unseen, next_draw, outs_worth
from scala40_env.core.cards import card_bit
from scala40_env.core.jit import kernel
from scala40_env.core.packing_best import BEST_WORDS, BY_OPENING, best_partition
from scala40_env.core.rules import Rules

RULES = Rules.load("standard")
VECTOR = RULES.vector()
MEMORY = np.zeros(BEST_WORDS, dtype=np.uint64)
ZERO = np.uint64(0)
Card = tuple[int, int]


@kernel
def _left(one, two, jokers, layable, places, R, memory):  # noqa: ANN001, ANN202
    count = arrange(one, two, jokers, R, memory)
    return least_left(memory, count, one, two, jokers, layable, places, R)


def cost(card: Card) -> int:
    return RULES.hand_ace_points if card[1] == 0 else RULES.rank_points[card[1]]


def masks(cards: list[Card]) -> tuple[np.uint64, np.uint64]:
    one = two = ZERO
    for suit, rank in cards:
        bit = card_bit(suit, rank)
        two |= one & bit
        one |= bit
    return one, two


def is_meld(cards: tuple[Card, ...]) -> bool:
    """Whether three cards are a set or a run."""
    suits, ranks = {suit for suit, _ in cards}, sorted(rank for _, rank in cards)
    if len(set(ranks)) == 1:
        return len(suits) == 3
    return len(suits) == 1 and (ranks[0] + 1 == ranks[1] == ranks[2] - 1 or ranks == [0, 11, 12])


def is_long_meld(cards: tuple[Card, ...]) -> bool:
    suits, ranks = {suit for suit, _ in cards}, sorted(rank for _, rank in cards)
    if len(set(ranks)) == 1:
        return len(suits) == len(cards)
    if len(suits) > 1 or len(set(ranks)) < len(ranks):
        return False
    high = [rank or 13 for rank in ranks]
    return any(max(way) - min(way) == len(cards) - 1 for way in (ranks, high))


def least(cards: list[Card], layable: set[Card]) -> int:
    """The least points that stay, by trying every meld of three to five cards; without jokers."""
    best = sum(cost(card) for card in cards) - sum(cost(card) for card in set(cards) & layable)
    first = cards[0] if cards else None
    if first is None:
        return 0
    best = min(best, least_without(first, cards, layable))
    for size in (3, 4, 5):
        for others in combinations(range(1, len(cards)), size - 1):
            meld = (first, *(cards[i] for i in others))
            if is_long_meld(meld):
                rest = [card for i, card in enumerate(cards) if i and i not in others]
                best = min(best, least(rest, layable))
    return best


def least_without(first: Card, cards: list[Card], layable: set[Card]) -> int:
    """The same where the first card is in no meld: it is laid off, or stays."""
    if first in layable:
        return least(cards[1:], layable - {first})
    return cost(first) + least(cards[1:], layable)


def random_hand(rng: np.random.Generator, size: int) -> tuple[list[Card], list[Card]]:
    """A hand of few suits and ranks, so that it has melds, and the other cards of its deck."""
    deck = [(suit, rank) for suit in range(4) for rank in range(13) if rank in (0, 1, 2, 10, 11, 12)] * 2
    order = rng.permutation(len(deck))
    return [deck[i] for i in order[:size]], [deck[i] for i in order[size:]]


@pytest.mark.parametrize("seed", range(30))
def test_the_least_that_stays_is_that_of_trying_everything(seed: int):
    rng = np.random.default_rng(seed)
    hand, others = random_hand(rng, 8)
    one, two = masks(hand)
    points, left, jokers, cards = _left(one, two, 0, ZERO, 0, VECTOR, MEMORY)
    assert points == least(hand, set())
    assert jokers == 0
    assert left & ~one == 0
    assert cards >= bin(left).count("1")
    layable = set(hand[:2]) | set(others[:3])
    with_table, *_ = _left(one, two, 0, masks(list(layable))[0], 0, VECTOR, MEMORY)
    # melds first or lay-offs first: never better than trying everything, never worse than melds alone
    assert least(hand, layable) <= with_table <= points


def test_a_joker_is_in_a_meld_or_on_the_table_or_stays():
    one, two = masks([(0, 8), (1, 8), (2, 3)])
    assert _left(one, two, 1, ZERO, 0, VECTOR, MEMORY) == (4, card_bit(2, 3), 0, 1)
    one, two = masks([(0, 8), (2, 3)])
    assert _left(one, two, 1, ZERO, 0, VECTOR, MEMORY)[0] == 9 + 4 + 25
    assert _left(one, two, 1, ZERO, 1, VECTOR, MEMORY)[0] == 9 + 4


@pytest.mark.parametrize("seed", range(20))
def test_outs_are_the_cards_that_make_melds_and_worth_what_they_bring(seed: int):
    rng = np.random.default_rng(seed)
    hand, others = random_hand(rng, 5)
    hand = sorted(set(hand))
    expected = 0
    for x in others:
        pairs = [pair for pair in combinations([card for card in hand if card != x], 2) if is_meld((*pair, x))]
        sets = {card for pair in pairs for card in pair if pair[0][1] == pair[1][1]}
        points = [sum(map(cost, sets))]
        for top in {x[1], 13 if x[1] == 0 else x[1]}:
            ranks = {rank for suit, rank in hand if suit == x[0]}
            ranks |= {13} if 0 in ranks else set()
            ranks.discard(top)
            run = [top - 1] if top - 1 in ranks else []
            run += [top - 2] if run and top - 2 in ranks else []
            above = [top + 1] if top + 1 in ranks else []
            above += [top + 2] if above and top + 2 in ranks else []
            if len(run + above) >= 2:
                points.append(sum(cost((0, rank % 13)) for rank in run + above))
        expected += max(points)
    unseen, unseen_two = masks(others)
    assert outs_worth(masks(hand)[0], 0, unseen, unseen_two, 0, VECTOR) == expected


@pytest.mark.parametrize("card", [(0, 0), (1, 1), (2, 6), (3, 11), (0, 12)])
def test_near_cards_are_those_of_a_meld_of_three(card: Card):
    deck = [(suit, rank) for suit in range(4) for rank in range(13)]
    near = {x for x in deck for y in deck if len({card, x, y}) == 3 and is_meld((card, x, y))}
    unseen, two = masks([*deck, (1, 1), (3, 12)])
    expected = len(near) + ((1, 1) in near) + ((3, 12) in near)
    assert near_unseen(card_bit(*card), unseen, two, VECTOR) == expected


@pytest.mark.parametrize("jokers", [0, 1])
@pytest.mark.parametrize("seed", range(10))
def test_the_chance_to_open_counts_the_cards_that_open(seed: int, jokers: int):
    rng = np.random.default_rng(seed)
    hand, others = random_hand(rng, 11)
    out = np.zeros(3, dtype=np.uint64)
    opens = points = 0
    for x in [*others, None]:
        one, two = masks(hand if x is None else [*hand, x])
        with_jokers = jokers + (x is None)
        size = len(hand) + jokers + 1
        worth = best_partition(one, two, with_jokers, VECTOR, BY_OPENING, size - 1, MEMORY, out)
        opens += worth >= 40
        points += min(worth, 40)
    one, two = masks(hand)
    unseen, unseen_two = masks(others)
    chance, progress = next_draw(
        one, two, jokers, len(hand) + jokers, ZERO, False, unseen, unseen_two, 1, VECTOR, MEMORY
    )
    assert chance == 1000 * opens // (len(others) + 1)
    assert progress == 1000 * points // (len(others) + 1)


def test_the_chance_to_go_out():
    unseen, unseen_two = masks([(3, rank) for rank in range(13)])

    def chance(hand: list[Card], layable: list[Card], vector: np.ndarray = VECTOR) -> int:
        one, two = masks(hand)
        table = masks(layable)[0]
        return next_draw(one, two, 0, len(hand), table, True, unseen, unseen_two, 0, vector, MEMORY)[0]

    assert chance([(0, 5)], [(0, 5)]) == 1000  # lays it off, and discards what it draws
    assert chance([(0, 5)], []) == 0
    assert chance([(0, 5)], [(3, 2)]) == 1000 // 13  # draws what it can lay off, and discards its card
    assert chance([(0, 5), (1, 5)], []) == 0  # the third six is there, but then no card is left to discard
    assert chance([(0, 5), (1, 5)], [], Rules.load("hops").vector()) == 1000 // 13
    assert chance([(0, 5), (1, 5), (2, 9)], []) == 1000 // 13
