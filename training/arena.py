"""``scala40 arena``: agents against one another on the same deals, with the seats exchanged, and honest intervals.

``play`` plays a plan or a tournament; the result is the same whatever the number of processes and however often it was
broken off, since each deal depends on the plan and on its own number alone.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from agents.base import Agent, is_compiled
from agents.playout import SEAT_DECISIONS
from agents.registry import names
from scala40_env.cli import BAD_INPUT, INTERRUPTED, Parser, streams
from scala40_env.cli.games import seed_argument
from scala40_env.cli.positions import rules_argument
from scala40_env.cli.streams import CommandError
from scala40_env.core.first_run import prepare
from scala40_env.core.quoting import shown
from scala40_env.core.rules_json import read_rules
from training.deals import ArenaError, Plan
from training.game_records import GAMES
from training.journal import Journal, write_whole
from training.play_deals import (
    CLOCK_DECISIONS,
    CLOCK_LONGEST,
    CLOCK_SECONDS,
    NUM_CLOCKS,
    Tally,
    are_compiled,
    join,
    play_deals,
)
from training.progress import DealsProgress
from training.report import print_report, to_json
from training.result_files import write_files
from training.results import ArenaResult, Times, cut, scores, summarise
from training.schedule import Chunk, Schedule
from training.sprt import SequentialTest, Verdict
from training.tournament import Tournament, of_plan, tournament
from training.workers import Players, play_all

MAX_PROCESSES = 256
USUAL_LIMIT = 60.0
MOST_LIMIT = 86_400.0
"""A decision may take a day at most: what waits longer than the system can count fails while it is played."""
_SAMPLE_SECONDS, _SAMPLE_DEALS = 0.3, 10


class _Played:
    """The pieces that have been played, by line-up; and where a sequential test stands."""

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self.pieces: list[dict[int, Tally]] = [{} for _ in tournament.line_ups]
        self.verdict: Verdict | None = None
        self._reached = 0
        self._scores: list[np.ndarray] = []

    def add(self, chunk: Chunk, tally: Tally) -> None:
        """Take a piece in; the test looks as far as the deals are there without a gap."""
        self.pieces[chunk.line_up][chunk.first] = tally
        test = self.tournament.test
        if test is None or (self.verdict is not None and self.verdict.answer is not None):
            return
        while self._reached in self.pieces[0]:
            piece = self.pieces[0][self._reached]
            self._scores.append(scores(self.tournament, piece))
            self._reached += len(piece.seats)
        if self._scores:
            self.verdict = test.look(np.concatenate(self._scores))

    @property
    def is_decided(self) -> bool:
        """Whether the sequential test has its answer."""
        return self.verdict is not None and self.verdict.answer is not None

    def tallies(self) -> list[Tally]:
        """One tally for each line-up, up to where the test stopped."""
        made = [join([pieces[first] for first in sorted(pieces)]) for pieces in self.pieces]
        return [cut(tally, self.verdict.deals) for tally in made] if self.is_decided and self.verdict else made


def play(
    plan: Plan | Tournament,
    *,
    agents: Sequence[Agent] | None = None,
    processes: int | None = 1,
    quiet: bool = True,
    compiled: bool = True,
    limit: float | None = None,
    journal: Journal | None = None,
    command: Sequence[str] = (),
) -> ArenaResult:
    """Play a plan or a tournament and sum it up.

    Args:
        plan: what to play.
        agents: the agents, where the names of the plan do not make them; in one process only.
        processes: how many processes share the deals; ``None`` for all cores where it is worth it.
        quiet: show no progress.
        compiled: play compiled bots inside the compiled loop.
        limit: seconds that a decision may take; agents that are no compiled bots then play in processes of their own,
            and crash or hang alone.  ``None`` leaves them in the arena's process, without a limit.
        journal: a folder that keeps what has been played, and gets the files of the result; where it keeps records of
            the games, all of them are stepped from Python.
        command: the command as it was typed, for the file of times.

    Raises:
        AgentError: an agent that does not exist.
        ArenaError: agents that cannot be played in several processes, or a process that died.
    """
    whole = of_plan(plan) if isinstance(plan, Plan) else plan
    _check_options(processes, limit)
    if agents is not None and (processes != 1 or limit is not None):
        raise ArenaError("processes: agents that are given as objects play in one process")
    line_up = whole.make_agents() if agents is None else list(agents)
    if len(line_up) != len(whole.agents):
        raise ArenaError(f"agents: the plan has {len(whole.agents)}, got {len(line_up)}")
    prepare()
    record = journal is not None and journal.record
    players = Players(whole, line_up, limit=limit, compiled=compiled, record=record)
    try:
        players.compile()
        return _play(whole, line_up, players, processes, quiet, limit, journal, command)
    finally:
        players.close()


def _check_options(processes: int | None, limit: float | None) -> None:
    """Raise ``ArenaError`` where so many processes or such a limit cannot be."""
    if processes is not None and not 1 <= processes <= MAX_PROCESSES:
        raise ArenaError(f"processes: expected an integer from 1 to {MAX_PROCESSES}, got {shown(processes)}")
    if limit is not None and not 0 < limit <= MOST_LIMIT:
        raise ArenaError(
            f"time limit: expected seconds above 0 and up to {MOST_LIMIT:.0f}, which is a day, got {shown(limit)}"
        )


def _play(
    whole: Tournament,
    agents: Sequence[Agent],
    players: Players,
    processes: int | None,
    quiet: bool,
    limit: float | None,
    journal: Journal | None,
    command: Sequence[str],
) -> ArenaResult:
    before = time.perf_counter()
    kept = [] if journal is None else journal.played
    seconds = sum(took for _, _, took in kept)
    played = _Played(whole)
    for chunk, tally, _ in kept:
        played.add(chunk, tally)
    schedule = Schedule(
        len(whole.line_ups),
        whole.deals,
        [chunk for chunk, _, _ in kept],
        [players.compiled and are_compiled(line_up) for line_up in players.line_ups],
    )
    done = sum(chunk.deals for chunk, _, _ in kept)
    with DealsProgress("arena", len(whole.line_ups) * whole.deals, quiet=quiet, done=done) as progress:
        pieces = play_all(whole, players, schedule, processes=processes, limit=limit)
        while not played.is_decided and (piece := next(pieces, None)) is not None:
            chunk, tally, _, records = piece
            now = time.perf_counter()
            seconds, before, since = seconds + now - before, now, now - before
            played.add(chunk, tally)
            if journal is not None:
                journal.add(chunk, tally, since, records)
            progress.add(chunk.deals)
        pieces.close()
    tallies = played.tallies()
    result = summarise(
        whole,
        [agent.name for agent in agents],
        tallies,
        seconds=seconds,
        processes=players.processes,
        verdict=played.verdict,
        times=_times(whole, agents, tallies, players),
    )
    if journal is not None:
        if journal.record:
            write_whole(journal.folder / GAMES, journal.records(result.deals))
        for line in write_files(journal.folder, result, tallies, command):
            print(f"scala40 arena: {line}", file=sys.stderr)
    return result


def _times(whole: Tournament, agents: Sequence[Agent], tallies: Sequence[Tally], players: Players) -> tuple[Times, ...]:
    """How long each agent thought: by the clock where it was asked from Python, by a sample where it was not."""
    clocks = np.zeros((len(agents), NUM_CLOCKS))
    for line_up, tally in zip(whole.line_ups, tallies):
        for number, clock in zip(line_up, tally.clocks):
            clocks[number, :CLOCK_LONGEST] += clock[:CLOCK_LONGEST]
            clocks[number, CLOCK_LONGEST] = max(clocks[number, CLOCK_LONGEST], clock[CLOCK_LONGEST])
    made = []
    for i, agent in enumerate(agents):
        if clocks[i, CLOCK_DECISIONS]:
            made.append(Times(clocks[i, CLOCK_SECONDS] / clocks[i, CLOCK_DECISIONS], clocks[i, CLOCK_LONGEST]))
        elif players.compiled and is_compiled(agent):
            made.append(Times(_sampled_seconds(whole, agent), math.nan))
        else:
            made.append(Times(math.nan, math.nan))
    return tuple(made)


def _sampled_seconds(whole: Tournament, agent: Agent) -> float:
    """Seconds a decision of a compiled bot that plays some deals against itself, the engine's share included."""
    plan = Plan(agents=(agent.name,), rules=whole.rules, players=whole.players, deals=1, seed=whole.seed)
    began, decisions = time.perf_counter(), 0
    for deal in range(_SAMPLE_DEALS):
        decisions += int(play_deals(plan, [agent], deal, 1).seats[..., SEAT_DECISIONS].sum())
        if time.perf_counter() - began > _SAMPLE_SECONDS:
            break
    return (time.perf_counter() - began) / decisions if decisions else math.nan


# --- the command -----------------------------------------------------------------------------------------------------


def _parser() -> Parser:
    parser = Parser(
        prog="scala40 arena",
        description="Agents against one another on the same deals, with the seats exchanged. "
        f"An agent is a name ({', '.join(names())}), a name with options (uniform:seed=3), or a class (module:Class). "
        "As many agents as players, or a number that divides the players, sit at one table; more agents than players "
        "meet in every line-up that can be made of them, for two players the round robin.",
    )
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="who plays")
    parser.add_argument("--rules", default="standard", help="a rulebook, or JSON with flags, or its file (standard)")
    parser.add_argument("--deals", type=int, default=1000, metavar="N", help="how many deals a line-up (1000)")
    parser.add_argument("--players", type=int, metavar="N", help="seats at the table (as many as agents, at least 2)")
    parser.add_argument("--episode", choices=("round", "match"), default="round", help="what a deal begins (round)")
    parser.add_argument("--seed", type=seed_argument, default=0, help="of the deals and of the agents (0)")
    parser.add_argument("--turn-limit", type=int, metavar="N", help="turns after which an episode is broken off")
    parser.add_argument(
        "--time-limit",
        type=float,
        default=USUAL_LIMIT,
        metavar="SECONDS",
        help=f"a decision may take; agents that are not compiled play in processes of their own, which are killed "
        f"after it ({USUAL_LIMIT:g}; a day at most; 0 for no limit and no such processes)",
    )
    parser.add_argument(
        "--sprt",
        metavar="LOW,HIGH",
        help="stop when it is known whether the first of two agents is better by LOW points a round or by HIGH",
    )
    parser.add_argument("--sprt-error", type=float, default=0.05, metavar="P", help="how often --sprt may err (0.05)")
    parser.add_argument(
        "--processes", type=int, metavar="N", help="processes that share the deals (all cores where it is worth it)"
    )
    parser.add_argument("--out", metavar="FOLDER", help="keep what is played, and write JSON, CSV and a plot there")
    parser.add_argument("--resume", action="store_true", help="go on with what is in the folder")
    parser.add_argument(
        "--record",
        action="store_true",
        help=f"keep every game in the folder too, in {GAMES}, with what agents thought; compiled bots play slower then",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def complain(prog: str, error: Exception) -> int:
    """Print an error as one line on standard error; returns the exit status of bad input."""
    text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    print(f"{prog}: {' '.join(text.split())}", file=sys.stderr)
    return BAD_INPUT


def main(argv: Sequence[str]) -> int:
    """Run the command; returns its exit status: 0, or 2 for bad input."""
    args = _parser().parse_args(argv)
    try:
        if args.resume and args.out is None:
            raise ArenaError("resume: which folder? give it by --out")
        if args.record and args.out is None:
            raise ArenaError("record: into which folder? give it by --out")
        made = tournament(
            args.agents,
            read_rules(rules_argument(args.rules)),
            args.deals,
            players=args.players,
            seed=args.seed,
            episode=args.episode,
            turn_limit=args.turn_limit,
            test=None if args.sprt is None else _test(args.sprt, args.sprt_error),
        )
        options = {"processes": args.processes, "quiet": args.quiet, "limit": args.time_limit or None}
        _check_options(options["processes"], options["limit"])
        made.make_agents()  # all of this before there is a folder
        command = ["scala40", "arena", *argv]
        if args.out is None:
            result = play(made, **options)
        else:
            with Journal(Path(args.out), made, resume=args.resume, record=args.record) as journal:
                result = play(made, journal=journal, command=command, **options)
    except (CommandError, ValueError, OSError) as error:
        return complain("scala40 arena", error)
    except KeyboardInterrupt:
        if args.out is not None:
            print("scala40 arena: stopped; --resume goes on with what was played", file=sys.stderr)
        return INTERRUPTED
    if args.json:
        print(json.dumps(to_json(result, command), ensure_ascii=False, allow_nan=False))
    else:
        print_report(result, console())
    return 0


def _test(text: str, error: float) -> SequentialTest:
    """The sequential test that a text asks for."""
    low, _, high = text.partition(",")
    try:
        bounds = float(low), float(high)
    except ValueError:
        raise ArenaError(f"sprt: expected LOW,HIGH, two numbers, got {text!r:.60}") from None
    return SequentialTest(*bounds, error)


def console() -> Console:
    """Where tables are printed: as wide as the terminal, or 120 columns where there is none."""
    return streams.console(120)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
