"""The first run: the engine is compiled, and a second process takes a share of it.

Numba compiles in one thread, and what one process has put into the cache another finds there.  So where nothing is
cached yet, ``python -m scala40_env.core.first_run`` compiles the packing search and what only looks at a position,
while the process that called ``prepare`` begins at the other end, with what moves the cards.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from typing import Any

from numba import typeof as type_of
from numba import types

from scala40_env.core import completion, legality, openings, packing, plays, settling
from scala40_env.core.jit import cache_fault, is_compiled
from scala40_env.core.rules import Rules
from scala40_env.core.state import allocate

_LAST_COMPILED = "game"

_prepared = False


def prepare() -> None:
    """Say on standard error that the engine is being compiled, where it has to be, and have a share of it compiled."""
    global _prepared
    if _prepared:
        return
    _prepared = True
    if is_compiled(_LAST_COMPILED):
        return
    fault = cache_fault()
    how = "once (about half a minute)" if fault is None else f"and it cannot be kept: {fault}"
    print(f"scala40: compiling the engine for this machine, {how} ...", file=sys.stderr, flush=True)
    if fault is not None or (os.cpu_count() or 1) < 2:
        return  # a second process could hand nothing over, or would only be in the way
    path = os.pathsep.join(folder for folder in sys.path if folder)
    try:
        helper = subprocess.Popen(
            [sys.executable, "-m", __name__],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return  # then this process compiles everything
    atexit.register(_end, helper)


def _end(helper: subprocess.Popen[bytes]) -> None:
    """What this process has not waited for, it does not need."""
    helper.terminate()
    helper.wait()


def compile_share() -> None:
    """Compile what needs little of the rest: the packing search, what stands on it, and what only looks."""
    row = type_of(allocate(1)).dtype
    vector = type_of(Rules().vector())
    word, number = types.uint64, types.int64
    memory, moves = types.uint64[::1], types.int16[::1]
    share: tuple[tuple[Any, tuple[Any, ...]], ...] = (
        (packing.reaches, (word, word, number, vector, number, number, memory)),
        (packing.reaches_with, (word, word, number, vector, number, number, memory, number)),
        (openings.keep_openings, (row, vector, memory, moves, number, number)),
        (plays.plays, (row, vector, number, moves)),
        (legality.discards, (row, vector, moves, number)),
        (settling.settles_at_once, (row, vector, number)),
        (settling.is_plain_debt, (row, vector)),
        (legality.judge_upcard, (row, vector)),
        (completion.look, (row, vector, memory)),
        (completion.could_help, (row, vector, number)),
    )
    for kernel, arguments in share:
        kernel.compile(arguments)


if __name__ == "__main__":
    compile_share()
