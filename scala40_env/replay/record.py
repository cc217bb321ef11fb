"""Records: a game as one line of JSON, from which everything that happened can be played and checked again.

A record holds the rules (every flag, so that it stays true when a rulebook changes), the numbers that decide the
cards, who played, every action, and what came of it.  ``verify`` plays it again: each action must be legal where it
stands, and each result must be what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from scala40_env.core.game import Game
from scala40_env.core.invariants import explain
from scala40_env.core.json_fields import check_keys, members_of
from scala40_env.core.notation import NotationError, format_action
from scala40_env.core.quoting import shown
from scala40_env.core.rules import FLAGS, Rules, RulesError
from scala40_env.core.state import END_NAMES, NOBODY, PLAY

VERSION = 1


class RecordError(ValueError):
    """A record that cannot be read or does not come out; one line that names the line and what differs."""


class RoundResult(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a round ended."""

    end: str
    """A name of ``state.END_NAMES``."""
    closer: int | None
    closed_in_hand: bool
    points: list[int]
    """What each seat was charged."""
    turns: int


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One game: a round or a match."""

    version: int
    rules: dict[str, Any]
    players: int
    episode: Literal["round", "match"]
    seed: int
    game: int
    agents: list[str]
    """Who sat on each seat; empty where nobody says."""
    actions: list[int]
    rounds: list[RoundResult]
    totals: list[int]
    winners: list[int]
    """The seats that won the match; none where the episode is a round, or the game was not finished."""
    finished: bool
    thoughts: list[str | dict[str, Any] | None] | msgspec.UnsetType = msgspec.UNSET
    """What the seat that acted thought, one entry an action, where somebody noted it; a seat's own, so it may name
    cards that nobody else sees."""


_DECODER = msgspec.json.Decoder(Record)
_ENCODER = msgspec.json.Encoder()


def start(record: Record) -> Game:
    """The game of a record before its first action; raises ``ValueError`` where its rules or players cannot be."""
    missing = [flag.name for flag in FLAGS if flag.name not in record.rules]
    if missing:
        raise RulesError(f"rules.{missing[0]}: a record has every flag, and this one is missing")
    rules = Rules.from_mapping(record.rules)
    return Game(rules, record.players, seed=record.seed, game=record.game, episode=record.episode)


def make_record(
    rules: Rules,
    players: int,
    actions: Sequence[int],
    *,
    seed: int = 0,
    game: int = 0,
    episode: Literal["round", "match"] = "round",
    agents: Sequence[str] = (),
    thoughts: Sequence[str | dict[str, Any] | None] | None = None,
) -> Record:
    """The record of a game that went like this; the results are found by playing it.

    ``thoughts`` are what the seats thought, one entry an action.

    Raises:
        IllegalActionError: one of the actions is not legal where it stands.
        ValueError: thoughts that are more or fewer than the actions.
    """
    if thoughts is not None and len(thoughts) != len(actions):
        raise ValueError(f"thoughts: {len(thoughts)} for {len(actions)} actions")
    table = Game(rules, players, seed=seed, game=game, episode=episode)
    rounds: list[RoundResult] = []
    for action in actions:
        _play(table, int(action), rounds)
    return Record(
        version=VERSION,
        rules=rules.to_mapping(),
        players=players,
        episode=episode,
        seed=seed,
        game=game,
        agents=list(agents),
        actions=[int(action) for action in actions],
        rounds=rounds,
        totals=table.row.totals[:players].tolist(),
        winners=members_of(table.row.winners),
        finished=table.is_over,
        thoughts=msgspec.UNSET if thoughts is None else list(thoughts),
    )


def play_action(game: Game, action: int) -> bool:
    """Play an action; whether it ended a round, of which the row then says how."""
    number, phase = int(game.row["round"]), game.phase
    game.play(action)
    # a round is over where the next is dealt, and where none is: at the end, or while a seat chooses to come back
    return phase <= PLAY and (game.phase > PLAY or int(game.row["round"]) != number)


def _play(game: Game, action: int, rounds: list[RoundResult]) -> None:
    """Play an action and note a round that it ended."""
    if play_action(game, action):
        rounds.append(_round_result(game.row))


def _round_result(row: Any) -> RoundResult:
    return RoundResult(
        end=END_NAMES[int(row.end)],
        closer=None if row.closer == NOBODY else int(row.closer),
        closed_in_hand=bool(row.closed_in_hand),
        points=row.points[: int(row.num_seats)].tolist(),
        turns=int(row.ended_turns),
    )


def states(record: Record) -> Iterator[tuple[Game, int | None]]:
    """The game before each action, with the action, and last after all of them, with ``None``.

    The game is the same object each time, moved on.
    """
    game = start(record)
    for action in record.actions:
        yield game, action
        game.play(action)
    yield game, None


def verify(record: Record, line: int = 1) -> None:
    """Play a record again; raises ``RecordError`` at the first thing that differs."""
    where = f"line {line}"
    if record.version != VERSION:
        raise RecordError(f"{where}: version {shown(record.version)} is not one that is known; there is {VERSION}")
    try:
        game = start(record)
    except ValueError as error:
        raise RecordError(f"{where}: {error}") from None
    if record.agents and len(record.agents) != record.players:
        raise RecordError(f"{where}: agents: {len(record.agents)} names for {record.players} seats")
    if record.thoughts is not msgspec.UNSET and len(record.thoughts) != len(record.actions):
        raise RecordError(f"{where}: thoughts: {len(record.thoughts)} for {len(record.actions)} actions")
    rounds: list[RoundResult] = []
    for number, action in enumerate(record.actions):
        if game.is_over:
            raise RecordError(f"{where}: actions: the game is over after {number}, {len(record.actions)} are recorded")
        if not game.is_legal(action):
            raise RecordError(f"{where}: actions[{number}]: {_why_not(game, action)}")
        _play(game, action, rounds)
    _compare_results(record, game, rounds, where)


def _why_not(game: Game, action: int) -> str:
    if not 0 <= action < game.num_actions:
        return f"{shown(action)} is no action of these rules"
    text = format_action(action, game.row, game.rules)
    return f"{action} ({text}) is not legal: {explain(game.row, game.rules, action)}"


def _compare_results(record: Record, game: Game, rounds: list[RoundResult], where: str) -> None:
    if len(rounds) != len(record.rounds):
        raise RecordError(f"{where}: rounds: {len(record.rounds)} recorded, {len(rounds)} played")
    for number, (said, played) in enumerate(zip(record.rounds, rounds, strict=True)):
        for field in RoundResult.__struct_fields__:
            _compare(getattr(said, field), getattr(played, field), f"{where}: rounds[{number}].{field}")
    _compare(record.totals, game.row.totals[: record.players].tolist(), f"{where}: totals")
    _compare(record.winners, members_of(game.row.winners), f"{where}: winners")
    _compare(record.finished, game.is_over, f"{where}: finished")


def _compare(said: object, played: object, where: str) -> None:
    if said != played:
        brief = [msgspec.json.encode(value).decode()[:80] for value in (said, played)]
        raise RecordError(f"{where}: the record says {brief[0]}, playing it again gives {brief[1]}")


def encode(record: Record) -> bytes:
    """A record as one line of JSON, with its end of line."""
    return _ENCODER.encode(record) + b"\n"


def decode(text: bytes, line: int = 1) -> Record:
    """The record in a line; raises ``RecordError`` where the line is none, or only a part of one."""
    if not text.strip():
        raise RecordError(f"line {line}: empty")
    try:
        record = _DECODER.decode(text)
        check_keys(text)
        return record
    except RecursionError:
        raise RecordError(f"line {line}: not a record: nested too deeply") from None
    except (msgspec.MsgspecError, NotationError, UnicodeError) as error:
        raise RecordError(f"line {line}: not a record: {' '.join(str(error).split())[:160]}") from None


def write_records(path: str | Path, records: Iterable[Record], *, append: bool = False) -> int:
    """Write records to a file, one a line; how many there were."""
    count = 0
    with Path(path).open("ab" if append else "wb") as file:
        for record in records:
            file.write(encode(record))
            count += 1
    return count


def read_records(lines: Iterable[bytes]) -> Iterator[tuple[int, Record]]:
    """The records of a file that is open for reading bytes, with the numbers of their lines from 1."""
    for number, line in enumerate(lines, start=1):
        yield number, decode(line, number)


__all__ = [
    "Record",
    "RecordError",
    "RoundResult",
    "decode",
    "encode",
    "make_record",
    "play_action",
    "read_records",
    "start",
    "states",
    "verify",
    "write_records",
]
