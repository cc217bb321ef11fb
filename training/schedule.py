"""Which deals of which line-up are to be played next, in pieces of about a second."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_TARGET_SECONDS = 1.0
_FIRST_COMPILED, _FIRST_PYTHON = 20, 1
_MOST_DEALS = 500
_FASTER_BY = 4


class Chunk(NamedTuple):
    """Some deals of one line-up, one after the other."""

    line_up: int
    first: int
    deals: int


class Schedule:
    """What is left to play.

    The sizes of the pieces follow the clock, so they are not the same each time; results are, since a deal depends on
    nothing but its number.

    Args:
        num_line_ups: how many line-ups.
        deals: how many deals each of them plays.
        done: what has been played already.
        compiled: for each line-up, whether it plays in the compiled loop.
    """

    def __init__(self, num_line_ups: int, deals: int, done: Iterable[Chunk], compiled: Sequence[bool]) -> None:
        self._gaps = _gaps(num_line_ups, deals, done)
        self._sizes = [_FIRST_COMPILED if fast else _FIRST_PYTHON for fast in compiled]
        self._seconds: list[float | None] = [None] * num_line_ups

    @property
    def deals_left(self) -> int:
        """How many deals have not been given out, over all line-ups."""
        return sum(end - first for gaps in self._gaps for first, end in gaps)

    def next(self) -> Chunk | None:
        """The next piece, of the line-up that is furthest behind; ``None`` when all has been given out."""
        open_line_ups = [i for i, gaps in enumerate(self._gaps) if gaps]
        if not open_line_ups:
            return None
        line_up = min(open_line_ups, key=lambda i: self._gaps[i][0][0])
        first, end = self._gaps[line_up].pop(0)
        size = min(self._sizes[line_up], end - first)
        if first + size < end:
            self._gaps[line_up].insert(0, (first + size, end))
        return Chunk(line_up, first, size)

    def note(self, chunk: Chunk, seconds: float) -> None:
        """So long has a piece taken."""
        each = max(seconds, 1e-6) / chunk.deals
        self._seconds[chunk.line_up] = each
        wanted = math.ceil(_TARGET_SECONDS / each)
        self._sizes[chunk.line_up] = max(1, min(wanted, _FASTER_BY * self._sizes[chunk.line_up], _MOST_DEALS))

    def seconds_left(self) -> float:
        """How long what has not been given out will take in one process, as far as is known; 0 where nothing is."""
        known = [each for each in self._seconds if each is not None]
        if not known:
            return 0.0
        usual = sum(known) / len(known)
        return sum(
            (usual if each is None else each) * sum(end - first for first, end in gaps)
            for each, gaps in zip(self._seconds, self._gaps)
        )


def _gaps(num_line_ups: int, deals: int, done: Iterable[Chunk]) -> list[list[tuple[int, int]]]:
    """The ranges of deals of each line-up that no chunk of ``done`` covers."""
    gaps: list[list[tuple[int, int]]] = [[] for _ in range(num_line_ups)]
    reached = [0] * num_line_ups
    for chunk in sorted(done):
        if chunk.first > reached[chunk.line_up]:
            gaps[chunk.line_up].append((reached[chunk.line_up], chunk.first))
        reached[chunk.line_up] = max(reached[chunk.line_up], chunk.first + chunk.deals)
    for line_up, first in enumerate(reached):
        if first < deals:
            gaps[line_up].append((first, deals))
    return gaps
