"""The one ``kernel`` decorator, and a compilation cache that is never stale.

Numba's own ``cache=True`` looks only at the file of the function that it caches: after an edit of a
function that a kernel *calls*, in another file, the old result is returned.  Here the cache lies in a
folder whose name is a digest of all that its source imports, so that an edit anywhere below it starts a new folder.

The folder is ``$SCALA40_CACHE_DIR``, or ``scala40`` in the user's cache folder.  Folders that no run has used
for a month are removed.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import inspect
import os
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import event
from numba.core.dispatcher import Dispatcher

if numba.config.DISABLE_JIT:
    np.seterr(over="ignore")  # mixing numbers overflows on purpose; compiled code says nothing

F = TypeVar("F", bound=Callable[..., object])

_MONTH = 30 * 24 * 3600.0


def _cache_root() -> Path:
    chosen = os.environ.get("SCALA40_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "scala40"


@cache
def _direct_imports(file: Path, roots: tuple[Path, ...]) -> tuple[Path, ...]:
    """The sources under some folders that a source file names in its imports."""
    found = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        sources = (root.joinpath(*name.split(".")).with_suffix(".py") for name in names for root in roots)
        found += [source for source in sources if source.is_file()]
    return tuple(found)


@cache
def _digest(file: Path) -> bytes:
    return hashlib.sha256(file.name.encode() + file.read_bytes()).digest()


def _imports(file: Path) -> set[Path]:
    """A source file and all that it imports, all the way down: from the packages beside its own, and from this one."""
    own = next(folder for folder in file.parents if not (folder / "__init__.py").exists())
    roots = tuple({own, Path(__file__).resolve().parents[2]})
    found = {file}
    waiting = [file]
    while waiting:
        new = set(_direct_imports(waiting.pop(), roots)) - found
        found |= new
        waiting += new
    return found


@cache
def _cache_folder(file: Path) -> Path:
    """The cache folder of the kernels of a source file."""
    state = hashlib.sha256(repr((numba.__version__, bool(numba.config.BOUNDSCHECK))).encode())
    for source in sorted(_imports(file)):
        state.update(_digest(source))
    folder = _cache_root() / f"{file.stem}-{state.hexdigest()[:16]}"
    try:
        _forget_old_folders(folder)
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:
        pass  # a cache folder that cannot be written: Numba compiles anew in each process
    return folder


def _is_usable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _forget_old_folders(kept: Path) -> None:
    root = kept.parent
    if kept.exists() or not root.is_dir():
        return
    for folder in root.iterdir():
        if folder.is_dir() and time.time() - folder.stat().st_mtime > _MONTH:
            shutil.rmtree(folder, ignore_errors=True)


def kernel(function: F) -> F:
    """Compile ``function`` with Numba, cached, without the GIL.

    A kernel allocates nothing: what it writes to is passed in.  So it is compiled without Numba's reference counts
    (``_nrt``), which took half the time of a decision to count the views of arrays; a kernel that makes an array is
    refused when it is compiled.

    With ``NUMBA_DISABLE_JIT=1`` the plain function is returned, so that coverage and a debugger see it.
    """
    return _compile(function, inline="never")


def inlined(function: F) -> F:
    """As ``kernel``, for a function that is tiny, or is called in one place only.

    It becomes a part of its callers before they are compiled.  A function that Numba compiles by itself costs a
    fifth of a second and more, whatever its size, and is optimised again in each kernel above it; the first run
    waits for all of that.
    """
    return _compile(function, inline="always")


def _compile(function: F, inline: str) -> F:
    source = Path(inspect.getfile(function)).resolve()
    folder = _cache_folder(source) if source.is_file() else None  # what is typed at a prompt is not kept
    # Where the folder cannot be used Numba would keep the result beside the source, and not see when it is stale.
    cached = folder is not None and _is_usable(folder)
    kept = numba.config.CACHE_DIR
    if cached:
        numba.config.CACHE_DIR = str(folder)
    try:
        options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "inline": inline, "_nrt": False}
        compiled = numba.njit(cache=cached, **options)(function)
    finally:
        numba.config.CACHE_DIR = kept
    if isinstance(compiled, Dispatcher):
        _compile_once_for_all_constants(compiled)
    return compiled  # type: ignore[no-any-return]


def _compile_once_for_all_constants(dispatcher: Dispatcher) -> None:
    """Let a kernel that is called with a constant be the one compiled for any number, not one of its own."""
    find = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        plain = {name: numba.types.unliteral(kind) for name, kind in kws.items()}
        return find(tuple(numba.types.unliteral(kind) for kind in args), plain)

    dispatcher.get_call_template = get_call_template  # type: ignore[method-assign]


def cache_fault() -> str | None:
    """Why compiled kernels cannot be kept for the next process, or ``None`` where they can."""
    usable = _is_usable(_cache_folder(Path(__file__).resolve()))
    return None if usable else f"{_cache_root()} is not writable"


def is_compiled(module: str) -> bool:
    """Whether kernels of a module of the core are in the cache, or need not be, since nothing is compiled."""
    folder = _cache_folder(Path(__file__).with_name(f"{module}.py").resolve())
    return bool(numba.config.DISABLE_JIT) or any(folder.rglob("*.nbi"))


class _CollectsNoGarbage(event.Listener):  # type: ignore[misc]
    """Keeps the garbage collector out of compilations: it would look again and again at what is still in use."""

    def __init__(self) -> None:
        self._depth = 0
        self._was_on = False

    def on_start(self, event: Any) -> None:
        """A compilation begins, perhaps within another."""
        if self._depth == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """A compilation has ended."""
        self._depth -= 1
        if self._depth == 0 and self._was_on:
            gc.enable()


event.register("numba:compile", _CollectsNoGarbage())
