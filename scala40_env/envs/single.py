"""One learner at a table: the Gymnasium environment ``scala40/Scala40-v0``."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from scala40_env.core.game import Game
from scala40_env.core.state import END_NAMES, PHASE_NAMES, ROW
from scala40_env.envs.learners import DTYPES, SHARED_OPTIONS, Learners, shown
from scala40_env.envs.options import LARGEST_SEED, RENDER_MODES, check_choice, check_integer
from scala40_env.envs.spaces import observation_box, scale_of, scaled_box

RESULTS = {1: "win", 0: "draw", -1: "loss"}


class Scala40Env(gymnasium.Env[NDArray[Any], int]):
    """Scala 40 as one learner meets it: the others play within ``step``, which ends at the learner's next decision.

    Observations are flat (``observation.layout`` names their slices) and belong to the caller.  The legal actions are
    told by ``action_masks()``, ``bool``, shape ``(num_actions,)``, and ``info["action_mask"]``, ``int8``: sample with
    the mask.  The reward is all that the learner's seat was paid since its last decision.

    Infos always have the same keys: ``action_mask``; ``seat``, the learner's; ``phase``; ``turn``, the turns of the
    episode that are over; ``round``, from 0; ``scores``, the points of the match by seat; ``stock``, its size;
    ``end``, how the last round ended, or ``None``; ``illegal_action``, the last action where it was one, or ``None``;
    ``forced``, how many forced actions have been played.  At the end of the episode, and ``None`` before it:
    ``result`` (``"win"``, ``"draw"``, ``"loss"``; ``None`` also where it was cut short), ``winners`` (seats), ``seed``
    and ``game``, which name its deals.

    ``reset(seed=s)`` deals the game number 0 of a seed; without one the next game, and the very first time the game 0
    of a seed that nobody chose.  ``options={"game": k}`` deals the game number ``k`` instead.

    Args:{options}
        render_mode: ``"ansi"``: ``render()`` returns a text, all cards open; ``"human"``: it is printed.

    Raises:
        ValueError: an option with a value that it cannot have, in one line (``RulesError`` for the rules and players,
            ``AgentError`` for an agent that does not exist).
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012  Gymnasium's own

    def __init__(self, *, render_mode: str | None = None, dtype: str = "uint8", **options: Any) -> None:
        check_choice("dtype", dtype, DTYPES)
        if render_mode is not None:
            check_choice("render_mode", render_mode, RENDER_MODES, " or None")
        self._learners = Learners(1, auto_reset=False, **options)
        batch = self._batch = self._learners.batch
        self.render_mode = render_mode
        self._high = scale_of(batch.rules, batch.players, derived=batch.derived) if dtype == "float32" else None
        box = observation_box if dtype == "uint8" else scaled_box
        self.observation_space = box(batch.rules, batch.players, derived=batch.derived)
        self.action_space = spaces.Discrete(batch.num_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Deal a game; see the class.  Other keys of ``options`` are ignored.

        Raises:
            ValueError: a seed or a game's number that is not a 64-bit integer.
        """
        number = (options or {}).get("game")
        if number is not None:
            number = check_integer("options.game", number, 0, LARGEST_SEED)
        if seed is not None:
            check_integer("seed", seed, 0, LARGEST_SEED)
        super().reset(seed=seed)
        self._learners.reset(seed, games=None if number is None else [number])
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Do an action of the learner, and have the others play until it is to act again.

        Raises:
            IllegalActionError: under ``illegal_action="raise"``, an action outside the mask; nothing has changed.
            ValueError: what is no action, or a step after the end; nothing has changed.
        """
        learners = self._learners
        chosen = np.asarray(action)
        if chosen.size != 1 or chosen.dtype.kind not in "iu":
            raise ValueError(f"action: expected an integer, got {action!r}")
        learners.step(chosen.reshape(1))
        if self.render_mode == "human":
            self.render()
        ends = bool(learners.terminated[0]), bool(learners.truncated[0])
        return self._observation(), float(learners.rewards[0]), *ends, self._info(any(ends))

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now: ``bool``, shape ``(num_actions,)``, an array of the caller's."""
        return self._batch.masks[0] != 0

    def render(self) -> str | None:
        """The position as text, all cards open: returned under ``"ansi"``, printed under ``"human"``."""
        if self.render_mode is None:
            return None
        from scala40_env.replay.render import render_text  # a game that nobody looks at need not load it

        text = render_text(self._batch.rows[0], self._batch.rules)
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None

    def game(self) -> Game:
        """A copy of the game as the engine has it, with all its cards: not for players."""
        return Game.from_rows(self._batch.rules, self._batch.rows)

    def privileged(self) -> NDArray[np.uint8]:
        """What the learner does not see, for a critic and never for an actor: see ``observe.hidden_part``."""
        return self._learners.hidden(0)

    def _observation(self) -> NDArray[Any]:
        return shown(self._batch.observations, self._high)[0]

    def _info(self, ended: bool = False) -> dict[str, Any]:
        batch = self._batch
        row = batch.rows.view(ROW, np.ndarray)[0]  # the fields of a record are slow to ask for
        illegal, end = int(self._learners.illegal[0]), int(row["end"])
        info: dict[str, Any] = {
            "action_mask": batch.masks[0].copy(),
            "seat": int(batch.learners[0]),
            "phase": PHASE_NAMES[int(row["phase"])],
            "turn": int(row["match_turns"]),
            "round": int(row["round"]),
            "scores": tuple(row["totals"][: batch.players].tolist()),
            "stock": int(row["stock_size"]),
            "end": END_NAMES[end] if end else None,
            "illegal_action": None if illegal < 0 else illegal,
            "forced": int(batch.forced[0]),
            "result": None,
            "winners": None,
            "seed": None,
            "game": None,
        }
        if ended:
            cut_short = bool(self._learners.truncated[0])
            info["result"] = None if cut_short else RESULTS[int(self._learners.results()[0])]
            info["winners"] = tuple(seat for seat in range(batch.players) if int(batch.winners[0]) >> seat & 1) or None
            info["seed"], info["game"] = int(batch.deal_seeds[0]), int(batch.games[0])
        return info


Scala40Env.__doc__ = (Scala40Env.__doc__ or "").replace("{options}", SHARED_OPTIONS.rstrip())
