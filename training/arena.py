"""``scala40 arena``: agents against one another on the same deals, with the seats exchanged, and honest intervals.

``play`` runs a plan; the result is the same whatever the number of processes, since each deal depends on the plan and
on its own number alone.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import numpy as np
from rich.console import Console

from agents.base import Agent
from agents.registry import names
from scala40_env.cli import BAD_INPUT, Parser, streams
from scala40_env.cli.games import seed_argument
from scala40_env.cli.positions import rules_argument
from scala40_env.cli.streams import CommandError
from scala40_env.core.first_run import prepare
from scala40_env.core.rules_json import read_rules
from training.deals import ArenaError, Plan, plan
from training.play_deals import Tally, are_compiled, compile_for, play_deals
from training.progress import DealsProgress
from training.report import ArenaResult, print_report, summarise, to_json

_COMPILED_CHUNK, _PYTHON_CHUNK = 100, 4
MAX_PROCESSES = 256


def play(
    plan: Plan,
    *,
    agents: Sequence[Agent] | None = None,
    processes: int = 1,
    quiet: bool = True,
    compiled: bool = True,
) -> ArenaResult:
    """Play a plan and sum it up.

    Args:
        plan: what to play.
        agents: the line-up, where the names of the plan do not make it; in one process only.
        processes: how many processes share the deals.
        quiet: show no progress.
        compiled: play compiled bots inside the compiled loop.

    Raises:
        AgentError: an agent that does not exist.
        ArenaError: agents that cannot be played in several processes, or a process that died.
    """
    if not 1 <= processes <= MAX_PROCESSES:
        raise ArenaError(f"processes: expected an integer from 1 to {MAX_PROCESSES}, got {processes}")
    if agents is not None and processes > 1:
        raise ArenaError("processes: agents that are given as objects play in one process")
    line_up = plan.make_agents() if agents is None else list(agents)
    if len(line_up) != len(plan.agents):
        raise ArenaError(f"agents: the plan has {len(plan.agents)}, got {len(line_up)}")
    prepare()
    compile_for(plan, line_up, compiled=compiled)
    began = time.perf_counter()
    size = _COMPILED_CHUNK if compiled and are_compiled(line_up) else _PYTHON_CHUNK
    chunks = [(first, min(size, plan.deals - first)) for first in range(0, plan.deals, size)]
    tallies = []
    with DealsProgress("arena", plan.deals, quiet=quiet) as progress:
        for tally in _play_chunks(plan, line_up, chunks, processes, compiled):
            tallies.append(tally)
            progress.add(len(tally.deals))
    whole = Tally(
        np.concatenate([tally.agents for tally in tallies]),
        np.concatenate([tally.deals for tally in tallies]),
        tuple(fault for tally in tallies for fault in tally.faults),
    )
    seconds = time.perf_counter() - began
    return summarise(plan, [agent.name for agent in line_up], whole, seconds=seconds, processes=processes)


def _play_chunks(
    plan: Plan, agents: Sequence[Agent], chunks: Sequence[tuple[int, int]], processes: int, compiled: bool
) -> Iterator[Tally]:
    """The tallies of the chunks, in their order."""
    if processes == 1:
        for chunk in chunks:
            yield play_deals(plan, agents, *chunk, compiled=compiled)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _start_worker, (plan, compiled)) as pool:
        try:
            yield from pool.map(_play_in_worker, chunks)
        except BrokenProcessPool:
            raise ArenaError("a process died while it played; with --processes 1 its error can be seen") from None


_worker: tuple[Plan, list[Agent], bool] | None = None


def _start_worker(plan: Plan, compiled: bool) -> None:
    global _worker
    _worker = plan, plan.make_agents(), compiled


def _play_in_worker(chunk: tuple[int, int]) -> Tally:
    assert _worker is not None, "the pool starts each process with a plan"
    plan, agents, compiled = _worker
    return play_deals(plan, agents, *chunk, compiled=compiled)


# --- the command -----------------------------------------------------------------------------------------------------


def _parser() -> Parser:
    parser = Parser(
        prog="scala40 arena",
        description="Agents against one another on the same deals, with the seats exchanged. "
        f"An agent is a name ({', '.join(names())}), a name with options (uniform:seed=3), or a class (module:Class). "
        "There are as many agents as players, or a number that divides the players: then the line-up repeats.",
    )
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="who plays, in the order of the seats")
    parser.add_argument("--rules", default="standard", help="a rulebook, or JSON with flags, or its file (standard)")
    parser.add_argument("--deals", type=int, default=1000, metavar="N", help="how many deals (1000)")
    parser.add_argument("--players", type=int, metavar="N", help="seats at the table (as many as agents, at least 2)")
    parser.add_argument("--episode", choices=("round", "match"), default="round", help="what a deal begins (round)")
    parser.add_argument("--seed", type=seed_argument, default=0, help="of the deals and of the agents (0)")
    parser.add_argument("--turn-limit", type=int, metavar="N", help="turns after which an episode is broken off")
    parser.add_argument(
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help="processes that share the deals; worth it for slow agents (1)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def complain(prog: str, error: Exception) -> int:
    """Print an error as one line on standard error; returns the exit status of bad input."""
    print(f"{prog}: {' '.join(str(error).split())}", file=sys.stderr)
    return BAD_INPUT


def main(argv: Sequence[str]) -> int:
    """Run the command; returns its exit status: 0, or 2 for bad input."""
    args = _parser().parse_args(argv)
    try:
        made = plan(
            args.agents,
            read_rules(rules_argument(args.rules)),
            args.deals,
            players=args.players,
            seed=args.seed,
            episode=args.episode,
            turn_limit=args.turn_limit,
        )
        result = play(made, processes=args.processes, quiet=args.quiet)
    except (CommandError, ValueError, OSError) as error:
        return complain("scala40 arena", error)
    if args.json:
        print(json.dumps(to_json(result, ["scala40", "arena", *argv]), ensure_ascii=False))
    else:
        print_report(result, console())
    return 0


def console() -> Console:
    """Where tables are printed: as wide as the terminal, or 120 columns where there is none."""
    return streams.console(120)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
