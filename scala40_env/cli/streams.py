"""Reading what the commands are given and writing what they answer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table

_ENCODER = msgspec.json.Encoder()


class CommandError(Exception):
    """What makes a command stop: one line for people, and the exit status."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


def read_bytes(path: str) -> bytes:
    """The content of a file, or of standard input for ``-``."""
    return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()


def parse_json(text: bytes, where: str) -> Any:
    """The value that a JSON text holds; raises ``CommandError`` where it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise CommandError(f"{where}: not JSON: {' '.join(str(error).split())}") from None


def read_json(path: str) -> Any:
    """The JSON value in a file, or in standard input for ``-``."""
    return parse_json(read_bytes(path), "standard input" if path == "-" else path)


def encode(value: object) -> bytes:
    """A value as JSON on one line, without its end of line."""
    return _ENCODER.encode(value)


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    sys.stdout.buffer.write(encode(value) + b"\n")
    sys.stdout.buffer.flush()


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; numbers to the right."""
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[i], (int, float)) and not isinstance(row[i], bool) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=160)
    console.print(table)


def _cell(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
