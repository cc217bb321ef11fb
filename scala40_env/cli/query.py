"""``scala40 query``: requests as JSON lines on standard input, an answer line for each on standard output."""

from __future__ import annotations

import argparse
import sys
from typing import BinaryIO

import msgspec

from scala40_env.cli.answers import answer
from scala40_env.cli.streams import LONGEST_LINE, encode, read_lines, standard_input
from scala40_env.core.first_run import prepare
from scala40_env.core.json_fields import check_keys

EPILOG = """\
A request is an object on one line:
  {"do": "legal", "position": {...}}                         -> {"legal": [texts], "actions": [numbers]}
  {"do": "explain", "position": {...}, "actions": ["take"]}  -> {"legal": bool, "reason": "..."}
  {"do": "apply", "position": {...}, "actions": ["draw"]}    -> {"position": {...}} or {"error": "...", "at": index}
  {"do": "score", "position": {...}, "closed_in_hand": true} -> {"points": [a seat each]}
  {"do": "standings", "rules": "hops", "totals": [104, 12]}  -> {"out": [], "totals": [], "over": bool, "winners": []}
Answers come in the order of the requests; what is wrong with a line is answered by {"error": "..."}.
An "id" in a request comes back in its answer.
A line has at most 1 MiB; what a longer one has beyond that is passed over.
"""
_DECODER = msgspec.json.Decoder()
_LONGEST_ERROR = 400


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes: nothing but its input."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--json", action="store_true", help="the answers are JSON anyway")


def run(args: argparse.Namespace) -> int:
    """Answer every line."""
    requests = standard_input()
    prepare()
    serve(requests, sys.stdout.buffer)
    return 0


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer the lines of one stream on another, each at once; no line, whatever its bytes, ends the service.

    Raises:
        CommandError: a line does not end within ``streams.LARGEST_FILE`` bytes: it is no text that somebody wrote.
    """
    for line in read_lines(requests, LONGEST_LINE):
        answers.write(answer_line(line) + b"\n")
        answers.flush()


def answer_line(line: bytes) -> bytes:
    """The answer to a line, without its end of line."""
    request: object = None
    try:
        if len(line) > LONGEST_LINE:
            raise ValueError(f"request: a line has at most {LONGEST_LINE} bytes")
        request = _DECODER.decode(line)
        check_keys(line)
        made = answer(request)
    except Exception as error:  # whatever a line is: the lines after it must be answered
        made = {"error": _one_line(error)}
    if isinstance(request, dict) and "id" in request:
        made["id"] = request["id"]
    try:
        return encode(made)
    except Exception as error:  # an "id" that no JSON can hold
        return encode({"error": _one_line(error)})


def _one_line(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "request: nested too deeply"
    text = " ".join(str(error).split())[:_LONGEST_ERROR]
    if isinstance(error, msgspec.MsgspecError):
        return f"request: not JSON: {text}"
    return text.encode(errors="backslashreplace").decode()
