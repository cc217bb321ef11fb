"""Whole rounds and matches of compiled bots inside one kernel, and the tallies of what happened.

A tally is two small arrays of integers: one line a seat, and one line a game.  Games that are stepped from Python note
the ends of their rounds through the same kernels, so that both ways count alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.bots import choose_blind
from scala40_env.core.actions import NUM_ACTIONS
from scala40_env.core.cards import MAX_SEATS
from scala40_env.core.deal import decision_rng, start_match
from scala40_env.core.game import Scratch, apply_action, is_episode_over, legal_or_stuck
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.state import END_CLOSED, END_NAMES, END_TRUNCATED, PLAY, allocate

# a line of a seat
SEAT_ROUNDS, SEAT_POINTS, SEAT_CLOSED, SEAT_OPENED, SEAT_DECISIONS, SEAT_IN_HAND = range(6)
NUM_SEAT_COUNTS = 6
# a line of a game; from GAME_ENDS on, the rounds that ended in each way
GAME_ROUNDS, GAME_TURNS, GAME_IN_HAND, GAME_WINNERS, GAME_ENDS = range(5)
NUM_GAME_COUNTS = GAME_ENDS + len(END_NAMES)


class PlayoutScratch(Scratch):
    """What a compiled game works in; one for each thread."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = allocate(1)
        self.view = allocate(1)
        self.legal = np.empty(NUM_ACTIONS, dtype=np.int16)


def new_tallies(num_games: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Empty tallies of so many games.

    Returns:
        ``int64`` arrays of shapes ``(num_games, MAX_SEATS, NUM_SEAT_COUNTS)`` and ``(num_games, NUM_GAME_COUNTS)``.
    """
    return (
        np.zeros((num_games, MAX_SEATS, NUM_SEAT_COUNTS), dtype=np.int64),
        np.zeros((num_games, NUM_GAME_COUNTS), dtype=np.int64),
    )


@kernel
def _note_round(s: Any, seats: NDArray[np.int64], game: NDArray[np.int64]) -> None:
    """Count a round that has just ended; the row still says how."""
    for seat in range(s.num_seats):
        if (s.ended_in_round >> seat) & 1:
            seats[seat, SEAT_ROUNDS] += 1
            seats[seat, SEAT_POINTS] += s.points[seat]
            seats[seat, SEAT_OPENED] += (s.ended_opened >> seat) & 1
    if s.end == END_CLOSED:
        seats[s.closer, SEAT_CLOSED] += 1
        seats[s.closer, SEAT_IN_HAND] += s.closed_in_hand
        game[GAME_IN_HAND] += s.closed_in_hand
    game[GAME_ROUNDS] += 1
    game[GAME_TURNS] += s.ended_turns
    game[GAME_ENDS + s.end] += 1


@kernel
def _note_truncated(s: Any, seats: NDArray[np.int64], game: NDArray[np.int64]) -> None:
    """Count a round that is broken off: nobody is charged for it."""
    for seat in range(s.num_seats):
        if (s.in_round >> seat) & 1:
            seats[seat, SEAT_ROUNDS] += 1
            seats[seat, SEAT_OPENED] += (s.has_opened >> seat) & 1
    game[GAME_ROUNDS] += 1
    game[GAME_TURNS] += s.round_turns
    game[GAME_ENDS + END_TRUNCATED] += 1


@inlined
def _turns_before(s: Any) -> int:
    """How many turns the episode had before this round: it tells the rounds of a match apart."""
    return np.int64(s.match_turns) - np.int64(s.round_turns)


@inlined
def _has_ended(s: Any, phase: int, turns_before: int) -> bool:
    """Whether a round has ended since the phase and the turns before the round were these."""
    return phase <= PLAY and (s.phase > PLAY or _turns_before(s) != turns_before)


@inlined
def play_out(
    s: Any,
    view: Any,
    work: Any,
    R: NDArray[np.int64],
    seen: NDArray[np.uint64],
    legal: NDArray[np.int16],
    bots: NDArray[np.int64],
    salts: NDArray[np.uint64],
    seed: np.uint64,
    number: np.uint64,
    turn_limit: int,
    seats: NDArray[np.int64],
    game: NDArray[np.int64],
) -> int:
    """Play a row to the end of its episode; returns how many decisions were made.

    Args:
        s: the row; it holds the end afterwards.
        view: scratch, one row: what a bot sees.
        work, seen: scratch of the search, as ``Scratch`` has it.
        R: the rules' vector.
        legal: scratch, ``int16``, ``NUM_ACTIONS``.
        bots: the bot of each seat, by number.
        salts: the salt of each seat's bot.
        seed, number: of the random numbers of the decisions (``decision_rng``).
        turn_limit: turns of the episode after which it is broken off.
        seats, game: tallies, added to: ``(MAX_SEATS, NUM_SEAT_COUNTS)`` and ``(NUM_GAME_COUNTS,)``.
    """
    decision = 0
    phase, turns_before = np.int64(s.phase), _turns_before(s)
    while True:
        count = legal_or_stuck(s, work, R, seen, legal)
        if _has_ended(s, phase, turns_before):
            _note_round(s, seats, game)
        if is_episode_over(s):
            break
        if s.match_turns >= turn_limit:
            _note_truncated(s, seats, game)
            break
        seat, phase, turns_before = np.int64(s.seat), np.int64(s.phase), _turns_before(s)
        rng = decision_rng(seed, number, seat, decision)
        action = choose_blind(bots[seat], s, view, work, R, seen, legal, count, rng, salts[seat])
        decision += 1
        seats[seat, SEAT_DECISIONS] += 1
        apply_action(s, R, action)
    game[GAME_WINNERS] = s.winners
    return decision


@kernel
def _play_games(
    rows: Any,
    view: Any,
    work: Any,
    R: NDArray[np.int64],
    seen: NDArray[np.uint64],
    legal: NDArray[np.int16],
    bots: NDArray[np.int64],
    salts: NDArray[np.uint64],
    seed: np.uint64,
    first: np.uint64,
    num_seats: int,
    whole_match: int,
    turn_limit: int,
    seats: NDArray[np.int64],
    games: NDArray[np.int64],
) -> int:
    decisions = 0
    for i in range(len(games)):
        number = first + np.uint64(i)
        s = rows[0]
        start_match(s, R, seed, number, num_seats, whole_match)
        decisions += play_out(s, view, work, R, seen, legal, bots, salts, seed, number, turn_limit, seats[i], games[i])
    return decisions


def play_games(
    scratch: PlayoutScratch,
    vector: NDArray[np.int64],
    bots: NDArray[np.int64],
    salts: NDArray[np.uint64],
    *,
    seed: int,
    first: int,
    num_games: int,
    episode: str = "round",
    turn_limit: int = 10_000,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Games ``first``, ``first + 1`` ... of a seed, from the deal to the end, played by compiled bots.

    Args:
        scratch: what the games work in.
        vector: the rules' vector.
        bots: the bot of each seat, by number; as many as there are seats.
        salts: the salt of each seat's bot.
        seed, first: which deals.
        num_games: how many games.
        episode: ``"round"`` or ``"match"``.
        turn_limit: turns of an episode after which it is broken off.

    Returns:
        The tallies, as ``new_tallies`` makes them.
    """
    seats, games = new_tallies(num_games)
    _play_games(
        scratch.rows,
        scratch.view,
        scratch.work,
        vector,
        scratch.seen,
        scratch.legal,
        bots,
        salts,
        np.uint64(seed),
        np.uint64(first),
        len(bots),
        int(episode == "match"),
        turn_limit,
        seats,
        games,
    )
    return seats, games


@kernel
def _note_round_of(rows: Any, seats: NDArray[np.int64], game: NDArray[np.int64]) -> None:
    _note_round(rows[0], seats, game)


@kernel
def _note_truncated_of(rows: Any, seats: NDArray[np.int64], game: NDArray[np.int64]) -> None:
    _note_truncated(rows[0], seats, game)


def note_round(rows: NDArray[Any], seats: NDArray[np.int64], game: NDArray[np.int64]) -> None:
    """Count the round that has just ended in a record array of one row."""
    _note_round_of(rows, seats, game)


def note_truncated(rows: NDArray[Any], seats: NDArray[np.int64], game: NDArray[np.int64]) -> None:
    """Count the round that is broken off in a record array of one row."""
    _note_truncated_of(rows, seats, game)
