"""Games with one learner each: what the Gymnasium and Stable-Baselines3 faces have in common.

The other seats are agents of any kind.  Compiled bots act inside the kernel of the batch, others are asked from here,
and get redacted rows; either way a step ends at the learner's next decision, and what it is paid is all that its seat
has been paid since the one before.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.game import IllegalActionError
from scala40_env.core.reasons import why_not
from scala40_env.core.rules import Rules
from scala40_env.envs.batch import Batch
from scala40_env.envs.lanes import BEGIN, HOLD, NO_SEAT, NONE_REFUSED, first_refused
from scala40_env.envs.memory import bytes_of
from scala40_env.envs.observe import hidden_row, hidden_size
from scala40_env.envs.opponents import by_place, is_compiled
from scala40_env.envs.options import ILLEGAL_ACTIONS, check_choice, check_penalty
from scala40_env.envs.rewards import forfeit_rewards

DTYPES = ("uint8", "float32")
SHARED_OPTIONS = """
        rules: rules, the name of a rulebook, or flags by name.
        players: how many seats, as the rules allow.
        opponents: who sits after the learner, in the order of play: agents by name (``"greedy"``, ``"module:Class"``)
            or as objects; one for all other seats, or ``players - 1``.
        seat: the learner's seat: a number, ``"rotate"`` (game by game) or ``"random"`` (drawn for each game).
        episode: ``"round"`` or ``"match"``.
        reward: ``"points"``, ``"zero_sum"`` or ``"win"``; see ``rewards``.
        illegal_action: what an action outside the mask does.  ``"penalty"``: nothing moves, and it costs
            ``illegal_penalty``.  ``"terminate"``: the episode ends, and the learner is paid the worst that a round can
            bring.  ``"raise"``: ``IllegalActionError``, before anything changes.
        illegal_penalty: reward lost under ``"penalty"``.
        turn_limit: after so many turns the episode is truncated; ``None`` leaves the end to the rules.
        play_forced: whether an action that has no alternative is played inside and is no decision.
        derived: whether observations end with the derived part, what a player would work out; see ``derived``.
        dtype: ``"uint8"``, the numbers as they are, or ``"float32"``, each divided by the greatest that it can be.
"""


class Learners:
    """A batch of games, each with one learner; see ``SHARED_OPTIONS`` for the options.

    Attributes:
        batch: the games; what it shows belongs to the learners whenever ``step`` and ``reset`` return.
        rewards: what each learner was paid since its last decision: ``float32``, shape ``(num_games,)``.
        terminated, truncated: whether its episode ended with the last step: ``bool``, shape ``(num_games,)``.
        illegal: the action of the last step where it was illegal, or -1; ``int64``, shape ``(num_games,)``.
    """

    def __init__(
        self,
        num_games: int,
        *,
        rules: Any = "standard",
        players: int = 2,
        opponents: Any = "greedy",
        seat: int | str = "random",
        episode: str = "round",
        reward: str = "zero_sum",
        illegal_action: str = "penalty",
        illegal_penalty: float = 1.0,
        turn_limit: int | None = None,
        play_forced: bool = False,
        derived: bool = False,
        auto_reset: bool = True,
        threads: int = 1,
    ) -> None:
        check_choice("illegal_action", illegal_action, ILLEGAL_ACTIONS)
        check_penalty(illegal_penalty)
        Rules.of(rules).check_players(players)
        places = by_place(opponents, players)
        if None in places:
            raise ValueError("opponents: expected agents, got None")
        self._asked = {place: agent for place, agent in enumerate(places, start=1) if not is_compiled(agent)}
        inside = [agent if is_compiled(agent) else None for agent in places]
        self.batch = Batch(
            rules,
            players,
            num_games,
            episode=episode,
            reward=reward,
            turn_limit=turn_limit,
            auto_reset=auto_reset,
            play_forced=play_forced,
            opponents=inside,
            seat=seat,
            derived=derived,
            threads=threads,
        )
        self._policy, self._penalty = illegal_action, float(illegal_penalty)
        self._forfeit = forfeit_rewards(reward, self.batch.rules, 0, range(players), players)[0]
        self._range = np.arange(num_games)
        self._acting = self.batch.learners.copy()
        self._is_seeded = False
        self.rewards = np.zeros(num_games, dtype=np.float32)
        self.terminated = np.zeros(num_games, dtype=np.bool_)
        self.truncated = np.zeros(num_games, dtype=np.bool_)
        self.illegal = np.full(num_games, -1, dtype=np.int64)

    def reset(self, seed: Any = None, where: NDArray[np.bool_] | None = None, games: Any = None) -> None:
        """Begin games anew; arguments as for ``Batch.reset``.  The very first seed, where none is given, is drawn."""
        if seed is None and not self._is_seeded:
            seed = secrets.randbits(64)
        self.batch.reset(seed, where, games)
        self._is_seeded = True
        among = slice(None) if where is None else where
        self.rewards[among] = 0.0
        self.terminated[among] = False
        self.truncated[among] = False
        self.illegal[among] = -1
        self._ask_opponents()

    def step(self, actions: Any, begin: NDArray[np.bool_] | None = None) -> None:
        """Do an action for each learner, and go on to its next decision.

        Args:
            actions: integers, shape ``(num_games,)``.
            begin: games that begin anew instead, whatever their action.

        Raises:
            IllegalActionError: under ``"raise"``, an action outside the mask; nothing has changed.
            ValueError: another shape, no integers, numbers that are no actions, or a game whose episode is over;
                nothing has changed.
        """
        batch = self.batch
        commands = np.asarray(actions)
        is_plain = begin is None and commands.shape == self._range.shape and commands.dtype == np.int64
        refused = None
        if not is_plain or first_refused(commands, batch.masks, False) != NONE_REFUSED:
            commands = self._checked(commands, begin)
            legal = batch.masks[self._range, np.maximum(commands, 0)] != 0
            refused = np.flatnonzero(~legal & (commands >= 0))
        self._acting = batch.learners.copy()
        self.illegal[:] = -1
        if refused is not None and len(refused):
            self._refuse(refused, commands)
        batch._run(commands)
        self._ask_opponents()
        self.rewards = batch.rewards[self._range, self._acting]
        self.terminated, self.truncated = batch.terminated.copy(), batch.truncated.copy()
        if refused is not None and len(refused):
            self._charge(refused)

    def results(self) -> NDArray[np.int8]:
        """How the episodes that ended came out: 1 a win, -1 a loss, 0 a draw or cut short; 0 where none did."""
        winners = self.batch.winners
        won = (winners >> self._acting) & 1 != 0
        shared = winners & (winners - 1) != 0
        results = np.where(won, np.where(shared, 0, 1), -1)
        return np.where(self.terminated, results, 0).astype(np.int8)

    def hidden(self, game: int) -> NDArray[np.uint8]:
        """What a learner does not see, for a critic and never for an actor: see ``observe.hidden_part``."""
        batch = self.batch
        out = np.empty(hidden_size(batch.players), dtype=np.uint8)
        hidden_row(bytes_of(batch.rows), game, int(batch.learners[game]), out)
        return out

    def _checked(self, actions: Any, begin: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        batch = self.batch
        chosen = np.asarray(actions)
        if chosen.shape != (batch.num_games,) or chosen.dtype.kind not in "iu":
            found = f"{chosen.dtype} of shape {chosen.shape}"
            raise ValueError(f"actions: expected integers of shape {(batch.num_games,)}, got {found}")
        if begin is not None:
            chosen = np.where(begin, 0, chosen)
        if chosen.min() < 0 or chosen.max() >= batch.num_actions:
            game = int(np.flatnonzero((chosen < 0) | (chosen >= batch.num_actions))[0])
            most = batch.num_actions - 1
            raise ValueError(f"actions: game {game}: expected an integer from 0 to {most}, got {int(chosen[game])}")
        commands = chosen.astype(np.int64)
        if begin is not None:
            commands[begin] = BEGIN
        over = np.flatnonzero((batch.counts == 0) & (commands != BEGIN))
        if len(over):
            raise ValueError(f"game {int(over[0])}: its episode is over; reset it before it is stepped")
        return commands

    def _refuse(self, refused: NDArray[np.int64], commands: NDArray[np.int64]) -> None:
        batch = self.batch
        if self._policy == "raise":
            game = int(refused[0])
            reason = why_not(batch.rows[game], batch.rules, int(commands[game]))
            raise IllegalActionError(f"game {game}, action {int(commands[game])}: {reason}")
        self.illegal[refused] = commands[refused]
        commands[refused] = HOLD
        if self._policy == "terminate":
            batch.forfeit(refused)
            if batch.auto_resets:
                commands[refused] = BEGIN

    def _charge(self, refused: NDArray[np.int64]) -> None:
        is_end = self._policy == "terminate"
        self.rewards[refused] = self._forfeit if is_end else -self._penalty
        self.terminated[refused] = is_end
        self.truncated[refused] = False

    def _ask_opponents(self) -> None:
        """Have the agents that are not compiled act until every game is at its learner's decision."""
        batch = self.batch
        while self._asked:
            waiting = np.flatnonzero((batch.seats != batch.learners) & (batch.seats != NO_SEAT))
            if not len(waiting):
                return
            commands = np.full(batch.num_games, HOLD, dtype=np.int64)
            rows = batch.redacted()
            for game in waiting.tolist():
                commands[game] = self._ask(game, rows[game : game + 1])
            batch._run(commands)

    def _ask(self, game: int, rows: NDArray[Any]) -> int:
        batch = self.batch
        place = (int(batch.seats[game]) - int(batch.learners[game])) % batch.players
        agent = self._asked[place]
        legal = batch.legal[game, : batch.counts[game]].copy()
        action = int(agent.act(rows, legal, batch.rules, batch.decision_rng(game)))
        if action not in legal:
            raise IllegalActionError(f"opponent {agent.name!r}: action {action} is not legal")
        return action


def shown(observations: NDArray[np.uint8], high: NDArray[np.float32] | None) -> NDArray[Any]:
    """Observations as a face hands them out: a copy, scaled where there is something to scale by."""
    return observations.copy() if high is None else observations / high
