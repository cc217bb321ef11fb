"""``scala40 play``: a person against any agents, in the terminal.

The person sees what their seat may know, as agents do; a move is typed by its number or in the notation.  A game is
kept as a record, so that it can be left, gone on with, and looked at afterwards.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.registry import kind_of, make, names
from agents.sitting import AgentFaultError, Left, Sitting, Terminal
from scala40_env.cli import BAD_INPUT, Parser
from scala40_env.cli.games import seed_argument
from scala40_env.cli.positions import rules_argument
from scala40_env.cli.streams import LONGEST_RECORD, CommandError, check_appendable
from scala40_env.core.quoting import shown
from scala40_env.core.rules import Rules
from scala40_env.core.rules_json import read_rules
from scala40_env.replay.record import Record, decode, encode, verify

PERSON = "person"
"""What records call the seat of the person."""
_INTERRUPTED = 130


def _parser() -> Parser:
    parser = Parser(
        prog="scala40 play",
        description="You against agents. At your turn the legal moves are numbered: type a number, or the move itself "
        "(lay 7H 7D 7S); 'help' says what else may be typed. Files are records, as 'scala40 replay' reads them.",
    )
    parser.add_argument(
        "agents", nargs="*", metavar="AGENT", help=f"the other seats in order ({', '.join(names())}, ...)"
    )
    parser.add_argument("--rules", help="a rulebook, or JSON with flags, or its file (standard)")
    parser.add_argument("--seat", type=int, metavar="N", help="your seat (0)")
    parser.add_argument("--episode", choices=("round", "match"), help="what is played (round)")
    parser.add_argument("--seed", type=seed_argument, help="of the cards and of the agents (drawn at random)")
    parser.add_argument("--open", action="store_true", help="show all hands, to learn")
    parser.add_argument("--hint", default="greedy", metavar="AGENT", help="whom 'hint' asks (greedy)")
    parser.add_argument("--save", metavar="FILE", help="keep the game here when you leave (the file of --resume)")
    parser.add_argument("--resume", metavar="FILE", help="go on with the game in a file, against its agents")
    parser.add_argument(
        "--record", metavar="FILE", help="add the record of the game, thoughts included, to a file at the end"
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Run the command; returns its exit status: 0, or 2 for bad input."""
    args = _parser().parse_args(argv)
    try:
        sitting = _resumed(args) if args.resume else _new(args)
        _check_files(args)
        return _play(sitting, args)
    except (CommandError, ValueError) as error:
        return _complain(str(error))


def _complain(message: str) -> int:
    print(f"scala40 play: {' '.join(message.split())[:1000]}", file=sys.stderr)
    return BAD_INPUT


def _new(args: argparse.Namespace) -> Sitting:
    """A game from its beginning."""
    if not args.agents:
        raise CommandError(f"AGENT: name whom to play against; there are {', '.join(names())}")
    rules = read_rules(rules_argument(args.rules or "standard"))
    players = len(args.agents) + 1
    rules.check_players(players)
    seat = 0 if args.seat is None else args.seat
    if not 0 <= seat < players:
        raise CommandError(f"--seat: seats are 0 to {players - 1}, got {shown(seat)}")
    agents: list[Any] = [make(name) for name in args.agents]  # nobody else is a person
    return Sitting(
        rules,
        [*args.agents[:seat], PERSON, *args.agents[seat:]],
        [*agents[:seat], None, *agents[seat:]],
        seed=secrets.randbits(64) if args.seed is None else args.seed,
        episode=args.episode or "round",
        hint=make(args.hint),
        open_hands=args.open,
    )


def _resumed(args: argparse.Namespace) -> Sitting:
    """The game that a file keeps."""
    for option in ("rules", "seat", "episode", "seed"):
        if getattr(args, option) is not None:
            raise CommandError(f"--{option}: not together with --resume, whose file says it")
    record = _read(args.resume)
    line_up = record.agents
    if line_up.count(PERSON) != 1:
        raise CommandError(f"--resume: {args.resume}: no seat, or more than one, is a person's")
    others = [name for name in line_up if name != PERSON]
    if args.agents and args.agents != others:
        raise CommandError(f"AGENT: the game in {args.resume} is against {shown(' '.join(others))}")
    # a name may make any class of any module: what a file alone asks for must be of the registry
    strange = [name for name in others if kind_of(name) is None]
    if strange and not args.agents:
        raise CommandError(
            f"--resume: the agent {shown(strange[0])} is none of the registry; name the agents once more"
        )
    if record.finished:
        raise CommandError(f"--resume: the game in {args.resume} is over")
    return Sitting(
        Rules.from_mapping(record.rules),
        line_up,
        [None if name == PERSON else make(name) for name in line_up],
        seed=record.seed,
        game=record.game,
        episode=record.episode,
        hint=make(args.hint),
        open_hands=args.open,
        actions=record.actions,
        thoughts=record.thoughts or (),
    )


def _read(path: str) -> Record:
    """The one record in a file."""
    with Path(path).open("rb") as file:
        content = file.read(LONGEST_RECORD + 1)
    lines = content.splitlines()
    if len(content) > LONGEST_RECORD or len(lines) != 1:
        raise CommandError(f"--resume: {path}: expected one record on one line")
    try:
        record = decode(lines[0])
        verify(record)
    except ValueError as error:
        raise CommandError(f"--resume: {path}: {error}") from None
    return record


def _check_files(args: argparse.Namespace) -> None:
    """Say before the game that a file cannot be written after it."""
    for option in ("save", "record"):
        path = getattr(args, option)
        if path is not None:
            check_appendable(path, f"--{option}")


def _play(sitting: Sitting, args: argparse.Namespace) -> int:
    """Play to the end or until the person leaves, and keep what is to be kept."""
    path = args.save or args.resume
    status = 0
    try:
        sitting.play(Terminal(path))
    except Left:
        pass
    except KeyboardInterrupt:
        print()
        status = _INTERRUPTED
    except AgentFaultError as error:
        status = _complain(str(error))
    if path is not None:
        sitting.save(path)
    if args.record is not None and sitting.game.is_over:
        with Path(args.record).open("ab") as file:
            file.write(encode(sitting.record()))
        print(f"recorded in {args.record}; 'scala40 replay {args.record}' shows it")
    return status
