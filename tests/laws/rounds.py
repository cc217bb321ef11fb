"""Many rounds of uniform play inside one compiled loop, every law of the state checked before every action.

What is checked: the cards are those of the deck, a hand's size is the number of its cards, what is known of a hand is
in it, the legal actions are ascending and there is at least one, and the round ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.actions import NUM_ACTIONS
from scala40_env.core.cards import JOKER, MAX_SEATS, NUM_KINDS, NUM_RANKS, NUM_SUITS, ZERO, bit_count, kind_bit
from scala40_env.core.deal import below, start_match, stream
from scala40_env.core.game import NO_ACTION, Scratch, _act, is_episode_over
from scala40_env.core.jit import kernel
from scala40_env.core.rules import R_JOKERS, R_PACKS, R_RANKS, R_SUITS, Rules
from scala40_env.core.state import END_NAMES, NO_JOKER, RUN, allocate

PROBLEMS = (
    "none",
    "the cards are not those of the deck",
    "a hand's size is not the number of its cards",
    "a card is known to be in a hand that does not hold it",
    "the legal actions are not ascending",
    "nothing is legal, and the round is not over",
    "the round does not end",
)
NO_PROBLEM, CARDS, SIZE, KNOWN, ORDER, NOTHING_LEGAL, ENDLESS = range(len(PROBLEMS))
_MOST_ACTIONS = 100_000
_UNIFORM_STREAM = 77


@dataclass(frozen=True)
class Tally:
    """What was seen in many rounds.

    Attributes:
        rounds: How many were played.
        actions: How many actions they took.
        longest: The most turns of a round.
        ends: How many rounds ended in each way, by its name.
        problem: The first law that was broken, or "none".
        seed, action: The round (its seed) and the number of the action before which it was broken.
    """

    rounds: int
    actions: int
    longest: int
    ends: dict[str, int]
    problem: str
    seed: int
    action: int


def play_uniform(rules: Rules, players: int, rounds: int, first_seed: int = 0) -> Tally:
    """Play so many rounds at random, until one breaks a law.

    Args:
        rules: The rules.
        players: How many seats.
        rounds: How many rounds, of the seeds from ``first_seed`` on.
        first_seed: The first seed.
    """
    scratch = Scratch()
    counts = np.zeros(3 + len(END_NAMES), dtype=np.int64)
    problem = np.zeros(3, dtype=np.int64)
    legal = np.empty(NUM_ACTIONS, dtype=np.int16)
    _play_rounds(
        allocate(1),
        scratch.work,
        rules.vector(),
        scratch.seen,
        legal,
        players,
        first_seed,
        rounds,
        counts,
        problem,
        np.zeros(NUM_KINDS, dtype=np.int64),
    )
    ends = {name: int(count) for name, count in zip(END_NAMES, counts[3:], strict=True) if count}
    broken, seed, action = (int(number) for number in problem)
    return Tally(int(counts[0]), int(counts[1]), int(counts[2]), ends, PROBLEMS[broken], seed, action)


@kernel
def _play_rounds(
    rows: Any,
    work: Any,
    R: NDArray[np.int64],
    memory: NDArray[np.uint64],
    legal: NDArray[np.int16],
    players: int,
    first_seed: int,
    rounds: int,
    counts: NDArray[np.int64],
    problem: NDArray[np.int64],
    left: NDArray[np.int64],
) -> None:
    s = rows[0]
    for seed in range(first_seed, first_seed + rounds):
        start_match(s, R, np.uint64(seed), np.uint64(players), players, 0)
        rng = stream(np.uint64(seed), np.uint64(players), 0, _UNIFORM_STREAM)
        count = _act(rows, work, R, memory, NO_ACTION, legal)
        for number in range(_MOST_ACTIONS + 1):
            broken = broken_law(s, R, legal, count, left)
            if number == _MOST_ACTIONS:
                broken = ENDLESS
            if broken != NO_PROBLEM:
                problem[0], problem[1], problem[2] = broken, seed, number
                return
            if is_episode_over(s):
                break
            rng, chosen = below(rng, count)
            count = _act(rows, work, R, memory, np.int64(legal[chosen]), legal)
            counts[1] += 1
        counts[0] += 1
        counts[2] = max(counts[2], np.int64(s.ended_turns))
        counts[3 + s.end] += 1


@kernel
def broken_law(s: Any, R: NDArray[np.int64], legal: NDArray[np.int16], count: int, left: NDArray[np.int64]) -> int:
    """Which law a state and its ``count`` legal actions break: one of ``PROBLEMS``; ``left`` is scratch, by kind."""
    for i in range(1, count):
        if legal[i - 1] >= legal[i]:
            return ORDER
    if count == 0 and not is_episode_over(s):
        return NOTHING_LEGAL
    for seat in range(MAX_SEATS):
        one, two, jokers = s.hand_one[seat], s.hand_two[seat], np.int64(s.hand_jokers[seat])
        if two & ~one != ZERO or bit_count(one) + bit_count(two) + jokers != s.hand_size[seat]:
            return SIZE
        if s.known_one[seat] & ~one != ZERO or s.known_two[seat] & ~two != ZERO or s.known_jokers[seat] > jokers:
            return KNOWN
    return NO_PROBLEM if _has_all_cards(s, R, left) else CARDS


@kernel
def _has_all_cards(s: Any, R: NDArray[np.int64], left: NDArray[np.int64]) -> bool:
    """Whether hands, table, stock and pile together are the deck: each kind as often as it is there."""
    for kind in range(NUM_KINDS):
        left[kind] = 0
    for suit in range(R[R_SUITS]):
        for rank in range(R[R_RANKS]):
            left[suit * NUM_RANKS + rank] = R[R_PACKS]
    left[JOKER] = R[R_JOKERS]
    for i in range(s.stock_size):
        left[s.stock[i]] -= 1
    for i in range(s.pile_size):
        left[s.pile[i]] -= 1
    for seat in range(MAX_SEATS):
        left[JOKER] -= np.int64(s.hand_jokers[seat])
        for kind in range(JOKER):
            bit = kind_bit(kind)
            if s.hand_one[seat] & bit != ZERO:
                left[kind] -= 1
            if s.hand_two[seat] & bit != ZERO:
                left[kind] -= 1
    for slot in range(s.meld_type.shape[0]):
        _take_meld(s, slot, left)
    for kind in range(NUM_KINDS):
        if left[kind] != 0:
            return False
    return True


@kernel
def _take_meld(s: Any, slot: int, left: NDArray[np.int64]) -> None:
    if (s.used_slots >> np.uint64(slot)) & np.uint64(1) == ZERO:
        return
    joker = np.int64(s.meld_joker[slot])
    if s.meld_type[slot] == RUN:
        for rank in range(s.meld_rank[slot], np.int64(s.meld_rank[slot]) + np.int64(s.meld_size[slot])):
            kind = JOKER if rank == joker else np.int64(s.meld_suits[slot]) * NUM_RANKS + rank % NUM_RANKS
            left[kind] -= 1
        return
    for suit in range(NUM_SUITS):
        if (s.meld_suits[slot] >> suit) & 1:
            kind = JOKER if joker != NO_JOKER and suit == joker else suit * NUM_RANKS + np.int64(s.meld_rank[slot])
            left[kind] -= 1
