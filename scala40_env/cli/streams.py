"""Reading what the commands are given and writing what they answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table

from scala40_env.core.json_fields import check_keys
from scala40_env.core.meld_text import NotationError

LARGEST_FILE = 1 << 26
"""The most bytes that are read of a file with one value: 64 MiB."""
LONGEST_LINE = 1 << 20
"""The most bytes of a line that asks something: 1 MiB."""
LONGEST_RECORD = 1 << 24
"""The most bytes of a line that records a game: 16 MiB, more than the longest match takes."""

_ENCODER = msgspec.json.Encoder()


class CommandError(Exception):
    """What makes a command stop: one line for people, and the exit status."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


def standard_input() -> BinaryIO:
    """Standard input, as bytes."""
    if sys.stdin is None:
        raise CommandError("standard input: it is closed")
    return sys.stdin.buffer


def read_bytes(path: str) -> bytes:
    """The content of a file, or of standard input for ``-``; at most ``LARGEST_FILE`` bytes."""
    if path == "-":
        content = standard_input().read(LARGEST_FILE + 1)
    else:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise CommandError(f"{_name(path)}: it is longer than {LARGEST_FILE} bytes")
    return content


def read_lines(lines: BinaryIO, longest: int) -> Iterator[bytes]:
    """The lines of a stream with their ends.

    Of a line that is longer than ``longest`` bytes the first ``longest + 1`` come, and the rest is passed over.
    """
    while line := lines.readline(longest + 1):
        yield line
        passed = len(line)
        while len(line) > longest and not line.endswith(b"\n"):
            line = lines.readline(longest + 1)
            passed += len(line)
            if passed > LARGEST_FILE:
                raise CommandError(f"a line is longer than {LARGEST_FILE} bytes")
            if not line:
                return


def parse_json(text: bytes, where: str) -> Any:
    """The value that a JSON text holds; raises ``CommandError`` where it is none."""
    try:
        value = msgspec.json.decode(text)
        check_keys(text)
        return value
    except RecursionError:
        raise CommandError(f"{where}: nested too deeply") from None
    except NotationError as error:
        raise CommandError(f"{where}: {error}") from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise CommandError(f"{where}: not JSON: {' '.join(str(error).split())}") from None


def read_json(path: str) -> Any:
    """The JSON value in a file, or in standard input for ``-``."""
    return parse_json(read_bytes(path), _name(path))


def check_appendable(path: str, option: str) -> None:
    """Raise ``CommandError`` where a file cannot be written to; nothing is made or changed."""
    file = Path(path)
    if file.is_dir():
        raise CommandError(f"{option}: {path} is a folder")
    if not file.exists() and not file.parent.is_dir():
        raise CommandError(f"{option}: there is no folder {file.parent}")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise CommandError(f"{option}: {path} is not writable")


def _name(path: str) -> str:
    return "standard input" if path == "-" else path


def encode(value: object) -> bytes:
    """A value as JSON on one line, without its end of line."""
    return _ENCODER.encode(value)


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    sys.stdout.buffer.write(encode(value) + b"\n")
    sys.stdout.buffer.flush()


class _Console(Console):
    """A console that leaves a closed pipe to the command, which ends quietly; Rich would end with status 1."""

    def on_broken_pipe(self) -> None:
        """Called while the error is handled: hand it on."""
        raise


def console(width: int) -> Console:
    """Where tables are printed: as wide as the terminal, or so many columns where there is none."""
    made = _Console(highlight=False, markup=False)
    return made if made.is_terminal else _Console(highlight=False, markup=False, width=width)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; numbers to the right."""
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[i], (int, float)) and not isinstance(row[i], bool) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    console(160).print(table)


def _cell(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
