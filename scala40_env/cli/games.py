"""The commands that show games: replay, watch."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scala40_env.cli.positions import rules_argument
from scala40_env.cli.streams import (
    LONGEST_RECORD,
    CommandError,
    check_appendable,
    print_json,
    read_lines,
    standard_input,
)
from scala40_env.cli.viewing import add_viewing, check_viewing, is_viewing, view
from scala40_env.core.deal import decision_rng
from scala40_env.core.game import Game, action_number
from scala40_env.core.notation import format_action
from scala40_env.core.quoting import brief
from scala40_env.core.reasons import why_not
from scala40_env.core.rules_json import read_rules
from scala40_env.replay.record import encode, make_record, read_records, states, verify
from scala40_env.replay.render import render_text
from scala40_env.replay.thoughts import Thought, noted, thought_of

MAX_SEED = (1 << 64) - 1
_PROGRESS_AFTER = 2.0
_LONGEST_DELAY = 60.0


def seed_argument(text: str) -> int:
    """A seed from the command line."""
    if not text.isascii() or not text.isdigit() or len(text) > len(str(MAX_SEED)) or int(text) > MAX_SEED:
        raise argparse.ArgumentTypeError(f"expected an integer from 0 to {MAX_SEED}, got {text!r:.60}")
    return int(text)


def add_replay(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``replay``."""
    parser.add_argument("file", metavar="FILE", help="records, one a line; - for standard input")
    parser.add_argument("--show", type=int, metavar="LINE", help="print the game on this line, turn by turn")
    parser.add_argument("--viewer", type=int, metavar="SEAT", help="show only what this seat may know")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_viewing(parser)


def run_replay(args: argparse.Namespace) -> int:
    """Play every record again and check each action and each result; then show one, where that is asked for."""
    if args.show is not None and args.json:
        raise CommandError("--json: not together with --show, which prints text")
    if args.viewer is not None and args.show is None and not is_viewing(args):
        raise CommandError("--viewer: it needs --show or --html, the game to look at")
    check_viewing(args)
    if args.file == "-":
        return _replay(standard_input(), args)
    with Path(args.file).open("rb") as lines:
        return _replay(lines, args)


def _replay(lines: Any, args: argparse.Namespace) -> int:
    records = actions = 0
    viewed = None
    began = time.monotonic()
    for number, record in read_records(_record_lines(lines)):
        verify(record, number)
        records, actions = records + 1, actions + len(record.actions)
        if number == args.line and is_viewing(args):
            _check_viewer(args.viewer, record.players)
            viewed = record
        if number == args.show:
            _check_viewer(args.viewer, record.players)
            for game, action in states(record):
                _show(game, action, args.viewer)
        if sys.stderr.isatty() and time.monotonic() - began > _PROGRESS_AFTER:
            print(f"\r{records} records", end="", file=sys.stderr, flush=True)
    if records == 0:
        raise CommandError(f"{args.file}: no records")
    if args.show is not None and not 1 <= args.show <= records:
        raise CommandError(f"--show: there are {records} records")
    if viewed is None and not 1 <= args.line <= records:
        raise CommandError(f"--line: there are {records} records")
    if args.json:
        print_json({"records": records, "actions": actions})
    else:
        print(f"{records} records, {actions} actions: every action is legal and every result comes out")
    if viewed is not None:
        view(viewed, args)
    return 0


def _record_lines(lines: Any) -> Iterator[bytes]:
    for number, line in enumerate(read_lines(lines, LONGEST_RECORD), start=1):
        if len(line) > LONGEST_RECORD:
            raise CommandError(f"line {number}: it is longer than {LONGEST_RECORD} bytes")
        yield line


def add_watch(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``watch``."""
    parser.add_argument("rules", metavar="RULES", nargs="?", default="standard", help="a rulebook (standard)")
    parser.add_argument("--agents", default="greedy,uniform", metavar="A,B", help="who plays, a name a seat")
    parser.add_argument("--seed", type=seed_argument, default=0, help="of the cards and of the agents (0)")
    parser.add_argument("--game", type=seed_argument, default=0, help="the number of the deal under the seed (0)")
    parser.add_argument("--episode", choices=("round", "match"), default="round", help="what is played (round)")
    parser.add_argument("--viewer", type=int, metavar="SEAT", help="show only what this seat may know")
    parser.add_argument("--record", metavar="FILE", help="add the record of the game, thoughts included, to a file")
    parser.add_argument("--delay", type=float, default=0.0, metavar="SECONDS", help="wait before each action")


def run_watch(args: argparse.Namespace) -> int:
    """Let agents play a game and print it."""
    names = [name.strip() for name in args.agents.split(",") if name.strip()]
    rules = read_rules(rules_argument(args.rules))
    rules.check_players(len(names))
    _check_viewer(args.viewer, len(names))
    if not 0.0 <= args.delay <= _LONGEST_DELAY:
        raise CommandError(f"--delay: expected a number from 0 to {_LONGEST_DELAY:g}, got {args.delay}")
    if args.record:
        check_appendable(args.record, "--record")
    make = _agents_library()
    agents = [make(name) for name in names]
    game = Game(rules, len(names), seed=args.seed, game=args.game, episode=args.episode)
    print(f"seats: {', '.join(f'{seat} {name}' for seat, name in enumerate(names))}\n")
    actions, thoughts = _play(game, agents, names, args)
    if args.record:
        record = make_record(
            rules,
            len(names),
            actions,
            seed=args.seed,
            game=args.game,
            episode=args.episode,
            agents=names,
            thoughts=noted(thoughts),
        )
        with Path(args.record).open("ab") as file:
            file.write(encode(record))
    return 0


def _play(
    game: Game, agents: Sequence[Any], names: Sequence[str], args: argparse.Namespace
) -> tuple[list[int], list[Thought]]:
    """Play the game out, showing each state; the actions, and where a record is asked for what the agents thought."""
    actions: list[int] = []
    thoughts: list[Thought] = []
    while not game.is_over:
        rng = int(decision_rng(np.uint64(game.row.seed), np.uint64(game.row.game), game.seat, len(actions)))
        choice = _ask(game, agents[game.seat], names[game.seat], rng)
        if args.record:
            thoughts.append(thought_of(agents[game.seat]))
        _show(game, choice, args.viewer)
        time.sleep(args.delay)
        actions.append(choice)
        game.play(choice)
    _show(game, None, args.viewer)
    return actions, thoughts


def _ask(game: Game, agent: Any, name: str, rng: int) -> int:
    """What an agent does; ``CommandError``, which names it, where that is no legal action."""
    where = f"agent {name!r} on seat {game.seat}"
    try:
        choice = action_number(agent.act(game.redacted(game.seat), game.legal_actions(), game.rules, rng))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an agent may be of the user's own, and raise anything
        raise CommandError(f"{where}: {importlib.import_module('agents.faults').one_line(error)}") from None
    if not game.is_legal(choice):
        raise CommandError(f"{where}: it chose action {brief(choice)}: {why_not(game.row, game.rules, choice)}")
    return choice


def _agents_library() -> Any:
    """How agents are made by name; they are a package of their own, which this one does not depend on."""
    try:
        return importlib.import_module("agents.registry").make
    except ModuleNotFoundError as error:
        how = "it comes with a clone of the repository, by 'pip install -e .'"
        raise CommandError(f"watch needs the package 'agents': {how} ({error})") from None


def _check_viewer(viewer: int | None, players: int) -> None:
    if viewer is not None and not 0 <= viewer < players:
        raise CommandError(f"--viewer: seats are 0 to {players - 1}, got {viewer}")


def _show(game: Game, action: int | None, viewer: int | None) -> None:
    """Print a state in which a turn begins or all is over, and the action that is played in it."""
    if action is None or game.row.drew == 0:
        color = sys.stdout.isatty()
        print(render_text(game.row, game.rules, viewer, color=color), end="")
    if action is not None:
        print(f"    seat {game.seat}: {format_action(action, game.row, game.rules)}")
