"""``scala40 bench``: how fast the batch, the faces and play-outs are on one core, and the engine's signature.

Machines are noisy: each figure is the median of several short runs, those of all figures by turns, and only ratios of
figures from one run mean much.  With ``--peers``, and the extra ``peers`` installed, the gin rummy of OpenSpiel and
RLCard is measured in the same run.
"""

from __future__ import annotations

import statistics
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
from scala40_env.cli.positions import rules_argument
from scala40_env.cli.streams import CommandError
from scala40_env.core.rules import Rules
from scala40_env.core.rules_json import read_rules
from scala40_env.core.signature import signature
from scala40_env.envs.batch import Batch, choose_uniformly
from scala40_env.envs.learners import Learners
from training.arena import complain, console
from training.bench_aec import pettingzoo_loop
from training.bench_peers import PEERS
from training.results import versions

BATCHES = (1, 256, 4096)
PLAYERS = (2, 4)
LEARNERS = 64
_CHUNK = 40_000
_GREEDY_ROUNDS = 300
_LEAST_RUNS = 5

Work = Callable[[], int]


def main(argv: Sequence[str]) -> int:
    """Run the command; returns 0, or 2 for bad input."""
    parser = Parser(
        prog="scala40 bench",
        description="How fast the engine is on one core, mask and observation included, under uniform play.",
    )
    parser.add_argument("--rules", default="standard", help="a rulebook, or JSON with flags, or its file (standard)")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure (2)")
    parser.add_argument("--peers", action="store_true", help="measure OpenSpiel and RLCard too, if installed")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args(argv)
    try:
        if not 0 < args.seconds <= 600:
            raise ValueError(f"--seconds: expected a number above 0, up to 600, got {args.seconds}")
        figures = measure(read_rules(rules_argument(args.rules)), args.seconds, peers=args.peers)
    except (CommandError, OSError, ValueError) as error:
        return complain("scala40 bench", error)
    if args.json:
        print(msgspec.json.encode(figures).decode())
    else:
        _show(figures)
    return 0


def measure(rules: Rules, seconds: float, *, peers: bool = False) -> dict[str, Any]:
    """Every figure of ``scala40 bench`` by name; rates are a second, on one core unless threads are named.

    Args:
        rules: under which rules.
        seconds: how long to measure each figure, warming up aside.
        peers: whether to measure the peers too, where they are installed.
    """
    works: dict[str, Work] = {}
    tables = [players for players in PLAYERS if rules.min_players <= players <= rules.max_players]
    for players in tables:
        for num_games in BATCHES:
            works[f"decisions, {players} players, batch {num_games}"] = uniform_play(rules, players, num_games)
    first = tables[0]
    works[f"decisions, {first} players, batch 256, derived"] = uniform_play(rules, first, 256, derived=True)
    works[f"decisions, {first} players, batch 4096, 2 threads"] = uniform_play(rules, first, 4096, threads=2)
    works[f"learner's decisions, {first} players, {LEARNERS} games, masks"] = learners_play(rules, first, "uniform")
    works[f"learner's decisions against greedy, {first} players, {LEARNERS} games"] = learners_play(
        rules, first, "greedy"
    )
    for players in tables:
        works[f"greedy rounds in one kernel, {players} players"] = greedy_rounds(rules, players)
    missing = []
    if peers:
        for name, make in PEERS.items():
            work = make()
            if work is None:
                missing.append(name.partition(",")[0])
            else:
                works[name] = work
    rates = _rates(works, seconds)
    _say("the PettingZoo loop")
    rates["decisions, PettingZoo loop"] = pettingzoo_loop(seconds, rules=rules)
    _say("the signature")
    figures: dict[str, Any] = {"per_second": rates, "signature": signature(), "versions": versions()}
    if peers:
        figures["ratios"] = _ratios(rates, tables)
        figures["not_installed"] = sorted(set(missing))
    return figures


def _ratios(rates: dict[str, float], tables: Sequence[int]) -> dict[str, float]:
    """How many times a peer's figure ours is."""
    pairs = [(f"decisions, {players} players, batch 256", peer) for players in tables for peer in list(PEERS)[:2]]
    pairs.append((f"greedy rounds in one kernel, {tables[0]} players", list(PEERS)[2]))
    return {f"{ours} / {peer}": rates[ours] / rates[peer] for ours, peer in pairs if peer in rates}


def uniform_play(rules: Rules, players: int, num_games: int, **options: Any) -> Work:
    """Uniform play of every seat in a batch: choosing, stepping, mask and observation."""
    batch = Batch(rules, players, num_games, **options)
    actions = np.zeros(num_games, dtype=np.int64)
    numbers = np.array([88172645463325252], dtype=np.uint64)

    def play() -> int:
        steps = max(1, _CHUNK // num_games)
        for _ in range(steps):
            choose_uniformly(batch.legal, batch.counts, numbers, actions)
            batch.step(actions)
        return steps * num_games

    return play


def learners_play(rules: Rules, players: int, opponents: str) -> Work:
    """What the ``VecEnv`` of Stable-Baselines3 does for each step, but for the library itself: a copy of everything."""
    games = Learners(LEARNERS, rules=rules, players=players, opponents=opponents)
    games.reset(0)
    batch = games.batch
    actions = np.zeros(LEARNERS, dtype=np.int64)
    numbers = np.array([88172645463325252], dtype=np.uint64)

    def play() -> int:
        steps = _CHUNK // LEARNERS // 4
        for _ in range(steps):
            choose_uniformly(batch.legal, batch.counts, numbers, actions)
            games.step(actions)
            batch.observations.copy()
            np.stack(list(batch.masks != 0))
        return steps * LEARNERS

    return play


def greedy_rounds(rules: Rules, players: int) -> Work:
    """Whole rounds of greedy play inside one kernel, each decision on a redacted row."""
    scratch = PlayoutScratch()
    bots = np.full(players, GREEDY, dtype=np.int64)
    salts = np.zeros(players, dtype=np.uint64)
    first = 0

    def play() -> int:
        nonlocal first
        play_games(scratch, rules.vector(), bots, salts, seed=0, first=first, num_games=_GREEDY_ROUNDS)
        first += _GREEDY_ROUNDS
        return _GREEDY_ROUNDS

    return play


def _rates(works: dict[str, Work], seconds: float) -> dict[str, float]:
    """How much each work does a second: the median of its runs, which are made by turns with those of the others."""
    for name, work in works.items():
        _say(f"warming up: {name}")
        work()
    runs: dict[str, list[float]] = {name: [] for name in works}
    end = time.perf_counter() + seconds * len(works)
    turn = 0
    while turn < _LEAST_RUNS or time.perf_counter() < end:
        turn += 1
        _say(f"turn {turn} of {len(works)} figures")
        for name, work in works.items():
            started, done = time.perf_counter(), 0
            while (elapsed := time.perf_counter() - started) < seconds / _LEAST_RUNS:
                done += work()
            runs[name].append(done / elapsed)
    return {name: statistics.median(rates) for name, rates in runs.items()}


def _say(what: str) -> None:
    print(f"measuring: {what} ...", file=sys.stderr, flush=True)


def _show(figures: dict[str, Any]) -> None:
    table = Table(box=box.SIMPLE, title="Uniform play, mask and observation included")
    table.add_column("what")
    table.add_column("a second", justify="right")
    for name, rate in figures["per_second"].items():
        table.add_row(name, f"{rate:,.0f}")
    console().print(table)
    if "ratios" in figures:
        table = Table(box=box.SIMPLE, title="Beside the gin rummy of others")
        table.add_column("ratio")
        table.add_column("times", justify="right")
        for name, ratio in figures["ratios"].items():
            table.add_row(name, f"{ratio:,.1f}")
        console().print(table)
        if figures["not_installed"]:
            print(f"not installed: {', '.join(figures['not_installed'])}; pip install 'scala40-env[peers]'")
    print(f"signature {figures['signature']}")
