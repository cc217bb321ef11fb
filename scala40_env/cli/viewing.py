"""What ``replay`` does with one record beyond checking it: a page of HTML, or stepping through it in the terminal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scala40_env.cli.stepper import step_through, turn_texts
from scala40_env.cli.streams import CommandError, check_appendable
from scala40_env.replay.page import page_of
from scala40_env.replay.record import Record


def add_viewing(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--html", metavar="OUT", help="write a page that shows a game, which needs no other file")
    parser.add_argument(
        "--line", type=int, default=1, metavar="LINE", help="the game of --html, or to step through (1)"
    )
    parser.add_argument(
        "--open",
        type=int,
        action="append",
        default=[],
        metavar="SEAT",
        help="a hand that is open at first in the page of --html; may be given again",
    )


def is_viewing(args: argparse.Namespace) -> bool:
    """Whether a page is asked for, or a person sits at the terminal and may step."""
    return args.html is not None or (
        args.file != "-" and args.show is None and not args.json and sys.stdin.isatty() and sys.stdout.isatty()
    )


def check_viewing(args: argparse.Namespace) -> None:
    """Raise ``CommandError`` where the arguments do not go together."""
    if args.open and args.html is None:
        raise CommandError("--open: it needs --html")
    if args.open and args.viewer is not None:
        raise CommandError("--open: not together with --viewer, whose page holds no other hand")
    if args.html is not None:
        check_appendable(args.html, "--html")


def view(record: Record, args: argparse.Namespace) -> None:
    """Write the page, or step through the record."""
    if args.html is not None:
        page = page_of(record, args.viewer, args.open)
        Path(args.html).write_text(page, "utf-8")
        if not args.json:
            print(f"{args.html}: the game on line {args.line}")
        return
    turns = list(turn_texts(record, args.viewer, color=True))
    step_through(turns, sys.stdin, lambda text: print(text, end="", flush=True))
