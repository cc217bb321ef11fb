"""The commands about one position or one table of totals: legal, explain, apply, score, standings."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from scala40_env.cli.answers import NotPlayableError, game_of, legal, play_text, score, standings
from scala40_env.cli.streams import CommandError, parse_json, print_json, print_table, read_json
from scala40_env.core.notation import NotationError
from scala40_env.core.position import position_to_json
from scala40_env.core.quoting import shown

_POSITION = "a file with a position as JSON, or - for standard input"


def _add_position(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("position", metavar="POSITION", help=_POSITION)


def _add_json(parser: argparse.ArgumentParser, what: str = "print JSON") -> None:
    parser.add_argument("--json", action="store_true", help=what)


def add_legal(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``legal``."""
    _add_position(parser)
    _add_json(parser, "the answer is JSON anyway")


def run_legal(args: argparse.Namespace) -> int:
    """Print the legal actions as JSON."""
    print_json(legal(read_json(args.position)))
    return 0


def add_explain(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``explain``."""
    _add_position(parser)
    parser.add_argument("action", metavar="ACTION", nargs="+", help="an action, as: lay 7H 7D JK=7C")
    _add_json(parser)


def run_explain(args: argparse.Namespace) -> int:
    """Print whether an action is legal, and why not."""
    game = game_of(read_json(args.position))
    answer: dict[str, Any] = {"legal": True, "reason": "legal"}
    try:
        play_text(game, " ".join(args.action))
    except NotPlayableError as error:
        answer = {"legal": False, "reason": str(error)}
    if args.json:
        print_json(answer)
    else:
        print("legal" if answer["legal"] else f"not legal: {answer['reason']}")
    return 0


def add_apply(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``apply``."""
    _add_position(parser)
    parser.add_argument("actions", metavar="ACTION", nargs="*", help="actions, each in quotes: 'lay 7H 7D JK=7C'")
    _add_json(parser, "the answer is JSON anyway")


def run_apply(args: argparse.Namespace) -> int:
    """Print the position after the actions, or the first that is not legal and why."""
    game = game_of(read_json(args.position))
    for index, text in enumerate(args.actions):
        try:
            game = play_text(game, text)
        except NotPlayableError as error:
            print_json({"error": str(error), "at": index})
            return 1
        except NotationError as error:
            reason = str(error).removeprefix("action: ")
            raise CommandError(f"action {index + 1} of {len(args.actions)}, {shown(text)}: {reason}") from None
    print_json({"position": position_to_json(game.row, game.rules)})
    return 0


def add_score(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``score``."""
    _add_position(parser)
    parser.add_argument("--closed-in-hand", action="store_true", help="the seat to act opened and went out in one turn")
    _add_json(parser)


def run_score(args: argparse.Namespace) -> int:
    """Print what each seat would be charged if the seat to act went out now."""
    answer = score(read_json(args.position), args.closed_in_hand)
    if args.json:
        print_json(answer)
    else:
        print_table("", ("seat", "points"), list(enumerate(answer["points"])))
    return 0


def add_standings(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``standings``."""
    parser.add_argument("--rules", default="standard", help="a rulebook, or a JSON file with flags (standard)")
    parser.add_argument("--totals", type=int, nargs="+", required=True, metavar="POINTS", help="the total of each seat")
    _add_json(parser)


def run_standings(args: argparse.Namespace) -> int:
    """Print who is out, the totals after re-entry, and who has won."""
    answer = standings(rules_argument(args.rules), args.totals)
    if args.json:
        print_json(answer)
        return 0
    rows = [
        (seat, args.totals[seat], total, seat in answer["out"], seat in answer["winners"])
        for seat, total in enumerate(answer["totals"])
    ]
    print_table("", ("seat", "total", "after re-entry", "out", "won"), rows)
    print("the match is over" if answer["over"] else "the match goes on")
    return 0


def rules_argument(text: str) -> Any:
    """Rules as a command line gives them: a rulebook's name, JSON, or a file with JSON."""
    if text.lstrip().startswith("{"):
        return parse_json(text.encode(errors="surrogateescape"), "--rules")
    if text.endswith(".json"):
        if not Path(text).is_file():
            raise CommandError(f"--rules: there is no file {text!r}")
        return read_json(text)
    return text
