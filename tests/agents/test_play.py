"""A person at the table: what is typed, what is shown, and games that are left and gone on with."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.registry import make
from agents.sitting import Left, Sitting, Terminal, choose_way, columns, hand_lines
from scala40_env import cli
from scala40_env.cli.answers import NotPlayableError
from scala40_env.core.game import Game
from scala40_env.core.notation import NotationError, format_action, hand_kinds
from scala40_env.core.position import position_from_json
from scala40_env.core.rules import Rules
from scala40_env.replay.record import Record, decode, encode, make_record, states, verify

HERE = "tests.agents.test_play"
SPY = "tests.agents.test_hidden_cards:Spy"
FIRST = "1\n" * 20_000
"""Somebody who always makes the first move of the list."""


class Raises:
    name = "raises"

    def act(self, rows, legal, rules, rng=None):  # noqa: ANN001
        raise RuntimeError("no\nidea")


class Stop(BaseException):
    pass


class Stops:
    name = "stops"

    def act(self, rows, legal, rules, rng=None):  # noqa: ANN001
        raise Stop("bad \ud800 word")


class Illegal:
    name = "illegal"

    def act(self, rows, legal, rules, rng=None):  # noqa: ANN001
        return 700


class Seat:
    """Runs the command with lines to type."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capsys = capsys
        self.monkeypatch = monkeypatch

    def run(self, lines: str, *words: str) -> tuple[int, str, str]:
        """The exit status, and what was printed on standard output and standard error."""
        self.monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        self.capsys.readouterr()
        status = cli.main(["play", *words])
        return (status, *self.capsys.readouterr())

    def fails(self, *words: str) -> str:
        """The one line of a command that fails before anything is asked."""
        status, out, err = self.run("", *words)
        assert (status, out) == (2, "")
        assert err.count("\n") == 1
        return err


@pytest.fixture
def seat(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Seat:
    return Seat(capsys, monkeypatch)


def only_record(path: Path) -> Record:
    record = decode(path.read_bytes())
    verify(record)
    return record


def answers(out: str) -> list[str]:
    """What each line that was typed was answered with: the first line."""
    return [part.split("\n")[0] for part in out.split("your move: ")[1:]]


# --- whole games -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "players", "person"),
    [(("greedy",), 2, 0), (("greedy", "uniform:seed=3", "greedy", "--seat", "2", "--rules", "hops"), 4, 2)],
)
def test_a_round_to_its_end(seat: Seat, tmp_path: Path, words: tuple[str, ...], players: int, person: int) -> None:
    path = tmp_path / "record.jsonl"
    status, out, err = seat.run(FIRST, *words, "--seed", "4", "--record", str(path))
    assert (status, err) == (0, "")
    assert f"seats: {'0 you' if person == 0 else '0 greedy'}" in out
    assert "points: " in out
    record = only_record(path)
    assert record.finished
    assert (record.players, record.seed, record.agents.index("person")) == (players, 4, person)
    assert out.count("your move: ") == sum(1 for line in out.splitlines() if f"seat {person} you: " in line)
    assert f"round {record.rounds[0].end}" in out


def test_a_match_to_its_end(seat: Seat, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    words = ("--rules", '{"match_limit": 30}', "--episode", "match", "--seed", "9", "--record", str(path))
    status, out, err = seat.run(FIRST, "greedy", *words)
    assert (status, err) == (0, "")
    record = only_record(path)
    assert record.winners
    assert len(record.rounds) == out.count("; totals ") + 1
    assert "the match is won by seat" in out


def test_a_seed_is_drawn_where_none_is_given(seat: Seat, tmp_path: Path) -> None:
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        assert seat.run("", "greedy", "--save", str(path))[0] == 0
    assert only_record(paths[0]).seed != only_record(paths[1]).seed


# --- what is seen ----------------------------------------------------------------------------------------------------


def test_agents_are_shown_what_their_seat_may_know(seat: Seat) -> None:
    status, out, err = seat.run(FIRST, SPY, SPY, "--seed", "1", "--hint", SPY)  # the spy asserts it of each row
    assert (status, err) == (0, "")
    assert "points: " in out


def asked(sitting: Sitting, capsys: pytest.CaptureFixture[str]) -> str:
    """All that a person is shown before they type, and the answers to what they may ask for."""
    capsys.readouterr()
    with contextlib.suppress(Left):
        sitting._ask(Terminal())
    return capsys.readouterr().out


def test_the_screen_does_not_change_when_hidden_cards_are_dealt_anew(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting = Sitting(
        Rules(), ["person", "greedy", "greedy"], [None, *[make("greedy")] * 2], seed=6, hint=make("greedy")
    )
    lines = "table\nmoves\nhint\ntake\nlay AH 2H 3H\n"
    compared = differing = hidden = 0
    while not sitting.game.is_over:
        game = sitting.game
        if game.seat == 0:
            other = game.determinized(0, rng=compared)
            differing += other.rows.tobytes() != game.rows.tobytes()
            screens = []
            for sitting.game in (other, game):
                monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
                screens.append(asked(sitting, capsys))
            assert screens[0] == screens[1]
            hidden += "?? x" in screens[0]
            view = Game.from_rows(game.rules, game.redacted(0))
            assert view.legal_actions().tolist() == game.legal_actions().tolist()
            compared += 1
        game.play(make("greedy").act(game.redacted(game.seat), game.legal_actions(), game.rules))
    assert compared > 10
    assert differing == compared
    assert hidden > 10


def test_hands_are_shown_on_request(seat: Seat) -> None:
    assert "?? x13" in seat.run("", "greedy", "--seed", "2")[1]
    assert "??" not in seat.run("", "greedy", "--seed", "2", "--open")[1]


def test_a_hand_is_sorted_both_ways() -> None:
    _, rows = position_from_json({"hands": [["KH", "2H", "AS", "2S", "JK", "2H"], []]})
    row = rows[0]
    by_suit, by_rank = hand_lines(hand_kinds(row.hand_one[0], row.hand_two[0], row.hand_jokers[0]))
    assert by_suit.endswith("by suit  2H 2H KH  AS 2S  JK")
    assert by_rank.endswith("by rank  AS  2H 2H 2S  KH  JK")


def test_moves_are_numbered_down_the_columns() -> None:
    text = columns([f"discard {number:02}" for number in range(30)])
    assert max(map(len, text.splitlines())) <= 96
    found = sorted((int(number), card) for number, card in re.findall(r"(\d+) discard (\d\d)", text))
    assert found == [(number + 1, f"{number:02}") for number in range(30)]


# --- what is typed ---------------------------------------------------------------------------------------------------


POSITION = {
    "hands": [["4D", "5D", "6D", "7D", "8H", "JK", "2S", "3C"], ["KD", "KH"]],
    "has_opened": [True, True],
    "turns": [1, 1],
    "table": [["9H", "TH", "JH"]],
    "phase": "play",
}


def view_of(position: dict[str, Any]) -> Game:
    rules, rows = position_from_json(position)
    return Game.from_rows(rules, rows)


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("lay 4D 5D 6D 7D", ["lay 4D 5D 6D", "off 7D @1"]),
        ("lay 4D 5D 6D", ["lay 4D 5D 6D"]),
        ("off 8H JK=QH @0", ["off 8H @0", "off JK=QH @0"]),
        ("discard 2S", ["discard 2S"]),
    ],
)
def test_a_move_in_the_notation(text: str, actions: list[str]) -> None:
    view = view_of(POSITION)
    made = []
    for action in choose_way(view, text):
        made.append(format_action(action, view.row, view.rules))
        view.play(action)
    assert made == actions


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("lay 4D 5D 6D 8D", "the cards of a run follow one another"),
        ("lay 7H 7D 7S", "7H and 7S are not in hand"),
        ("lay", "a meld has at least three cards"),
        ("off 2S @0", "2S does not fit the meld in slot 0"),
        ("off 8H 7H @0", "7H is not in hand"),
        ("draw", "a card has been drawn already"),
        ("off 8H @7", "no meld lies in slot 7"),
    ],
)
def test_a_move_that_is_not_legal_has_its_reason(text: str, reason: str) -> None:
    view = view_of(POSITION)
    before = view.rows.tobytes()
    with pytest.raises(NotPlayableError, match=reason):
        choose_way(view, text)
    assert view.rows.tobytes() == before


@pytest.mark.parametrize("text", ["fly", "off 8H", "discard XX", "off 8H @99", "lay JK 4D 5D"])
def test_a_move_that_is_badly_written(text: str) -> None:
    with pytest.raises(NotationError):
        choose_way(view_of(POSITION), text)


BAD = [
    "foo",
    "0",
    "99",
    "99999999999",
    "-1",
    "²",
    "discard",
    "discard zz",
    "lay",
    "lay jk jk jk",
    "x" * 9999,
    "\x00",
    "save",
]


def test_a_bad_line_takes_one_line_and_is_asked_again(seat: Seat) -> None:
    status, out, err = seat.run("\n".join(["1", "", *BAD, "help", "hint", "moves"]) + "\n", "greedy", "--seed", "5")
    assert (status, err) == (0, "")
    mine = out[out.index("seat 0 you: draw") :]
    parts = mine.split("your move: ")[1 : len(BAD) + 2]
    assert [part.count("\n") for part in parts] == [1] * (len(BAD) + 1)
    assert all(3 < len(part) < 200 for part in parts)
    assert "a number " in mine
    assert "greedy would: " in mine
    assert mine.count("seat 0 you") == 1


def test_a_number_the_notation_and_enter_play(seat: Seat, tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    lines = ["", "hint", "DISCARD {}", "draw", "quit"]
    _, out, _ = seat.run("\n", "greedy", "--seed", "5", "--save", str(path))
    card = next(word for word in out.split("discard ")[1:])[:2]
    status, out, err = seat.run(
        "\n".join(lines).format(card.lower()) + "\n", "greedy", "--seed", "5", "--save", str(path)
    )
    assert (status, err) == (0, "")
    assert f"seat 0 you: discard {card}" in out
    record = only_record(path)
    assert not record.finished
    mine = [action for action in record.actions if action == 0]
    assert len(mine) >= 2


# --- leaving and going on --------------------------------------------------------------------------------------------


def test_a_game_that_was_left_goes_on_as_if_it_had_not_been(seat: Seat, tmp_path: Path) -> None:
    saved, parts, whole = tmp_path / "saved.json", tmp_path / "parts.jsonl", tmp_path / "whole.jsonl"
    words = ("uniform", "greedy", "--seed", "8", "--seat", "1")
    assert seat.run(FIRST, *words, "--record", str(whole))[0] == 0
    status, out, _ = seat.run(f"1\n1\n1\nquit {saved}\n", *words)
    assert status == 0
    assert f"kept in {saved}; 'scala40 play --resume {saved}' goes on" in out
    assert seat.run("1\n1\n", "--resume", str(saved))[0] == 0  # the end of the lines leaves as well
    assert len(only_record(saved).actions) < len(only_record(whole).actions)
    assert seat.run(FIRST, "--resume", str(saved), "--record", str(parts))[0] == 0
    assert parts.read_bytes() == whole.read_bytes() == saved.read_bytes()
    assert not list(tmp_path.glob("*.part"))
    assert "is over" in seat.fails("--resume", str(saved))


def test_what_agents_thought_is_kept_before_and_after(seat: Seat, tmp_path: Path) -> None:
    saved, whole = tmp_path / "saved.json", tmp_path / "whole.jsonl"
    words = ("pimc:worlds=2", "--seed", "8", "--rules", "hops")
    assert seat.run(FIRST, *words, "--record", str(whole))[0] == 0
    assert seat.run(f"1\n1\n1\nquit {saved}\n", *words)[0] == 0
    assert seat.run(FIRST, "--resume", str(saved))[0] == 0
    record = only_record(saved)
    assert saved.read_bytes() == whole.read_bytes()
    who = {game.seat for (game, _), thought in zip(states(record), record.thoughts) if thought is not None}
    assert who == {1}


def test_who_leaves_after_a_save_is_not_warned(seat: Seat, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    status, out, _ = seat.run(f"save {saved}\nquit\n", "greedy", "--seed", "1")
    assert (status, "the game is not kept" in out) == (0, False)
    status, out, _ = seat.run("draw\nquit\nquit\n", "--resume", str(saved), "--save", str(tmp_path / "other.json"))
    assert status == 0
    assert (tmp_path / "other.json").exists()


def test_who_leaves_without_a_file_is_warned_once(seat: Seat) -> None:
    status, out, err = seat.run("quit\nquit\n1\n", "greedy", "--seed", "1")
    assert (status, err) == (0, "")
    assert out.count("the game is not kept") == 1
    assert out.count("your move: ") == 2


def test_a_file_that_cannot_be_written_is_one_line_and_the_game_goes_on(seat: Seat, tmp_path: Path) -> None:
    lines = f"save {tmp_path}\nquit {tmp_path}/no/file\nsave {tmp_path}/g.json\n"
    status, out, _ = seat.run(lines, "greedy", "--seed", "1")
    assert status == 0
    first, second, third, _ = answers(out)
    assert first.startswith("save: ")
    assert second.endswith("No such file or directory")
    assert third.startswith("kept in")


def test_what_could_not_be_written_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sitting = Sitting(Rules(), ["person", "greedy"], [None, make("greedy")], seed=1, hint=make("greedy"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match=r"folder'$"):
        sitting.save(str(tmp_path / "folder"))

    def write_nothing(path: Path, _: bytes) -> int:
        path.touch()
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))

    monkeypatch.setattr(Path, "write_bytes", write_nothing)
    with pytest.raises(OSError, match=r"File too large: '.*g\.json'"):
        sitting.save(str(tmp_path / "g.json"))
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_the_end_of_the_lines_leaves_quietly(seat: Seat) -> None:
    status, out, err = seat.run("", "greedy")
    assert (status, err) == (0, "")
    assert out.endswith("your move: \n")


def test_an_interrupt_keeps_the_game(seat: Seat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    path = tmp_path / "g.json"
    status, _, err = seat.run("", "greedy", "--save", str(path))
    assert (status, err) == (130, "")
    only_record(path)


@pytest.mark.parametrize(
    ("agent", "fault"),
    [
        ("Raises", "RuntimeError: no idea"),
        ("Stops", "Stop: bad \\ud800 word"),
        ("Illegal", "it chose 700"),
    ],
)
def test_an_agent_that_fails_is_named_and_the_game_kept(seat: Seat, tmp_path: Path, agent: str, fault: str) -> None:
    path = tmp_path / "g.json"
    status, _, err = seat.run(FIRST, f"{HERE}:{agent}", "--seed", "1", "--save", str(path))
    assert status == 2
    assert err.count("\n") == 1
    assert agent in err
    assert fault in err
    assert not only_record(path).finished
    status, out, err = seat.run("1\nhint\n", "greedy", "--seed", "1", "--hint", f"{HERE}:{agent}")
    assert (status, err) == (0, "")
    assert fault in answers(out)[1]


def test_a_file_alone_makes_no_agent_of_any_module(seat: Seat, tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    touched = tmp_path / "touched"
    for evil in (f"pathlib:Path.touch:self={touched}", f"subprocess:run:args=touch {touched}", f"{HERE}:Raises"):
        path.write_bytes(encode(make_record(Rules(), 2, [], agents=["person", evil])))
        assert "is none of the registry; name the agents once more" in seat.fails("--resume", str(path))
    assert not touched.exists()
    assert seat.run("", f"{HERE}:Raises", "--resume", str(path), "--seed", "3")[0] == 2
    assert "Raises" in seat.run("", f"{HERE}:Raises", "--resume", str(path))[2]
    assert "is against" in seat.fails("greedy", "--resume", str(path))


def test_the_options_of_an_agent_in_a_file_make_nothing_either(seat: Seat, tmp_path: Path) -> None:
    path, touched = tmp_path / "g.json", tmp_path / "touched"
    call = f"subprocess:getoutput:cmd=touch {touched}"
    texts = [f"pimc:{option}={call}" for option in ("bot", "value", "prior", "belief")]
    texts += [f"ismcts:{option}={call}" for option in ("bot", "prior", "belief")]
    texts += [f"pimc:bot=pimc:bot={call}", f"pimc:value=policy:default,bot={call}", f"pimc:prior= {call}"]
    for evil in texts:
        path.write_bytes(encode(make_record(Rules(), 2, [], agents=["person", evil])))
        assert " is not a" in seat.fails("--resume", str(path)), evil
        assert not touched.exists(), evil


def test_a_game_against_weights_of_a_file_goes_on(seat: Seat, tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    assert seat.run(f"1\nquit {path}\n", "policy:default", "--seed", "2")[0] == 0
    assert seat.run("1\n", "--resume", str(path))[0] == 0


def test_nobody_else_is_a_person(seat: Seat) -> None:
    for words in (("person",), ("greedy", " person"), ("greedy", "--hint", "person")):
        assert "there is no agent 'person'" in seat.fails(*words)


def test_what_is_wrong_takes_one_line(seat: Seat, tmp_path: Path) -> None:
    assert "name whom to play against" in seat.fails()
    assert "there is no agent 'gredy'; did you mean 'greedy'?" in seat.fails("gredy")
    assert "--hint" not in seat.fails("greedy", "--hint", "nobody")
    assert "seats are 0 to 1, got 2" in seat.fails("greedy", "--seat", "2")
    assert "players" in seat.fails(*["greedy"] * 6)
    assert "there is no rulebook" in seat.fails("greedy", "--rules", "burraco")
    assert "--seed" in seat.fails("greedy", "--seed", "-1")
    assert "--save" in seat.fails("greedy", "--save", str(tmp_path))
    assert "--record" in seat.fails("greedy", "--record", str(tmp_path / "no" / "file"))
    path = tmp_path / "g.json"
    assert "No such file" in seat.fails("--resume", str(path))
    for content in (b"", b"x\n", b"\xff\x00", b"{}\n{}\n"):
        path.write_bytes(content)
        assert seat.fails("--resume", str(path)).startswith("scala40 play: --resume: ")
    path.write_bytes(encode(make_record(Rules(), 2, [], agents=["greedy", "greedy"])))
    assert "no seat, or more than one, is a person's" in seat.fails("--resume", str(path))
    assert "--seed: not together with --resume" in seat.fails("--resume", str(path), "--seed", "1")
    record = json.loads(encode(make_record(Rules(), 2, [0], agents=["person", "greedy"])))
    path.write_text(json.dumps({**record, "actions": [1]}))
    assert "actions[0]" in seat.fails("--resume", str(path))
