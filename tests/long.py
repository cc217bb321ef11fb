"""The exactness checks on many positions: ``python -m tests.long``, half an hour or so on two cores.

Engine and slow twin are compared position by position over the five rulebooks and over rules drawn at random; then
many rounds of uniform play are checked for the laws of the state; then hidden cards are dealt anew, and what a seat is
shown must stay as it was; then all are done once more, on less, with the compiled code checking every index.  The
first disagreement, broken law or leak ends it with status 1, and is printed with what it takes to see it again:
``python -m tests.long --again '{...}'``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import as_completed as in_any_order
from multiprocessing import get_context
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from scala40_env.core.game import Game
from scala40_env.core.rules import Rules
from tests.differential.compare import Disagreement, Start, again, start_of, walk
from tests.differential.counts import GROUPS, Counts
from tests.differential.policies import POLICIES
from tests.differential.rulesets import RULEBOOKS, wide_rules
from tests.envs.leaks import compare_redeals
from tests.laws.rounds import Tally, play_uniform

_POSITIONS, _ROUNDS, _REDEALS = 300_000, 100_000, 10_000
_BUILT_STEPS, _DEALT_STEPS = 25, 250
_WALKS_OF_A_CHUNK = 16
_ROUNDS_OF_A_CHUNK = 2_000

console = Console(stderr=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the checks; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.long", description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=_POSITIONS, help="positions compared (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="uniform rounds a rulebook (default %(default)s)")
    parser.add_argument("--redeals", type=int, default=_REDEALS, help="positions dealt anew (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="another seed is another set of positions")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--no-bounds", action="store_true", help="leave out the run that checks every index")
    parser.add_argument("--again", metavar="JSON", help="play one reproduction, and compare")
    chosen = parser.parse_args(arguments)
    if chosen.again:
        return _play_again(json.loads(chosen.again))
    Game("standard", 2)  # compiles once, before the processes start
    context = get_context("spawn")
    with ProcessPoolExecutor(chosen.processes, mp_context=context) as pool:
        try:
            fine = (
                _compare(pool, chosen.positions, chosen.seed)
                and _check_laws(pool, chosen.rounds, chosen.seed)
                and _check_leaks(pool, chosen.redeals, chosen.seed)
            )
        finally:
            pool.shutdown(cancel_futures=True)
    if fine and not chosen.no_bounds:
        fine = _check_bounds(chosen)
    return 0 if fine else 1


def _play_again(reproduction: dict[str, Any]) -> int:
    actions = reproduction.pop("actions")
    try:
        again(Start(**reproduction), actions)
    except Disagreement as found:
        print(found)
        return 1
    print("engine and twin agree")
    return 0


# --- engine and twin ----------------------------------------------------------------------------------------------


def compare_chunk(number: int, seed: int) -> Counts:
    """The walks of one chunk; each second chunk is of a rulebook, the others of rules drawn at random.

    Raises:
        Disagreement: The first one.
    """
    counts = Counts()
    rng = random.Random(f"chunk {number} {seed}")
    for walk_number in range(_WALKS_OF_A_CHUNK):
        players = rng.randint(2, 6)
        given: dict[str, Any] = {
            "seed": (seed * 1_000_003 + number) * _WALKS_OF_A_CHUNK + walk_number,
            "episode": rng.choice(["round", "match"]),
            "built": rng.random() < 0.7,
        }
        if number % 2:
            start = start_of(wide_rules(rng, players), players, **given)
        else:
            name = RULEBOOKS[number // 2 % len(RULEBOOKS)]
            start = Start(name, min(players, Rules.load(name).max_players), **given)
        walk(start, _BUILT_STEPS if start.built else _DEALT_STEPS, rng.choice(list(POLICIES)), counts)
    return counts


def _compare(pool: ProcessPoolExecutor, positions: int, seed: int) -> bool:
    """Compare until there are so many positions; prints what they were, or the first disagreement."""
    total, began = Counts(), time.perf_counter()
    numbers = iter(range(1 << 30))
    with _progress() as progress:
        bar = progress.add_task("positions compared", total=positions)
        waiting = {pool.submit(compare_chunk, next(numbers), seed) for _ in range(4)}
        while waiting:
            done = next(in_any_order(waiting))
            waiting.remove(done)
            try:
                total.update(done.result())
            except Disagreement as found:
                console.print("[bold red]engine and twin disagree")
                print(found)
                return False
            compared = total["positions", "in all"]
            progress.update(bar, completed=min(compared, positions))
            if compared < positions:
                waiting.add(pool.submit(compare_chunk, next(numbers), seed))
    _show(total, time.perf_counter() - began)
    return True


def _show(total: Counts, seconds: float) -> None:
    table = Table(title=f"compared in {seconds:.0f} s, and never a difference", title_style="bold")
    for heading, justify in (("of", "left"), ("sort", "left"), ("times", "right")):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for group in GROUPS:
        for i, (name, count) in enumerate(total.of(group).items()):
            table.add_row("" if i else group, name, f"{count:,}")
        table.add_section()
    Console(width=120).print(table)


# --- the laws -----------------------------------------------------------------------------------------------------


def check_rounds(name: str, players: int, rounds: int, first_seed: int) -> tuple[str, int, Tally]:
    """Uniform rounds of a rulebook, with the laws checked before every action."""
    return name, players, play_uniform(Rules.load(name), players, rounds, first_seed)


def _round_chunks(rounds: int, seed: int) -> Iterator[tuple[str, int, int, int]]:
    """So many rounds of each rulebook, over all the numbers of players in turn."""
    for name in RULEBOOKS:
        rules = Rules.load(name)
        tables = list(range(rules.min_players, rules.max_players + 1))
        for number, first in enumerate(range(0, rounds, _ROUNDS_OF_A_CHUNK)):
            size = min(_ROUNDS_OF_A_CHUNK, rounds - first)
            yield name, tables[number % len(tables)], size, seed * 1_000_003 + first


def _check_laws(pool: ProcessPoolExecutor, rounds: int, seed: int) -> bool:
    """Play so many rounds of each rulebook; prints how they ended, or the first broken law."""
    tallies: dict[str, list[Tally]] = {name: [] for name in RULEBOOKS}
    with _progress() as progress:
        bar = progress.add_task("uniform rounds", total=rounds * len(RULEBOOKS))
        chunks = [pool.submit(check_rounds, *chunk) for chunk in _round_chunks(rounds, seed)]
        for done in in_any_order(chunks):
            name, players, tally = done.result()
            if tally.problem != "none":
                console.print("[bold red]a law is broken")
                where = {"rules": name, "players": players, "seed": tally.seed, "before action": tally.action}
                print(f"{tally.problem}: {json.dumps(where)}")
                for other in chunks:
                    other.cancel()
                return False
            tallies[name].append(tally)
            progress.update(bar, advance=tally.rounds)
    _show_rounds(tallies)
    return True


def _show_rounds(tallies: dict[str, list[Tally]]) -> None:
    table = Table(title="uniform rounds, and never a broken law", title_style="bold")
    columns = (
        "rulebook",
        "rounds",
        "actions",
        "longest, turns",
        "closed",
        "dead",
        "stock out",
        "turn cap",
        "truncated",
    )
    for heading in columns:
        table.add_column(heading, justify="left" if heading == "rulebook" else "right")
    for name, parts in tallies.items():
        rounds = sum(part.rounds for part in parts)
        ends = [
            f"{sum(part.ends.get(end, 0) for part in parts) / max(rounds, 1):.3%}"
            for end in ("closed", "dead_position", "stock_out", "turn_cap", "truncated")
        ]
        longest = max((part.longest for part in parts), default=0)
        table.add_row(name, f"{rounds:,}", f"{sum(part.actions for part in parts):,}", str(longest), *ends)
    Console(width=120).print(table)


# --- hidden cards -------------------------------------------------------------------------------------------------


def check_redeals(name: str, players: int, positions: int, seed: int) -> int:
    """Deal hidden cards anew in so many positions; how many those were, or -1 where something shown has changed."""
    try:
        return sum(compare_redeals(name, players, positions, seed).values())
    except AssertionError:
        return -1


def _check_leaks(pool: ProcessPoolExecutor, positions: int, seed: int) -> bool:
    """So many positions over the five rulebooks and their numbers of players."""
    tables = [(name, players) for name in RULEBOOKS for players in range(2, Rules.load(name).max_players + 1)]
    share = -(-positions // len(tables))
    with _progress() as progress:
        bar = progress.add_task("positions with the hidden cards dealt anew", total=share * len(tables))
        chunks = {pool.submit(check_redeals, *table, share, seed): table for table in tables}
        for done in in_any_order(chunks):
            if done.result() < 0:
                name, players = chunks[done]
                print(f"a seat is shown what is hidden: tests.long.check_redeals({name!r}, {players}, {share}, {seed})")
                return False
            progress.update(bar, advance=done.result())
    Console().print(
        f"{share * len(tables):,} positions with the hidden cards dealt anew, and never a byte that changed"
    )
    return True


# --- indices ------------------------------------------------------------------------------------------------------


def _check_bounds(chosen: argparse.Namespace) -> bool:
    """The same on a hundredth, with code that checks every index; it is compiled for that, in a cache of its own."""
    console.print("once more, on less, with every index checked")
    command = [sys.executable, "-m", "tests.long", "--no-bounds", "--seed", str(chosen.seed + 1)]
    command += ["--positions", str(chosen.positions // 100), "--rounds", str(max(1, chosen.rounds // 100))]
    command += ["--redeals", str(chosen.redeals // 100), "--processes", str(chosen.processes)]
    return subprocess.run(command, env={**os.environ, "NUMBA_BOUNDSCHECK": "1"}, check=False).returncode == 0


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, TimeRemainingColumn(), console=console)


if __name__ == "__main__":
    sys.exit(main())
