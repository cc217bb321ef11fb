"""``scala40 query``: answers in order, an answer for every line whatever its bytes, and fast."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scala40_env.cli.query import answer_line, serve

POSITION = {
    "players": 2,
    "hands": [["7H", "7D", "JK"], ["3C", {"hidden": 11}]],
    "has_opened": [True, True],
    "turns": [1, 1],
    "table": [["8H", "8D", "JK=8C"], ["4D", "5D", "6D"]],
    "pile": ["2S", "7D"],
}


def ask(request: Any) -> Any:
    return json.loads(answer_line(json.dumps(request).encode()))


def test_legal_actions_have_texts_and_numbers() -> None:
    assert ask({"do": "legal", "position": POSITION}) == {"legal": ["draw", "take"], "actions": [0, 1]}


def test_a_reason_or_none() -> None:
    request = {"do": "explain", "position": POSITION}
    assert ask({**request, "actions": ["take"]}) == {"legal": True, "reason": "legal"}
    reply = ask({**request, "action": "discard 7H"})
    assert reply == {"legal": False, "reason": "a turn begins with a card from the stock, or with the upcard"}
    reply = ask({"do": "explain", "position": {**POSITION, "phase": "play"}, "action": "off 9D @1"})
    assert reply == {"legal": False, "reason": "9D does not fit the meld in slot 1, 4D 5D 6D"}


def test_the_position_after_actions_or_the_first_that_is_not_legal() -> None:
    texts = ["take", "off 7D @1", "discard 7H"]
    after = ask({"do": "apply", "position": POSITION, "actions": texts})["position"]
    assert (after["seat"], after["pile"][-1], after["table"][1]) == (1, "7H", ["4D", "5D", "6D", "7D"])
    assert ask({"do": "apply", "position": after, "actions": []})["position"] == after
    reply = ask({"do": "apply", "position": POSITION, "actions": ["take", "discard 7H", "x"]})
    assert reply == {"error": "7D was taken and must be played this turn", "at": 1}
    assert ask({"do": "apply", "position": POSITION, "actions": ["take", "x"]})["at"] == 1
    assert ask({"do": "apply", "position": POSITION, "actions": [1, act_number("off 7D @1")]})["position"]


def act_number(text: str) -> int:
    position = ask({"do": "apply", "position": POSITION, "actions": ["take"]})["position"]
    reply = ask({"do": "legal", "position": position})
    return int(reply["actions"][reply["legal"].index(text)])


def test_a_long_meld_is_laid_in_the_way_that_is_legal() -> None:
    position = {
        "rules": "italian",
        "hands": [["5D", "6D", "7D", "8D", "KH", "KD", "KS", "2C"]],
        "turns": [1, 1],
        "pile": ["9D"],
    }
    reply = ask({"do": "apply", "position": position, "actions": ["take", "lay 5D 6D 7D 8D 9D", "lay KH KD KS"]})
    assert reply["position"]["has_opened"] == [True, False]
    assert reply["position"]["table"] == [["5D", "6D", "7D", "8D", "9D"], ["KH", "KD", "KS"]]
    clean = {"rules": {"opening_joker": "only_if_clean_melds_reach_min"}, "phase": "play", "turns": [1, 1]}
    position = {**clean, "hands": [["TD", "JD", "QD", "KD", "JK", "2C", "3S"]]}
    reply = ask({"do": "apply", "position": position, "actions": ["lay TD JD QD KD JK=AD"]})
    assert reply["position"]["table"] == [["TD", "JD", "QD", "KD", "JK=AD"]]


def test_points_and_standings() -> None:
    assert ask({"do": "score", "position": POSITION})["points"][0] == 0
    doubled = {**POSITION, "rules": "cerchio", "hands": [[], ["KD", "7C"]]}
    assert ask({"do": "score", "position": doubled, "closed_in_hand": True}) == {"points": [0, 34]}
    assert ask({"do": "score", "position": doubled}) == {"points": [0, 17]}
    over = {"out": [0, 1], "totals": [110, 105, 30], "over": True, "winners": [2]}
    assert ask({"do": "standings", "rules": "standard", "totals": [110, 105, 30]}) == over
    again = {"base": "standard", "reentry": "automatic", "reentry_max": None}
    reply = ask({"do": "standings", "rules": again, "totals": [110, 105, 30, 90]})
    assert reply == {"out": [], "totals": [90, 90, 30, 90], "over": False, "winners": []}
    paid = {"out": [0], "totals": [80, 80, 60], "over": False, "winners": []}
    assert ask({"do": "standings", "rules": "international", "totals": [105, 80, 60]}) == paid
    lowest = {"match_mode": "lowest_at_target", "match_limit": 1000}
    reply = ask({"do": "standings", "rules": lowest, "totals": [1005, 640, 820]})
    assert reply == {"out": [], "totals": [1005, 640, 820], "over": True, "winners": [1]}
    tied = {"out": [0, 1], "totals": [120, 120], "over": True, "winners": [0, 1]}
    assert ask({"do": "standings", "rules": "standard", "totals": [120, 120]}) == tied
    extra = {"tie_break": "extra_hand"}
    assert not ask({"do": "standings", "rules": extra, "totals": [120, 120]})["over"]
    assert ask({"do": "standings", "position": {"scores": [101, 3]}})["winners"] == [1]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b'{"do":"legal","position":{"seed":1,"seed":1}}', "key 'seed': given twice in one object"),
        (b'{"a":' * 100_000, "request: nested too deeply"),
        (b'{"do":"explain","position":{},"action":1,"actions":[1]}', "action: give action or actions, not both"),
        (b'{"do":"explain","position":{},"action":-5}', "action: there is no action -5; they are 0 ... 634"),
        (b'{"do":"explain","position":{"rules":"international"},"action":9999}', "they are 0 ... 744"),
    ],
)
def test_an_error_says_what_is_wrong(line: bytes, error: str) -> None:
    assert error in json.loads(answer_line(line))["error"]


def test_an_id_comes_back() -> None:
    assert ask({"do": "legal", "position": POSITION, "id": [1, "a"]})["id"] == [1, "a"]
    assert ask({"do": "nothing", "id": 7})["id"] == 7


BAD: list[bytes] = [
    b"",
    b" ",
    b"\x00",
    b"\xff\xfe\x00",
    b"{",
    b"[]",
    b"3",
    b"null",
    b'"legal"',
    b"{}",
    b'{"do":3}',
    b'{"do":"fly"}',
    b'{"do":"legal","cards":[]}',
    b'{"do":"legal","position":3}',
    b'{"do":"legal","position":{"seed":' + b"9" * 5000 + b"}}",
    b'{"do":"legal","position":{"seed":1e400}}',
    b'{"do":"legal","position":' + b"[" * 100_000,
    b'{"a":' * 100_000,
    b'{"do":"legal","position":{"rules":{"opening_min":' + b"[" * 500 + b"]" * 500 + b"}}}",
    b'{"do":"legal","position":{"\\ud800":1}}',
    b'{"do":"legal","position":{"hands":[["\\u0000"]]}}',
    b'{"do":"legal","position":{"players":1e3}}',
    b'{"do":"explain","position":{}}',
    b'{"do":"explain","position":{},"action":"jump"}',
    b'{"do":"explain","position":{},"actions":["draw","draw"]}',
    b'{"do":"apply","position":{},"actions":"draw"}',
    b'{"do":"score","position":{},"closed_in_hand":1}',
    b'{"do":"standings","totals":[1]}',
    b'{"do":"standings","totals":[1,-1]}',
    b'{"do":"standings","totals":{}}',
    b'{"do":"standings","rules":"x","totals":[1,2]}',
    b'{"do":"standings","position":{},"totals":[1,2]}',
    b'{"do":"standings","rules":{"match_mode":"single_hand"},"totals":[1,2]}',
    b'{"do":"legal","do":"legal","position":{}}',
    b'{"do":"legal","position":{"seed":1,"seed":1}}',
    b'{"do":"explain","position":{},"action":"draw","actions":["draw"]}',
    b'{"do":"explain","position":{},"action":9999}',
    b'{"do":"legal","position":{"hands":[[]],"phase":"play"}}',
]


@pytest.mark.parametrize("line", BAD, ids=range(len(BAD)))
def test_a_bad_line_is_answered_by_an_error(line: bytes) -> None:
    reply = answer_line(line)
    assert b"\n" not in reply
    assert list(json.loads(reply)) == ["error"]
    assert len(reply) < 600


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=80))
def test_no_bytes_end_the_service(line: bytes) -> None:
    lines = line.replace(b"\n", b" ") + b"\n" + b'{"do":"standings","totals":[1,2]}\n'
    out = io.BytesIO()
    serve(io.BytesIO(lines), out)
    first, second = out.getvalue().splitlines()
    assert "error" in json.loads(first)
    assert json.loads(second)["over"] is False


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*POSITION, "turn", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["legal", "explain", "apply", "score"]),
    st.sampled_from([*POSITION, "turn", "stock", "known"]),
    JSON,
)
def test_no_value_in_a_position_ends_the_service(do: str, field: str, value: Any) -> None:
    reply = ask({"do": do, "position": {**POSITION, field: value}, **({"action": value} if do == "explain" else {})})
    assert isinstance(reply, dict)


def test_the_command_answers_each_line_at_once_and_thousands_a_second() -> None:
    command = [sys.executable, "-m", "scala40_env.cli", "query"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        request = json.dumps({"do": "legal", "position": POSITION}).encode() + b"\n"
        for line in (request, b"\xff\n", request):  # an answer before the next request: nothing waits in a buffer
            process.stdin.write(line)
            process.stdin.flush()
            assert json.loads(process.stdout.readline())
        noise = np.random.default_rng(0).bytes(300).replace(b"\n", b"") + b"\n"
        began = time.perf_counter()
        count = 2000
        for i in range(count):
            process.stdin.write(request if i % 10 else noise)
            process.stdin.flush()
            process.stdout.readline()
        took = time.perf_counter() - began
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    assert took < 20, f"{count / took:.0f} requests a second"  # usually under one; a loaded machine is no failure


def test_a_reader_that_goes_away_is_no_error() -> None:
    requests = """for i in $(seq 300); do echo '{"do":"legal"}'; done"""
    script = f"{requests} | {sys.executable} -m scala40_env.cli query | head -n 1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=120, check=False)
    assert done.stderr == b""
    assert b"legal" in done.stdout
