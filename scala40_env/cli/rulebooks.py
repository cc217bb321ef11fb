"""The commands that print what the library is made of: rules, observation."""

from __future__ import annotations

import argparse

from scala40_env.cli.positions import rules_argument
from scala40_env.cli.streams import CommandError, print_json, print_table
from scala40_env.core.rules import FLAGS, Rules, read_rulebook, rulebook_names
from scala40_env.core.rules_json import read_rules


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``rules``."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="a rulebook; without it they are listed")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run_rules(args: argparse.Namespace) -> int:
    """Print the rulebooks, or each flag of one with its value and its source."""
    if args.name is None:
        _print_rulebooks(args.json)
        return 0
    rules, book = Rules.load(args.name), read_rulebook(args.name)
    sources = book.get("sources", {})
    flags = rules.to_mapping()
    if args.json:
        print_json({"name": args.name, "about": book.get("about", {}), "flags": flags, "sources": sources})
        return 0
    rows = [(flag.name, flags[flag.name], flag.meaning, sources.get(flag.name, "")) for flag in FLAGS]
    print_table(str(book.get("about", {}).get("title", args.name)), ("flag", "value", "meaning", "source"), rows)
    return 0


def _print_rulebooks(as_json: bool) -> None:
    books = {name: read_rulebook(name).get("about", {}) for name in rulebook_names()}
    if as_json:
        print_json(books)
        return
    rows = [(name, about.get("language", ""), about.get("summary", "")) for name, about in books.items()]
    print_table("", ("rulebook", "language", "summary"), rows)


def add_observation(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``observation``."""
    parser.add_argument("--rules", default="standard", help="a rulebook, or a JSON file with flags (standard)")
    parser.add_argument("--players", type=int, default=2, metavar="N", help="seats at the table (2)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run_observation(args: argparse.Namespace) -> int:
    """Print the slices of an observation."""
    try:
        from scala40_env.envs.observation import describe
    except ModuleNotFoundError as error:
        raise CommandError(f"observation: {error}") from None
    table = describe(read_rules(rules_argument(args.rules)), args.players)
    if args.json:
        print_json(table)
        return 0
    columns = ("name", "offset", "length", "low", "high", "meaning")
    print_table("", columns, [[part[column] for column in columns] for part in table])
    return 0
