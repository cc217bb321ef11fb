"""TorchRL on the PettingZoo face: ``python -m training.recipes.torchrl_pettingzoo``.

One group a seat, a linear policy for all of them that scores the actions and draws from the mask, and one rollout of
whole rounds.  TorchRL never steps a seat that is out with ``None``, so the episode is a round, which ends for all seats
at once.  It needs the extras ``train`` and ``recipes``.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import torch
from pettingzoo.utils.wrappers import BaseWrapper
from tensordict import TensorDictBase
from torchrl.envs import PettingZooWrapper
from torchrl.modules import MaskedCategorical

from scala40_env import scala40_v0


class WithoutInfos(BaseWrapper):
    """The environment with empty infos: TorchRL makes tensors of them, and they hold words."""

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """Nothing, for every agent."""
        return {agent: {} for agent in self.possible_agents}


def make_env(rules: str = "standard", players: int = 2, seed: int = 0) -> PettingZooWrapper:
    """The environment as TorchRL sees it: ``(agent, "observation" | "action_mask" | "mask" | "reward" ...)``."""
    env = WithoutInfos(scala40_v0.env(rules=rules, players=players, episode="round"))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PettingZoo in TorchRL is tested")  # it says so of every version but one
        return PettingZooWrapper(env, use_mask=True, seed=seed)


class LinearPolicy(torch.nn.Module):
    """One linear layer from observations to scores of the actions; it draws among the legal ones."""

    def __init__(self, env: PettingZooWrapper) -> None:
        super().__init__()
        self._agents = env.possible_agents
        first = self._agents[0]
        observation = env.observation_spec[first, "observation", "observation"]
        mask = env.observation_spec[first, "action_mask"]
        self.score = torch.nn.Linear(observation.shape[-1], mask.shape[-1])

    @torch.no_grad()
    def forward(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Set an action for each agent; only that of the agent to act counts."""
        for agent in self._agents:
            seen = tensordict[agent, "observation", "observation"].float() / 255
            mask = tensordict[agent, "action_mask"]
            tensordict[agent, "action"] = MaskedCategorical(logits=self.score(seen), mask=mask).sample()
        return tensordict


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """Play one rollout, and print what each agent was paid in all."""
    parser = argparse.ArgumentParser(prog="python -m training.recipes.torchrl_pettingzoo", description=__doc__)
    parser.add_argument("--rules", default="standard", help="the rulebook (default %(default)s)")
    parser.add_argument("--players", type=int, default=2, help="seats (default %(default)s)")
    parser.add_argument("--steps", type=int, default=1000, help="decisions of all seats (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of deals and weights (default %(default)s)")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.manual_seed(chosen.seed)
    env = make_env(chosen.rules, chosen.players, chosen.seed)
    played = env.rollout(chosen.steps, LinearPolicy(env), break_when_any_done=False)
    paid = {agent: float(played["next", agent, "reward"].sum()) for agent in env.possible_agents}
    print(f"{len(played)} decisions, {int(played['next', 'done'].sum())} rounds; rewards {paid}")
    env.close()
    return paid


if __name__ == "__main__":
    main()
