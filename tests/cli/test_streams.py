"""Streams that are closed, full, endless or narrow: one line, a status that says so, and no traceback."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scala40_env import cli
from scala40_env.cli import streams
from scala40_env.cli.query import serve
from scala40_env.cli.streams import CommandError, check_appendable, parse_json, read_bytes, read_lines

PROGRAM = f"{sys.executable} -m scala40_env.cli"


def shell(script: str, **environment: str) -> tuple[int, str]:
    """The exit status of a script of the shell, and what it wrote on standard error."""
    variables = {**os.environ, **environment}
    command = ["bash", "-c", f"set -o pipefail; {script}"]
    done = subprocess.run(command, env=variables, capture_output=True, timeout=240, check=False)
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("rules >&-", "scala40: standard output: it is closed"),
        ("demo --deals 2 --decisions 0 >&-", "scala40: standard output: it is closed"),
        ("arena greedy uniform >&-", "scala40: standard output: it is closed"),
        ("bench >&-", "scala40: standard output: it is closed"),
        ("rules hops > /dev/full", "No space left on device"),
        ("rules hops --json > /dev/full", "No space left on device"),
        ("arena greedy uniform --deals 2 --quiet > /dev/full", "No space left on device"),
        ("arena greedy uniform --deals 2 --quiet --json > /dev/full", "No space left on device"),
        ("legal - <&-", "standard input: it is closed"),
        ("query <&-", "standard input: it is closed"),
        ("replay - <&-", "standard input: it is closed"),
        ("legal /dev/zero", "/dev/zero: it is longer than 67108864 bytes"),
        ("replay /dev/zero", "line 1: it is longer than 16777216 bytes"),
        ("replay /dev/urandom", "line 1: not a record"),
        ("query < /dev/zero", "a line is longer than 67108864 bytes"),
    ],
)
def test_a_stream_that_cannot_serve_takes_one_line(script: str, line: str) -> None:
    status, errors = shell(f"{PROGRAM} {script}")
    assert status == 2
    assert line in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize("script", ["rules standard", "arena greedy uniform --deals 2 --quiet", "--help"])
def test_a_closed_pipe_ends_quietly(script: str) -> None:
    status, errors = shell(f"{PROGRAM} {script} | true")
    assert status in (0, cli.BROKEN_PIPE)
    assert errors == ""


def test_a_table_that_nobody_reads_ends_as_a_closed_pipe_does(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

        def fileno(self) -> int:
            return os.open(os.devnull, os.O_WRONLY)

    monkeypatch.setattr(sys, "stdout", Gone())
    assert cli.main(["rules"]) == cli.BROKEN_PIPE


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_the_output_cannot_write_is_written_otherwise(encoding: str) -> None:
    status, errors = shell(f"{PROGRAM} rules standard > /dev/null", PYTHONIOENCODING=encoding)
    assert (status, errors) == (0, "")


def test_a_long_line_is_cut_and_the_next_one_is_whole() -> None:
    lines = list(read_lines(io.BytesIO(b"a" * 25 + b"\nshort\n" + b"b" * 10 + b"\nend"), 10))
    assert lines == [b"a" * 11, b"short\n", b"b" * 10 + b"\n", b"end"]


def test_a_long_request_is_refused_and_the_next_one_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = io.BytesIO()
    serve(io.BytesIO(b'{"do":"' + b"x" * (1 << 20) + b'"}\n{"do":"standings","totals":[1,2]}\n'), answers)
    first, second = answers.getvalue().splitlines()
    assert first == b'{"error":"request: a line has at most 1048576 bytes"}'
    assert b"winners" in second
    monkeypatch.setattr(streams, "LARGEST_FILE", 1 << 21)
    with pytest.raises(CommandError, match="a line is longer than"):
        serve(io.BytesIO(b"0" * (1 << 22)), answers)


def test_a_large_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LARGEST_FILE", 10)
    path = tmp_path / "large"
    path.write_bytes(b"0123456789")
    assert len(read_bytes(str(path))) == 10
    path.write_bytes(b"0123456789a")
    with pytest.raises(CommandError, match="it is longer than 10 bytes"):
        read_bytes(str(path))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b'{"a": 1, "a": 1}', "x: key 'a': given twice in one object"),
        (b'[{"b": {"c": [], "d": 2, "c": 1}}]', "x: key 'c': given twice in one object"),
        (b"[" * 100_000, "x: nested too deeply"),
        (b"{", "x: not JSON: "),
    ],
)
def test_json_that_is_refused(text: bytes, line: str) -> None:
    with pytest.raises(CommandError) as caught:
        parse_json(text, "x")
    assert str(caught.value).startswith(line)


def test_the_same_key_in_other_objects_is_no_fault() -> None:
    assert parse_json(b'[{"a": {"a": 1}}, {"a": 2}]', "x") == [{"a": {"a": 1}}, {"a": 2}]


def test_whether_a_file_can_be_written_is_known_before(tmp_path: Path) -> None:
    check_appendable(str(tmp_path / "new"), "--record")
    assert not (tmp_path / "new").exists()
    with pytest.raises(CommandError, match="--record: there is no folder"):
        check_appendable(str(tmp_path / "no" / "new"), "--record")
    with pytest.raises(CommandError, match="is a folder"):
        check_appendable(str(tmp_path), "--record")
