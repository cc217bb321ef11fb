"""What is kept of a tournament: the same files however it was played, and nothing lost or played twice."""

import base64
import errno
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

from scala40_env.core.rules import Rules
from training import arena
from training.deals import ArenaError
from training.journal import CHUNKS, PLAN, Journal
from training.result_files import AGENTS, DEALS, MATRIX, PLOT, RESULTS, TIMING
from training.schedule import Chunk, Schedule
from training.tournament import tournament
from training.workers import Players

ROOT = Path(__file__).parents[2]
SLOW = "tests.training.players:First:pause=0.002"
FILES = (AGENTS, DEALS, MATRIX, RESULTS)
RECORDED = ("greedy", "uniform", "--deals", "5", "--record", "--processes", "1")


def _run(folder: Path, *argv: str) -> int:
    return arena.main([*argv, "--quiet", "--out", str(folder)])


def _files(folder: Path) -> dict[str, bytes]:
    names = [*FILES, PLOT] if (folder / PLOT).exists() else FILES
    return {name: (folder / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tournament with records, whose ``chunks.jsonl`` has a single line for all deals."""
    folder = tmp_path_factory.mktemp("recorded") / "a"
    rules = Rules.load("standard")
    made = tournament(["greedy", "uniform"], rules, 5)
    with Journal(folder, made, record=True) as journal:
        players = Players(made, made.make_agents(), record=True)
        chunk = Chunk(0, 0, 5)
        _, tally, seconds, records = players.play(chunk)
        journal.add(chunk, tally, seconds, records)
    assert _run(folder, *RECORDED, "--resume") == 0
    return folder


def test_one_process_and_two_write_the_same_bytes(tmp_path: Path):
    argv = ["greedy", "uniform", "uniform:seed=1", "--players", "2", "--deals", "90"]
    assert _run(tmp_path / "one", *argv, "--processes", "1") == 0
    assert _run(tmp_path / "two", *argv, "--processes", "2") == 0
    assert _files(tmp_path / "one") == _files(tmp_path / "two")
    assert (tmp_path / "one" / DEALS).read_bytes().count(b"\n") > 3 * 90 * 2 * 2


def test_one_process_and_two_write_the_same_bytes_of_agents_that_fail(tmp_path: Path):
    faults = {
        "raise": "out of ideas for good",
        "object": "not an action: object",
        "address": "<object object> at 7 of 0x10",
        "half of a character": "\\udcff",
        "exit": "SystemExit: 3",
    }
    agents = [f"tests.training.players:First:then={then},after=2" for then in faults]
    argv = [*agents, "--deals", "4", "--players", "2", "--seed", "5", "--time-limit", "0"]
    assert _run(tmp_path / "one", *argv, "--processes", "1") == 0
    kept = (tmp_path / "one" / CHUNKS).read_bytes()
    assert _run(tmp_path / "one", *argv, "--processes", "1", "--resume") == 0
    assert (tmp_path / "one" / CHUNKS).read_bytes() == kept
    assert _run(tmp_path / "two", *argv, "--processes", "2") == 0
    assert _files(tmp_path / "one") == _files(tmp_path / "two")
    told = [agent["first_fault"] for agent in json.loads((tmp_path / "one" / RESULTS).read_bytes())["agents"]]
    assert all(text and says in text for text, says in zip(told, faults.values())), told


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no names that are no UTF-8")
def test_a_folder_whose_name_is_no_utf8_gets_its_files(tmp_path: Path):
    folder = tmp_path / "o\udcff"
    assert _run(folder, "greedy", "uniform", "--deals", "5") == 0
    assert json.loads((folder / TIMING).read_bytes())["command"][-1].endswith("o\\udcff")
    assert _run(folder, "greedy", "uniform", "--deals", "5", "--resume") == 0
    assert _run(tmp_path / "other", "greedy", "uniform", "--deals", "5") == 0
    assert _files(folder) == _files(tmp_path / "other")


def test_an_agent_whose_name_is_no_utf8_is_refused_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    agent = "tests.training.players:First:then=o\udcff"
    assert _run(tmp_path / "a", "greedy", agent, "--deals", "1") == 2
    assert capsys.readouterr().err.endswith("First:then=o\\udcff' is not UTF-8\n")
    assert not (tmp_path / "a").exists()


def test_killed_and_resumed_writes_the_same_bytes_as_undisturbed(tmp_path: Path):
    argv = ["greedy", SLOW, "--deals", "24", "--time-limit", "0", "--processes", "1"]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-m", "training.arena", *argv, "--quiet", "--out", str(killed)]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.DEVNULL)
    chunks = killed / CHUNKS
    end = time.monotonic() + 120
    while (not chunks.exists() or chunks.read_bytes().count(b"\n") < 2) and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = chunks.read_bytes()
    assert kept.count(b"\n") >= 2
    assert not (killed / RESULTS).exists()
    chunks.write_bytes(kept + b'{"line_up":0,"first":20,"de')  # as if it had been killed while it wrote
    assert _run(killed, *argv, "--resume") == 0
    assert chunks.read_bytes().startswith(kept)
    ranges = [json.loads(line) for line in chunks.read_bytes().splitlines()]
    assert sum(line["deals"] for line in ranges) == 24
    assert _run(whole, *argv) == 0
    assert _files(killed) == _files(whole)


def test_a_finished_folder_is_summed_up_again_without_playing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    argv = ["greedy", "uniform", "--deals", "40", "--sprt", "0,10"]
    assert _run(tmp_path, *argv) == 0
    before, chunks = _files(tmp_path), (tmp_path / CHUNKS).read_bytes()
    first = capsys.readouterr().out
    assert _run(tmp_path, *argv, "--resume") == 0
    assert _files(tmp_path) == before
    assert (tmp_path / CHUNKS).read_bytes() == chunks
    assert "sequential test: greedy is better than uniform by 10" in first
    assert json.loads(before[RESULTS])["sprt"]["answer"] == "high"


def test_every_file_says_what_it_is_of(tmp_path: Path):
    assert _run(tmp_path, "greedy", "uniform", "--deals", "5", "--rules", "hops", "--seed", "77") == 0
    for name in (*FILES, TIMING):
        text = (tmp_path / name).read_text()
        assert all(word in text for word in ('"scala40"', "numba", "hops", "77", "opening_min"))
    assert "seconds" not in (tmp_path / RESULTS).read_text()
    timing = json.loads((tmp_path / TIMING).read_bytes())
    assert "--out" in timing["command"]
    assert timing["timing"]["agents"][0]["seconds_a_decision"] > 0
    lines = [line for line in (tmp_path / DEALS).read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == 1 + 5 * 2 * 2
    assert lines[0].startswith("line_up,deal,rotation,seat,agent,won,rounds,points")


def test_the_plot_is_drawn_and_says_what_it_is_of(tmp_path: Path):
    pytest.importorskip("matplotlib")
    assert _run(tmp_path, "greedy", "uniform", "--deals", "5") == 0
    data = (tmp_path / PLOT).read_bytes()
    assert data.startswith(b"\x89PNG")
    assert b"Description" in data
    assert b'"--deals", "5"' in data


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (["--deals", "6"], "deals is 5 there, 6 here"),
        (["--seed", "1"], "seed is 0 there, 1 here"),
        (["--rules", "hops"], "holds another tournament: rules."),
        (["--sprt", "0,1"], "sprt is None there"),
    ],
)
def test_a_folder_of_another_tournament_is_refused(
    change: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert _run(tmp_path, "greedy", "uniform", "--deals", "5") == 0
    before = _files(tmp_path)
    capsys.readouterr()
    assert _run(tmp_path, "greedy", "uniform", "--deals", "5", *change, "--resume") == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert says in captured.err
    assert _files(tmp_path) == before


def test_bad_folders_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    argv = ["greedy", "uniform", "--deals", "5"]
    assert _run(tmp_path / "a", *argv) == 0
    (tmp_path / "file").write_text("")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("")
    cut = tmp_path / "a" / CHUNKS
    capsys.readouterr()
    for folder, more, says in (
        ("a", [], "holds a tournament already; --resume goes on with it"),
        ("file", [], "is no folder"),
        ("other", ["--resume"], f"is not empty and holds no {PLAN}"),
    ):
        assert _run(tmp_path / folder, *argv, *more) == 2
        captured = capsys.readouterr()
        assert captured.err.count("\n") == 1
        assert says in captured.err
    good = cut.read_bytes()
    for bad, says in (
        (b"nonsense\n", "line 1: cannot be read"),
        (good.replace(b'"first":0', b'"first":3', 1), "line 1: cannot be read: there is no deal"),
        (good + good, "is there twice"),
    ):
        cut.write_bytes(bad)
        assert _run(tmp_path / "a", *argv, "--resume") == 2
        assert says in capsys.readouterr().err
        assert cut.read_bytes() == bad
    (tmp_path / "a" / PLAN).write_text("{")
    assert _run(tmp_path / "a", *argv, "--resume") == 2
    assert "cannot be read" in capsys.readouterr().err


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"deals": math.inf}, "`$.deals`"),
        ({"deals": 10**30}, "there is no deal a huge number"),
        ({"first": -1}, "`$.first`"),
        ({"line_up": True}, "`$.line_up`"),
        ({"line_up": 7}, "there is no such line_up: 7"),
        ({"faults": [[7, 0, 0, "x: y"]]}, "faults: there is no agent 7"),
        ({"faults": [[0, 5, 0, "x: y"]]}, "faults: deal 5 is not of this piece"),
        ({"faults": [[0, 0, 2, "x: y"]]}, "faults: there is no rotation 2"),
        ({"faults": [[0, 0, "x: y"]]}, "`$.faults[0]`"),
        ({"seconds": "inf"}, "`$.seconds`"),
        ({"seconds": math.nan}, "`$.seconds`"),
        ({"seconds": 1e308}, "`$.seconds`"),
        ({"clocks": [[0, 0, 0, 0]]}, "clocks: 1 of 2 agents"),
        ({"clocks": [[0, 0, 0], [0, 0, 0, 0]]}, "`$.clocks[0]`"),
        ({"seats": "§"}, "seats: "),
        ({"seats": _packed(bytes(10**8))}, "seats: not the counts of 20 lines"),
        ({"games": _packed(b"\xff" * 10**3)}, "games: not the counts of 10 lines"),
        ({"records": 3}, "`$.records`"),
        ({"records": None}, "records: "),
        ({"records": _packed(b"<script>\n\xff\n" * 5)}, "records: line 1: not a record"),
        ({"records": _packed(b"[" * 10**5 + b"\n" * 10)}, "records: line 1: not a record"),
    ],
)
def test_a_field_that_cannot_be_is_one_line_that_names_it_before_anything_is_played(
    change: dict[str, object], says: str, recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    shutil.copytree(recorded, tmp_path / "a")
    path = tmp_path / "a" / CHUNKS
    line = json.loads(path.read_bytes().splitlines()[0])
    bad = json.dumps({**line, **change}).encode() + b"\n"
    path.write_bytes(bad)
    assert _run(tmp_path / "a", *RECORDED, "--resume") == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert f"{path}, line 1: cannot be read: " in captured.err
    assert says in captured.err
    assert len(captured.err) < 400
    assert path.read_bytes() == bad


@pytest.mark.parametrize("name", [PLAN, CHUNKS])
@pytest.mark.parametrize("deep", [b"[" * 100_000, b'{"line_up":' * 100_000])
def test_what_is_nested_too_deeply_is_one_line(
    name: str, deep: bytes, recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    shutil.copytree(recorded, tmp_path / "a")
    path = tmp_path / "a" / name
    path.write_bytes(deep + path.read_bytes())
    assert _run(tmp_path / "a", *RECORDED, "--resume") == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert str(path) in captured.err
    assert "cannot be read: nested too deeply" in captured.err


def test_what_differs_in_a_plan_is_said_shortly(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    shutil.copytree(recorded, tmp_path / "a")
    path = tmp_path / "a" / PLAN
    plan = json.loads(path.read_bytes())
    for name, value, says in (
        ("agents", ["greedy", "y" * 10**5], "agents.1 is 'yyy"),
        ("seed", json.loads("[" * 900 + "]" * 900), "seed is "),
        ("versions", 3, "versions is 3 there, {"),
    ):
        path.write_text(json.dumps({**plan, name: value}))
        assert _run(tmp_path / "a", *RECORDED, "--resume") == 2
        captured = capsys.readouterr()
        assert says in captured.err
        assert len(captured.err) < 500


def test_two_runs_do_not_write_into_one_folder(tmp_path: Path):
    pytest.importorskip("fcntl")
    made = tournament(["greedy", "uniform"], Rules.load("standard"), 5)
    with Journal(tmp_path / "a", made), pytest.raises(ArenaError, match="another run is writing"):
        Journal(tmp_path / "a", made, resume=True)


def test_a_disk_that_is_full_is_one_line_and_costs_nothing_that_was_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    argv = ["greedy", "uniform", "--deals", "200"]
    write, calls = os.write, []

    def write_until_full(file: int, data: bytes) -> int:
        calls.append(file)
        if len(calls) == 3:
            return write(file, data[:50])
        if len(calls) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data)

    with monkeypatch.context() as patch:
        patch.setattr("training.journal.os.write", write_until_full)
        assert _run(tmp_path / "full", *argv) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert f"{tmp_path / 'full' / CHUNKS}: No space left" in captured.err
    assert (tmp_path / "full" / CHUNKS).read_bytes().count(b"\n") == 2
    assert (tmp_path / "full" / CHUNKS).read_bytes().endswith(b"\n")
    assert _run(tmp_path / "full", *argv, "--resume") == 0
    assert _run(tmp_path / "whole", *argv) == 0
    assert _files(tmp_path / "full") == _files(tmp_path / "whole")


@pytest.mark.parametrize(("call", "name"), [(1, PLAN), (2, CHUNKS), (3, DEALS)])
def test_what_cannot_be_written_is_named(
    call: int, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    calls: list[int] = []

    def fail_once(file: int) -> None:
        calls.append(file)
        if len(calls) == call:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))

    monkeypatch.setattr("training.journal.os.fsync", fail_once)
    assert _run(tmp_path / "a", *RECORDED[:-3], "--processes", "1") == 2
    assert capsys.readouterr().err == f"scala40 arena: {tmp_path / 'a' / name}: File too large\n"
    assert not [file for file in (tmp_path / "a").iterdir() if file.name.startswith(".")]
    if call > 1:
        assert _run(tmp_path / "a", *RECORDED[:-3], "--resume") == 0


def test_a_folder_in_the_place_of_a_file_is_named(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    shutil.copytree(recorded, tmp_path / "a")
    (tmp_path / "a" / MATRIX).unlink()
    (tmp_path / "a" / MATRIX).mkdir()
    assert _run(tmp_path / "a", *RECORDED, "--resume") == 2
    assert capsys.readouterr().err == f"scala40 arena: {tmp_path / 'a' / MATRIX}: Is a directory\n"


def test_a_schedule_gives_out_every_deal_once_around_what_is_done():
    schedule = Schedule(2, 50, [Chunk(0, 10, 5), Chunk(1, 0, 50), Chunk(0, 0, 3)], [False, True])
    assert schedule.deals_left == 42
    seen: list[int] = []
    while (chunk := schedule.next()) is not None:
        assert chunk.line_up == 0
        seen += range(chunk.first, chunk.first + chunk.deals)
        schedule.note(chunk, 0.05 * chunk.deals)
    assert seen == [*range(3, 10), *range(15, 50)]
    assert schedule.seconds_left() == 0
