"""An agent in a process of its own, which is killed when it takes too long and started again when it is gone.

The agent gets the same bytes that it would get in the arena's process, and answers with a number.  What it raises comes
back in words.  An agent that hangs, crashes the interpreter or eats all memory so costs its own games and no others.
"""

from __future__ import annotations

import multiprocessing
import operator
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from agents.faults import one_line, plain
from agents.registry import make
from scala40_env.core.rules import Rules
from scala40_env.core.state import ROW
from scala40_env.replay.thoughts import Thought, thought_of

START_SECONDS = 120.0
"""How long an agent may take to be made, and so much longer its first decision: it may load or compile something."""
_THOUGHT = "thought"
_LONGEST_POLL = 86_400.0
"""Seconds: a pipe can wait for no more than a few weeks at once."""


class NotAnActionError(Exception):
    """What an agent returned is no integer."""


class AgentFaultError(Exception):
    """What an agent raised, in words."""


class AgentDiedError(Exception):
    """The process of an agent ended while it was asked."""


class AgentLateError(Exception):
    """An agent took longer than it may."""


def as_action(answer: Any) -> int:
    """The integer that an agent returned; raises ``NotAnActionError``, with words that are the same each time."""
    try:
        return operator.index(answer)
    except TypeError:
        is_told = answer is None or type(answer) in (float, complex, str)
        told = repr(answer) if is_told else type(answer).__name__  # others may write themselves with their address
        raise NotAnActionError(f"not an action: {plain(told[:60])}") from None


class Guarded:
    """An agent by name, asked over a pipe.

    Args:
        text: the agent, as ``agents.registry.make`` reads it.
        limit: seconds that a decision may take.
    """

    def __init__(self, text: str, limit: float) -> None:
        self.name = text
        self.limit = limit
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._is_warm = False
        self._rules: Rules | None = None

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> int:
        """Ask the agent; raises one of the errors above for what it does wrong."""
        if self._process is None:
            self._start()
        limit = self.limit if self._is_warm else self.limit + START_SECONDS
        changed = None if rules is self._rules else rules.to_mapping()
        kind, answer = self._ask((rows.tobytes(), legal.tobytes(), changed, rng), limit, "a decision")
        self._rules = rules
        self._is_warm = True
        if kind == "action":
            return int(answer)
        raise (NotAnActionError if kind == "not an action" else AgentFaultError)(answer)

    @property
    def thought(self) -> Thought:
        """What the agent says that it thought at its last decision; one that dies or hangs over it is started anew."""
        if self._process is None:
            return None
        try:
            return self._ask(_THOUGHT, self.limit, "a thought")[1]
        except (AgentDiedError, AgentLateError):
            return None

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = self._rules = None
        self._is_warm = False

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        one_thread_each()
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self.name), daemon=True)
        self._process.start()
        theirs.close()
        kind, answer = self._ask(None, START_SECONDS, "the start")
        if kind != "ready":
            self.close()
            raise AgentFaultError(answer)

    def _ask(self, question: Any, limit: float, what: str) -> tuple[str, Any]:
        assert self._pipe is not None, "the agent has been started"
        try:
            if question is not None:
                self._pipe.send(question)
            if self._is_answered(limit):
                kind, answer = self._pipe.recv()
                return kind, answer
        except (EOFError, OSError):
            status = self._status()
            self.close()
            raise AgentDiedError(f"process died: {status}") from None
        except BaseException:  # a question without its answer must not be answered later
            self.close()
            raise
        self.close()
        raise AgentLateError(f"too late: {what} took more than {limit:g} s")

    def _is_answered(self, limit: float) -> bool:
        """Wait for an answer; whether there is one within so many seconds."""
        assert self._pipe is not None, "the agent has been started"
        ends = time.monotonic() + limit
        while not self._pipe.poll(min(limit, _LONGEST_POLL)):
            limit = ends - time.monotonic()
            if limit <= 0:
                return False
        return True

    def _status(self) -> str:
        assert self._process is not None, "the agent has been started"
        self._process.join(5)
        code = self._process.exitcode
        if code is not None and code < 0:
            return f"signal {signal.Signals(-code).name}" if -code in list(signal.Signals) else f"signal {-code}"
        return f"exit status {code}"


def one_thread_each() -> None:
    """Have processes that are started from now on do linear algebra in one thread: each of them has a core, not all."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def end_with_parent() -> None:
    """Have this process ended when the one that started it is gone, however that went."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True).start()


def _serve(pipe: Connection, text: str) -> None:
    """Make an agent and answer for it until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    sys.stdout.flush()
    os.dup2(2, 1)  # what the agent prints is no part of the arena's output
    try:
        agent = make(text)
    except BaseException as error:
        pipe.send(("fault", one_line(error)))
        return
    pipe.send(("ready", None))
    rules = Rules()
    while True:
        try:
            question = pipe.recv()
        except EOFError:
            return
        if question == _THOUGHT:
            pipe.send((_THOUGHT, thought_of(agent)))
            continue
        row, legal, changed, rng = question
        if changed is not None:
            rules = Rules.from_mapping(changed)
        pipe.send(_answer(agent, row, legal, rules, rng))


def _answer(agent: Agent, row: bytes, legal: bytes, rules: Rules, rng: int | None) -> tuple[str, Any]:
    rows = np.frombuffer(bytearray(row), dtype=ROW).view(np.recarray)
    try:
        return "action", as_action(agent.act(rows, np.frombuffer(bytearray(legal), dtype=np.int16), rules, rng))
    except NotAnActionError as error:
        return "not an action", str(error)
    except BaseException as error:  # an interrupt as well: those of the user are not for this process
        return "fault", one_line(error)
