"""The exact best response to a policy, and how far a policy can be exploited, where a round is small enough.

A round of two seats is enumerated from the side of one seat, the viewer (``training.exact_tree``), against a policy
that the other seat keeps to.  From the ends back, each of the viewer's information sets is worth the most that an
action is worth there, weighted by how likely chance and the other seat make each of its states.  With perfect recall
that is the best response, and its value is exact but for the rounding of floats.

Values are in points a round, of the viewer above the other seat; two seats sum to zero.  A seat's value is its mean
over who begins, which is decided by lot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from agents.base import UNIFORM, Agent, is_compiled
from scala40_env.core.rules import Rules
from training.exact_tree import OVER, SEATS, ExactError, Grower, Level, check_enumerable, num_deals

MOST_STATES = 200_000_000
"""States that are met at most; a core meets about a million a second."""
MOST_AT_ONCE = 1_000_000
"""States of one level at most; each takes about 1.3 kB."""


class Player(Protocol):
    """A policy whose chances are known."""

    def chances(self, level: Level) -> NDArray[np.float64]:
        """How likely each action of ``level.legal`` is; those of a state sum to 1."""
        ...


class UniformPlayer:
    """Every legal action is equally likely."""

    def chances(self, level: Level) -> NDArray[np.float64]:
        """See ``Player``."""
        counts = level.counts()
        return np.repeat(1 / np.maximum(counts, 1), counts)


class AgentPlayer:
    """An agent that draws nothing at random; asked once for each redacted row.

    Args:
        agent: the agent.  One that has ``logits`` and a ``temperature`` above 0 is played by its chances.
        rules: the rules that it is asked under.
    """

    def __init__(self, agent: Agent, rules: Rules) -> None:
        self._agent, self._rules = agent, rules
        self._known: dict[int, NDArray[np.float64]] = {}

    def chances(self, level: Level) -> NDArray[np.float64]:
        """See ``Player``."""
        made = np.zeros(level.starts[-1])
        for i, key in enumerate(level.shown.tolist()):
            begin, end = level.starts[i], level.starts[i + 1]
            if begin == end:
                continue
            if key not in self._known:
                self._known[key] = self._asked(level.redacted(i), level.legal[begin:end].copy())
            made[begin:end] = self._known[key]
        return made

    def _asked(self, row: NDArray[Any], legal: NDArray[np.int16]) -> NDArray[np.float64]:
        temperature = getattr(self._agent, "temperature", 0.0)
        if temperature > 0:
            logits = self._agent.logits(row, legal, self._rules).astype(np.float64) / temperature  # type: ignore[attr-defined]
            likely = np.exp(logits - logits.max())
            return likely / likely.sum()
        return (legal == self._agent.act(row, legal, self._rules)).astype(np.float64)


class RecallingPlayer:
    """A policy by histories, as a best response is one: it may do other things where it has seen other things before.

    Where it has no choice, for what never happens against whom it was made for, all legal actions are equally likely.

    Args:
        histories: what the seat has seen, as ``Level.histories`` has it; in any order, without repetition.
        actions: what it does then.
    """

    def __init__(self, histories: NDArray[np.uint64], actions: NDArray[np.int16]) -> None:
        order = np.argsort(histories)
        self._histories, self._actions = histories[order], actions[order]

    def __len__(self) -> int:
        return len(self._histories)

    def action(self, history: np.uint64) -> int | None:
        """What it does after a history, or ``None`` where it has no choice."""
        place = int(np.searchsorted(self._histories, history))
        is_known = place < len(self) and self._histories[place] == history
        return int(self._actions[place]) if is_known else None

    def chances(self, level: Level) -> NDArray[np.float64]:
        """See ``Player``."""
        made = UniformPlayer().chances(level)
        if not len(self):
            return made
        counts = level.counts()
        mine = level.histories[np.arange(len(level)), np.maximum(level.seats, 0)]
        places = np.minimum(np.searchsorted(self._histories, mine), len(self) - 1)
        is_known = np.repeat(self._histories[places] == mine, counts)
        is_chosen = level.legal == np.repeat(self._actions[places], counts)
        return np.where(is_known, is_chosen.astype(np.float64), made)


def player_of(agent: Agent, rules: Rules) -> Player:
    """An agent as a policy whose chances are known; ``uniform`` as what it is, not as its random numbers have it."""
    return UniformPlayer() if is_compiled(agent) and agent.bot == UNIFORM else AgentPlayer(agent, rules)


@dataclass(frozen=True)
class Answer:
    """What is exact of a policy.

    Attributes:
        best: the value of the best response, by the seat that responds and the seat that begins: ``(SEATS, SEATS)``.
        values: the values of other policies in the place of the best response: ``(policies, SEATS, SEATS)``.
        states: how many states were met.
        response: the best response, where it was to be kept.
    """

    best: NDArray[np.float64]
    values: NDArray[np.float64]
    states: int
    response: RecallingPlayer = field(repr=False)


@dataclass(frozen=True)
class Exploitability:
    """How far a policy is from an equilibrium.

    Attributes:
        best: as in ``Answer``.
        itself: the value of the policy against itself, ``(SEATS, SEATS)``.
        states: how many states were met.
    """

    best: NDArray[np.float64]
    itself: NDArray[np.float64]
    states: int

    @property
    def nash_conv(self) -> float:
        """The sum over the seats of what the best response there gains on the policy itself, in points a round.

        The others' seats keep to the policy; it is 0 for an equilibrium, and never below.
        """
        return float((self.best - self.itself).mean(axis=1).sum())

    @property
    def gain(self) -> float:
        """The same for one seat: what a best response gains a round on the policy, the seats exchanged by turns."""
        return self.nash_conv / SEATS


def exploitability(policy: Player, rules: Rules, *, most: int = MOST_STATES) -> Exploitability:
    """How far a policy can be exploited: the best responses to it, and the policy against itself.

    Raises:
        ExactError: as ``best_response``.
    """
    answer = best_response(policy, rules, others=[policy], most=most)
    return Exploitability(answer.best, answer.values[0], answer.states)


def best_response(
    policy: Player, rules: Rules, *, others: Sequence[Player] = (), keep: bool = False, most: int = MOST_STATES
) -> Answer:
    """The best response to a policy, exactly, for each seat and each beginner.

    Args:
        policy: what the other seat keeps to.
        rules: the rules, for two seats.
        others: policies whose values against ``policy`` are wanted as well.
        keep: whether to keep the response itself, and not only its value.
        most: how many states may be met.

    Raises:
        ExactError: rules whose rounds are too large; the message says how many states were met.
    """
    check_enumerable(rules)
    if num_deals(rules) * SEATS * SEATS > most:
        raise ExactError(f"exact: too large: {num_deals(rules):.3g} deals alone, at most {most:,} states are met")
    search = _Search(rules, policy, others, keep, most)
    values = np.zeros((1 + len(others), SEATS, SEATS))
    for viewer in range(SEATS):
        for first in range(SEATS):
            for level, weights in search.grower.roots(viewer, first):
                values[:, viewer, first] += search.solve(level, weights, viewer)
    return Answer(values[0], values[1:], search.states, search.response())


class _Step:
    """What the way back needs of a level: its groups.

    Attributes:
        ends: by group, what is paid where the round is over.
        parents, actions: by group, the group that it comes from and the action; groups are in the order of these.
        is_viewers: by group, whether the viewer is to act.
        histories: by group, what the viewer has seen.
        policies: by other policy, the chances of the legal actions of the viewer's groups, one after the other.
    """

    def __init__(self, size: int, parents: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        self.ends = np.zeros(size)
        self.parents, self.actions = parents, actions
        self.is_viewers = np.zeros(size, dtype=np.bool_)
        self.histories = np.zeros(size, dtype=np.uint64)
        self.policies: list[NDArray[np.float64]] = []


class _Search:
    """The tree of one hand of the viewer after the other."""

    def __init__(self, rules: Rules, policy: Player, others: Sequence[Player], keep: bool, most: int) -> None:
        self.grower = Grower(rules)
        self.states = 0
        self._policy, self._others, self._keep, self._most = policy, others, keep, most
        self._kept: list[tuple[NDArray[np.uint64], NDArray[np.int16]]] = []

    def response(self) -> RecallingPlayer:
        """The choices that were kept."""
        if not self._kept:
            return RecallingPlayer(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int16))
        histories, actions = zip(*self._kept)
        return RecallingPlayer(np.concatenate(histories), np.concatenate(actions))

    def solve(self, level: Level, weights: NDArray[np.float64], viewer: int) -> NDArray[np.float64]:
        """What the best response and the other policies gain from a level on: ``(1 + policies,)``."""
        none = np.full(len(level), -1)
        groups, step = _grouped(level, none, none, viewer)
        steps = []
        while True:
            self._meet(len(level))
            sign = 1.0 if viewer == 0 else -1.0
            step.ends = np.bincount(
                groups, weights * np.where(level.seats == OVER, sign * level.paid, 0.0), len(step.ends)
            )
            if step.is_viewers.any():
                leaders = np.unique(groups, return_index=True)[1][step.is_viewers]
                step.policies = [player.chances(level.some(leaders)) for player in self._others]
            steps.append(step)
            if (level.seats == OVER).all():
                break
            level, parents, actions, chances = self.grower.after(level, self._chances(level, viewer))
            weights = weights[parents] * chances
            groups, step = _grouped(level, groups[parents], actions, viewer)
        values = self._ends(steps[-1])
        for above, below in zip(steps[-2::-1], steps[:0:-1]):
            values = self._back(above, below, values)
        return np.asarray(values.sum(axis=0))

    def _meet(self, states: int) -> None:
        self.states += states
        if self.states > self._most or states > MOST_AT_ONCE:
            raise ExactError(f"exact: too large: {self.states:,} states met, {states:,} of them at once, and no end")

    def _chances(self, level: Level, viewer: int) -> NDArray[np.float64]:
        """The viewer tries everything, the other seat does as its policy has it."""
        chances = np.ones(level.starts[-1])
        theirs = np.flatnonzero((level.seats != viewer) & (level.seats != OVER))
        if len(theirs):
            is_theirs = np.repeat((level.seats != viewer) & (level.seats != OVER), level.counts())
            chances[is_theirs] = self._policy.chances(level.some(theirs))
        return chances

    def _ends(self, step: _Step) -> NDArray[np.float64]:
        """What is paid in the groups of a level themselves, for the best response and each of the other policies."""
        return np.repeat(step.ends[:, None], 1 + len(self._others), axis=1)

    def _back(self, above: _Step, below: _Step, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of the groups of a level, from those of the next."""
        is_new = np.ones(len(below.parents), dtype=np.bool_)
        is_new[1:] = (np.diff(below.parents) != 0) | (np.diff(below.actions) != 0)
        pairs = np.flatnonzero(is_new)
        by_action = np.add.reduceat(values, pairs, axis=0)
        owners, actions = below.parents[pairs], below.actions[pairs]
        is_mine = above.is_viewers[owners]
        made = self._ends(above)
        np.add.at(made, owners[~is_mine], by_action[~is_mine])
        if is_mine.any():
            mine, owned = by_action[is_mine], owners[is_mine]
            begins = np.flatnonzero(np.concatenate([[True], np.diff(owned) != 0]))
            best = np.maximum.reduceat(mine[:, 0], begins)
            made[owned[begins], 0] += best
            for k, chances in enumerate(above.policies, start=1):
                made[owned[begins], k] += np.add.reduceat(chances * mine[:, k], begins)
            if self._keep:
                top = np.flatnonzero(mine[:, 0] == np.repeat(best, np.diff([*begins, len(mine)])))
                first = np.unique(owned[top], return_index=True)[1]  # of actions worth the same, the first
                self._kept.append((above.histories[owned[begins]], actions[is_mine][top[first]].astype(np.int16)))
        return made


def _grouped(
    level: Level, parents: NDArray[np.int64], actions: NDArray[np.int64], viewer: int
) -> tuple[NDArray[np.int64], _Step]:
    """The group of each state, and the groups, in the order of the groups that they come from and of the actions."""
    histories = level.histories[:, viewer]
    order = np.lexsort((histories, actions, parents))
    keys = [array[order] for array in (parents, actions, histories)]
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = np.cumsum(is_new) - 1
    leaders = order[is_new]
    step = _Step(len(leaders), parents[leaders], actions[leaders])
    step.is_viewers = level.seats[leaders] == viewer
    step.histories = histories[leaders]
    return groups, step
