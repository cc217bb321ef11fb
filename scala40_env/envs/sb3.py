"""A native ``VecEnv`` of Stable-Baselines3: many learners in one batch, and their masks in one array.

It needs Stable-Baselines3, which the extra ``train`` installs.  sb3-contrib's ``MaskablePPO`` finds the masks by
itself.  Evaluate with sb3-contrib's ``evaluate_policy`` and ``MaskableEvalCallback``: those of Stable-Baselines3 itself
know no masks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError("scala40_env.envs.sb3 needs Stable-Baselines3: pip install 'scala40-env[train]'") from error

from scala40_env.envs.learners import DTYPES, SHARED_OPTIONS, Learners, shown
from scala40_env.envs.options import check_choice, check_integer
from scala40_env.envs.spaces import observation_box, scale_of, scaled_box


class Scala40VecEnv(VecEnv):
    """Games side by side, one learner each; a game that ends is followed at once by a new one.

    ``seed(s)`` and then ``reset()`` give game ``i`` the deals of the seed ``s + i``, as Stable-Baselines3 has it.  The
    infos of games that go on are empty.  Where an episode has ended there are ``terminal_observation``,
    ``TimeLimit.truncated``, ``result`` (1 a win, 0 a draw or cut short, -1 a loss), ``scores`` (the totals by seat) and
    ``illegal_action``, the last one or -1.

    Args:
        num_envs: how many games.{options}
        threads: how many threads share a step; it pays from about a thousand games on.

    Raises:
        ValueError: an option with a value that it cannot have, in one line (``RulesError`` for the rules and players,
            ``AgentError`` for an agent that does not exist).
    """

    def __init__(self, num_envs: int = 64, *, dtype: str = "uint8", seed: int | None = None, **options: Any) -> None:
        check_choice("dtype", dtype, DTYPES)
        check_integer("num_envs", num_envs, 1, 2**31 - 1)
        self._learners = Learners(num_envs, auto_reset=True, **options)
        batch = self.batch = self._learners.batch
        self._high = scale_of(batch.rules, batch.players, derived=batch.derived) if dtype == "float32" else None
        self._actions = np.zeros(num_envs, dtype=np.int64)
        box = observation_box if dtype == "uint8" else scaled_box
        super().__init__(
            num_envs, box(batch.rules, batch.players, derived=batch.derived), spaces.Discrete(batch.num_actions)
        )
        if seed is not None:
            self.seed(seed)

    def reset(self) -> NDArray[Any]:
        """Begin all games anew; the observations are the caller's."""
        seeds = list(self._seeds)
        self._learners.reset(None if None in seeds else seeds)
        self._reset_seeds()
        self._reset_options()
        return shown(self.batch.observations, self._high)

    def step_async(self, actions: NDArray[np.integer[Any]]) -> None:
        """Keep the actions for ``step_wait``: integers, shape ``(num_envs,)``."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Do an action for each learner; observations, rewards, ends and infos.  Errors as for ``Learners.step``."""
        learners = self._learners
        learners.step(self._actions)
        ended = learners.terminated | learners.truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if ended.any():
            results = learners.results()
            for game in np.flatnonzero(ended).tolist():
                infos[game] = {
                    "terminal_observation": shown(self.batch.final_observations[game], self._high),
                    "TimeLimit.truncated": bool(learners.truncated[game]),
                    "result": int(results[game]),
                    "scores": tuple(self.batch.points[game].tolist()),
                    "illegal_action": int(learners.illegal[game]),
                }
        return shown(self.batch.observations, self._high), learners.rewards, ended, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now: ``bool``, shape ``(num_envs, num_actions)``, an array of the caller's."""
        return self.batch.masks != 0

    def close(self) -> None:
        """Let the threads go, where there are any."""
        self.batch.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute, once for each game; ``AttributeError`` where there is none."""
        if attr_name == "render_mode":
            return [None for _ in self._get_indices(indices)]
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Games of one batch have no attributes of their own: raises ``AttributeError``."""
        raise AttributeError(f"{attr_name!r} cannot be set: the games of a batch have no attributes of their own")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method for all games at once, and share out what it returns: ``action_masks`` by name."""
        if method_name != "action_masks":
            raise AttributeError(f"the games have no method {method_name!r}; there is 'action_masks'")
        masks = self.action_masks()
        return list(masks) if indices is None else [masks[game] for game in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Whether each game is wrapped by itself: none is."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """There are no images."""
        return [None] * self.num_envs


Scala40VecEnv.__doc__ = (Scala40VecEnv.__doc__ or "").replace("{options}", SHARED_OPTIONS.rstrip())
