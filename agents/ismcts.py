"""Information-set Monte Carlo tree search: one tree over what the searching seat can tell apart.

Single-observer ISMCTS (Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search", 2012).  Each
iteration deals the hidden cards anew (``core.determinize``) and walks down the tree along actions that are legal in
that world.  A child is counted as available whenever its action was legal, and the choice among the children weighs
visits against availability, so that actions which are rarely possible are not starved.  What the seat itself draws is
seen by it, and so its draws lead to a child for each card; what others draw is not, and does not.  New nodes are valued
by a compiled bot that plays all seats on.

At the root the choice of a good bot is favoured: its bound is wider, and so it is visited most unless another action
proves better by more than its luck (the idea of progressive bias: Chaslot et al., "Progressive strategies for
Monte-Carlo tree search", 2008).

The tree is a handful of arrays: a child list is a chain of siblings.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import AgentError
from agents.belief import NO_BELIEF, draw_world
from agents.pimc import TURN_LIMIT, SearchScratch, check_seed_and_doubt, compiled_bot, gained, name_of, rng_of_decision
from agents.playout import play_out
from agents.thinking import Decision
from scala40_env.core.actions import DRAW, NUM_ACTIONS
from scala40_env.core.cards import MAX_SEATS
from scala40_env.core.deal import below, stream
from scala40_env.core.game import apply_action, is_episode_over, legal_or_stuck
from scala40_env.core.jit import inlined, kernel
from scala40_env.core.rules import Rules

MOST_ITERATIONS = 1_000_000
# a node
KEY, CHILD, SIBLING, VISITS, AVAILABLE = range(5)
NODE_WORDS = 5
ROOT = 0
_NONE = -1
_PLAY, _PICKS = 1 << 25, 1 << 26
_DEEPEST = 64
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
    nodes[used, AVAILABLE] = 0
    values[used] = 0.0
    nodes[parent, CHILD] = used
    return used + 1


@kernel
def _pick(
    nodes: NDArray[np.int32],
    values: NDArray[np.float64],
    parent: int,
    seat: int,
    legal: NDArray[np.int16],
    count: int,
    exploration: float,
    usual: int,
    favour: float,
    state: np.uint64,
) -> tuple[np.uint64, int, int]:
    """Choose an action: one that was never tried, drawn at random, or the best by its upper bound.

    Returns the stream's next state, the action, and its child, ``_NONE`` where it was never tried.
    """
    untried, chosen, child = 0, 0, _NONE
    best = -np.inf
    for i in range(count):
        node = _find(nodes, parent, np.int64(legal[i]))
        if node == _NONE:
            untried += 1
            state, k = below(state, untried)
            if k == 0:
                chosen = np.int64(legal[i])
            continue
        nodes[node, AVAILABLE] += 1
        if untried == 0:
            visits = np.float64(nodes[node, VISITS])
            spread = np.sqrt(np.log(np.float64(nodes[node, AVAILABLE])) / visits)
            weight = exploration * favour if legal[i] == usual else exploration
            bound = values[node, seat] / visits + weight * _POINTS * spread
            if bound > best:
                best, chosen, child = bound, np.int64(legal[i]), node
    return state, chosen, _NONE if untried > 0 else child


@kernel
def search(
    rows: Any,
    R: NDArray[np.int64],
    rng: np.uint64,
    first: int,
    iterations: int,
    exploration: float,
    usual: int,
    favour: float,
    bots: NDArray[np.int64],
    salts: NDArray[np.uint64],
    believed: int,
    doubt: float,
    scratch: tuple[Any, ...],
    path: NDArray[np.int64],
    nodes: NDArray[np.int32],
    values: NDArray[np.float64],
    used: int,
) -> int:
    """Grow the tree by some iterations; returns how many nodes are in use.

    Args:
        rows: the state as the seat to act may know it: a record array of one row.
        R: the rules' vector.
        rng: where the worlds are drawn from.
        first, iterations: the numbers of the iterations.
        exploration: weight of the exploration.
        usual, favour: an action of the seat to act, and what its weight is multiplied by; no action: none.
        bots, salts: who plays each seat on.
        believed, doubt: as for ``belief.draw_world``.
        scratch: as for ``pimc.try_actions``.
        path: scratch, ``int64``.
        nodes, values: the tree; a node's values are summed by seat.
        used: how many nodes are in use.
    """
    work, seen, legal, world, _, view, seats, counts = scratch
    searcher = np.int64(rows[0].seat)
    for k in range(first, first + iterations):
        if used + 2 >= len(nodes):
            break
        number = np.uint64(k)
        if not draw_world(rows[0], searcher, R, rng, k, believed, doubt, salts[searcher], scratch):
            break
        s = world[0]
        state = stream(rng, number, 0, _PICKS)
        node, depth, grown = ROOT, 0, False
        count = legal_or_stuck(s, work, R, seen, legal)
        while not is_episode_over(s) and depth < _DEEPEST and not grown:
            seat = np.int64(s.seat)
            prior = usual if depth == 0 else _NONE
            state, action, child = _pick(nodes, values, node, seat, legal, count, exploration, prior, favour, state)
            if child == _NONE:
                child = used
                used = _add(nodes, values, node, action, used)
                nodes[child, AVAILABLE] = 1
                grown = True
            top = np.int64(s.stock[s.stock_size - 1]) if s.stock_size > 0 else 0
            apply_action(s, R, action)
            count = legal_or_stuck(s, work, R, seen, legal)
            path[depth] = child
            depth += 1
            node = child
            if action == DRAW and seat == searcher and not grown:
                node = _find(nodes, child, NUM_ACTIONS + top)
                if node == _NONE:
                    node = used
                    used = _add(nodes, values, child, NUM_ACTIONS + top, used)
        if not is_episode_over(s):
            limit = np.int64(s.match_turns) + TURN_LIMIT
            draws = stream(rng, number, 0, _PLAY)
            play_out(s, view, work, R, seen, legal, bots, salts, draws, np.uint64(0), limit, seats, counts)
        over = is_episode_over(s)
        for i in range(depth):
            nodes[path[i], VISITS] += 1
            if over:
                for seat in range(s.num_seats):
                    if (s.ended_in_round >> seat) & 1:
                        values[path[i], seat] += gained(s, seat)
    return used


class Ismcts:
    """Searches a tree over information sets; see the module.

    Args:
        iterations: how many worlds are walked through for a decision.
        milliseconds: time for a decision instead; 0: no limit, and then equal seeds give equal choices.
        exploration: how much untried luck is worth against what is known.
        bot: the compiled bot that plays all seats on from a new node.
        prior: the compiled bot whose choice is explored as if it promised more; none if empty.
        favour: how much more, 1 or more.
        belief, doubt: as for ``pimc``.
        seed: changes the worlds.
    """

    def __init__(
        self,
        iterations: int = 300,
        milliseconds: float = 0.0,
        exploration: float = 0.7,
        bot: str = "greedy",
        prior: str = "careful",
        favour: float = 1.75,
        belief: str = "",
        doubt: float = 0.2,
        seed: int = 0,
    ) -> None:
        if not 1 <= iterations <= MOST_ITERATIONS:
            raise AgentError(f"iterations: expected an integer from 1 to {MOST_ITERATIONS}, got {iterations}")
        if not 0 <= milliseconds < 1e6:
            raise AgentError(f"milliseconds: expected a number from 0 to 1000000, got {milliseconds}")
        if not 0 <= exploration < 1e6:
            raise AgentError(f"exploration: expected a number of 0 or more, got {exploration}")
        if not 1 <= favour < 1e6:
            raise AgentError(f"favour: expected a number from 1 to 1000000, got {favour}")
        check_seed_and_doubt(seed, doubt)
        self.name = name_of("ismcts", bot, prior, belief)
        self.iterations, self.milliseconds, self.exploration = iterations, milliseconds, exploration
        self._bot = compiled_bot("bot", bot)
        self._prior = compiled_bot("prior", prior) if prior else None
        self._favour = float(favour)
        self._belief = (compiled_bot("belief", belief).bot if belief else NO_BELIEF), float(doubt)
        self._seed = np.uint64(seed)
        self._scratch = SearchScratch()
        size = 2 * (iterations if not milliseconds else 50_000) + 8
        self._nodes = np.zeros((size, NODE_WORDS), dtype=np.int32)
        self._values = np.zeros((size, MAX_SEATS), dtype=np.float64)
        self._path = np.zeros(_DEEPEST, dtype=np.int64)
        self._searched: Decision | None = None

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> int:
        """The action that was visited most; see ``Agent.act``."""
        self._searched = None
        if len(legal) == 1:
            return int(legal[0])
        return int(legal[int(np.argmax(self.visits(rows, legal, rules, rng)))])

    @property
    def thought(self) -> dict[str, Any] | None:
        """Of the last decision: how often the few best actions were visited, and what they gained, in points."""
        if self._searched is None:
            return None
        visits, values = self._root(self._searched)
        order = np.argsort(-visits, kind="stable")[: np.count_nonzero(visits)]
        gain = values / np.maximum(visits, 1)
        return {"visits": self._searched.few(order, visits), "gain": self._searched.few(order, gain)}

    def visits(
        self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None
    ) -> NDArray[np.int64]:
        """How often each legal action was visited: the policy of the search, but for its scale."""
        self._nodes[ROOT] = (0, _NONE, _NONE, 0, 0)
        seed = np.uint64((rng_of_decision(rows, rng) ^ int(self._seed)) & (2**64 - 1))
        seats = int(rows[0].num_seats)
        bots, salts = np.full(seats, self._bot.bot, np.int64), np.full(seats, self._bot.salt, np.uint64)
        usual = _NONE if self._prior is None else int(self._prior.act(rows.copy(), legal, rules, rng))
        fixed = (
            self.exploration,
            usual,
            self._favour,
            bots,
            salts,
            *self._belief,
            self._scratch.parts,
            self._path,
            self._nodes,
            self._values,
        )
        vector, used = rules.vector(), 1
        if not self.milliseconds:
            search(rows, vector, seed, 0, self.iterations, *fixed, used)
        else:
            ends, first = time.perf_counter() + self.milliseconds / 1e3, 0
            while time.perf_counter() < ends and used + 64 < len(self._nodes):
                used = int(search(rows, vector, seed, first, 16, *fixed, used))
                first += 16
        self._searched = Decision(rows, legal, rules)
        return self._root(self._searched)[0]

    def _root(self, decision: Decision) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """How often each legal action was visited, and what it gained the searcher in all, from the tree."""
        visits, values = np.zeros(len(decision.legal), dtype=np.int64), np.zeros(len(decision.legal))
        seat, node = int(decision.rows[0].seat), int(self._nodes[ROOT, CHILD])
        while node != _NONE:
            place = np.searchsorted(decision.legal, self._nodes[node, KEY])
            visits[place], values[place] = self._nodes[node, VISITS], self._values[node, seat]
            node = int(self._nodes[node, SIBLING])
        return visits, values
