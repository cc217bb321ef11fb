"""Information-set Monte Carlo tree search: one tree over what the searching seat can tell apart.

Single-observer ISMCTS (Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search", 2012), with what this
game taught.  Each world deals the hidden cards anew (``core.determinize``) and is walked through a few times along
actions that are legal in it.  What the seat itself draws is seen by it, and so its draws lead to a child for each card;
what others draw is not, and does not.  From a new node on a compiled bot plays all seats to the end of the round.

- *At the root* the first walk through a world takes the choice of a good bot, the prior; the others take the actions
  with the best upper bounds of what they gain over it in the same worlds, so that luck of the cards cancels.  The
  prior's choice stands unless the action that was visited most gained surely more.
- *Below it* the bot's own choice is tried first, and another one only when a node has been visited often enough
  (progressive widening: Coulom, "Computing Elo ratings of move patterns in the game of Go", 2007): nodes that are
  visited a few times would otherwise be valued by actions drawn at random.  A child is counted as available whenever
  its action was legal, and its bound weighs visits against that.
- *The others' decisions* are the bot's and are not searched.  A node of theirs mixes all the hands that they may hold,
  while they know theirs: choosing one action for all of them made the agent weaker by about two points a round.

The tree is a handful of arrays: a child list is a chain of siblings, and the root's children are the nodes after it.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import AgentError
from agents.belief import NO_BELIEF, draw_world
from agents.bots import choose_blind
from agents.pimc import TURN_LIMIT, SearchScratch, check_shared, compiled_bot, gained, name_of, rng_of_decision
from agents.playout import play_out
from agents.thinking import Decision
from scala40_env.core.actions import DRAW, NUM_ACTIONS
from scala40_env.core.deal import below, decision_rng, stream
from scala40_env.core.game import apply_action, is_episode_over, legal_or_stuck
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.rules import Rules

MOST_ITERATIONS = 1_000_000
# a node
KEY, CHILD, SIBLING, VISITS, AVAILABLE = range(5)
NODE_WORDS = 5
ROOT = 0
# an action of the root; the last two: what it gained over the prior's in the same worlds
LAST_WORLD, TRIED, GAINED, OVER, OVER_SQUARED = range(5)
ARM_WORDS = 5
WALKS = 4
"""How often a world is walked through: to deal one costs as much as a walk or two."""
_FIRST = 4
"""Worlds in which every action of the root is tried before bounds decide: one sample may be very unlucky."""
_WIDTH = 8
"""A node may have ``sqrt(visits / _WIDTH)`` children, rounded down, and one more."""
_INSIDE = 0.5
"""The exploration below the root, against that at the root."""
_NONE = -1
_PLAY, _PICKS = 1 << 25, 1 << 26
_DEEPEST = 64
_NODES_A_WALK = 2
_NODES_BY_TIME = 100_000
_STAGE = 4
"""Worlds that are walked through before the clock is looked at, under a budget of time."""
_POINTS = 50.0
"""What the exploration is measured against: about the spread of a round's result, in points."""


@inlined
def _find(nodes: NDArray[np.int32], parent: int, key: int) -> int:
    node = np.int64(nodes[parent, CHILD])
    while node != _NONE and nodes[node, KEY] != key:
        node = np.int64(nodes[node, SIBLING])
    return node


@inlined
def _add(nodes: NDArray[np.int32], values: NDArray[np.float64], parent: int, key: int, used: int) -> int:
    """A new child of a node; returns how many nodes are in use."""
    nodes[used, KEY] = key
    nodes[used, CHILD] = _NONE
    nodes[used, SIBLING] = nodes[parent, CHILD]
    nodes[used, VISITS] = 0
    nodes[used, AVAILABLE] = 1
    values[used] = 0.0
    nodes[parent, CHILD] = used
    return used + 1


@inlined
def _bound(total: float, visits: float, of: float, exploration: float) -> float:
    """The upper bound of a mean (UCB1: Auer, Cesa-Bianchi and Fischer, 2002)."""
    return total / visits + exploration * _POINTS * np.sqrt(np.log(of) / visits)


@kernel
def _pick(
    nodes: NDArray[np.int32],
    values: NDArray[np.float64],
    parent: int,
    legal: NDArray[np.int16],
    count: int,
    usual: int,
    exploration: float,
    state: np.uint64,
) -> tuple[np.uint64, int, int]:
    """Choose an action of the searching seat below the root.

    Returns the stream's next state, the action, and its child, ``_NONE`` where it was never tried.
    """
    tried, untried, fresh = 0, 0, 0
    chosen, child, best = usual, _find(nodes, parent, usual), -np.inf
    if child == _NONE:
        return state, chosen, child
    for i in range(count):
        action = np.int64(legal[i])
        node = _find(nodes, parent, action)
        if node == _NONE:
            untried += 1
            state, k = below(state, untried)
            if k == 0:
                fresh = action
            continue
        tried += 1
        nodes[node, AVAILABLE] += 1
        of, visits = np.float64(nodes[node, AVAILABLE]), np.float64(nodes[node, VISITS])
        bound = _bound(values[node], visits, of, exploration)
        if bound > best:
            best, chosen, child = bound, action, node
    if untried > 0 and tried * tried * _WIDTH <= nodes[parent, VISITS]:
        return state, fresh, _NONE
    return state, chosen, child


@kernel
def _walk(
    s: Any,
    R: NDArray[np.int64],
    rng: np.uint64,
    number: np.uint64,
    action: int,
    node: int,
    exploration: float,
    bots: NDArray[np.int64],
    salts: NDArray[np.uint64],
    scratch: tuple[Any, ...],
    path: NDArray[np.int64],
    nodes: NDArray[np.int32],
    values: NDArray[np.float64],
    used: int,
) -> tuple[int, float]:
    """Walk through a world to the end of its round, from an action of the root and its node on.

    Returns how many nodes are in use, and what the searching seat gained.
    """
    work, seen, legal, _, _, view, seats, counts = scratch
    searcher = np.int64(s.seat)
    state, draws = stream(rng, number, action, _PICKS), stream(rng, number, 0, _PLAY)
    depth, grown = 0, False
    while True:
        path[depth] = node
        depth += 1
        seat, top = np.int64(s.seat), np.int64(s.stock[s.stock_size - 1]) if s.stock_size > 0 else 0
        apply_action(s, R, action)
        count = legal_or_stuck(s, work, R, seen, legal)
        if is_episode_over(s) or depth >= _DEEPEST or grown:
            break
        if action == DRAW and seat == searcher:
            seen_card = _find(nodes, node, NUM_ACTIONS + top)
            if seen_card == _NONE:
                seen_card = used
                used = _add(nodes, values, node, NUM_ACTIONS + top, used)
            node = path[depth] = seen_card
            depth += 1
        seat = np.int64(s.seat)
        chance = decision_rng(draws, np.uint64(1), seat, depth)
        action = choose_blind(bots[seat], s, view, work, R, seen, legal, count, chance, salts[seat])
        if seat == searcher:
            state, action, child = _pick(nodes, values, node, legal, count, action, exploration, state)
        else:
            child = _find(nodes, node, action)
        if child == _NONE:
            child, grown = used, True
            used = _add(nodes, values, node, action, used)
        node = child
    if not is_episode_over(s):
        limit = np.int64(s.match_turns) + TURN_LIMIT
        play_out(s, view, work, R, seen, legal, bots, salts, draws, np.uint64(0), limit, seats, counts)
    over = is_episode_over(s)
    for i in range(depth):
        nodes[path[i], VISITS] += 1
        if over:
            values[path[i]] += gained(s, searcher)
    return used, gained(s, searcher) if over else 0.0


@inlined
def _challenger(arms: NDArray[np.float64], world: int, exploration: float) -> int:
    """The action of the root to try next in a world in which some have been tried."""
    of = 1.0 + np.sum(arms[:, TRIED])
    best, chosen = -np.inf, 0
    for arm in range(len(arms)):
        if arms[arm, LAST_WORLD] == world:
            continue
        tried = arms[arm, TRIED]
        bound = _bound(arms[arm, OVER], tried, of, exploration) if tried >= _FIRST else 1e9 - tried
        if bound > best:
            best, chosen = bound, arm
    return chosen


@kernel
def search(
    rows: Any,
    R: NDArray[np.int64],
    rng: np.uint64,
    first: int,
    worlds: int,
    actions: NDArray[np.int64],
    usual: int,
    exploration: float,
    bots: NDArray[np.int64],
    salts: NDArray[np.uint64],
    believed: int,
    doubt: float,
    scratch: tuple[Any, ...],
    path: NDArray[np.int64],
    arms: NDArray[np.float64],
    nodes: NDArray[np.int32],
    values: NDArray[np.float64],
    used: int,
) -> int:
    """Grow the tree by some worlds; returns how many nodes are in use.

    Args:
        rows: the state as the seat to act may know it: a record array of one row.
        R: the rules' vector.
        rng: where the worlds are drawn from.
        first, worlds: the number of the first world, and how many there are.
        actions: those of the root; the node of ``actions[i]`` is ``ROOT + 1 + i``.
        usual: the place among them of the prior's choice; -1: none.
        exploration: weight of the exploration at the root.
        bots, salts: who plays each seat on.
        believed, doubt: as for ``belief.draw_world``.
        scratch: as for ``pimc.try_actions``.
        path: scratch, ``int64``, of ``_DEEPEST + 2``.
        arms: what is known of each action of the root, ``(len(actions), ARM_WORDS)``; changed.
        nodes, values: the tree; of a node, the sum of what the searching seat gained.
        used: how many nodes are in use.
    """
    world, game = scratch[3], scratch[4]
    searcher = np.int64(rows[0].seat)
    walks = min(WALKS, len(actions))
    for k in range(first, first + worlds):
        if used + walks * _NODES_A_WALK > len(nodes):
            break
        if not draw_world(rows[0], searcher, R, rng, k, believed, doubt, salts[searcher], scratch):
            break
        base = 0.0
        for j in range(walks):
            arm = usual if j == 0 and usual != _NONE else _challenger(arms, k, exploration)
            game[0] = world[0]
            fixed = exploration * _INSIDE, bots, salts, scratch, path, nodes, values
            used, gain = _walk(game[0], R, rng, np.uint64(k), actions[arm], ROOT + 1 + arm, *fixed, used)
            if j == 0 and usual != _NONE:
                base = gain
            arms[arm, LAST_WORLD] = k
            arms[arm, TRIED] += 1
            arms[arm, GAINED] += gain
            arms[arm, OVER] += gain - base
            arms[arm, OVER_SQUARED] += (gain - base) ** 2
    return used


class Ismcts:
    """Searches a tree over information sets; see the module.

    Args:
        iterations: walks through worlds for a decision, at least.
        milliseconds: time for a decision instead; 0: no limit, and then equal seeds give equal choices.
        exploration: how much untried luck is worth against what is known.
        bot: the compiled bot that plays all seats on from a new node, and the others in the tree too.
        prior: the compiled bot whose choice stands unless another action is surely better; none if empty, and then
            the action that was visited most is taken.
        sure: how many standard errors of the difference, world by world, another action must be better.
        belief, doubt: as for ``pimc``.
        seed: changes the worlds.
    """

    def __init__(
        self,
        iterations: int = 4000,
        milliseconds: float = 0.0,
        exploration: float = 0.5,
        bot: str = "greedy",
        prior: str = "careful",
        sure: float = 1.5,
        belief: str = "",
        doubt: float = 0.2,
        seed: int = 0,
    ) -> None:
        if not 1 <= iterations <= MOST_ITERATIONS:
            raise AgentError(f"iterations: expected an integer from 1 to {MOST_ITERATIONS}, got {iterations}")
        if not 0 <= exploration < 1e6:
            raise AgentError(f"exploration: expected a number of 0 or more, got {exploration}")
        check_shared(milliseconds, sure, seed, doubt)
        self.name = name_of("ismcts", bot, prior, belief)
        self.iterations, self.milliseconds, self.exploration, self.sure = iterations, milliseconds, exploration, sure
        self._bot = compiled_bot("bot", bot)
        self._prior = compiled_bot("prior", prior) if prior else None
        self._belief = (compiled_bot("belief", belief).bot if belief else NO_BELIEF), float(doubt)
        self._seed = np.uint64(seed)
        self._scratch = SearchScratch()
        most = _NODES_A_WALK * (iterations + WALKS) if not milliseconds else _NODES_BY_TIME
        self._nodes = np.zeros((1 + NUM_ACTIONS + most, NODE_WORDS), dtype=np.int32)
        self._values = np.zeros(len(self._nodes), dtype=np.float64)
        self._path = np.zeros(_DEEPEST + 2, dtype=np.int64)
        self._arms = np.zeros((0, ARM_WORDS), dtype=np.float64)
        self._searched: tuple[Decision, int, int] | None = None

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> int:
        """The action that was visited most, or that of the prior where it is not surely better; see ``Agent.act``."""
        self._searched = None
        if len(legal) == 1:
            return int(legal[0])
        usual = _NONE
        if self._prior is not None:
            usual = int(np.searchsorted(legal, self._prior.act(rows.copy(), legal, rules, rng)))
        self._search(rows, legal, rules, rng, usual)
        choice = self._choice(usual)
        self._searched = Decision(rows, legal, rules), usual, choice
        return int(legal[choice])

    @property
    def thought(self) -> dict[str, Any] | None:
        """Of the last decision: visits of the few best actions, what they gained, and whether the prior stood.

        The gain is in points.
        """
        if self._searched is None:
            return None
        decision, usual, choice = self._searched
        visits = self._arms[:, TRIED].astype(np.int64)
        order = np.argsort(-visits, kind="stable")[: np.count_nonzero(visits)]
        gain = self._arms[:, GAINED] / np.maximum(visits, 1)
        made: dict[str, Any] = {"visits": decision.few(order, visits), "gain": decision.few(order, gain)}
        if usual != _NONE:
            made |= {"prior": decision.text(usual), "prior_stood": choice == usual}
        return made

    def visits(
        self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None
    ) -> NDArray[np.int64]:
        """How often each legal action was visited, without a prior: the policy of the search, but for its scale."""
        self._searched = None
        self._search(rows, legal, rules, rng, _NONE)
        return self._arms[:, TRIED].astype(np.int64)

    def _search(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None, usual: int) -> None:
        self._arms = np.zeros((len(legal), ARM_WORDS))
        self._arms[:, LAST_WORLD] = _NONE
        used = ROOT + 1 + len(legal)
        self._nodes[:used], self._values[:used] = (0, _NONE, _NONE, 0, 1), 0.0
        seed = np.uint64((rng_of_decision(rows, rng) ^ int(self._seed)) & (2**64 - 1))
        seats = int(rows[0].num_seats)
        fixed = (
            legal.astype(np.int64),
            usual,
            self.exploration,
            np.full(seats, self._bot.bot, np.int64),
            np.full(seats, self._bot.salt, np.uint64),
            *self._belief,
            self._scratch.parts,
            self._path,
            self._arms,
            self._nodes,
            self._values,
        )
        walks = min(WALKS, len(legal))
        if not self.milliseconds:
            search(rows, rules.vector(), seed, 0, -(-self.iterations // walks), *fixed, used)
        else:
            ends, first = time.perf_counter() + self.milliseconds / 1e3, 0
            while time.perf_counter() < ends and used + walks * _NODES_A_WALK <= len(self._nodes):
                used = int(search(rows, rules.vector(), seed, first, _STAGE, *fixed, used))
                first += _STAGE

    def _choice(self, usual: int) -> int:
        """The place of the action to take."""
        tried = self._arms[:, TRIED].copy()
        if usual == _NONE:
            return int(np.argmax(tried))
        tried[usual] = -1.0
        best = int(np.argmax(tried))
        worlds = tried[best]
        if worlds < 2:
            return usual  # a single world, or none agrees with the row
        mean = self._arms[best, OVER] / worlds
        variance = max(self._arms[best, OVER_SQUARED] / worlds - mean**2, 0.0) / (worlds - 1)
        return best if mean > 0 and mean > self.sure * np.sqrt(variance) else usual
