"""What has been compared, and of what sort the positions were."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from scala40_env.core.cards import JOKER
from tests.reference.state import DRAW, PLAY, State

GROUPS = (
    "positions",
    "rules",
    "players",
    "start",
    "phase",
    "opening",
    "obligation",
    "jokers in hand",
    "hand size",
    "melds on the table",
    "actions",
    "scores",
    "ends of rounds",
    "ends of matches",
)
"""What ``Counts`` is grouped by, in the order in which it is shown."""


class Counts(Counter[tuple[str, str]]):
    """How many of each sort, by group and name."""

    def note(self, group: str, name: str) -> None:
        """One more."""
        assert group in GROUPS, group
        self[group, name] += 1

    def note_position(self, state: State, rules_name: str, start: str) -> None:
        """One more position whose legal actions were compared."""
        self.note("positions", "in all")
        self.note("rules", rules_name)
        self.note("players", str(state.num_seats))
        self.note("start", start)
        self.note("phase", state.phase)
        if state.phase not in (DRAW, PLAY):
            return
        self.note("jokers in hand", str(state.hand[JOKER]))
        self.note("melds on the table", _span(len(state.table), (0, 3, 8, 15)))
        self.note("hand size", _span(sum(state.hand), (0, 1, 2, 6, 12)))
        if state.phase == PLAY:
            self._note_turn(state)

    def _note_turn(self, state: State) -> None:
        turn = state.turn
        if not state.opened:
            self.note("opening", "in progress" if turn.laid_any else "not begun")
        elif turn.opened_now:
            self.note("opening", "made in this turn")
        else:
            self.note("opening", "made before")
        if turn.duty is not None:
            self.note("obligation", turn.duty)
        if turn.jokers_owed:
            self.note("obligation", f"jokers owed: {turn.jokers_owed}")
        if turn.split_slot is not None:
            self.note("obligation", "a run to split")
        if turn.duty is not None and turn.jokers_owed:
            self.note("obligation", "a card and a joker at once")

    def of(self, group: str) -> dict[str, int]:
        """The counts of one group by name, in the order of the names."""
        return {name: count for (other, name), count in sorted(self.items()) if other == group}


def _span(number: int, limits: tuple[int, ...]) -> str:
    """The span between limits in which a number lies, in words."""
    for low, high in pairwise(limits):
        if number <= low:
            return str(low)
        if number <= high:
            return str(high) if high == low + 1 else f"{low + 1} to {high}"
    return f"more than {limits[-1]}"
