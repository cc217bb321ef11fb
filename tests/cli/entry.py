"""A command of another package, for the tests of the table of commands."""

from __future__ import annotations

from collections.abc import Sequence


def main(words: Sequence[str]) -> int:
    """Print what it is given and return a status of its own."""
    print(list(words))
    return 7
