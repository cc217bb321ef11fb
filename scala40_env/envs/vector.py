"""Many learners side by side: the native ``VectorEnv`` of ``gymnasium.make_vec("scala40/Scala40-v0", ...)``."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from scala40_env.envs.learners import DTYPES, SHARED_OPTIONS, Learners, shown
from scala40_env.envs.options import RENDER_MODES, check_choice, check_integer
from scala40_env.envs.spaces import observation_box, scale_of, scaled_box


class Scala40VectorEnv(gymnasium.vector.VectorEnv[NDArray[Any], NDArray[np.int64], NDArray[Any]]):
    """Games side by side, one learner each, in one batch: no copy of the environment, no process.

    Infos are arrays with one entry a game, always with the same keys: ``action_mask``, ``int8``, shape ``(num_envs,
    num_actions)``, zeros where a game is over; ``seat``, the learners'; ``game``, the numbers of the deals;
    ``illegal_action``, the last actions where they were, or -1; ``forced``, how many forced actions have been played.
    In a step in which episodes ended there are besides ``result``, 1 for a win, -1 a loss, 0 a draw or where it was cut
    short, ``scores``, the totals by seat, ``_result`` and ``_scores``, which say where they hold; and under
    ``SAME_STEP`` ``final_obs`` and ``final_info`` with ``_final_obs`` and ``_final_info``, as Gymnasium has them.

    ``reset(seed=s)`` deals, in game ``i``, the numbers ``i``, ``i + num_envs`` ... of a seed; a list of seeds gives
    each game one of its own.  ``reset(options={"reset_mask": mask})`` begins those games alone.

    Args:{options}
        autoreset_mode: ``AutoresetMode.NEXT_STEP`` (the step after an end begins the next game, whatever its action),
            ``SAME_STEP`` (the step that ends a game begins the next) or ``DISABLED`` (``reset`` with a mask does); or
            its name.
        copy: whether arrays are copied before they are handed out.  Without it observations and masks are those of
            the batch, and change with the next call.
        threads: how many threads share a step; it pays from about a thousand games on.
        render_mode: ``"ansi"``: ``render()`` returns a text a game, all cards open.

    Raises:
        ValueError: an option with a value that it cannot have, in one line (``RulesError`` for the rules and players,
            ``AgentError`` for an agent that does not exist).
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  Gymnasium's own declaration
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        dtype: str = "uint8",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.num_envs = check_integer("num_envs", num_envs, 1, 2**31 - 1)
        check_choice("dtype", dtype, DTYPES)
        if render_mode is not None:
            check_choice("render_mode", render_mode, RENDER_MODES, " or None")
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = render_mode
        self.copy = copy
        same_step = self.autoreset_mode == AutoresetMode.SAME_STEP
        self._learners = Learners(self.num_envs, auto_reset=same_step, **options)
        batch = self.batch = self._learners.batch
        self._high = scale_of(batch.rules, batch.players, derived=batch.derived) if dtype == "float32" else None
        box = observation_box if dtype == "uint8" else scaled_box
        self.single_observation_space = box(batch.rules, batch.players, derived=batch.derived)
        self.single_action_space = spaces.Discrete(batch.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._ended = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin games anew; see the class.  Other keys of ``options`` are ignored.

        Raises:
            ValueError: seeds that are not 64-bit integers or not one a game, or a mask of another shape or dtype.
        """
        where = None
        if options is not None and "reset_mask" in options:
            where = options["reset_mask"]
            if not isinstance(where, np.ndarray) or where.dtype != np.bool_ or where.shape != (self.num_envs,):
                found = f"{where.dtype} of shape {where.shape}" if isinstance(where, np.ndarray) else repr(where)
                raise ValueError(f"options.reset_mask: expected bool of shape {(self.num_envs,)}, got {found}")
            if not where.any():
                raise ValueError("options.reset_mask: expected at least one game to reset")
        self._learners.reset(seed, where)
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._ended[slice(None) if where is None else where] = False
        return self._observations(), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Do an action for each learner.

        Raises:
            IllegalActionError: under ``illegal_action="raise"``, an action outside the mask; nothing has changed.
            ValueError: another shape or dtype, numbers that are no actions, or, under ``DISABLED``, a game whose
                episode is over; nothing has changed.
        """
        learners = self._learners
        next_step = self.autoreset_mode == AutoresetMode.NEXT_STEP
        learners.step(actions, self._ended if next_step and self._ended.any() else None)
        self._ended = learners.terminated | learners.truncated
        infos = self._infos()
        if self._ended.any():
            self._add_ends(infos)
        rewards = learners.rewards.astype(np.float64)
        return self._observations(), rewards, learners.terminated, learners.truncated, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now: ``bool``, shape ``(num_envs, num_actions)``, an array of the caller's."""
        return self.batch.masks != 0

    def render(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """The positions as texts, all cards open: returned under ``"ansi"``, printed under ``"human"``."""
        if self.render_mode is None:
            return None
        from scala40_env.replay.render import render_text  # games that nobody looks at need not load it

        texts = tuple(render_text(row, self.batch.rules) for row in self.batch.rows)
        if self.render_mode == "ansi":
            return texts
        print("\n\n".join(texts), flush=True)
        return None

    def close_extras(self, **_: Any) -> None:
        """Let the threads go, where there are any."""
        if hasattr(self, "batch"):  # some versions of Gymnasium close what was never made, for its options were bad
            self.batch.close()

    def _observations(self) -> NDArray[Any]:
        if not self.copy and self._high is None:
            return self.batch.observations
        return shown(self.batch.observations, self._high)

    def _infos(self) -> dict[str, Any]:
        batch = self.batch
        return {
            "action_mask": batch.masks.copy() if self.copy else batch.masks,
            "seat": batch.learners.copy(),
            "game": batch.games.copy(),
            "illegal_action": self._learners.illegal.copy(),
            "forced": batch.forced.copy(),
        }

    def _add_ends(self, infos: dict[str, Any]) -> None:
        ended = self._ended
        scores = np.where(ended[:, None], self.batch.points, 0)
        told = {"result": self._learners.results(), "_result": ended.copy(), "scores": scores, "_scores": ended.copy()}
        infos.update(told)
        if self.autoreset_mode != AutoresetMode.SAME_STEP:
            return
        final_obs = np.full(self.num_envs, None, dtype=object)
        for game in np.flatnonzero(ended).tolist():
            final_obs[game] = shown(self.batch.final_observations[game], self._high)
        infos["final_obs"], infos["_final_obs"] = final_obs, ended.copy()
        infos["final_info"] = {name: value.copy() for name, value in told.items()}
        infos["_final_info"] = ended.copy()


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    names = {name: one for one in AutoresetMode for name in (one.name, one.value)}
    if mode not in names:
        raise ValueError(
            f"autoreset_mode: expected one of {', '.join(one.name for one in AutoresetMode)}, got {mode!r}"
        )
    return names[mode]


Scala40VectorEnv.__doc__ = (Scala40VectorEnv.__doc__ or "").replace("{options}", SHARED_OPTIONS.rstrip())
