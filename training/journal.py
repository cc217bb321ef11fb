"""The folder of a tournament: what has been played, kept so that a run that was killed can go on.

``plan.json`` says what is played; ``chunks.jsonl`` gets one line for each piece that has been played, written at once
and synchronised to the disk.  A line that was cut off by a kill is dropped when the file is opened again.  A line holds
deals in the order in which they got done, with their times, and the records of their games where these are kept; the
reports, made of the whole, hold neither that order nor the times.
"""

from __future__ import annotations

import base64
import json
import math
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from scala40_env.core.quoting import brief, shown
from scala40_env.replay.record import decode
from training.deals import ArenaError
from training.game_records import unpack
from training.play_deals import NUM_AGENT_COUNTS, NUM_CLOCKS, NUM_DEAL_COUNTS, Fault, Tally
from training.results import versions
from training.schedule import Chunk
from training.tournament import Tournament, source_digest

try:
    import fcntl
except ImportError:  # where there are no such locks, two runs in one folder are the user's care
    fcntl = None  # type: ignore[assignment]

PLAN, CHUNKS = "plan.json", "chunks.jsonl"
_FORMAT = 1
_Number = Annotated[int, Meta(ge=0)]
_Seconds = Annotated[float, Meta(ge=0, le=1e9)]


class _Line(msgspec.Struct, frozen=True):
    """A line of ``chunks.jsonl``: a piece that has been played, its counts and records packed."""

    line_up: _Number
    first: _Number
    deals: Annotated[int, Meta(ge=1)]
    seats: str
    games: str
    faults: list[tuple[_Number, _Number, _Number, str]]
    """Agent, deal, rotation and what it did, as ``Fault`` has them."""
    clocks: list[Annotated[list[_Seconds], Meta(min_length=NUM_CLOCKS, max_length=NUM_CLOCKS)]]
    seconds: _Seconds
    records: str | None = None


class Journal:
    """A folder that keeps what has been played.

    Args:
        folder: the folder; it is made where it does not exist.
        tournament: what is played.
        resume: go on with what is in the folder; without it, the folder must hold no tournament.
        record: keep the records of the games as well.

    Raises:
        ArenaError: a folder of another tournament, of other versions, or one that cannot be read.
        OSError: what the system says.
    """

    def __init__(self, folder: Path, tournament: Tournament, *, resume: bool = False, record: bool = False) -> None:
        self.folder = folder
        self.record = record
        self.played: list[tuple[Chunk, Tally, float]] = []
        self._tournament = tournament
        self._starts: list[int] = []  # where the line of each piece begins
        wanted = {
            "format": _FORMAT,
            **tournament.identity(),
            **({"record": True} if record else {}),
            "versions": versions(),
            "source": source_digest(),
        }
        if folder.exists() and not folder.is_dir():
            raise ArenaError(f"out: {folder} is no folder")
        plan = folder / PLAN
        if plan.exists() and not resume:
            raise ArenaError(f"out: {folder} holds a tournament already; --resume goes on with it")
        if plan.exists():
            _check_same(plan, wanted)
        elif folder.exists() and any(not file.name.startswith(".") for file in folder.iterdir()):
            raise ArenaError(f"out: {folder} is not empty and holds no {PLAN}")
        folder.mkdir(parents=True, exist_ok=True)
        if not plan.exists():
            write_whole(plan, (json.dumps(wanted, indent=1, ensure_ascii=False) + "\n").encode())
        self._file = os.open(folder / CHUNKS, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            with naming(self.folder / CHUNKS):
                self._lock()
                self._read()
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def add(self, chunk: Chunk, tally: Tally, seconds: float, records: str | None = None) -> None:
        """Keep what has been played; where the disk is full, what was kept before stays as it was."""
        made = _to_json(chunk, tally, seconds) | ({} if records is None else {"records": records})
        line = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
        data = f"{line}\n".encode()
        with naming(self.folder / CHUNKS):
            end = os.lseek(self._file, 0, os.SEEK_END)
            try:
                written = 0
                while written < len(data):
                    written += os.write(self._file, data[written:])
                os.fsync(self._file)
            except BaseException:
                os.ftruncate(self._file, end)
                raise
        self.played.append((chunk, tally, seconds))
        self._starts.append(end)

    def records(self, deals: int) -> Iterator[bytes]:
        """The records of the first so many deals of each line-up, a line each, by line-up, deal and rotation."""
        with naming(self.folder / CHUNKS), (self.folder / CHUNKS).open("rb") as file:
            for (chunk, tally, _), start in sorted(zip(self.played, self._starts), key=lambda one: one[0][0]):
                file.seek(start)
                lines = unpack(json.loads(file.readline())["records"], tally.games[..., 0].size)
                yield from lines[: max(0, deals - chunk.first) * len(tally.seating)]

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ArenaError(f"out: another run is writing to {self.folder}") from None

    def _read(self) -> None:
        path = self.folder / CHUNKS
        whole = 0
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):  # it was being written when the run was killed
                    break
                try:
                    self.played.append(_from_json(_loads(line), self._tournament, self.record))
                except ValueError as error:
                    raise ArenaError(f"out: {path}, line {number}: cannot be read: {error}") from None
                self._starts.append(whole)
                whole += len(line)
        reached: dict[int, int] = {}
        for chunk, _, _ in sorted(self.played, key=lambda played: played[0]):
            if chunk.first < reached.get(chunk.line_up, 0):
                raise ArenaError(f"out: {path}: deal {chunk.first} of line-up {chunk.line_up} is there twice")
            reached[chunk.line_up] = chunk.first + chunk.deals
        if whole < path.stat().st_size:
            os.ftruncate(self._file, whole)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Have what the system says within name a file, where it names none or a part of ``write_whole``."""
    try:
        yield
    except OSError as error:
        if error.filename is None or Path(os.fsdecode(error.filename)).name.startswith(f".{path.name}-"):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def write_whole(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file, in parts where they are many, so that it is there whole or not at all."""
    with naming(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines([content] if isinstance(content, bytes) else content)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _loads(text: bytes) -> Any:
    """What a JSON text holds; raises ``ValueError``."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _check_same(path: Path, wanted: dict[str, Any]) -> None:
    """Raise where a plan on disk is another one; the line names the first field that differs."""
    try:
        found = _loads(path.read_bytes())
    except ValueError as error:
        raise ArenaError(f"out: {path} cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(found, dict):
        raise ArenaError(f"out: {path} holds no plan")
    found, wanted = ({"record": False, **plan} for plan in (found, json.loads(json.dumps(wanted))))
    for name, value in wanted.items():
        if found.get(name) != value:
            where, there, here = _differing(name, found.get(name), value)
            raise ArenaError(
                f"out: {path.parent} holds another tournament: {where} is {brief(there)} there, {brief(here)} here"
            )


def _differing(name: str, there: Any, here: Any) -> tuple[str, Any, Any]:
    """Where two values of a field differ, as deep as both are objects or lists, and what each has there."""
    if isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        there, here = ({str(i): one for i, one in enumerate(values)} for values in (there, here))
    if not (isinstance(there, dict) and isinstance(here, dict)):
        return name, there, here
    key = next(key for key in sorted({*there, *here}) if there.get(key) != here.get(key))
    return _differing(f"{name}.{key}", there.get(key), here.get(key))


def _to_json(chunk: Chunk, tally: Tally, seconds: float) -> dict[str, Any]:
    return {
        **chunk._asdict(),
        "seats": _pack(tally.seats),
        "games": _pack(tally.games),
        "faults": [[fault.agent, fault.deal, fault.rotation, fault.message] for fault in tally.faults],
        "clocks": tally.clocks.tolist(),
        "seconds": seconds,
    }


def _from_json(found: Any, tournament: Tournament, record: bool) -> tuple[Chunk, Tally, float]:
    """The piece of a line and its seconds; raises ``ValueError``, which names the field."""
    line = msgspec.convert(found, _Line)
    chunk = Chunk(line.line_up, line.first, line.deals)
    if chunk.line_up >= len(tournament.line_ups):
        raise ValueError(f"there is no such line_up: {shown(chunk.line_up)}")
    if chunk.first > tournament.deals - chunk.deals:
        raise ValueError(f"there is no deal {shown(chunk.first + chunk.deals - 1)}: first {shown(chunk.first)}")
    num_agents = len(tournament.line_ups[chunk.line_up])
    seating = tournament.plan(chunk.line_up).seating()
    if len(line.clocks) != num_agents:
        raise ValueError(f"clocks: {len(line.clocks)} of {num_agents} agents")
    tally = Tally(
        _unpack("seats", line.seats, (chunk.deals, *seating.shape, NUM_AGENT_COUNTS)),
        _unpack("games", line.games, (chunk.deals, len(seating), NUM_DEAL_COUNTS)),
        seating,
        tuple(_fault(Fault(*fault), chunk, num_agents, len(seating)) for fault in line.faults),
        np.array(line.clocks, dtype=np.float64),
    )
    if record:
        _check_records(line.records or "", chunk, len(seating))
    return chunk, tally, line.seconds


def _fault(fault: Fault, chunk: Chunk, num_agents: int, rotations: int) -> Fault:
    """A fault that a piece can have; raises ``ValueError`` for others."""
    if fault.agent >= num_agents:
        raise ValueError(f"faults: there is no agent {shown(fault.agent)}")
    if not chunk.first <= fault.deal < chunk.first + chunk.deals:
        raise ValueError(f"faults: deal {shown(fault.deal)} is not of this piece")
    if fault.rotation >= rotations:
        raise ValueError(f"faults: there is no rotation {shown(fault.rotation)}")
    return fault


def _check_records(text: str, chunk: Chunk, rotations: int) -> None:
    """Raise ``ValueError`` where the packed records of a piece are not those of its games."""
    try:
        for number, line in enumerate(unpack(text, chunk.deals * rotations)):
            game = decode(line, number + 1).game
            if game != chunk.first + number // rotations or not line.endswith(b"\n"):
                raise ValueError(f"line {number + 1}: not the record of game {chunk.first + number // rotations}")
    except (ValueError, zlib.error) as error:
        raise ValueError(f"records: {error}") from None


def _pack(counts: NDArray[np.int64]) -> str:
    return base64.b64encode(zlib.compress(counts.astype("<i4").tobytes())).decode()


def _unpack(name: str, text: str, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The counts that a field holds; raises ``ValueError``, and unpacks no more than there have to be."""
    size = 4 * math.prod(shape)
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(base64.b64decode(text, validate=True), size + 1)
    except (ValueError, zlib.error) as error:
        raise ValueError(f"{name}: {error}") from None
    if len(data) != size or not unpacker.eof:
        raise ValueError(f"{name}: not the counts of {math.prod(shape[:-1])} lines")
    counts = np.frombuffer(data, dtype="<i4").reshape(shape).astype(np.int64)
    if counts.min() < 0:
        raise ValueError(f"{name}: a count below 0")
    return counts
