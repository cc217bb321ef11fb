"""The command line: what each command prints, its exit status, and one line for whatever is wrong."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scala40_env import cli
from scala40_env.core.game import Game
from scala40_env.core.rules import FLAGS, rulebook_names
from scala40_env.replay.record import decode, encode, make_record, states

POSITION = {
    "hands": [["7H", "7D", "JK"], ["3C", "KD"]],
    "has_opened": [True, True],
    "turns": [1, 1],
    "table": [["8H", "8D", "JK=8C"], ["4D", "5D", "6D"]],
    "pile": ["2S", "7D"],
}


class Screen:
    """Runs the command in process and keeps what it prints."""

    def __init__(self, capfd: pytest.CaptureFixture[str], folder: Path) -> None:
        self.capfd = capfd
        self.folder = folder

    def run(self, *words: str) -> tuple[int, str, str]:
        """The exit status, and what was printed on standard output and standard error."""
        self.capfd.readouterr()
        status = cli.main(words)
        sys.stdout.flush()
        out, err = self.capfd.readouterr()
        return status, out, err

    def json(self, *words: str) -> Any:
        """What a command that succeeds prints as JSON."""
        status, out, err = self.run(*words)
        assert (status, err) == (0, "")
        return json.loads(out)

    def fails(self, *words: str) -> str:
        """The one line of a command that fails."""
        status, out, err = self.run(*words)
        assert (status, out) == (2, "")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        return err

    def write(self, name: str, content: object) -> str:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return str(path)


@pytest.fixture
def screen(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Screen:
    return Screen(capfd, tmp_path)


def test_legal(screen: Screen) -> None:
    assert screen.json("legal", screen.write("p.json", POSITION)) == {"legal": ["draw", "take"], "actions": [0, 1]}


def test_a_position_from_standard_input(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(POSITION).encode())))
    assert screen.json("legal", "-")["actions"] == [0, 1]


def test_explain(screen: Screen) -> None:
    position = screen.write("p.json", {**POSITION, "phase": "play"})
    assert screen.run("explain", position, "off", "7D", "@1") == (0, "legal\n", "")
    status, out, _ = screen.run("explain", position, "off 9D @1")
    assert (status, out) == (0, "not legal: 9D does not fit the meld in slot 1, 4D 5D 6D\n")
    assert screen.json("explain", position, "discard", "2C", "--json") == {
        "legal": False,
        "reason": "2C is not in hand",
    }
    assert "badly written" in screen.fails("explain", position, "off", "7D")
    for number in ("9999", "-5", "9" * 5000):
        assert "there is no action" in screen.fails("explain", position, "--", number)


def test_a_position_in_which_nothing_is_legal_is_refused(screen: Screen) -> None:
    def refused(**changes: object) -> str:
        return screen.fails("legal", screen.write("p.json", {**POSITION, **changes}))

    assert "hands[0]: no cards" in refused(hands=[[], ["3C"]], phase="play")
    everything = {"rules": "tiny", "turns": [1, 1], "has_opened": [True, True], "table": [["AH", "2H", "3H"]]}
    rest = [{"hidden": 3}, {"hidden": 3}]
    line = refused(**everything, hands=[rest[:1], rest[1:]], pile=[], stock=[])
    assert line.startswith("scala40 legal: stock: ")
    assert "turn: seat 0 has no legal action" in refused(
        phase="play", turn={"jokers_owed": 1}, hands=[["JK"], ["3C"]], table=[]
    )


def test_apply(screen: Screen) -> None:
    position = screen.write("p.json", POSITION)
    after = screen.json("apply", position, "take", "off 7D @1", "discard 7H")["position"]
    assert (after["seat"], after["pile"]) == (1, ["2S", "7H"])
    assert screen.json("apply", position)["position"]["pile"] == ["2S", "7D"]
    status, out, err = screen.run("apply", position, "take", "discard JK", "discard 7H")
    assert (status, err) == (1, "")
    assert json.loads(out) == {"error": "7D was taken and must be played this turn", "at": 1}
    assert "action 2 of 3, 'pass': 'pass' does not begin with one of" in screen.fails(
        "apply", position, "draw", "pass", "draw"
    )
    assert "action 1 of 1, 'off 7D @99': slots are 0 to 35, got 99" in screen.fails("apply", position, "off 7D @99")


def test_score(screen: Screen) -> None:
    position = screen.write("p.json", {**POSITION, "rules": "cerchio"})
    assert screen.json("score", position, "--json") == {"points": [0, 13]}
    assert screen.json("score", position, "--json", "--closed-in-hand") == {"points": [0, 26]}
    status, out, _ = screen.run("score", position)
    assert status == 0
    assert "13" in out


def test_standings(screen: Screen) -> None:
    words = ("standings", "--rules", "standard", "--totals", "104", "130", "12")
    over = {"out": [0, 1], "totals": [104, 130, 12], "over": True, "winners": [2]}
    assert screen.json(*words, "--json") == over
    status, out, _ = screen.run(*words)
    assert status == 0
    assert "the match is over" in out
    flags = screen.write("house.json", {"match_limit": 201})
    assert screen.json("standings", "--rules", flags, "--totals", "104", "9", "--json")["out"] == []
    assert screen.json("standings", "--rules", '{"match_limit": 9}', "--totals", "4", "9", "--json")["out"] == [1]


def test_rules(screen: Screen) -> None:
    assert sorted(screen.json("rules", "--json")) == rulebook_names()
    for name in rulebook_names():
        book = screen.json("rules", name, "--json")
        assert sorted(book["flags"]) == sorted(flag.name for flag in FLAGS) == sorted(book["sources"])
    status, out, _ = screen.run("rules", "hops")
    assert status == 0
    assert "unopened_penalty" in out
    assert screen.run("rules")[0] == 0


def test_observation(screen: Screen) -> None:
    pytest.importorskip("scala40_env.envs.observation")
    table = screen.json("observation", "--json")
    assert {"name", "offset", "length", "meaning"} <= set(table[0])
    assert screen.run("observation", "--players", "4", "--rules", "hops")[0] == 0
    assert "players" in screen.fails("observation", "--players", "9")


def games(count: int) -> bytes:
    made = b""
    for seed in range(count):
        game = Game("hops", 2, seed=seed)
        rng = np.random.default_rng(seed)
        actions: list[int] = []
        while not game.is_over:
            actions.append(int(rng.choice(game.legal_actions())))
            game.play(actions[-1])
        made += encode(make_record(game.rules, 2, actions, seed=seed))
    return made


def test_replay(screen: Screen) -> None:
    text = games(3)
    path = screen.write("games.jsonl", text)
    assert screen.json("replay", path, "--json")["records"] == 3
    status, out, _ = screen.run("replay", path, "--show", "2", "--viewer", "1")
    assert status == 0
    assert "?? x13" in out
    assert out.endswith("every action is legal and every result comes out\n")
    assert screen.fails("replay", screen.write("cut.jsonl", text[:-30])).startswith(
        "scala40 replay: line 3: not a record"
    )
    edited = text.replace(b'"finished":true', b'"finished":false', 2).replace(
        b'"finished":false', b'"finished":true', 1
    )
    assert "line 2: finished: the record says false" in screen.fails("replay", screen.write("edited.jsonl", edited))
    assert "no records" in screen.fails("replay", screen.write("empty.jsonl", b""))
    assert "there are 3 records" in screen.fails("replay", path, "--show", "4")
    assert "seats are 0 to 1" in screen.fails("replay", path, "--show", "1", "--viewer", "2")
    assert "--json: not together with --show" in screen.fails("replay", path, "--show", "1", "--json")
    assert "--viewer: it needs --show" in screen.fails("replay", path, "--viewer", "1")
    twice = text.replace(b'"finished":true', b'"finished":false,"finished":true', 1)
    assert "line 1: not a record: key 'finished': given twice" in screen.fails("replay", screen.write("x", twice))


def test_watch(screen: Screen) -> None:
    pytest.importorskip("agents.registry")
    record = str(screen.folder / "watched.jsonl")
    status, out, err = screen.run("watch", "hops", "--agents", "greedy,uniform", "--seed", "3", "--record", record)
    assert (status, err) == (0, "")
    assert "seat 0: draw" in out or "seat 0: take" in out
    assert "round " in out.splitlines()[-1]
    again = screen.run("watch", "hops", "--agents", "greedy,uniform", "--seed", "3")
    assert again == (0, out, "")
    assert screen.json("replay", record, "--json")["records"] == 1
    assert b"thoughts" not in Path(record).read_bytes()
    assert "?? x13" in screen.run("watch", "--viewer", "0")[1]
    assert "nobody" in screen.fails("watch", "hops", "--agents", "greedy,nobody")
    assert "players" in screen.fails("watch", "hops", "--agents", "greedy")
    assert "--seed" in screen.fails("watch", "--seed", "-1")
    assert "--seed" in screen.fails("watch", "--seed", "9" * 5000)
    for delay in ("nan", "-1", "inf"):
        assert "--delay: expected a number from 0 to 60" in screen.fails("watch", "--delay", delay)
    assert "there is no folder" in screen.fails("watch", "--record", "/no/such/folder/games.jsonl")


def test_watch_records_what_agents_thought(screen: Screen) -> None:
    pytest.importorskip("agents.registry")
    record = str(screen.folder / "watched.jsonl")
    words = ("watch", "hops", "--agents", "tests.cli.entry:Thinks,uniform", "--seed", "3")
    assert screen.run(*words, "--record", record) == screen.run(*words)
    (kept,) = [decode(line) for line in Path(record).read_bytes().splitlines()]
    assert [thought is not None for thought in kept.thoughts] == [game.seat == 0 for game, _ in states(kept)][:-1]
    assert {"legal": 1} in kept.thoughts
    assert screen.run("replay", record, "--html", f"{record}.html")[0] == 0


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("Raises", "KeyError: 'no such card'"),
        ("Leaves", "SystemExit: 0"),
        ("Talks", "action: expected an integer, got 'draw'"),
        ("Cheats", "it chose action 5000: there is no action 5000; they are 0 ... 634"),
    ],
)
def test_an_agent_that_does_not_play_is_named(screen: Screen, name: str, fault: str) -> None:
    pytest.importorskip("agents.registry")
    agent = f"tests.cli.entry:{name}"
    status, out, err = screen.run("watch", "--agents", f"{agent},uniform")
    assert status == 2
    assert out.startswith("seats: 0 ")
    assert err == f"scala40 watch: agent {agent!r} on seat 0: {fault}\n" or fault in err
    assert err.count("\n") == 1


def test_help_and_version(screen: Screen) -> None:
    status, out, _ = screen.run("--help")
    assert status == 0
    assert screen.run() == (0, out, "")
    for name, command in cli.COMMANDS.items():
        if isinstance(command, cli.Command):
            assert f"  {name} " in out
            status, text, _ = screen.run(name, "--help")
            assert status == 0
            assert text.startswith(f"usage: scala40 {name}")
    assert screen.run("--version")[1].startswith("scala40 ")


def test_a_command_of_a_package_that_is_not_there(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {
        "far": cli.Entry("far away", "no_such_package.module:main"),
        "gone": cli.Entry("not there yet", "scala40_env.no_such_module:main"),
        "here": cli.Entry("here", "tests.cli.entry:main"),
    }
    monkeypatch.setattr(cli, "COMMANDS", {**cli.COMMANDS, **missing})
    assert "needs the package 'no_such_package'" in screen.fails("far")
    assert "there is no command 'gone'" in screen.fails("gone")
    help_text = screen.run("--help")[1]
    assert "  far " in help_text
    assert "  gone " not in help_text
    assert screen.run("here", "--any", "thing") == (7, "['--any', 'thing']\n", "")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["fly"], "there is no command 'fly'"),
        (["legal"], "the following arguments are required: POSITION"),
        (["legal", "/no/such/file"], "/no/such/file: No such file or directory"),
        (["legal", "/"], "Is a directory"),
        (["legal", "x", "--wrong"], "unrecognized arguments: --wrong"),
        (["legal", "x", "a\nb"], "unrecognized arguments: a b"),
        (["standings", "--totals", "x"], "invalid int value: 'x'"),
        (["standings", "--totals", "1", "2", "--rules", "burraco"], "there is no rulebook 'burraco'"),
        (["standings", "--totals", "1", "2", "--rules", "{"], "--rules: not JSON"),
        (["standings", "--totals", "1", "2", "--rules", "/no/file.json"], "there is no file"),
        (["standings", "--totals", "1"], "players: these rules are for 2 to 6, got 1"),
        (["standings", "--totals", "1", "9" * 4000], "totals[1]: expected an integer"),
        (["standings", "--totals", "1", "9", "--rules", '{"match_mode": "single_hand"}'], "rules.match_mode: under"),
        (["standings", "--totals", "1", "9", "--rules", '{"base": "hops", "base": "tiny"}'], "key 'base': given twice"),
        (["rules", "burraco"], "there is no rulebook 'burraco'"),
        (["replay", "/no/such/file"], "No such file or directory"),
    ],
)
def test_what_is_wrong_takes_one_line(screen: Screen, words: list[str], line: str) -> None:
    assert line in screen.fails(*words)


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=200) | st.text(max_size=60).map(lambda text: json.dumps(text).encode()),
    st.sampled_from(range(5)),
)
def test_a_file_of_any_bytes_takes_one_line(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, which: int
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "file"
    path.write_bytes(content)
    words = [["legal"], ["apply"], ["score"], ["replay"], ["explain"]][which]
    errors = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", errors)
        status = cli.main([*words, str(path), *(["draw"] if which == 4 else [])])
    assert status == 2
    assert errors.getvalue().count("\n") == 1


@pytest.mark.parametrize(
    "noise", [b"\x00" * 1000, random.Random(0).randbytes(4000), b"[" * 200_000, b"{" + b"9" * 100_000, b""]
)
def test_noise_is_no_traceback(screen: Screen, noise: bytes) -> None:
    path = screen.write("noise", noise)
    for command in ("legal", "apply", "score", "replay"):
        screen.fails(command, path)


def test_a_closed_pipe_is_quiet() -> None:
    script = f"{sys.executable} -m scala40_env.cli rules standard | head -n 1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=120, check=False)
    assert done.stderr == b""
    assert done.returncode == 0
