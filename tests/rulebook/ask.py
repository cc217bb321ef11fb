"""The scenarios of the rulebook as requests of ``scala40 query``, and the answers that its replies amount to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scala40_env.core.notation import CARD_NAMES
from scala40_env.core.rules import Rules
from scala40_env.core.rules_json import deck_counts

Ask = Callable[[dict[str, Any]], dict[str, Any]]
"""Answers one request; in process, or through the command."""

SCENARIOS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "scenarios.jsonl").read_text("utf-8").splitlines()
]
_DEALT = 13


def rules_of(scenario: dict[str, Any]) -> dict[str, Any]:
    """The rules of a scenario as a position names them."""
    return {"base": scenario["rules"], **scenario.get("overrides", {})}


def position_of(scenario: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The position of a scenario: seat 0 acts, the other hands are hidden."""
    players = scenario["players"]
    position: dict[str, Any] = {
        "rules": rules_of(scenario),
        "players": players,
        "seat": 0,
        "phase": "draw" if scenario["phase"] == "draw" else "play",
        "hands": [scenario["hand"]],
        "has_opened": [scenario["opened"]] + [False] * (players - 1),
        "turns": [0 if scenario["first_turn"] else 1] * players,
        "table": scenario["table"],
        "pile": [scenario["top_discard"]] if scenario["top_discard"] else [],
    }
    return {**position, **changes}


def texts_of(steps: list[list[Any]]) -> list[str]:
    """The actions that the steps of a scenario are."""
    texts: list[str] = []
    for verb, *rest in steps:
        if verb == "open":
            texts += ["lay " + " ".join(meld) for meld in rest[0]]
        elif verb == "lay":
            texts.append("lay " + " ".join(rest[0]))
        elif verb in ("lay_off", "swap"):
            texts.append(f"{'off' if verb == 'lay_off' else 'swap'} {rest[0]} @{rest[1]}")
        elif verb in ("take", "keep_upcard"):
            texts.append("take")
        elif verb == "draw":
            texts.append("draw")
        elif verb == "discard":
            texts.append(f"discard {rest[0]}")
        else:
            texts.append(f"{verb} {' '.join(map(str, rest))}")  # a card out of a meld: no rulebook has such a play
    return texts


def with_drawn_card(position: dict[str, Any], steps: list[list[Any]]) -> dict[str, Any]:
    """The position with the card that a step draws on top of the stock."""
    cards = [step[1] for step in steps if step[0] == "draw" and len(step) > 1]
    if not cards:
        return position
    rules = Rules.from_mapping(position["rules"])
    elsewhere = len(position["hands"][0]) + sum(map(len, position["table"])) + len(position["pile"])
    hidden = rules.deck_size - elsewhere - _DEALT * (position["players"] - 1) - len(cards)
    return {**position, "stock": [{"hidden": hidden}, *reversed(cards)]}


def answer_to(scenario: dict[str, Any], ask: Ask) -> Any:
    """What the engine answers to the question of a scenario."""
    action = scenario["action"]
    handler = globals()[f"_{action['type']}"]
    return handler(scenario, action, ask)


def _apply(ask: Ask, position: dict[str, Any], texts: list[str]) -> dict[str, Any]:
    return ask({"do": "apply", "position": position, "actions": texts})


def _meld_valid(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> bool:
    return "position" in _apply(ask, position_of(scenario), ["lay " + " ".join(action["cards"])])


def _opening_total(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> int:
    """With no least opening the melds may always be laid, and their points are counted all the same."""
    total = 0
    for meld in action["melds"]:
        position = position_of(scenario, rules={**rules_of(scenario), "opening_min": 0})
        total += _apply(ask, position, ["lay " + " ".join(meld)])["position"]["turn"]["laid_points"]
    return total


def _turn(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> bool:
    position = with_drawn_card(position_of(scenario), action["steps"])
    reply = _apply(ask, position, texts_of(action["steps"]))
    if "position" not in reply:
        return False
    after = reply["position"]
    if action["complete"]:
        return bool(after["phase"] == "round_over" or after["seat"] != 0)
    # The melds by themselves must be an opening: that some other card could still be added is another question.
    return bool(after["has_opened"][0]) or not any(step[0] == "open" for step in action["steps"])


def _prefix_completable(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> bool:
    return "position" in _apply(ask, position_of(scenario), texts_of(action["steps"]))


def _can_close(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> bool:
    """Try every turn."""
    left = [position_of(scenario)]
    while left:
        position = left.pop()
        for text in ask({"do": "legal", "position": position})["legal"]:
            after = _apply(ask, position, [text])["position"]
            if after["phase"] == "round_over":
                return after["last_round"]["closer"] == 0
            if after["seat"] == 0:
                left.append(after)
    return False


def _any_legal_discard(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> bool:
    legal = ask({"do": "legal", "position": position_of(scenario)})["legal"]
    return any(text.startswith("discard") for text in legal)


def _meld_count_after(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> int:
    after = _apply(ask, position_of(scenario), texts_of(action["steps"]))["position"]
    return sum(meld is not None for meld in after["table"])


def _cards_to_stock(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> int:
    before = _apply(ask, position_of(scenario), [])["position"]
    after = _apply(ask, position_of(scenario), texts_of(action["steps"]))["position"]
    return len(after["stock"]) - len(before["stock"])


def _score(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> int:
    """The hand is that of the seat that goes out, or of the seat to its left."""
    seat = 0 if action["is_closer"] else 1
    hands: list[Any] = [[], scenario["hand"]] if seat else [scenario["hand"]]
    opened = [True] * scenario["players"]
    opened[seat] = scenario["opened"]
    position = position_of(scenario, hands=hands, has_opened=opened, phase="play")
    reply = ask({"do": "score", "position": position, "closed_in_hand": action["closed_in_hand"]})
    return int(reply["points"][seat])


def _standings(scenario: dict[str, Any], totals: list[int], ask: Ask) -> dict[str, Any]:
    return ask({"do": "standings", "rules": rules_of(scenario), "totals": totals})


def _is_out(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> bool:
    return 0 in _standings(scenario, [action["total"], 0, 0], ask)["out"]


def _match_over(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> bool:
    return bool(_standings(scenario, action["totals"], ask)["over"])


def _winning_total(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> int:
    reply = _standings(scenario, action["totals"], ask)
    (winner,) = reply["winners"]
    return int(reply["totals"][winner])


def _reentry_total(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> int:
    return int(_standings(scenario, action["totals"], ask)["totals"][0])


def _players_allowed(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> bool:
    return "legal" in ask({"do": "legal", "position": {"rules": rules_of(scenario), "players": action["n"]}})


def _flag(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> bool:
    return bool(getattr(Rules.from_mapping(rules_of(scenario)), action["flag"]) == action["value"])


def _nearly_empty_stock(scenario: dict[str, Any], pile: int, seed: int = 0) -> dict[str, Any]:
    """A position in which one card is left to draw and so many lie on the pile; the rest lies on the table."""
    rules = Rules.from_mapping(rules_of(scenario))
    left = list(deck_counts(rules))
    table: list[list[str]] = []
    spare = rules.deck_size - 3 * _DEALT - pile - 1
    for suit in range(4):
        for length in (5, 4, 4) if spare >= 13 else ():
            start = sum(map(len, table[suit * 3 :]))
            kinds = [suit * 13 + start + i for i in range(length)]
            table.append([CARD_NAMES[kind] for kind in kinds])
            for kind in kinds:
                left[kind] -= 1
        spare -= 13 if spare >= 13 else 0
    rest = [CARD_NAMES[kind] for kind, count in enumerate(left) for _ in range(count)]
    hands = [rest[i * _DEALT : (i + 1) * _DEALT] for i in range(3)]
    stock = rest[3 * _DEALT : 3 * _DEALT + 1]
    return position_of(scenario, phase="draw", hands=hands, table=table, stock=stock, pile=rest[40:], seed=seed)


def _recycled_stock_size(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> int:
    position = _nearly_empty_stock(scenario, action["pile"])
    position["pile"], surplus = position["pile"][: action["pile"]], position["pile"][action["pile"] :]
    position["hands"][2] += surplus[: 16 - _DEALT]
    position["hands"][1] += surplus[16 - _DEALT : 2 * (16 - _DEALT)]
    position["hands"][0] += surplus[2 * (16 - _DEALT) :]
    return len(_apply(ask, position, ["draw"])["position"]["stock"])


def _next_draw_is_oldest_discard(scenario: dict[str, Any], action: dict[str, Any], ask: Ask) -> bool:
    """Certain if it is so whatever the seed."""
    for seed in range(5):
        position = _nearly_empty_stock(scenario, 20, seed)
        texts = ["draw"] if Rules.from_mapping(position["rules"]).stock_recycle_when == "last_card_drawn" else None
        if texts is None:
            position["stock"], position["hands"][1] = [], position["hands"][1] + position["stock"]
            texts = ["draw"]
            drawn = _apply(ask, position, texts)["position"]["hands"][0]
            if sorted(drawn) != sorted(position["hands"][0] + position["pile"][:1]):
                return False
        elif _apply(ask, position, texts)["position"]["stock"][-1] != position["pile"][0]:
            return False
    return True
