"""Records: what is written is read, replays, and is caught when it was changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scala40_env.core.game import Game, IllegalActionError
from scala40_env.core.rules import Rules
from scala40_env.replay.record import (
    Record,
    RecordError,
    decode,
    encode,
    make_record,
    read_records,
    states,
    verify,
    write_records,
)


def played(rules: Any, players: int, seed: int, episode: Any, steps: int = 10_000) -> Record:
    """The record of a game of random play."""
    game = Game(rules, players, seed=seed, game=3, episode=episode)
    rng = np.random.default_rng(seed)
    actions: list[int] = []
    while not game.is_over and len(actions) < steps:
        actions.append(int(rng.choice(game.legal_actions())))
        game.play(actions[-1])
    names = [f"random {seat}" for seat in range(players)]
    return make_record(game.rules, players, actions, seed=seed, game=3, episode=episode, agents=names)


SHORT_MATCH = {"base": "international", "match_limit": 30, "dead_round_result": "all_count", "max_turns_per_round": 30}


@pytest.mark.parametrize(
    ("rules", "players", "episode"),
    [("standard", 2, "round"), ("hops", 4, "round"), (SHORT_MATCH, 3, "match"), ("tiny", 2, "match")],
)
def test_a_record_survives_its_file_and_replays(tmp_path: Path, rules: Any, players: int, episode: str) -> None:
    records = [played(rules, players, seed, episode) for seed in range(3)]
    path = tmp_path / "games.jsonl"
    assert write_records(path, records[:1]) == 1
    assert write_records(path, records[1:], append=True) == 2
    with path.open("rb") as lines:
        found = list(read_records(lines))
    assert found == list(enumerate(records, start=1))
    for number, record in found:
        verify(record, number)
        assert record.finished
        assert (record.episode == "match") == bool(record.winners)
        assert len(record.rounds) >= 1


def test_a_game_that_was_cut_short_is_a_record_too() -> None:
    record = played("standard", 2, 1, "round", steps=9)
    assert not record.finished
    assert record.rounds == []
    verify(record)


def test_a_record_keeps_what_the_seats_thought() -> None:
    record = played("standard", 2, 1, "round", steps=3)
    assert b"thoughts" not in encode(record)
    thoughts = ["hm", None, {"value": 1.5, "best": ["draw"]}]
    thinking = make_record(Rules(), 2, record.actions, seed=1, game=3, agents=record.agents, thoughts=thoughts)
    assert decode(encode(thinking)) == thinking
    assert thinking.thoughts == thoughts
    verify(thinking)
    with pytest.raises(ValueError, match="thoughts: 1 for 3 actions"):
        make_record(Rules(), 2, record.actions, seed=1, game=3, thoughts=["hm"])


def test_the_states_of_a_record_are_the_game() -> None:
    record = played("standard", 2, 5, "round")
    actions = [action for _, action in states(record)]
    assert actions == [*record.actions, None]
    *_, (game, _) = states(record)
    assert game.is_over


def test_what_is_not_legal_cannot_be_recorded() -> None:
    with pytest.raises(IllegalActionError):
        make_record(Rules(), 2, [0, 0])


GOOD = encode(played("standard", 2, 7, "round"))


def changed(change: Any) -> bytes:
    """A good record after a change of its JSON."""
    data = json.loads(GOOD)
    change(data)
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda data: data["actions"].__setitem__(0, 300), "line 4: actions[0]: 300 (lay "),
        (
            lambda data: data["actions"].__setitem__(1, 0),
            "line 4: actions[1]: 0 (draw) is not legal: a card has been drawn",
        ),
        (lambda data: data.__setitem__("thoughts", ["x"]), "line 4: thoughts: 1 for "),
        (lambda data: data.__setitem__("thoughts", [7]), "line 4: not a record: Expected"),
        (lambda data: data["actions"].__setitem__(2, 745), "line 4: actions[2]: 745 is no action of these rules"),
        (lambda data: data["actions"].__setitem__(2, 700), "line 4: actions[2]: 700 is no action of these rules"),
        (lambda data: data["actions"].__setitem__(2, -1), "line 4: actions[2]: -1 is no action of these rules"),
        (lambda data: data["actions"].append(0), "line 4: actions: the game is over after"),
        (lambda data: data["actions"].pop(), "line 4: rounds: 1 recorded, 0 played"),
        (lambda data: data["totals"].__setitem__(1, 9999), "line 4: totals: the record says"),
        (lambda data: data["winners"].append(1), "line 4: winners: the record says [1]"),
        (lambda data: data.__setitem__("finished", False), "line 4: finished: the record says false"),
        (lambda data: data["rounds"][0].__setitem__("turns", 1), "line 4: rounds[0].turns: the record says 1"),
        (lambda data: data["rounds"][0].__setitem__("end", "stuck"), "line 4: rounds[0].end: the record says"),
        (lambda data: data["rounds"][0]["points"].append(1), "line 4: rounds[0].points: the record says"),
        (lambda data: data["rounds"].pop(), "line 4: rounds: 0 recorded, 1 played"),
        (lambda data: data.__setitem__("seed", 8), "line 4: "),
        (lambda data: data.__setitem__("seed", -8), "line 4: seed: expected an integer"),
        (lambda data: data.__setitem__("version", 2), "line 4: version 2 is not one that is known"),
        (lambda data: data.__setitem__("players", 9), "line 4: players: these rules are for 2 to 6"),
        (lambda data: data["agents"].append("x"), "line 4: agents: 3 names for 2 seats"),
        (lambda data: data["rules"].__setitem__("opening_min", "x"), "line 4: rules.opening_min: expected"),
        (lambda data: data["rules"].__setitem__("openin", 1), "line 4: rules: there is no flag 'openin'"),
        (lambda data: data.__setitem__("game", -1), "line 4: game: expected an integer from 0 to 2**64 - 1, got -1"),
        (lambda data: data["rules"].pop("reentry"), "line 4: rules.reentry: a record has every flag"),
        (
            lambda data: data.__setitem__("rules", {"base": "hops"}),
            "line 4: rules.min_players: a record has every flag",
        ),
        (lambda data: data.__setitem__("note", 1), "line 4: not a record: Object contains unknown field `note`"),
        (lambda data: data.pop("totals"), "line 4: not a record: Object missing required field `totals`"),
        (lambda data: data.__setitem__("actions", ["draw"]), "line 4: not a record: Expected `int`, got `str`"),
    ],
)
def test_a_record_that_was_changed_is_caught_in_one_line(change: Any, line: str) -> None:
    with pytest.raises(RecordError) as caught:
        verify(decode(changed(change), 4), 4)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", [b"", b"\n", GOOD[:-20], GOOD[:1], b"\xff\x00\xfe", b"[" * 10**5, b"[]", b"3"])
def test_a_line_that_is_no_record_is_caught_in_one_line(text: bytes) -> None:
    with pytest.raises(RecordError, match=r"^line 1: (not a record: |empty)") as caught:
        decode(text)
    assert "\n" not in str(caught.value)
