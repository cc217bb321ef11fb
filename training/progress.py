"""Progress on standard error, for what takes more than two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

_AFTER = 2.0
_PLAIN_EVERY = 10.0


class DealsProgress:
    """A bar that appears after two seconds; where standard error is no terminal, a line every ten seconds.

    Args:
        what: what is being done, in a word or two.
        total: how many deals.
        quiet: show nothing.
        done: how many have been played before, which the time left is not reckoned by.
    """

    def __init__(self, what: str, total: int, *, quiet: bool = False, done: int = 0) -> None:
        self._what = what
        self._total = total
        self._quiet = quiet
        self._done = self._before = done
        self._began = self._last = time.monotonic()
        self._console = Console(stderr=True)
        self._bar: Progress | None = None

    def __enter__(self) -> DealsProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def add(self, deals: int) -> None:
        """So many deals more have been played."""
        self._done += deals
        now = time.monotonic()
        if self._quiet or now - self._began < _AFTER:
            return
        if not self._console.is_terminal:
            if now - self._last >= _PLAIN_EVERY and self._done < self._total:
                self._last = now
                left = (now - self._began) / (self._done - self._before) * (self._total - self._done)
                line = f"{self._what}: {self._done} of {self._total} deals, about {_duration(left)} left"
                print(line, file=sys.stderr, flush=True)
            return
        if self._bar is None:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("deals"),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._bar.add_task(self._what, total=self._total, completed=self._before)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=self._done)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
