"""One game at a table, driven by integers: the engine, and what each seat sees, behind the PettingZoo face.

It knows seats and actions; agents, rewards and ends are the face's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import state
from scala40_env.core.actions import NUM_ACTIONS
from scala40_env.core.first_run import prepare
from scala40_env.core.game import Scratch, num_actions
from scala40_env.core.rules import Rules
from scala40_env.core.state import END_NAMES
from scala40_env.envs import stepping
from scala40_env.envs.memory import bytes_of
from scala40_env.envs.observe import observation_size, observe_row, shown_rules, state_row, state_size
from scala40_env.envs.stepping import NO_SEAT

Observation = dict[str, NDArray[Any]]


class Table:
    """A game that is stepped and observed in one compiled call.

    Args:
        rules: the house options.
        num_seats: seats at the table.
        whole_match: whether an episode is a match, not one round.
    """

    def __init__(self, rules: Rules, num_seats: int, whole_match: bool) -> None:
        self.rules = rules
        self.num_seats = num_seats
        self.whole_match = whole_match
        self.num_actions = num_actions(rules)
        self.rows = state.blank()
        self.outcome = 0
        self.count = 0
        """How many legal actions there are."""
        self._size = observation_size(num_seats)
        self._legal = np.zeros(NUM_ACTIONS, dtype=np.int16)
        self._fresh: Observation | None = None
        self._shown = shown_rules(rules)
        self._make_scratch()

    def __getstate__(self) -> dict[str, Any]:
        kept = dict(self.__dict__)
        for name in ("_memory", "_vector", "_work", "_seen"):  # made again: they are shared, or large
            del kept[name]
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self.rows = self.rows.view(np.recarray)
        self._make_scratch()

    def __deepcopy__(self, _: Any) -> Table:
        """A table of its own; the rules, which cannot be changed, are shared."""
        twin = Table.__new__(Table)
        twin.__dict__.update(self.__dict__)
        twin.rows = self.rows.copy()
        twin._legal = self._legal.copy()
        if self._fresh is not None:
            twin._fresh = {name: array.copy() for name, array in self._fresh.items()}
        twin._make_scratch()
        return twin

    def _make_scratch(self) -> None:
        """What kernels are given beside the game: its own memory, the rules, and room for the search."""
        scratch = Scratch()
        self._memory = bytes_of(self.rows)
        self._vector = self.rules.vector()
        self._work = bytes_of(scratch.work)
        self._seen = scratch.seen

    def deal(self, seed: int, game: int) -> None:
        """Begin the game of a number under a seed."""
        prepare()
        seats, whole_match = self.num_seats, int(self.whole_match)
        stepping.deal(self._memory, self._vector, np.uint64(seed), np.uint64(game), seats, whole_match)
        self.look()

    def look(self) -> None:
        """Find out again what follows from the row."""
        self.advance(stepping.LOOK)
        if self.outcome & stepping.SEAT_BITS == NO_SEAT:
            self._fresh = None

    def advance(self, action: int) -> int:
        """Do an action (0 or more, or ``stepping.LOOK``).

        Returns:
            The outcome (see ``stepping``), or ``stepping.ILLEGAL``: nothing has changed.
        """
        observation = np.empty(self._size, dtype=np.uint8)
        mask = np.zeros(self.num_actions, dtype=np.int8)
        outcome = int(  # in interpreted mode it is a NumPy integer
            stepping.advance(
                self._memory,
                self._work,
                self._vector,
                self._shown,
                self._seen,
                self._legal,
                self.count,
                action,
                observation,
                mask,
            )
        )
        if outcome >= 0:
            self.outcome = outcome
            self.count = outcome >> stepping.COUNT_SHIFT & stepping.COUNT_BITS
            self._fresh = {"observation": observation, "action_mask": mask}
        return outcome

    def stop(self) -> None:
        """From now on nobody is to act."""
        self.outcome |= stepping.OVER | NO_SEAT
        self.count = 0
        self._fresh = None

    def observe(self, seat: int, waits: bool = False) -> Observation:
        """What a seat sees and may do, which is nothing while it ``waits``; the arrays are the caller's."""
        made = self._fresh
        if made is not None and seat == self.outcome & stepping.SEAT_BITS and not waits:
            self._fresh = None
            return made
        observation = self._empty_observation()
        observe_row(self._memory, self._vector, self._shown, 0, seat, observation)
        return {"observation": observation, "action_mask": self.mask(seat, waits)}

    def mask(self, seat: int, waits: bool = False) -> NDArray[np.int8]:
        """1 for each action that a seat may do now, ``int8``, shape ``(num_actions,)``: zeros unless it is to act."""
        mask = self._empty_mask()
        if seat == self.outcome & stepping.SEAT_BITS and not waits:
            mask[self._legal[: self.count]] = 1
        return mask

    def state(self) -> NDArray[np.uint8]:
        """All that there is, hidden cards too: see ``observation.state_layout``."""
        out = np.empty(state_size(self.num_seats), dtype=np.uint8)
        state_row(self._memory, self._vector, self._shown, 0, out)
        return out

    @property
    def row(self) -> Any:
        """The state of the game; slow to ask for."""
        return self.rows[0]

    @property
    def is_over(self) -> bool:
        """Whether nothing can follow."""
        return self.outcome & stepping.OVER != 0

    @property
    def turns(self) -> int:
        """Turns of the episode that are over."""
        return self.outcome >> stepping.TURNS_SHIFT

    @property
    def scores(self) -> tuple[int, ...]:
        """The points of the match by seat."""
        return tuple(self.row.totals[: self.num_seats].tolist())

    @property
    def last_end(self) -> str | None:
        """How the last round ended; ``None`` before the first has."""
        end = int(self.row.end)
        return END_NAMES[end] if end else None

    def members(self, seats: Any) -> list[int]:
        """The seats of a mask of seats."""
        return [seat for seat in range(self.num_seats) if int(seats) >> seat & 1]

    def _empty_observation(self) -> NDArray[np.uint8]:
        return np.empty(self._size, dtype=np.uint8)

    def _empty_mask(self) -> NDArray[np.int8]:
        return np.zeros(self.num_actions, dtype=np.int8)
