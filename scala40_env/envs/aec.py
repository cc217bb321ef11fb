"""The PettingZoo environment: one agent acts at a time, and the same agent acts until its turn is over.

``player_0`` ... are the seats.  A turn is a chain of actions of one agent: draw or take the upcard, lay, lay off, swap,
discard.  ``last()`` gives what the agent to act sees, the sum of its rewards since it last acted, and an ``info`` with
the mask of its legal actions; the mask of every other agent is zero everywhere, so that it tells nothing.

An end of the episode comes to every agent once, through ``last()`` with ``terminated`` or ``truncated`` set, and is
answered by ``step(None)``.  In a match an agent that is out of it ends so at once, and the others play on.
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo.utils.env import AECEnv

from scala40_env.core.actions import NUM_ACTIONS
from scala40_env.core.game import Game, action_number
from scala40_env.core.quoting import brief
from scala40_env.core.rules import Rules
from scala40_env.envs import saving
from scala40_env.envs.infos import info_of
from scala40_env.envs.options import LARGEST_SEED, RENDER_MODES, Options, check_integer
from scala40_env.envs.rewards import (
    REWARDS,
    forfeit_rewards,
    penalty_rewards,
    round_rewards,
    round_winners,
    win_share,
)
from scala40_env.envs.spaces import action_space, masked_observations, state_box
from scala40_env.envs.stepping import (
    ILLEGAL,
    NEWS,
    NO_SEAT,
    ROUND_ENDED,
    SEAT_BITS,
    TURNS_SHIFT,
)
from scala40_env.envs.table import Table

NAME = "scala40_v0"
TURN_LIMIT_REASON = "turn_limit"
ILLEGAL_REASON = "illegal_actions"
ILLEGAL_END = "illegal_action"
MOST_ILLEGAL = 1000
"""So many illegal actions in a row that are only penalised truncate the episode."""
_NO_LIMIT = 2**62
_LARGEST_SHOWN = 2**63 - 1


class raw_env(AECEnv[str, dict[str, Any], int]):  # noqa: N801  PettingZoo's own name for it
    """Scala 40 as an agent-environment cycle.

    Observations are ``{"observation": uint8 (size,), "action_mask": int8 (num_actions,)}``; ``observation.layout``
    names the slices of the first.  Arrays that are handed out belong to the caller.

    Infos always have the same keys; see ``infos``.

    Args:
        rules: rules, the name of a rulebook, or flags by name.
        players: how many seats, as the rules allow.
        episode: ``"round"`` or ``"match"``.
        reward: ``"points"``, ``"zero_sum"`` or ``"win"``; see ``rewards``.  A round pays when it ends; under ``"win"``
            an episode pays, a loser when it leaves and the winners at the end.  Over an episode that is not cut short
            the last two sum to zero.
        illegal_action: what an action outside the mask does.  ``"terminate"``: the agent loses, the episode ends, and
            it is paid the worst that a round can bring (``rewards.forfeit_rewards``).  ``"raise"``:
            ``IllegalActionError``, before anything changes.  ``"penalty"``: nothing moves, and it costs
            ``illegal_penalty``, which the others get unless the reward is ``"points"``; 1,000 in a row truncate the
            episode, with the ``truncation_reason`` ``"illegal_actions"``.
        illegal_penalty: reward lost under ``"penalty"``.
        turn_limit: after so many turns the episode is truncated; ``None`` leaves the end to the rules.
        render_mode: ``"ansi"``: ``render()`` returns a text; ``"human"``: it is printed, after each step too.

    Raises:
        ValueError: an option with a value that it cannot have, in one line (``RulesError`` for the rules and players).
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  PettingZoo's own declaration
        "name": NAME,
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,  # seats act in turn: turn_based_aec_to_parallel wraps it
        "render_fps": 2,
    }

    def __init__(
        self,
        *,
        rules: Rules | str | Mapping[str, Any] = "standard",
        players: int = 2,
        episode: str = "round",
        reward: str = "points",
        illegal_action: str = "terminate",
        illegal_penalty: float = 1.0,
        turn_limit: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.options = Options(
            rules=Rules.of(rules),
            players=players,
            episode=episode,
            reward=reward,
            illegal_action=illegal_action,
            illegal_penalty=illegal_penalty,
            turn_limit=turn_limit,
            render_mode=render_mode,
        )
        self.metadata = {**self.metadata, "reward": reward}
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._table = Table(self.options.rules, players, episode == "match")
        self._turn_limit = _NO_LIMIT if turn_limit is None else turn_limit
        self._seed: int | None = None
        self._game = 0
        self.agents: list[str] = []
        self.agent_selection = ""
        self.terminations: dict[str, bool] = {}
        self._dead: set[str] = set()
        self._infos: dict[str, dict[str, Any]] = {}
        made = self.options.rules
        self.state_space = state_box(made, players)
        self._observation_spaces = {agent: masked_observations(made, players) for agent in self.possible_agents}
        self._action_spaces = {agent: action_space(made) for agent in self.possible_agents}

    # --- what PettingZoo asks for ------------------------------------------------------------------------------------

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations; the same object each time."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The actions, 635 or 745; the same object each time.  Sample it with the mask, which is never empty."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: 0 ... 2**64 - 1: the game number 0 of this seed.  Without one, the next game of the seed in use; the
                very first time, of one that nobody chose.
            options: ``{"game": k}`` deals the game number ``k`` instead.  Other keys are ignored.

        Raises:
            ValueError: a seed or a game's number that is not a 64-bit integer, or options that are no mapping.
        """
        if options is not None and not isinstance(options, Mapping):
            raise ValueError(f"options: expected a mapping or None, got {brief(options)}")
        number = None if options is None else options.get("game")
        if number is not None:
            number = check_integer("options.game", number, 0, LARGEST_SEED)
        if seed is not None:
            self._seed, self._game = check_integer("seed", seed, 0, LARGEST_SEED), 0
        elif self._seed is None:
            self._seed, self._game = secrets.randbits(64), 0
        else:
            self._game = (self._game + 1) & LARGEST_SEED
        if number is not None:
            self._game = number
        self._begin()

    def step(self, action: Any) -> None:
        """Do an action of the agent whose turn it is; ``None`` for an agent whose end has come.

        Raises:
            ValueError: no integer, anything but ``None`` where an end has come, or nobody is left.
            IllegalActionError: under the policy ``"raise"``.
        """
        agent = self.agent_selection
        if agent not in self.terminations:
            self._refuse_without_agent()
        if self._dead and agent in self._dead:
            self._bury(agent, action)
            return
        number = action_number(action)
        outcome = self._table.advance(number) if 0 <= number < NUM_ACTIONS else ILLEGAL
        if outcome < 0:
            self._refuse(agent, number)
            return
        self._refused = 0
        self._cumulative_rewards[agent] = 0.0
        if self._paid:
            self._clear_rewards()
        self._infos = {}
        if outcome & NEWS or outcome >> TURNS_SHIFT >= self._turn_limit:
            self._settle(outcome)
        else:
            self.agent_selection = self.possible_agents[outcome & SEAT_BITS]
        if self.render_mode == "human":
            self.render()

    def last(self, observe: bool = True) -> tuple[dict[str, Any] | None, float, bool, bool, dict[str, Any]]:
        """The observation (``None`` if not ``observe``), reward, flags and info of the agent whose turn it is."""
        agent = self.agent_selection
        if agent not in self.terminations:
            self._refuse_without_agent()
        observation = self._table.observe(self._seats[agent]) if observe else None
        info = self._infos.get(agent)
        if info is None:
            mask = None if observation is None else observation["action_mask"]
            info = self._infos[agent] = info_of(self, agent, mask)
        reward = self._cumulative_rewards[agent]
        return observation, reward, self.terminations[agent], self.truncations[agent], info

    def observe(self, agent: str) -> dict[str, Any]:
        """What an agent sees and may do, at any time: the mask is zero everywhere unless it is to act."""
        return self._table.observe(self._seats[agent], waits=bool(self._dead))  # who is out leaves before anybody acts

    def state(self) -> NDArray[np.uint8]:
        """All that there is, hidden cards too, for a centralised critic; see ``observation.state_layout``."""
        return self._table.state()

    def render(self) -> str | None:
        """The position as text, all cards open: returned under ``"ansi"``, printed under ``"human"``."""
        if self.render_mode is None:
            return None
        from scala40_env.replay.render import render_text  # a game that nobody looks at need not load it

        text = render_text(self._table.row, self.options.rules)
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None

    def close(self) -> None:
        """Nothing is held open; may be called at any time, and again."""

    # --- what this environment adds ----------------------------------------------------------------------------------

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """The info of every agent; see the class."""
        for agent in self.agents:
            if agent not in self._infos:
                self._infos[agent] = info_of(self, agent, None)
        return self._infos

    def game(self) -> Game:
        """A copy of the game as the engine has it, with all its cards: not for players."""
        self._check_dealt()
        return Game.from_rows(self.options.rules, self._table.rows)

    def clone(self) -> raw_env:
        """An environment of its own in the same state, which goes on alike; so do ``copy.deepcopy`` and ``pickle``."""
        return copy.deepcopy(self)

    def get_state(self) -> dict[str, Any]:
        """The live game as plain values, for ``set_state`` of an environment with the same options."""
        self._check_dealt()
        return saving.pack(self)

    def set_state(self, saved: Mapping[str, Any]) -> None:
        """Go on from what ``get_state`` returned; ``ValueError``, and nothing changes, where it is anything else."""
        saving.unpack(self, saved)

    # --- the inside --------------------------------------------------------------------------------------------------

    def _check_dealt(self) -> None:
        if self._seed is None:
            raise ValueError("the environment has no game yet: reset it")

    def _refuse_without_agent(self) -> None:
        self._check_dealt()
        raise ValueError("the episode is over: reset it")

    def _begin(self) -> None:
        self._table.deal(self._seed or 0, self._game)
        self.agents = list(self.possible_agents)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._skip_agent_selection: str | None = None
        self._infos = {}
        self._dead = set()  # agents whose end has come and who have not left
        self._paid = False  # whether rewards may be other than zero
        self._winners: tuple[int, ...] | None = None
        self._truncation: str | None = None
        self._illegal: int | None = None
        self._refused = 0  # illegal actions in a row
        self._forfeited = False
        self._read_scores()
        self.agent_selection = self.possible_agents[self._table.outcome & SEAT_BITS]
        if self.render_mode == "human":
            self.render()

    def _read_scores(self) -> None:
        """Keep what changes between rounds only."""
        self._scores = self._table.scores
        self._round = int(self._table.row["round"])
        self._last_end = ILLEGAL_END if self._forfeited else self._table.last_end

    def _settle(self, outcome: int) -> None:
        """A round has ended, a seat has chosen between rounds, or the limit of turns is reached."""
        table, row, players = self._table, self._table.row, self.options.players
        self._read_scores()
        paid = np.zeros(players)
        if outcome & ROUND_ENDED:
            round_rewards(REWARDS.index(self.options.reward), row.points, int(row.ended_in_round), paid)
        if table.is_over:
            winners = (
                row.winners if table.whole_match else round_winners(row.points, int(row.ended_in_round), row.closer)
            )
            self._winners = tuple(table.members(winners))
        self._end_agents(set(table.members(row.in_match)), paid)
        self._pay(paid.tolist())
        self._select(outcome & SEAT_BITS)

    def _end_agents(self, in_match: set[int], paid: NDArray[np.float64]) -> None:
        """Terminate who is out, or all; truncate who is left at the limit of turns; under ``win``, pay the ends."""
        over = self._table.is_over
        for agent in self.agents:
            seat = self._seats[agent]
            if over or seat not in in_match:
                self.terminations[agent] = True
                self._dead.add(agent)
                if self.options.reward == "win":
                    winners = self._winners or ()
                    paid[seat] = win_share(seat in winners, len(winners), self.options.players)
        if not over and self._table.turns >= self._turn_limit:
            self._cut_short(TURN_LIMIT_REASON)

    def _cut_short(self, reason: str) -> None:
        """Truncate the episode of all who are in it."""
        for agent in self.agents:
            if agent not in self._dead:
                self.truncations[agent] = True
                self._dead.add(agent)
        self._truncation = reason
        self._table.stop()

    def _pay(self, paid: list[float]) -> None:
        for agent in self.agents:
            reward = paid[self._seats[agent]]
            self.rewards[agent] = reward
            self._cumulative_rewards[agent] += reward
        self._paid = True

    def _clear_rewards(self) -> None:
        for agent in self.rewards:
            self.rewards[agent] = 0.0
        self._paid = False

    def _select(self, seat: int) -> None:
        """Turn to the agents whose end has come first, then to the seat to act."""
        following = None if self._table.is_over or seat == NO_SEAT else self.possible_agents[seat]
        dead = next((agent for agent in self.agents if agent in self._dead), None)
        self._skip_agent_selection = following if dead else None
        self.agent_selection = dead or following or self.agent_selection

    def _bury(self, agent: str, action: Any) -> None:
        """An agent whose end has come leaves: ``step(None)``."""
        if action is not None:
            raise ValueError(f"action: {agent} is out of the game, and only None can follow; got {brief(action)}")
        self._infos = {other: {} for other in self.agents}
        self._was_dead_step(None)  # takes the agent out of every dictionary, and selects the next
        self._dead.discard(agent)
        self._infos = {}

    def _refuse(self, agent: str, action: int) -> None:
        """An action that is not in the mask: nothing has moved."""
        reward, players, seat = self.options.reward, self.options.players, self._seats[agent]
        if self.options.illegal_action == "raise":
            self.game().play(action)  # raises IllegalActionError, which names the reason
        self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        self._illegal = max(-_LARGEST_SHOWN, min(action, _LARGEST_SHOWN))
        self._infos = {}
        seats = [self._seats[other] for other in self.agents]
        if self.options.illegal_action == "penalty":
            self._refused += 1
            if self._refused >= MOST_ILLEGAL:
                self._cut_short(ILLEGAL_REASON)
            self._pay(penalty_rewards(reward, float(self.options.illegal_penalty), seat, seats, players))
            if self._dead:
                self._select(NO_SEAT)
            return
        self._winners = tuple(other for other in seats if other != seat)
        self._forfeited = True
        self._table.stop()
        self._read_scores()
        for other in self.agents:
            self.terminations[other] = True
            self._dead.add(other)
        self._pay(forfeit_rewards(reward, self.options.rules, seat, seats, players))
        self._select(NO_SEAT)
