"""The answers that ``query`` gives and the commands print: from JSON values to JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scala40_env.core.cards import MAX_SEATS
from scala40_env.core.first_run import prepare
from scala40_env.core.game import Game
from scala40_env.core.json_fields import members_of, read_flag, read_integer, read_list, read_mapping
from scala40_env.core.notation import NoSuchPlayError, NotationError, format_action, parse_choices
from scala40_env.core.position import position_from_json, position_to_json
from scala40_env.core.position_writer import plain
from scala40_env.core.quoting import shown
from scala40_env.core.reasons import why_not
from scala40_env.core.rules import MATCH_ELIMINATION, R_MATCH_MODE, R_TIE, TIE_EXTRA_HAND
from scala40_env.core.rules_json import read_rules
from scala40_env.core.scoring import is_over, leaders, reentry_total, seat_points, settle_totals
from scala40_env.core.state import NOBODY, PLAY, blank

MAX_ACTIONS = 10_000
_MAX_TOTAL = 1 << 30


class NotPlayableError(ValueError):
    """An action that is well written but not legal; the message is the reason."""


def game_of(position: object) -> Game:
    """The game that stands as a position says."""
    rules, rows = position_from_json(position)
    prepare()
    game = Game.from_rows(rules, rows)
    if not game.is_over and len(game.legal_actions()) == 0:
        raise NotationError(_why_nothing_is_legal(game))
    return game


def _why_nothing_is_legal(game: Game) -> str:
    """What is wrong with a position in which the seat to act has no action: play never comes to one."""
    seat = game.seat
    if game.phase == PLAY and game.row.hand_size[seat] == 0:
        return f"hands[{seat}]: no cards, so the round would be over"
    if game.phase == PLAY:
        return f"turn: seat {seat} has no legal action, and no turn comes to that"
    return f"stock: seat {seat} can neither draw a card nor take the upcard, so the round would be over"


# --- legal, explain, apply -----------------------------------------------------------------------------------------


def legal(position: object) -> dict[str, Any]:
    """The legal actions, as texts and as numbers."""
    game = game_of(position)
    numbers = game.legal_actions().tolist()
    row = plain(game.row)
    return {"legal": [format_action(number, row, game.rules) for number in numbers], "actions": numbers}


def explain_text(position: object, action: object) -> dict[str, Any]:
    """Whether an action (as text, or a number) is legal, and why not."""
    game = game_of(position)
    try:
        play_text(game, action)
    except NotPlayableError as error:
        return {"legal": False, "reason": str(error)}
    return {"legal": True, "reason": "legal"}


def apply_texts(position: object, texts: object) -> dict[str, Any]:
    """The position after actions, or the reason why one is not legal and the index of the first such."""
    game = game_of(position)
    for index, text in enumerate(read_list(texts, "actions", MAX_ACTIONS)):
        try:
            game = play_text(game, text)
        except (NotPlayableError, NotationError) as error:
            return {"error": str(error), "at": index}
    return {"position": position_to_json(game.row, game.rules)}


def play_text(game: Game, text: object) -> Game:
    """The game after an action written as text, which may be several actions; ``game`` may be the one that moves.

    Raises:
        NotationError: the text is badly written.
        NotPlayableError: it is not legal; the message is the reason.
    """
    try:
        ways = parse_choices(text, game.row, game.rules)
    except NoSuchPlayError as error:
        raise NotPlayableError(_why_no_such_play(game, str(error))) from None
    if len(ways) == 1 and len(ways[0]) == 1:
        _play_or_explain(game, ways[0][0])
        return game
    furthest: tuple[int, str] = (-1, "")
    for way in ways:
        tried = game.copy()
        for step, action in enumerate(way):
            if not tried.is_legal(action):
                if step > furthest[0]:
                    furthest = step, why_not(tried.row, tried.rules, action)
                break
            tried.play(action)
        else:
            return tried
    raise NotPlayableError(furthest[1])


def _play_or_explain(game: Game, action: int) -> None:
    if not game.is_legal(action):
        raise NotPlayableError(why_not(game.row, game.rules, action))
    game.play(action)


def _why_no_such_play(game: Game, reason: str) -> str:
    """What no action means is no play; where no play is possible at all, that comes first."""
    if game.phase != PLAY:
        return why_not(game.row, game.rules, _ANY_LAY)
    return reason.removeprefix("action: ")


_ANY_LAY = 2


# --- score, standings ----------------------------------------------------------------------------------------------


def score(position: object, closed_in_hand: object = False) -> dict[str, Any]:
    """What each seat would be charged if the seat to act went out now."""
    rules, rows = position_from_json(position)
    row = rows[0]
    in_hand = read_flag(closed_in_hand, "closed_in_hand") or bool(row.opened_now)
    if row.seat == NOBODY:
        raise NotationError("seat: score needs a seat to act, the one that goes out")
    vector, closer = rules.vector(), int(row.seat)
    charged = [bool(int(row.in_round) >> seat & 1) for seat in range(int(row.num_seats))]
    return {
        "points": [
            int(seat_points(row, vector, seat, closer, in_hand)) if there else 0 for seat, there in enumerate(charged)
        ]
    }


def standings(rules: object, totals: object) -> dict[str, Any]:
    """How a match stands after a round with these totals.

    ``out`` lists the seats that meet the limit and do not come back by themselves; ``totals`` are those after re-entry,
    also of a seat that has yet to choose it: what it will have if it pays.
    """
    made = read_rules(rules)
    points = [
        read_integer(total, f"totals[{seat}]", 0, _MAX_TOTAL)
        for seat, total in enumerate(read_list(totals, "totals", MAX_SEATS))
    ]
    made.check_players(len(points))
    if made.match_mode == "single_hand":
        raise NotationError("rules.match_mode: under single_hand the seat that goes out wins, which no totals tell")
    rows = blank()
    row, everybody = rows[0], (1 << len(points)) - 1
    row.num_seats, row.in_match, row.in_round = len(points), everybody, everybody
    row.totals[: len(points)] = points
    vector = made.vector()
    by_elimination = vector[R_MATCH_MODE] == MATCH_ELIMINATION
    over_limit = [seat for seat, total in enumerate(points) if is_over(total, vector)]
    back_at = int(reentry_total(row, vector))
    first = int(leaders(row, vector))
    goes_on = first == 0 or (vector[R_TIE] == TIE_EXTRA_HAND and first.bit_count() > 1)
    if first == 0 and by_elimination:
        settle_totals(row, vector)
        over_limit = [seat for seat in over_limit if not int(row.in_match & ~row.pending_reentry) >> seat & 1]
        for seat in members_of(row.pending_reentry):
            row.totals[seat] = back_at
    return {
        "out": over_limit if by_elimination else [],
        "totals": row.totals[: len(points)].tolist(),
        "over": not goes_on,
        "winners": [] if goes_on else members_of(first),
    }


# --- requests ------------------------------------------------------------------------------------------------------

_REQUESTS: dict[str, tuple[str, ...]] = {
    "legal": ("position",),
    "explain": ("position", "action", "actions"),
    "apply": ("position", "actions"),
    "score": ("position", "closed_in_hand"),
    "standings": ("rules", "totals", "position"),
}


def answer(request: object) -> dict[str, Any]:
    """The answer to one request of ``query``; see the command's help.

    Raises:
        ValueError: the request is badly made; the message is one line.
    """
    if not isinstance(request, Mapping):
        raise NotationError(f"request: expected an object, got {shown(request)}")
    do = request.get("do")
    if not isinstance(do, str) or do not in _REQUESTS:
        raise NotationError(f"do: expected one of {', '.join(_REQUESTS)}, got {shown(do)}")
    read_mapping(request, "request", ("do", "id", *_REQUESTS[do]))
    position = request.get("position", {})
    if do == "legal":
        return legal(position)
    if do == "apply":
        return apply_texts(position, request.get("actions", ()))
    if do == "explain":
        return explain_text(position, _only_action(request))
    if do == "score":
        return score(position, request.get("closed_in_hand", False))
    return _standings_of(request)


def _only_action(request: Mapping[str, Any]) -> object:
    if "action" in request and "actions" in request:
        raise NotationError("action: give action or actions, not both")
    if "action" in request:
        return request["action"]
    texts: Sequence[Any] = read_list(request.get("actions", ()), "actions", 1)
    if not texts:
        raise NotationError("action: name the action to explain")
    return texts[0]


def _standings_of(request: Mapping[str, Any]) -> dict[str, Any]:
    if "position" not in request:
        return standings(request.get("rules", "standard"), request.get("totals", ()))
    if "totals" in request or "rules" in request:
        raise NotationError("request: give a position, or rules and totals")
    rules, rows = position_from_json(request["position"])
    return standings(rules.to_mapping(), rows[0].totals[: int(rows[0].num_seats)].tolist())
