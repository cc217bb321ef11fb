"""A record as one page of HTML that needs nothing else: no server, no network, no other file.

The template, its style and its script lie in ``assets/``.  What comes from a record goes into the page as JSON that
ends no element, and into the document as text, never as markup; the page's own policy lets no other script or style
run.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable
from importlib import resources
from typing import Any

import msgspec

from scala40_env.core.rules import Rules
from scala40_env.core.rules_json import rules_to_json
from scala40_env.replay.frames import changes, frames
from scala40_env.replay.record import Record

_MARK = re.compile(r"\{\{(\w+)\}\}")
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def page_of(record: Record, viewer: int | None = None, opened: Iterable[int] = ()) -> str:
    """The page that shows a record.

    Args:
        record: a record that was verified.
        viewer: the seat for which the page is.  What that seat may not know is not in the page: other hands, what
            others thought, and the seed, which decides the cards.  With ``None`` everything is in the page, and whoever
            has it can open every hand.
        opened: the hands that are open at first, where ``viewer`` is ``None``.

    Raises:
        ValueError: a seat that the record does not have.
    """
    for name, seat in [("viewer", viewer), *(("open", seat) for seat in opened)]:
        if seat is not None and not 0 <= seat < record.players:
            raise ValueError(f"{name}: seats are 0 to {record.players - 1}, got {seat}")
    title = f"Scala 40: {_title(record)}"
    style, script = _asset("page.css"), _asset("page.js")
    parts = {
        "title": html.escape(title),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "data": _json(_data(record, viewer, opened)),
    }
    # one pass: a name that looks like a mark stays what it is
    return _MARK.sub(lambda mark: parts[mark[1]], _asset("page.html"))


def _title(record: Record) -> str:
    names = record.agents or [f"seat {seat}" for seat in range(record.players)]
    return f"{', '.join(names)}; a {record.episode}"


def _data(record: Record, viewer: int | None, opened: Iterable[int]) -> dict[str, Any]:
    rules = rules_to_json(Rules.from_mapping(record.rules))
    book = rules if isinstance(rules, str) else f"{rules['base']} with house rules"
    about = [f"Rules: {book}", f"{record.players} seats"]
    if viewer is None:
        about.append(f"seed {record.seed}, game {record.game}")
    else:
        about.append(f"as seat {viewer} saw it")
    if not record.finished:
        about.append("not finished")
    return {
        "about": " · ".join(about),
        "names": record.agents or [""] * record.players,
        "viewer": viewer,
        "open": sorted(set(opened)),
        "frames": list(changes(frames(record, viewer))),
    }


def _asset(name: str) -> str:
    return resources.files("scala40_env.replay").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _json(value: object) -> str:
    """JSON that may stand in a ``script`` element: nothing in it ends the element or begins a comment."""
    text = msgspec.json.encode(value).decode()
    return re.sub("[<>&\u2028\u2029]", lambda sign: _UNSAFE[sign[0]], text)
