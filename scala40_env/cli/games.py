"""The commands that show games: replay, watch."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scala40_env.cli.positions import rules_argument
from scala40_env.cli.streams import CommandError, print_json
from scala40_env.core.game import Game
from scala40_env.core.notation import format_action
from scala40_env.core.rules_json import read_rules
from scala40_env.replay.record import encode, make_record, read_records, states, verify
from scala40_env.replay.render import render_text

MAX_SEED = (1 << 64) - 1
_PROGRESS_AFTER = 2.0


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


def run_replay(args: argparse.Namespace) -> int:
    """Play every record again and check each action and each result."""
    if args.file == "-":
        return _replay(sys.stdin.buffer, args)
    with Path(args.file).open("rb") as lines:
        return _replay(lines, args)


def _replay(lines: Any, args: argparse.Namespace) -> int:
    records = actions = 0
    began = time.monotonic()
    for number, record in read_records(lines):
        verify(record, number)
        records, actions = records + 1, actions + len(record.actions)
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
    if args.json:
        print_json({"records": records, "actions": actions})
    else:
        print(f"{records} records, {actions} actions: every action is legal and every result comes out")
    return 0


def add_watch(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``watch``."""
    parser.add_argument("rules", metavar="RULES", nargs="?", default="standard", help="a rulebook (standard)")
    parser.add_argument("--agents", default="greedy,uniform", metavar="A,B", help="who plays, a name a seat")
    parser.add_argument("--seed", type=seed_argument, default=0, help="of the cards and of the agents (0)")
    parser.add_argument("--game", type=seed_argument, default=0, help="the number of the deal under the seed (0)")
    parser.add_argument("--episode", choices=("round", "match"), default="round", help="what is played (round)")
    parser.add_argument("--viewer", type=int, metavar="SEAT", help="show only what this seat may know")
    parser.add_argument("--record", metavar="FILE", help="add the record of the game to a file")
    parser.add_argument("--delay", type=float, default=0.0, metavar="SECONDS", help="wait before each action")


def run_watch(args: argparse.Namespace) -> int:
    """Let agents play a game and print it."""
    names = [name.strip() for name in args.agents.split(",") if name.strip()]
    rules = read_rules(rules_argument(args.rules))
    rules.check_players(len(names))
    _check_viewer(args.viewer, len(names))
    make, decision_rng = _agents_library()
    agents = [make(name) for name in names]
    game = Game(rules, len(names), seed=args.seed, game=args.game, episode=args.episode)
    print(f"seats: {', '.join(f'{seat} {name}' for seat, name in enumerate(names))}\n")
    actions = _play(game, agents, args, decision_rng)
    if args.record:
        record = make_record(
            rules, len(names), actions, seed=args.seed, game=args.game, episode=args.episode, agents=names
        )
        with Path(args.record).open("ab") as file:
            file.write(encode(record))
    return 0


def _play(game: Game, agents: Sequence[Any], args: argparse.Namespace, decision_rng: Any) -> list[int]:
    """Play the game out, showing each state; the actions."""
    actions: list[int] = []
    while not game.is_over:
        rng = np.uint64(decision_rng(game.row.seed, game.row.game, game.seat, len(actions)))
        choice = agents[game.seat].act(game.redacted(game.seat), game.legal_actions(), game.rules, rng)
        _show(game, int(choice), args.viewer)
        time.sleep(max(0.0, min(args.delay, 60.0)))
        actions.append(int(choice))
        game.play(int(choice))
    _show(game, None, args.viewer)
    return actions


def _agents_library() -> tuple[Any, Any]:
    """How agents are made by name; they are a package of their own, which this one does not depend on."""
    try:
        registry = importlib.import_module("agents.registry")
        base = importlib.import_module("agents.base")
    except ModuleNotFoundError as error:
        how = "it comes with a clone of the repository, by 'pip install -e .'"
        raise CommandError(f"watch needs the package 'agents': {how} ({error})") from None
    return registry.make, base.decision_rng


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
