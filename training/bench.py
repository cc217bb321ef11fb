"""``scala40 bench``: decisions a second of the batch, the PettingZoo loop and play-outs, and the engine's signature.

Machines are noisy: each figure is the best of several short runs, and only ratios of figures from one run mean much.
With ``--peers``, and the extra ``peers`` installed, OpenSpiel's gin rummy is measured in the same run.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
from rich import box
from rich.table import Table

from agents.base import GREEDY
from agents.playout import PlayoutScratch, play_games
from scala40_env.cli import Parser
from scala40_env.core.rules import Rules
from scala40_env.core.signature import signature
from scala40_env.envs.batch import Batch, choose_uniformly
from training.arena import complain, console
from training.bench_aec import pettingzoo_loop
from training.report import versions

BATCHES = (1, 256, 4096)
PLAYERS = (2, 4)
_WARM = 40_000
_CHUNK = 60_000
_GREEDY_ROUNDS = 500


def main(argv: Sequence[str]) -> int:
    """Run the command; returns 0, or 2 for bad input."""
    parser = Parser(
        prog="scala40 bench",
        description="How fast the engine is on one core, mask and observation included, under uniform play.",
    )
    parser.add_argument("--rules", default="standard", help="a rulebook (standard)")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure (2)")
    parser.add_argument("--peers", action="store_true", help="measure OpenSpiel's gin rummy too, if it is installed")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args(argv)
    try:
        if not 0 < args.seconds <= 600:
            raise ValueError(f"--seconds: expected a number above 0, up to 600, got {args.seconds}")
        figures = measure(Rules.load(args.rules), args.seconds, peers=args.peers)
    except ValueError as error:
        return complain("scala40 bench", error)
    if args.json:
        print(msgspec.json.encode(figures).decode())
    else:
        _show(figures)
    return 0


def measure(rules: Rules, seconds: float, *, peers: bool = False) -> dict[str, Any]:
    """Every figure of ``scala40 bench`` by name; rates are a second, on one core.

    Args:
        rules: under which rules.
        seconds: how long to measure each figure, warming up aside.
        peers: whether to measure OpenSpiel too, where it is installed.
    """
    tables = [players for players in PLAYERS if rules.min_players <= players <= rules.max_players]
    batch = {}
    for players in tables:
        for num_games in BATCHES:
            _say(f"batch of {num_games}, {players} players")
            batch[f"{players} players, batch {num_games}"] = batch_rate(rules, players, num_games, seconds)
    greedy = {}
    for players in tables:
        _say(f"greedy rounds, {players} players")
        greedy[f"{players} players"] = greedy_rounds(rules, players, seconds)
    _say("the PettingZoo loop")
    loop = pettingzoo_loop(seconds, rules=rules)
    figures: dict[str, Any] = {
        "decisions_per_second": batch,
        "greedy_rounds_per_second": greedy,
        "pettingzoo_decisions_per_second": loop,
    }
    if peers:
        _say("OpenSpiel's gin rummy")
        figures["openspiel_gin_rummy"] = open_spiel_rate(seconds)
    _say("the signature")
    return {**figures, "signature": signature(), "versions": versions()}


def batch_rate(rules: Rules, players: int, num_games: int, seconds: float) -> float:
    """Decisions a second of a batch under uniform play: choosing, stepping, mask and observation."""
    batch = Batch(rules, players, num_games)
    actions = np.zeros(num_games, dtype=np.int64)
    numbers = np.array([88172645463325252], dtype=np.uint64)

    def play(decisions: int) -> int:
        steps = max(1, decisions // num_games)
        for _ in range(steps):
            choose_uniformly(batch.legal, batch.counts, numbers, actions)
            batch.step(actions)
        return steps * num_games

    play(_WARM)
    return _best_rate(lambda: play(_CHUNK), seconds)


def greedy_rounds(rules: Rules, players: int, seconds: float) -> float:
    """Whole rounds a second of greedy play inside one kernel, each decision on a redacted row."""
    scratch = PlayoutScratch()
    bots = np.full(players, GREEDY, dtype=np.int64)
    salts = np.zeros(players, dtype=np.uint64)
    first = 0

    def play() -> int:
        nonlocal first
        play_games(scratch, rules.vector(), bots, salts, seed=0, first=first, num_games=_GREEDY_ROUNDS)
        first += _GREEDY_ROUNDS
        return _GREEDY_ROUNDS

    play()
    return _best_rate(play, seconds)


def open_spiel_rate(seconds: float) -> dict[str, float] | None:
    """OpenSpiel's gin rummy: decisions a second, driven from Python, with mask and observation.

    ``None`` where OpenSpiel is not installed.  Its game is another one, with two players, closed melds and no jokers:
    the ratio says what a learner waits for, and nothing of the merit of either program.
    """
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game("gin_rummy")
    rng = random.Random(0)

    def play() -> int:
        decisions = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choices(outcomes, chances)[0])
                continue
            state.observation_tensor(state.current_player())
            mask = np.asarray(state.legal_actions_mask())
            state.apply_action(int(rng.choice(mask.nonzero()[0])))
            decisions += 1
        return decisions

    return {"decisions_per_second": _best_rate(play, seconds)}


def _best_rate(work: Callable[[], int], seconds: float) -> float:
    """The most that ``work`` has done a second in any of its calls, made again and again for so long."""
    best = 0.0
    end = time.perf_counter() + seconds
    while True:
        started = time.perf_counter()
        done = work()
        now = time.perf_counter()
        best = max(best, done / (now - started))
        if now >= end:
            return best


def _say(what: str) -> None:
    print(f"measuring: {what} ...", file=sys.stderr, flush=True)


def _show(figures: dict[str, Any]) -> None:
    table = Table(box=box.SIMPLE, title="One core, uniform play, mask and observation included")
    table.add_column("what")
    table.add_column("a second", justify="right")
    for name, rate in figures["decisions_per_second"].items():
        table.add_row(f"decisions, {name}", f"{rate:,.0f}")
    for name, rate in figures["greedy_rounds_per_second"].items():
        table.add_row(f"greedy rounds in one kernel, {name}", f"{rate:,.0f}")
    table.add_row("decisions, PettingZoo loop", f"{figures['pettingzoo_decisions_per_second']:,.0f}")
    peer = figures.get("openspiel_gin_rummy")
    if peer:
        rate = peer["decisions_per_second"]
        table.add_row("decisions, OpenSpiel gin rummy from Python", f"{rate:,.0f}")
        ours = figures["decisions_per_second"]["2 players, batch 256"]
        table.add_row("ratio, 2 players, batch 256", f"{ours / rate:,.1f}")
    console().print(table)
    if "openspiel_gin_rummy" in figures and peer is None:
        print("OpenSpiel is not installed: pip install 'scala40-env[peers]'")
    print(f"signature {figures['signature']}")
