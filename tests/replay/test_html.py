"""The page of a record: whole in itself, deaf to what names and thoughts say, and silent about hidden cards."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scala40_env import cli
from scala40_env.core.game import Game
from scala40_env.core.notation import CARD_NAMES, hand_kinds
from scala40_env.core.rules import Rules
from scala40_env.replay.frames import changes, frame_of, frames
from scala40_env.replay.page import page_of
from scala40_env.replay.record import Record, make_record, start, states, write_records
from tests.replay.browser import Browser, find_browser

EVIL = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "{{script}} <!-- \u2028 & ' \"",
]


@cache
def played(
    rules: str, players: int, seed: int, episode: Any = "round", names: tuple[str, ...] = (), steps: int = 10_000
) -> Record:
    """The record of a game in which melds are laid as soon as they can be, and everybody thinks."""
    game = Game(rules, players, seed=seed, episode=episode)
    rng = np.random.default_rng(seed)
    actions: list[int] = []
    thoughts: list[Any] = []
    while not game.is_over and len(actions) < steps:
        legal = game.legal_actions()
        thoughts.append({"secret": f"seat {game.seat} thinks"} if len(actions) % 2 else f"seat {game.seat} thinks")
        actions.append(int(legal[0] if rng.random() < 0.7 else rng.choice(legal)))
        game.play(actions[-1])
    return make_record(Rules.of(rules), players, actions, seed=seed, episode=episode, agents=names, thoughts=thoughts)


def data_of(page: str) -> dict[str, Any]:
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])


def test_the_page_needs_nothing_else_and_lets_nothing_else_run() -> None:
    page = page_of(played("standard", 2, 1))
    assert not re.search(r"https?:|\bsrc\s*=|\bhref\s*=|url\(|@import|<link|<iframe|\bon\w+=", page)
    policy = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)[0]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        inline = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert len(inline) == 1
        digest = base64.b64encode(hashlib.sha256(inline[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize(("rules", "players", "episode"), [("standard", 2, "round"), ("hops", 4, "match")])
def test_the_page_holds_every_state(rules: str, players: int, episode: str) -> None:
    record = played(rules, players, 4, episode)
    data = data_of(page_of(record))
    state: dict[str, Any] = {}
    count = 0
    for change, (game, action) in zip(data["frames"], states(record), strict=True):
        state |= change
        count += 1
        row = game.row
        for seat in range(players):
            hand = hand_kinds(row.hand_one[seat], row.hand_two[seat], row.hand_jokers[seat])
            assert state[f"hand{seat}"] == [CARD_NAMES[kind] for kind in hand]
            assert state["size"][seat] == len(hand)
        assert state["totals"] == row.totals[:players].tolist()
        assert state["round"] == int(row["round"]) + 1
        assert action is None or state["seat"] == game.seat
    assert count == len(record.actions) + 1
    ends = [note for frame in frames(record) for note in frame["notes"] if note.startswith("round ")]
    assert len(ends) == len(record.rounds)
    assert [frame["thought"] for frame in frames(record)] == [None, *record.thoughts]


def test_changes_are_the_frames() -> None:
    whole = list(frames(played("cerchio", 3, 2)))
    state: dict[str, Any] = {}
    for frame, change in zip(whole, changes(whole), strict=True):
        state |= change
        assert state == frame


def seen_by(record: Record, viewer: int) -> set[str]:
    """The cards that lie open at some time, or that the viewer holds."""
    seen: set[str] = set()
    for game, _ in states(record):
        frame = frame_of(game.rows[0])
        seen.update(frame[f"hand{viewer}"], [frame["upcard"]])
        for seat in range(record.players):
            seen.update(frame[f"known{seat}"])
        for _, _, cards in frame["table"]:
            seen.update(card.removeprefix("JK=") for card in cards)
    return seen


@pytest.mark.parametrize(("players", "seed"), [(2, 1), (2, 6), (4, 3)])
def test_what_a_seat_may_not_know_is_nowhere_in_its_page(players: int, seed: int) -> None:
    record = played("hops", players, seed, steps=16)  # before everything has been seen
    whole = page_of(record)
    looked_for = 0
    for viewer in range(players):
        page = page_of(record, viewer)
        for name in set(CARD_NAMES) - seen_by(record, viewer) - {"JK"}:
            looked_for += bool(re.search(rf"\b{name}\b", whole))
            assert not re.search(rf"\b{name}\b", page), name
        data = data_of(page)
        assert {key for frame in data["frames"] for key in frame if key.startswith("hand")} == {f"hand{viewer}"}
        assert f"seat {viewer} thinks" in page
        for other in set(range(players)) - {viewer}:
            assert f"seat {other} thinks" not in page
            assert f"seat {other} thinks" in whole
        assert "seed" not in data["about"]
    assert looked_for > 5, "hidden cards were there to be found"


def test_dealing_the_hidden_cards_anew_changes_nothing_in_a_seats_page() -> None:
    differing = 0
    for game, action in states(played("standard", 3, 5)):
        if action is None or game.seat == 1:
            continue
        other = game.determinized(1, rng=action)
        assert frame_of(other.redacted(1)[0], 1) == frame_of(game.redacted(1)[0], 1)
        differing += frame_of(other.rows[0]) != frame_of(game.rows[0])
    assert differing > 10


def test_names_and_thoughts_are_text() -> None:
    record = played("standard", 3, 2, "round", tuple(EVIL))
    record = make_record(
        Rules(),
        3,
        record.actions,
        seed=2,
        agents=EVIL,
        thoughts=[EVIL[0], {EVIL[0]: EVIL}] + [None] * (len(record.actions) - 2),
    )
    page = page_of(record)
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert "<img" not in page
    assert "<!--" not in page
    data = data_of(page)
    assert data["names"] == EVIL
    assert data["frames"][1]["thought"] == EVIL[0]
    assert data["frames"][2]["thought"] == {EVIL[0]: EVIL}


def test_a_seat_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="viewer: seats are 0 to 1, got 2"):
        page_of(played("standard", 2, 1), 2)
    with pytest.raises(ValueError, match="open: seats are 0 to 1, got -1"):
        page_of(played("standard", 2, 1), opened=[-1])


# --- the command -----------------------------------------------------------------------------------------------------


def fails(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert cli.main(["replay", *words]) == 2
    out, err = capsys.readouterr()
    assert out.count("\n") <= 1
    assert err.count("\n") == 1
    return err


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = str(tmp_path / "games.jsonl"), tmp_path / "page.html"
    records = [played("standard", 2, 1), played("hops", 4, 3)]
    write_records(path, records)
    assert cli.main(["replay", path, "--html", str(out)]) == 0
    assert capsys.readouterr().out.startswith("2 records, ")
    assert out.read_text("utf-8") == page_of(records[0])
    assert cli.main(["replay", path, "--html", str(out), "--line", "2", "--viewer", "3"]) == 0
    assert out.read_text("utf-8") == page_of(records[1], 3)
    assert cli.main(["replay", path, "--html", str(out), "--open", "0", "--open", "1"]) == 0
    assert data_of(out.read_text("utf-8"))["open"] == [0, 1]
    assert "--line: there are 2 records" in fails(capsys, path, "--html", str(out), "--line", "3")
    assert "seats are 0 to 1" in fails(capsys, path, "--html", str(out), "--viewer", "2")
    assert "open: seats are 0 to 1" in fails(capsys, path, "--html", str(out), "--open", "2")
    assert "--open: not together with --viewer" in fails(
        capsys, path, "--html", str(out), "--open", "0", "--viewer", "0"
    )
    assert "--open: it needs --html" in fails(capsys, path, "--open", "0")
    assert "there is no folder" in fails(capsys, path, "--html", str(tmp_path / "no" / "page.html"))


# --- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip("there is no Chromium on this machine")
    made = Browser(program, tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


def opened(browser: Browser, folder: Path, page: str) -> Path:
    path = folder / "page.html"
    path.write_text(page, "utf-8")
    browser.open(path)
    return path


CARDS = "[...document.querySelectorAll('#seat{} .cards .card')].filter(card => !card.matches('.back')).length"


def place(browser: Browser) -> str:
    return browser.js("document.getElementById('place').textContent")


def test_in_a_browser_the_page_steps_to_the_end(browser: Browser, tmp_path: Path) -> None:
    record = played("standard", 2, 1)
    last = len(record.actions)
    path = opened(browser, tmp_path, page_of(record))
    assert place(browser) == f"0 / {last}"
    assert browser.js(CARDS.format(0)) == 0
    for step in range(1, last + 1):
        browser.press("ArrowRight")
        assert place(browser) == f"{step} / {last}"
    assert "round closed by seat" in browser.js("document.getElementById('notes').textContent") or record.rounds
    melds = list(frames(record))[-1]["table"]
    assert browser.js("document.querySelectorAll('.meld').length") == len(melds)
    assert browser.js("document.querySelectorAll('.meld .card').length") == sum(len(meld[2]) for meld in melds)
    assert browser.js("document.getElementById('on').disabled")
    browser.press("ArrowLeft")
    assert place(browser) == f"{last - 1} / {last}"
    browser.press("Home")
    assert place(browser) == f"0 / {last}"
    browser.press("ArrowRight", shift=True)
    browser.press("ArrowRight", shift=True)
    turns = [number for number, frame in enumerate(frames(record)) if frame["move"] and frame["move"]["first"]]
    assert place(browser) == f"{turns[1]} / {last}"
    browser.js(f"document.querySelector('[data-turn=\"{len(turns) - 1}\"]').click()")
    assert place(browser) == f"{turns[-1]} / {last}"
    browser.js(
        "{ const slider = document.getElementById('slider'); slider.value = 3;"
        " slider.dispatchEvent(new Event('input')); }"
    )
    assert place(browser) == f"3 / {last}"
    assert browser.faults() == []
    assert browser.requests() == [path.resolve().as_uri()]


def test_in_a_browser_hands_open_and_hide_and_thoughts_with_them(browser: Browser, tmp_path: Path) -> None:
    record = played("standard", 2, 1)
    first = start(record).seat
    opened(browser, tmp_path, page_of(record, opened=[first]))
    assert (browser.js(CARDS.format(1 - first)), browser.js(CARDS.format(first))) == (0, 13)
    browser.press("ArrowRight")
    thought = "document.getElementById('thought').textContent"
    assert f"seat {first}: draw" in browser.js("document.getElementById('caption').textContent")
    assert browser.js(thought) == f"seat {first} thinks"
    browser.press(str(first))
    assert browser.js(CARDS.format(first)) == 0
    assert browser.js(f"document.querySelectorAll('#seat{first} .back').length") == 14
    assert browser.js(thought) == ""
    browser.js(f"document.querySelector('#seat{1 - first} button').click()")
    assert browser.js(CARDS.format(1 - first)) == 13
    assert browser.js("document.activeElement.dataset.seat") == str(1 - first)
    assert browser.faults() == []


def test_in_a_browser_a_seats_page_opens_no_other_hand(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, page_of(played("hops", 4, 3), 2))
    assert browser.js("document.querySelectorAll('.seat button').length") == 0
    browser.press("0")
    assert browser.js(CARDS.format(0)) == 0
    assert browser.js(CARDS.format(2)) == 13
    browser.press("End")
    assert browser.faults() == []


def test_in_a_browser_names_are_text(browser: Browser, tmp_path: Path) -> None:
    record = played("standard", 3, 2, "round", tuple(EVIL))
    opened(browser, tmp_path, page_of(record, opened=[0, 1, 2]))
    browser.press("End")
    assert browser.js("document.querySelector('#seat0 h2').textContent") == f"seat 0 · {EVIL[0]}"
    assert browser.js("document.querySelectorAll('script').length") == 2
    assert browser.js("document.querySelectorAll('img').length") == 0
    assert browser.js("document.title").startswith("Scala 40: </script>")
    assert browser.faults() == []
