"""The walk: engine and twin play the same actions, and everything is compared before and after each of them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from scala40_env.core.game import Game
from scala40_env.core.position import position_to_json
from scala40_env.core.rules import Rules
from scala40_env.core.rules_json import rules_to_json
from tests.differential.counts import Counts
from tests.differential.policies import POLICIES, sort_of
from tests.differential.positions import position
from tests.reference.adapter import adopt_deal, differences, from_row
from tests.reference.legality import UndecidedError, legal_actions
from tests.reference.rules_of_play import apply
from tests.reference.state import MATCH_OVER, ROUND_OVER, State


@dataclass(frozen=True)
class Start:
    """Where a walk begins: at a deal of the engine, or at a position built by hand of chance.

    Attributes:
        rules: A rulebook's name, or flags by name.
        players: How many seats.
        episode: ``"round"`` or ``"match"``.
        seed: Of the deal, or of the position.
        built: Whether it is a position that was built.
    """

    rules: str | dict[str, Any]
    players: int
    episode: str = "round"
    seed: int = 0
    built: bool = False

    @property
    def rules_name(self) -> str:
        """The rulebook's name, or that the rules are none of them."""
        return self.rules if isinstance(self.rules, str) else "random"

    def game(self) -> Game:
        """The engine's game."""
        if not self.built:
            return Game(self.rules, self.players, seed=self.seed, episode=self.episode)
        rules = Rules.of(self.rules)
        return Game.from_rows(rules, position(rules, self.players, self.episode, self.seed))


@dataclass
class Disagreement(Exception):  # noqa: N818 - what was found, not what went wrong here
    """Engine and twin do not agree; the start and the actions lead to where.

    Attributes:
        start: Where the walk began.
        actions: What was played since; the last one leads to the disagreement, unless it is about the legal actions.
        lines: What they disagree on.
        position: The last position on which they agreed, as JSON.
    """

    start: Start
    actions: list[int]
    lines: list[str]
    position: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        again = json.dumps({**asdict(self.start), "actions": self.actions})
        return "\n".join([*self.lines, f"again: {again}", f"position: {json.dumps(self.position)}"])

    def __reduce__(self) -> tuple[Any, ...]:
        return Disagreement, (self.start, self.actions, self.lines, self.position)


def walk(start: Start, steps: int, policy: str = "active", counts: Counts | None = None) -> Counts:
    """Play at random from a start, and compare all the way.

    Args:
        start: Where to begin.
        steps: The most actions that are played; the walk also ends where the episode does.
        policy: Its name among ``POLICIES``.
        counts: Where to add what was compared.

    Returns:
        The counts.

    Raises:
        Disagreement: The first one.
    """
    rng = random.Random(f"{start.seed} {start.players} {policy}")
    choose = POLICIES[policy]
    pair = Pair(start, Counts() if counts is None else counts)
    for _ in range(steps):
        legal = pair.compare_legal()
        if pair.is_over:
            break
        try:
            pair.play(choose(rng, legal))
        except UndecidedError:  # whether the next seat can do anything at all
            pair.counts.note("positions", "left undecided by the twin")
            break
    return pair.counts


def again(start: Start, played: Sequence[int]) -> None:
    """Play the actions of a reproduction, comparing all the way; raises ``Disagreement``."""
    pair = Pair(start, Counts())
    for action in played:
        pair.compare_legal()
        pair.play(action)
    pair.compare_legal()


class Pair:
    """A game of the engine and the same one of the twin."""

    def __init__(self, start: Start, counts: Counts) -> None:
        self.start = start
        self.counts = counts
        self.game = start.game()
        self.twin = from_row(self.game.row, self.game.rules)
        self.played: list[int] = []

    @property
    def is_over(self) -> bool:
        """Whether the episode has ended, as the twin sees it."""
        waits = self.twin.phase == ROUND_OVER and not self.twin.pending_reentry
        return self.twin.phase == MATCH_OVER or (waits and not self.twin.awaits_deal)

    def compare_legal(self) -> list[int]:
        """The legal actions, on which the two must agree, and of which there must be some until the end.

        In the few positions in which the twin finds no end of ways to play, those of the engine.
        """
        theirs = [int(action) for action in self.game.legal_actions()]
        try:
            ours = legal_actions(self.twin)
        except UndecidedError:
            self.counts.note("positions", "left undecided by the twin")
            return theirs
        lines = []
        if ours != theirs:
            lines.append(f"legal only to the twin: {sorted(set(ours) - set(theirs))}")
            lines.append(f"legal only to the engine: {sorted((Counter(theirs) - Counter(ours)).elements())}")
            if sorted(theirs) != theirs:
                lines.append("the engine's actions are not ascending")
        if self.game.is_over != self.is_over:
            lines.append(f"the episode is over: twin {self.is_over}, engine {self.game.is_over}")
        if not ours and not self.is_over:
            lines.append("nothing is legal, and the episode is not over")
        self._require_none(lines, self.game)
        start = "built" if self.start.built else f"dealt, {self.start.episode}"
        self.counts.note_position(self.twin, self.start.rules_name, start)
        return ours

    def play(self, action: int) -> None:
        """Play an action on both, and compare every field afterwards."""
        before = self.game.copy()
        self.game.play(action)
        self.played.append(action)
        rounds_before = self.twin.round_turns
        row = self.game.row
        after = apply(self.twin, action, lambda cards: shuffled_as(row, cards))
        self.counts.note("actions", sort_of(action))
        if after.phase in (ROUND_OVER, MATCH_OVER) and self.twin.phase != ROUND_OVER:
            assert after.ended_turns >= rounds_before
            self._note_end(after)
        if after.phase == MATCH_OVER:
            self.counts.note(
                "ends of matches", f"{len(after.winners)} winners" if len(after.winners) > 1 else "1 winner"
            )
        if after.awaits_deal:
            after, lines = adopt_deal(after, row)
        else:
            lines = differences(after, row)
        self._require_none(lines, before)
        self.twin = after

    def _note_end(self, after: State) -> None:
        how = after.end or "none"
        if how == "closed":
            how = "closed in hand" if after.closed_in_hand else "closed"
        self.counts.note("ends of rounds", how)
        self.counts.note("scores", "in a match" if after.whole_match else "of one round")

    def _require_none(self, lines: list[str], agreed: Game) -> None:
        if lines:
            shown = position_to_json(agreed.row, agreed.rules)
            raise Disagreement(self.start, list(self.played), lines, shown)


def shuffled_as(row: Any, cards: list[int]) -> list[int]:
    """The order into which the engine has shuffled cards: its stock, and on it the one that was drawn since."""
    stock = [int(kind) for kind in row.stock[: int(row.stock_size)]]
    return stock + list((Counter(cards) - Counter(stock)).elements())


def start_of(rules: Rules, players: int, **other: Any) -> Start:
    """A start under rules that may be none of the rulebooks."""
    return Start(rules_to_json(rules), players, **other)
