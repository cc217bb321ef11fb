"""Many games side by side: a batch, stepped, observed and masked by one compiled call.

The arrays of a batch are its own and are written in place: look at them after ``step``, and copy what is to be kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.actions import NUM_ACTIONS
from scala40_env.core.deal import start_match
from scala40_env.core.first_run import prepare
from scala40_env.core.game import (
    EPISODES,
    IllegalActionError,
    Scratch,
    apply_action,
    is_episode_over,
    legal_or_stuck,
    num_actions,
    seed_word,
)
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.reasons import why_not
from scala40_env.core.rules import Rules
from scala40_env.core.state import allocate
from scala40_env.envs.memory import bytes_of, rows_of
from scala40_env.envs.observe import observation_size, observe, shown_rules

NONE_ILLEGAL = -1


@inlined
def _look(
    s: Any,
    work: Any,
    R: NDArray[np.int64],
    shown: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    legal: NDArray[np.int16],
    observation: NDArray[np.uint8],
    mask: NDArray[np.int8],
) -> int:
    """Find the legal actions, set their bits in a mask of zeros, and write what the seat to act sees."""
    count = legal_or_stuck(s, work, R, seen, legal)
    for i in range(count):
        mask[legal[i]] = 1
    if count > 0:
        observe(s, R, shown, np.int64(s.seat), observation)
    return count


@kernel
def _advance(
    memory: NDArray[np.uint8],
    scratch: NDArray[np.uint8],
    R: NDArray[np.int64],
    shown: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    shape: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    actions: NDArray[np.int64],
    legal: NDArray[np.int16],
    counts: NDArray[np.int64],
    seats: NDArray[np.int64],
    observations: NDArray[np.uint8],
    masks: NDArray[np.int8],
    points: NDArray[np.int32],
    ended: NDArray[np.bool_],
) -> int:
    """Do an action in every game; where ``actions`` is empty, begin them all.

    Returns the first game whose action is illegal, before anything has changed, or ``NONE_ILLEGAL``.

    Args:
        shape: the number of seats, and 1 where an episode is a match.
        seeds: the seed, and the number of the next game to be dealt, which is counted up.
    """
    rows, work = rows_of(memory), rows_of(scratch)
    for i in range(len(actions)):
        if actions[i] < 0 or actions[i] >= masks.shape[1] or masks[i, actions[i]] == 0:
            return i
    for i in range(len(rows)):
        s = rows[i]
        starts = len(actions) == 0
        ended[i] = False
        for k in range(counts[i]):
            masks[i, legal[i, k]] = 0
        if not starts:
            apply_action(s, R, actions[i])
            counts[i] = _look(s, work, R, shown, seen, legal[i], observations[i], masks[i])
            if is_episode_over(s):
                ended[i] = True
                for seat in range(shape[0]):
                    points[i, seat] = s.totals[seat]
                starts = True
        if starts:
            start_match(s, R, seeds[0], seeds[1], shape[0], shape[1])
            seeds[1] += np.uint64(1)
            counts[i] = _look(s, work, R, shown, seen, legal[i], observations[i], masks[i])
        seats[i] = s.seat
    return NONE_ILLEGAL


@kernel
def choose_uniformly(
    legal: NDArray[np.int16], counts: NDArray[np.int64], numbers: NDArray[np.uint64], actions: NDArray[np.int64]
) -> None:
    """Draw one legal action for each game; ``numbers`` is the state of the draws, one word (xorshift64)."""
    x = numbers[0]
    for i in range(len(counts)):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        actions[i] = legal[i, np.int64(((x >> np.uint64(32)) * np.uint64(counts[i])) >> np.uint64(32))]
    numbers[0] = x


class Batch:
    """Games side by side; a game that ends is followed at once by a new one.

    Attributes:
        seats: the seat to act in each game, ``int64``, shape ``(num_games,)``.
        observations: what it sees, ``uint8``, shape ``(num_games, observation size)``.
        masks: its legal actions as ones, ``int8``, shape ``(num_games, num_actions)``.
        legal, counts: the same as lists: ``legal[i, : counts[i]]``, ``int16``, ascending.
        ended: whether the game's episode ended with the last step, and what is shown is of a new one.
        points: the totals of the episode that ended last, ``int32``, shape ``(num_games, players)``.

    Args:
        rules: rules, the name of a rulebook, or flags by name.
        players: how many seats, as the rules allow.
        num_games: how many games, 1 or more.
        seed: of the deals; game ``k`` that is begun, in the order of the batch, is game ``k`` of the seed.
        episode: ``"round"`` or ``"match"``.

    Raises:
        RulesError: rules that do not exist, or players that they do not allow.
        ValueError: fewer than one game, another episode, or a seed that is not a 64-bit integer.
    """

    def __init__(
        self, rules: Any = "standard", players: int = 2, num_games: int = 256, *, seed: int = 0, episode: str = "round"
    ) -> None:
        self.rules = Rules.of(rules)
        self.rules.check_players(players)
        if isinstance(num_games, bool) or not isinstance(num_games, (int, np.integer)) or num_games < 1:
            raise ValueError(f"num_games: expected an integer of at least 1, got {num_games!r}")
        if episode not in EPISODES:
            raise ValueError(f"episode: expected 'round' or 'match', got {episode!r}")
        prepare()
        self.rows = allocate(num_games)
        self.seats = np.zeros(num_games, dtype=np.int64)
        self.observations = np.zeros((num_games, observation_size(players)), dtype=np.uint8)
        self.masks = np.zeros((num_games, num_actions(self.rules)), dtype=np.int8)
        self.legal = np.zeros((num_games, NUM_ACTIONS), dtype=np.int16)
        self.counts = np.zeros(num_games, dtype=np.int64)
        self.ended = np.zeros(num_games, dtype=np.bool_)
        self.points = np.zeros((num_games, players), dtype=np.int32)
        self._scratch = Scratch()
        self._shape = np.array([players, EPISODES.index(episode)], dtype=np.int64)
        self._seeds = np.zeros(2, dtype=np.uint64)
        self._fixed = (
            bytes_of(self.rows),
            bytes_of(self._scratch.work),
            self.rules.vector(),
            shown_rules(self.rules),
            self._scratch.seen,
            self._shape,
            self._seeds,
        )
        self.reset(seed)

    def reset(self, seed: int = 0) -> None:
        """Begin every game anew, with the deals 0, 1 ... of a seed."""
        self._seeds[:] = (seed_word(seed), 0)
        self._advance(np.zeros(0, dtype=np.int64))

    def step(self, actions: NDArray[np.int64]) -> None:
        """Do one action in every game.

        Args:
            actions: integers, shape ``(num_games,)``.

        Raises:
            IllegalActionError: an action that is not legal, named with its game and the reason; nothing has changed.
            ValueError: another shape, or numbers that are not integers.
        """
        chosen = np.asarray(actions)
        if chosen.shape != self.seats.shape or chosen.dtype.kind not in "iu":
            shape, found = self.seats.shape, f"{chosen.dtype} of shape {chosen.shape}"
            raise ValueError(f"actions: expected integers of shape {shape}, got {found}")
        game = self._advance(chosen.astype(np.int64, copy=False))
        if game != NONE_ILLEGAL:
            reason = why_not(self.rows[game], self.rules, int(chosen[game]))
            raise IllegalActionError(f"game {game}, action {int(chosen[game])}: {reason}")

    def _advance(self, actions: NDArray[np.int64]) -> int:
        return _advance(
            *self._fixed,
            actions,
            self.legal,
            self.counts,
            self.seats,
            self.observations,
            self.masks,
            self.points,
            self.ended,
        )
