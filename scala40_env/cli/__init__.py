"""The command ``scala40``: a table of commands, each imported when it is asked for.

The commands of the library declare their arguments in a function and run in another.  Those of ``agents`` and
``training``, which the library does not depend on, are named as text and get the rest of the command line as it is.

Bad input gets one line on standard error and exit status 2, never a traceback; a pipe that is closed ends quietly.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

BAD_INPUT = 2
BROKEN_PIPE = 141
INTERRUPTED = 130


_HELP = """\
usage: scala40 COMMAND ...

Scala 40: the engine, the records and the agents.

{commands}

'scala40 COMMAND --help' says more of each."""


class Command(NamedTuple):
    """A command of the library: its summary and the module and names of its two functions."""

    summary: str
    module: str
    add: str = "add_arguments"
    run: str = "run"


class Entry(NamedTuple):
    """A command of another package: its summary and the function that takes the rest of the command line."""

    summary: str
    target: str


_CLI = "scala40_env.cli"
COMMANDS: dict[str, Command | Entry] = {
    "legal": Command("the legal actions of a position", f"{_CLI}.positions", "add_legal", "run_legal"),
    "explain": Command("why an action is or is not legal", f"{_CLI}.positions", "add_explain", "run_explain"),
    "apply": Command("the position after some actions", f"{_CLI}.positions", "add_apply", "run_apply"),
    "score": Command("what each seat pays if the seat to act goes out", f"{_CLI}.positions", "add_score", "run_score"),
    "standings": Command("who is out and who has won", f"{_CLI}.positions", "add_standings", "run_standings"),
    "query": Command("answer requests in JSON lines, for other programs", f"{_CLI}.query"),
    "rules": Command("the rulebooks, their flags and sources", f"{_CLI}.rulebooks", "add_rules", "run_rules"),
    "observation": Command("the parts of an observation", f"{_CLI}.rulebooks", "add_observation", "run_observation"),
    "replay": Command("check recorded games, or show one", f"{_CLI}.games", "add_replay", "run_replay"),
    "watch": Command("let agents play a game and look on", f"{_CLI}.games", "add_watch", "run_watch"),
    "play": Entry("play against agents", "agents.play:main"),
    "arena": Entry("let agents meet, with honest statistics", "training.arena:main"),
    "train": Entry("train an agent", "training.cli:main"),
    "exploit": Entry("how much an agent can be exploited", "training.exploit_command:main"),
    "bench": Entry("measure speed, and print the signature of the engine", "training.bench:main"),
    "demo": Entry("a tour of a minute: agents over the rulebooks", "training.demo:main"),
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors take one line."""

    def error(self, message: str) -> NoReturn:
        """Print the message on one line and exit."""
        _complain(f"{self.prog}: {message}; see {self.prog} --help")
        raise SystemExit(BAD_INPUT)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not _prepare_streams():
        return BAD_INPUT
    try:
        status = _run(words)
    except BrokenPipeError:
        status = BROKEN_PIPE
    except OSError as error:
        status = _complain_of(f"scala40 {words[0]}" if words else "scala40", error)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except SystemExit as done:
        status = done.code if isinstance(done.code, int) else 0 if done.code is None else BAD_INPUT
    return _flush(status)


def _prepare_streams() -> bool:
    """See that there is an output, and that it can write any text; whether there is one."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  as long as the process
    if sys.stdout is None:
        _complain("scala40: standard output: it is closed")
        return False
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    return True


def _flush(status: int) -> int:
    """Write what is still buffered; returns the exit status, which is another one where that fails."""
    try:
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        status = BROKEN_PIPE
    except OSError as error:
        if status != BAD_INPUT:  # else it has been said why
            status = _complain_of("scala40: standard output", error)
    # What is still buffered must not be written when Python ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    if words[0] in ("-V", "--version"):
        print(f"scala40 {_version()}")
        return 0
    name, rest = words[0], words[1:]
    command = COMMANDS.get(name)
    if command is None or not _exists(command):
        known = ", ".join(known for known, other in COMMANDS.items() if _exists(other))
        _complain(f"scala40: there is no command {name!r:.60}; there are {known}")
        return BAD_INPUT
    if isinstance(command, Entry):
        return _run_entry(name, command, rest)
    return _run_command(name, command, rest)


def _run_command(name: str, command: Command, rest: list[str]) -> int:
    module = importlib.import_module(command.module)
    parser = Parser(prog=f"scala40 {name}", description=f"{command.summary[0].upper()}{command.summary[1:]}.")
    getattr(module, command.add)(parser)
    args = parser.parse_args(rest)
    from scala40_env.cli.streams import CommandError

    try:
        return int(getattr(module, command.run)(args))
    except BrokenPipeError:
        raise
    except CommandError as error:
        _complain(f"scala40 {name}: {error}")
        return error.status
    except RecursionError:
        _complain(f"scala40 {name}: the input is nested too deeply")
    except ValueError as error:
        _complain(f"scala40 {name}: {error}")
    return BAD_INPUT


def _run_entry(name: str, entry: Entry, rest: list[str]) -> int:
    module_name, _, function = entry.target.partition(":")
    package = module_name.partition(".")[0]
    if not _is_importable(package):
        _complain(
            f"scala40 {name}: needs the package {package!r}, which comes with a clone of the repository: "
            "'pip install -e .' in it, or '.[train]' to train"
        )
        return BAD_INPUT
    try:
        run: Any = getattr(importlib.import_module(module_name), function)
    except ModuleNotFoundError as error:
        _complain(f"scala40 {name}: {error}; 'pip install -e .[train]' in a clone of the repository has all it needs")
        return BAD_INPUT
    status = run(rest)
    return status if isinstance(status, int) else 0


def _exists(command: Command | Entry) -> bool:
    """Whether a command is there: one of a package that is not installed is, and says how to get it."""
    if isinstance(command, Command):
        return True
    module = command.target.partition(":")[0]
    return not _is_importable(module.partition(".")[0]) or _is_importable(module)


def _is_importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _help() -> str:
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {name:<{width}}{command.summary}" for name, command in COMMANDS.items() if _exists(command)]
    return _HELP.format(commands="\n".join(lines))


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("scala40-env")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _complain_of(prefix: str, error: OSError) -> int:
    """One line about what the system refuses; returns the exit status."""
    where = f"{error.filename}: " if error.filename else ""
    _complain(f"{prefix}: {where}{error.strerror or error}")
    return BAD_INPUT


def _complain(message: str) -> None:
    """One line on standard error, whatever the message is made of."""
    line = " ".join(message.split())[:1000]
    try:
        print(line.encode("ascii", "backslashreplace").decode(), file=sys.stderr, flush=True)
    except OSError:
        pass  # nobody can be told
