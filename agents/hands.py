"""What players that count work out of a hand: the points that will stay in it, and what the unseen cards may still do.

Points that stay are exact: the best melds of the hand (``packing_best``), then what of the rest fits onto the table.
What may still come is counted in *outs*: for each unseen card, the points that it would bring into a meld.

``memory`` is always that of ``packing_best``, ``BEST_WORDS`` words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.cards import (
    ACE,
    HIGH_ACE,
    LANE_BITS,
    ONE,
    RANK_LANE,
    ZERO,
    bit_count,
    lowest_bit_index,
    rank_suits,
    without_lowest,
)
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.melds import run_cards
from scala40_env.core.packing import count_suits, sum_of_points
from scala40_env.core.packing_best import (
    BY_COST,
    BY_OPENING,
    NO_LIMIT,
    chosen_cards,
    hand_cost,
    list_melds,
    most_natural,
    most_of_all,
    order_melds,
    rank_cost,
    search_best,
)
from scala40_env.core.rules import R_CLOSE_DISCARD, R_DECK_MASK, R_HAND_ACE, R_HAND_JOKER, R_OPENING_MIN
from scala40_env.envs.derived import cards_that_meld


@inlined
def arrange(one: np.uint64, two: np.uint64, jokers: int, R: NDArray[np.int64], memory: NDArray[np.uint64]) -> int:
    """List the melds of a hand, the dearest first; returns how many there are.  The list serves every part of it."""
    return order_melds(memory, list_melds(one, jokers, R, memory), BY_COST, jokers, two)


@kernel
def least_left(
    memory: NDArray[np.uint64],
    count: int,
    one: np.uint64,
    two: np.uint64,
    jokers: int,
    layable: np.uint64,
    places: int,
    R: NDArray[np.int64],
) -> tuple[int, np.uint64, int, int]:
    """The least points that stay in a hand once its melds are laid and what fits onto the table is laid off.

    The best melds first and then the lay-offs, or the lay-offs first and then the best melds of the rest: the better
    of the two.  Lay-offs that only other lay-offs make possible are not looked for.

    Args:
        memory, count: from ``arrange``, for this hand or one that it is a part of.
        one, two, jokers: the hand.
        layable: the natural kinds that fit onto the table, for a seat that may lay off; else none.
        places: how many jokers may be laid off.
        R: the rules' vector.

    Returns:
        The points, the natural kinds that stay, how many jokers stay, and how many cards do.
    """
    cost = hand_cost(one, two, jokers, R)
    joker = R[R_HAND_JOKER]
    if count == 0:
        off = one & layable
        left = (one & ~off) | two
        stay = max(jokers - places, 0)
        points = cost - sum_of_points(off, R, R[R_HAND_ACE]) - joker * (jokers - stay)
        return points, left, stay, bit_count(one & ~off) + bit_count(two) + stay
    natural = most_natural(memory, count, two, BY_COST, R)
    every = most_of_all(memory, count, two, jokers, BY_COST, R)
    worth = search_best(memory, count, one, two, jokers, NO_LIMIT, natural, 0, every)
    in_one, in_two, used = chosen_cards(memory)
    rest, rest_two = (one & ~in_one) | (two & ~in_two), two & ~in_one
    off = rest & layable
    stay = max(jokers - used - places, 0)
    best = cost - worth - sum_of_points(off, R, R[R_HAND_ACE]) - joker * (jokers - used - stay)
    left = (rest & ~off) | rest_two
    cards = bit_count(rest & ~off) + bit_count(rest_two) + stay
    off = one & layable
    if off & in_one != ZERO and best > 0:
        worth = sum_of_points(off, R, R[R_HAND_ACE])
        rest, rest_two = (one & ~off) | two, two & ~off
        worth += search_best(memory, count, rest, rest_two, jokers, NO_LIMIT, natural, 0, every)
        in_one, in_two, used = chosen_cards(memory)
        other_stay = max(jokers - used - places, 0)
        other = cost - worth - joker * (jokers - used - other_stay)
        if other < best:
            best, stay = other, other_stay
            left = (rest & ~in_one) | (rest_two & ~in_two)
            cards = bit_count(left) + bit_count(rest_two & ~in_one) + stay
    return best, left, stay, cards


# --- outs ------------------------------------------------------------------------------------------------------------


@inlined
def _side_points(lane: int, rank: int, jokers: int, R: NDArray[np.int64]) -> int:
    """Points of the cards of a lane that a card of a rank would bring into a run."""
    around = lane << 2 >> rank  # bits 0, 1: two and one below; 2: the card; 3, 4: one and two above
    one_below, two_below = (around >> 1) & 1, around & 1
    one_above, two_above = (around >> 3) & 1, (around >> 4) & 1
    if jokers > 0 and one_below + two_below + one_above + two_above == 1:
        at = rank - 1 if one_below else rank - 2 if two_below else rank + 1 if one_above else rank + 2
        return rank_cost(R, at)
    points, cards = 0, 0
    if one_below:
        points, cards = points + rank_cost(R, rank - 1), cards + 1
        if two_below:
            points, cards = points + rank_cost(R, rank - 2), cards + 1
    if one_above:
        points, cards = points + rank_cost(R, rank + 1), cards + 1
        if two_above:
            points, cards = points + rank_cost(R, rank + 2), cards + 1
    return points if cards >= 2 else 0


@inlined
def _points_with(left: np.uint64, x: np.uint64, index: int, jokers: int, R: NDArray[np.int64]) -> int:
    """Points of the cards left in a hand that the card of a bit would bring into one meld."""
    suit, rank = index >> 4, index & (LANE_BITS - 1)
    others = count_suits(rank_suits(left, rank) & ~(1 << suit))
    points = others * rank_cost(R, rank) if others >= (1 if jokers > 0 else 2) else 0
    lane = np.int64((x >> np.uint64(suit * LANE_BITS)) & np.uint64(0x3FFF))
    points = max(points, _side_points(lane, rank, jokers, R))
    if rank == ACE:
        points = max(points, _side_points(lane, HIGH_ACE, jokers, R))
    return points


@kernel
def outs_worth(
    left: np.uint64,
    jokers: int,
    unseen: np.uint64,
    unseen_two: np.uint64,
    unseen_jokers: int,
    R: NDArray[np.int64],
) -> int:
    """The points that each unseen card would bring into a meld with what is left of a hand, summed over the cards.

    Args:
        left, jokers: what is left of the hand: its natural kinds, its jokers.
        unseen, unseen_two, unseen_jokers: the cards that the player has not seen.
        R: the rules' vector.
    """
    wanted = cards_that_meld(left, jokers > 0, R)
    x = run_cards(left, R)
    total, most = np.int64(0), np.int64(0)
    while wanted != ZERO:
        index = lowest_bit_index(wanted)
        bit = wanted & (~wanted + ONE)
        wanted = without_lowest(wanted)
        points = _points_with(left, x, index, jokers, R)
        most = max(most, points)
        if unseen & bit != ZERO:
            total += points
        if unseen_two & bit != ZERO:
            total += points
    if jokers > 0:
        total += R[R_HAND_JOKER] * bit_count(cards_that_meld(left, True, R) & unseen)
    return total + most * unseen_jokers


@inlined
def _near(index: int, R: NDArray[np.int64]) -> np.uint64:
    """The kinds that are in some meld of three with a card of the deck: its rank, and two steps to either side."""
    suit, rank = index >> 4, index & (LANE_BITS - 1)
    lane = (np.uint64(0b11011) << np.uint64(rank)) >> np.uint64(2)
    if rank == ACE:
        lane |= np.uint64(0b11) << np.uint64(11)
    elif rank >= 11:
        lane |= (lane >> np.uint64(HIGH_ACE)) & ONE
    lane &= np.uint64(0x1FFF)
    return (lane << np.uint64(suit * LANE_BITS) | (RANK_LANE << np.uint64(rank))) & np.uint64(R[R_DECK_MASK])


@kernel
def near_unseen(bit: np.uint64, unseen: np.uint64, unseen_two: np.uint64, R: NDArray[np.int64]) -> int:
    """How many unseen cards could stand beside a card of the hand in a meld of three."""
    near = _near(lowest_bit_index(bit), R) & ~bit
    return bit_count(near & unseen) + bit_count(near & unseen_two)


# --- the next draw ---------------------------------------------------------------------------------------------------


@kernel
def _opening_points(
    one: np.uint64, two: np.uint64, jokers: int, size: int, R: NDArray[np.int64], memory: NDArray[np.uint64]
) -> int:
    """The most points, as far as they count, that melds of a hand of so many cards make towards the opening."""
    count = order_melds(memory, list_melds(one, jokers, R, memory), BY_OPENING, jokers, two)
    natural = most_natural(memory, count, two, BY_OPENING, R)
    every = most_of_all(memory, count, two, jokers, BY_OPENING, R)
    return search_best(memory, count, one, two, jokers, size - 1, natural, 0, min(every, R[R_OPENING_MIN]))


@kernel
def next_draw(
    one: np.uint64,
    two: np.uint64,
    jokers: int,
    size: int,
    layable: np.uint64,
    opened: bool,
    unseen: np.uint64,
    unseen_two: np.uint64,
    unseen_jokers: int,
    R: NDArray[np.int64],
    memory: NDArray[np.uint64],
) -> tuple[int, int]:
    """What the next draw may do for a hand, every unseen card being as likely as the others.

    Args:
        one, two, jokers, size: the hand as the turn ends.
        layable: the natural kinds that fit onto the table.
        opened: whether its seat has opened.
        unseen, unseen_two, unseen_jokers: the cards that its player has not seen; jokers that would be of no use
            are left out.
        R: the rules' vector.

    Returns:
        In thousandths: the chance that the seat can open or, once opened, go out; and the points towards the opening
        or, once opened, the cards that stay, below 0.
    """
    least = R[R_OPENING_MIN]
    all_unseen = max(bit_count(unseen) + bit_count(unseen_two) + unseen_jokers, 1)
    chance, progress, rest = np.int64(0), np.int64(0), all_unseen
    wanted = (cards_that_meld(one, jokers > 0, R) | layable) & unseen
    step = 0
    while step < 3:
        with_one, with_two, with_jokers = one, two, jokers
        if wanted != ZERO:
            bit = wanted & (~wanted + ONE)
            wanted = without_lowest(wanted)
            times = np.int64(2 if unseen_two & bit != ZERO else 1)
            with_one, with_two = one | bit, two | (one & bit)
        elif step == 0:
            step = 1
            times = np.int64(unseen_jokers)
            with_jokers = jokers + 1
        else:  # cards that help nothing
            step = 3
            times = rest
        if times == 0:
            continue
        rest -= times
        useless = step == 3
        if opened:
            listed = arrange(with_one, with_two, with_jokers, R, memory)
            _, _, _, cards = least_left(memory, listed, with_one, with_two, with_jokers, layable, 0, R)
            # one card is left to be discarded; melds of three that are the whole hand leave none
            goes_out = cards == 0 and not useless and (R[R_CLOSE_DISCARD] == 0 or size % 3 != 2)
            chance += times * (goes_out or cards + useless == 1)
            progress -= times * (cards if useless else max(cards - 1, 0))
        else:
            points = _opening_points(with_one, with_two, with_jokers, size if useless else size + 1, R, memory)
            chance += times * (points >= least)
            progress += times * min(points, least)
    return 1000 * chance // all_unseen, 1000 * progress // all_unseen
