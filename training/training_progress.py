"""Progress of a training run on standard error: decisions, how many a second, the time left, the last results."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

_PLAIN_EVERY = 30.0


class TrainingProgress:
    """A bar on a terminal; a line every half minute elsewhere.

    Args:
        total: how many decisions the run has.
        quiet: show nothing.
    """

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self._total, self._quiet = total, quiet
        self._last = 0.0
        self._console = Console(stderr=True, highlight=False, markup=False)
        self._bar: Progress | None = None

    def __enter__(self) -> TrainingProgress:
        if not self._quiet and self._console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.fields[decisions]}"),
                BarColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[shown]}"),
                console=self._console,
            )
            self._bar.add_task("train", total=self._total, decisions="", shown="")
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, decisions: int, per_second: float, shown: str) -> None:
        """So many decisions have been made in all."""
        text = f"{decisions:,} of {self._total:,} decisions, {per_second:,.0f} a second"
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=decisions, decisions=text, shown=shown)
        elif not self._quiet and time.monotonic() - self._last >= _PLAIN_EVERY:
            self._last = time.monotonic()
            print(f"{text}  {shown}".rstrip(), file=sys.stderr, flush=True)
