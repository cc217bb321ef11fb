"""How fast the trainers are beside MaskablePPO of sb3-contrib: ``python -m training.bench_trainers``.

With ``--json`` it writes what ``results/trainers.json`` keeps, and what the README's table shows (``--table``).

All make the same job in the same process, by turns, an update each: rounds of two players against ``greedy``, derived
part included, forced actions played inside, the same number of games, steps, epochs and rows a minibatch, networks of
256-256.  ``ppo`` and MaskablePPO do exactly that; ``ppo, self-play`` plays every seat itself and has a critic that sees
the hidden cards, as runs do; ``dmc`` plays every seat too.  All have one thread, and the clock is that of the process:
it counts the seconds of its core, and not those in which others have it.  Ratios are of updates of the same turn.

Where the time goes is measured by clocks around functions, of which the outermost counts:

``forward``    from scaled observations to logits (or predicted returns) and values: the networks alone, with gradients
               or without; masking, drawing, log-probabilities and losses are not in it
``backward``   ``Tensor.backward``: through the networks and the losses on top of them
``optimizer``  ``Optimizer.step`` and the clipping of gradients
``rest``       all else: the games, choosing, advantages, copying and shuffling
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from rich import box
from rich.table import Table

from scala40_env.cli import Parser
from training import dmc, ppo
from training.arena import complain, console
from training.config import DMC, PPO, SB3, Opponents
from training.results import versions

REFERENCE = "MaskablePPO"
RESULT = Path("results/trainers.json")
PARTS = ("forward", "backward", "optimizer")
_HIDDEN = (256, 256)
_WARMING_UP = 2
"""Updates of each before the clock runs: kernels are loaded, and for ``dmc`` rounds end as often as they begin."""


class Stopwatch:
    """The seconds spent in functions, by part.

    Attributes:
        seconds: by part; a function called by one that is timed counts for that one.
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._is_running = False

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its time counted for a part."""

        def call(*arguments: Any, **named: Any) -> Any:
            if self._is_running:
                return function(*arguments, **named)
            self._is_running, began = True, time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds[part] += time.process_time() - began
                self._is_running = False

        return call

    def watch(self, part: str, owner: Any, *names: str) -> None:
        """Time methods of an object from now on."""
        for name in names:
            setattr(owner, name, self.timed(part, getattr(owner, name)))

    @contextmanager
    def watching_torch(self) -> Iterator[None]:
        """Time what PyTorch does for all, as long as the context lasts."""
        backward, clip = torch.Tensor.backward, torch.nn.utils.clip_grad_norm_
        torch.Tensor.backward = self.timed("backward", backward)
        torch.nn.utils.clip_grad_norm_ = self.timed("optimizer", clip)
        try:
            yield
        finally:
            torch.Tensor.backward, torch.nn.utils.clip_grad_norm_ = backward, clip


class Contender:
    """A trainer with its stopwatch; ``advance`` makes an update and returns from how many decisions it learned."""

    def __init__(self, advance: Callable[[], float], watch: Stopwatch) -> None:
        self._advance, self._watch = advance, watch
        self.rates: list[float] = []
        self.shares: list[dict[str, float]] = []

    def turn(self) -> None:
        """Make an update and note its speed."""
        before = dict(self._watch.seconds)
        began = time.process_time()
        with self._watch.watching_torch():
            decisions = self._advance()
        took = time.process_time() - began
        self.rates.append(decisions / took)
        self.shares.append({part: (self._watch.seconds[part] - before[part]) / took for part in PARTS})

    def forget(self) -> None:
        """Take what was noted for a warming up."""
        self.rates.clear()
        self.shares.clear()


def contenders(games: int, steps: int, minibatch: int, epochs: int) -> dict[str, Contender]:
    """The trainers by name, each at its first update; MaskablePPO only where it is installed."""
    common: dict[str, Any] = {"games": games, "steps": steps, "minibatch": minibatch, "epochs": epochs}
    bots, alone = Opponents(0.0, 0.0, 1.0, names=("greedy",)), Opponents(1.0, 0.0, 0.0)
    made = {
        "ppo": _own(ppo.Trainer(PPO(**common, hidden=_HIDDEN, privileged=False, opponents=bots))),
        "ppo, self-play": _own(ppo.Trainer(PPO(**common, hidden=_HIDDEN, opponents=alone))),
        "dmc": _own(dmc.Trainer(DMC(**common, hidden=_HIDDEN, opponents=alone))),
    }
    try:
        from training.sb3_maskable_ppo import make_model
    except ImportError:
        return made
    settings = SB3(games=games, n_steps=steps, batch_size=minibatch, n_epochs=epochs, hidden=_HIDDEN)
    model, watch = make_model(settings), Stopwatch()
    watch.watch("forward", model.policy.mlp_extractor, "forward", "forward_actor", "forward_critic")
    watch.watch("forward", model.policy.action_net, "forward")
    watch.watch("forward", model.policy.value_net, "forward")
    watch.watch("optimizer", model.policy.optimizer, "step")

    def advance() -> float:
        model.learn(games * steps, log_interval=None, reset_num_timesteps=False)
        return games * steps

    made[REFERENCE] = Contender(advance, watch)
    return made


def _own(trainer: Any) -> Contender:
    watch, config = Stopwatch(), trainer.config
    names = ("forward", "of_actions") if isinstance(config, DMC) else ("logits", "values")
    watch.watch("forward", trainer.model, *names)
    watch.watch("optimizer", trainer.optimizer, "step")
    return Contender(lambda: trainer.advance()["learned_from"], watch)


def measure(turns: int, games: int, steps: int, minibatch: int, epochs: int) -> dict[str, Any]:
    """Every figure by trainer: decisions a second, times ``MaskablePPO``, and the shares of the parts; medians."""
    made = contenders(games, steps, minibatch, epochs)
    for name, contender in made.items():
        _say(f"warming up: {name}")
        for _ in range(_WARMING_UP):
            contender.turn()
        contender.forget()
    for turn in range(turns):
        _say(f"turn {turn + 1} of {turns}")
        for contender in made.values():
            contender.turn()
    figures: dict[str, Any] = {}
    for name, contender in made.items():
        shares = {part: statistics.median(share[part] for share in contender.shares) for part in PARTS}
        figures[name] = {
            "per_second": statistics.median(contender.rates),
            "shares": {**shares, "rest": 1 - sum(shares.values())},
            "network": statistics.median(share["forward"] + share["backward"] for share in contender.shares),
        }
        if REFERENCE in made:
            ratios = [mine / theirs for mine, theirs in zip(contender.rates, made[REFERENCE].rates)]
            figures[name] |= {"times": statistics.median(ratios), "times_range": [min(ratios), max(ratios)]}
    settings = {"turns": turns, "games": games, "steps": steps, "minibatch": minibatch, "epochs": epochs}
    return {"settings": settings, "trainers": figures, "versions": {**versions(), "torch": torch.__version__}}


def main(argv: Sequence[str]) -> int:
    """Run the command; returns 0, or 2 for bad input."""
    parser = Parser(prog="python -m training.bench_trainers", description="How fast the trainers are, by turns.")
    parser.add_argument("--turns", type=int, default=5, help="timed updates of each (5)")
    parser.add_argument("--games", type=int, default=256, help="side by side (256)")
    parser.add_argument("--steps", type=int, default=64, help="of each game between two updates (64)")
    parser.add_argument("--minibatch", type=int, default=2048, help="rows of a minibatch (2048)")
    parser.add_argument("--epochs", type=int, default=2, help="passes over what was collected (2)")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument(
        "--table", type=Path, metavar="FILE", help="measure nothing: what such an object says, as the README has it"
    )
    args = parser.parse_args(argv)
    if args.table is not None:
        print(markdown(json.loads(args.table.read_text("utf-8"))["trainers"]))
        return 0
    given = {name: value for name, value in vars(args).items() if name not in ("json", "table")}
    for name, value in given.items():
        if value < 1:
            return complain("python -m training.bench_trainers", ValueError(f"--{name}: expected at least 1"))
    figures = measure(**given)
    if args.json:
        print(json.dumps(figures))
    else:
        _show(figures["trainers"])
    return 0


def _say(what: str) -> None:
    print(f"measuring: {what} ...", file=sys.stderr, flush=True)


def markdown(figures: dict[str, Any]) -> str:
    """The README's table."""
    lines = [f"| trainer | decisions a second | times {REFERENCE} | in the networks |", "|---|--:|--:|--:|"]
    for name, told in figures.items():
        low, high = told["times_range"]
        times = f"{told['times']:.2f} ({low:.2f} … {high:.2f})" if name != REFERENCE else "1"
        lines.append(f"| {name} | {told['per_second']:,.0f} | {times} | {told['network']:.0%} |")
    return "\n".join(lines)


def _show(figures: dict[str, Any]) -> None:
    table = Table(box=box.SIMPLE, title="Updates of the trainers, by turns, a second of one core")
    for column in ("trainer", "decisions", f"times {REFERENCE}", "forward", "backward", "optimizer", "rest"):
        table.add_column(column, justify="left" if column == "trainer" else "right")
    for name, told in figures.items():
        times = f"{told['times']:.2f}" if "times" in told else ""
        table.add_row(name, f"{told['per_second']:,.0f}", times, *(f"{part:.0%}" for part in told["shares"].values()))
    console().print(table)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
