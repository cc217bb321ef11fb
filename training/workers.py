"""Plays the pieces of a tournament, in this process or in several.

Processes are started by ``spawn``, so that it goes the same way on every system; they end when the arena does, however
that went.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

from agents.base import Agent, is_compiled
from training.deals import ArenaError
from training.game_records import Recorder
from training.guard import Guarded, end_with_parent, one_thread_each
from training.play_deals import Tally, compile_for, play_deals
from training.schedule import Chunk, Schedule
from training.tournament import Tournament

_LOOK_AFTER = 2.0
_WORTH_SECONDS = 12.0
"""Starting a process takes some seconds: it is done unasked only where so much work is left."""


class Played(NamedTuple):
    """A piece that has been played: what happened, how long it took, and the packed records where they are kept."""

    chunk: Chunk
    tally: Tally
    seconds: float
    records: str | None


def usable_cores() -> int:
    """How many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Players:
    """The agents of a tournament as one process has them.

    Args:
        tournament: who plays what.
        agents: the agents, in the order of the tournament.
        limit: seconds that a decision may take; an agent that is no compiled bot then plays in a process of its own.
            ``None`` leaves all in this one.
        compiled: play line-ups of compiled bots inside the compiled loop.
        record: take every game down; all of them are then stepped from Python.
    """

    def __init__(
        self,
        tournament: Tournament,
        agents: Sequence[Agent],
        *,
        limit: float | None = None,
        compiled: bool = True,
        record: bool = False,
    ) -> None:
        self.plans = [tournament.plan(i) for i in range(len(tournament.line_ups))]
        guarded = [
            agent if limit is None or is_compiled(agent) else Guarded(text, limit)
            for text, agent in zip(tournament.agents, agents)
        ]
        self.line_ups = [[guarded[i] for i in line_up] for line_up in tournament.line_ups]
        self.compiled = compiled and not record
        self.record = record
        self.processes = 1  # how many play, this one or those of the pool
        self._guarded = [agent for agent in guarded if isinstance(agent, Guarded)]

    def play(self, chunk: Chunk) -> Played:
        """Play some deals."""
        began = time.perf_counter()
        plan, agents = self.plans[chunk.line_up], self.line_ups[chunk.line_up]
        recorder = Recorder(plan) if self.record else None
        tally = play_deals(plan, agents, chunk.first, chunk.deals, compiled=self.compiled, recorder=recorder)
        records = None if recorder is None else recorder.packed()
        return Played(chunk, tally, time.perf_counter() - began, records)

    def compile(self) -> None:
        """Have compiled what playing needs, so that it is no part of what is timed."""
        for plan, agents in zip(self.plans, self.line_ups):
            compile_for(plan, agents, compiled=self.compiled)

    def close(self) -> None:
        """End the processes of the agents."""
        for agent in self._guarded:
            agent.close()


def play_all(
    tournament: Tournament, players: Players, schedule: Schedule, *, processes: int | None, limit: float | None
) -> Generator[Played, None, None]:
    """Play all that is scheduled, in the order in which it gets done.

    Args:
        tournament: who plays what.
        players: the agents of this process.
        schedule: what is to be played.
        processes: how many processes play; ``None`` for all cores where it is worth it.
        limit: seconds that a decision may take, or ``None``.

    Raises:
        ArenaError: a process died.
    """
    began = time.perf_counter()
    if processes is None or processes == 1:
        while (chunk := schedule.next()) is not None:
            played = players.play(chunk)
            schedule.note(chunk, played.seconds)
            yield played
            enough = time.perf_counter() - began > _LOOK_AFTER and schedule.seconds_left() > _WORTH_SECONDS
            if processes is None and enough and usable_cores() > 1:
                break
        if schedule.deals_left == 0:
            return
    yield from _play_in_pool(tournament, players, schedule, processes or usable_cores(), limit)


def _play_in_pool(
    tournament: Tournament, players: Players, schedule: Schedule, processes: int, limit: float | None
) -> Generator[Played, None, None]:
    context = multiprocessing.get_context("spawn")
    players.processes = processes
    one_thread_each()
    pool = ProcessPoolExecutor(processes, context, _start_worker, (tournament, limit, players.compiled, players.record))
    running: set[Future[Played]] = set()
    try:
        while True:
            while len(running) < 2 * processes and (chunk := schedule.next()) is not None:
                running.add(pool.submit(_play_in_worker, chunk))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for played in sorted((future.result() for future in done), key=lambda played: played.chunk):
                schedule.note(played.chunk, played.seconds)
                yield played
    except BrokenProcessPool:
        raise ArenaError("a process died while it played; with --processes 1 its error can be seen") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_players: Players | None = None


def _start_worker(tournament: Tournament, limit: float | None, compiled: bool, record: bool) -> None:
    global _players
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the arena's own process decides what an interruption means
    end_with_parent()
    _players = Players(tournament, tournament.make_agents(), limit=limit, compiled=compiled, record=record)


def _play_in_worker(chunk: Chunk) -> Played:
    assert _players is not None, "the pool starts each process with its agents"
    return _players.play(chunk)
