"""The one ``kernel`` decorator, and a compilation cache that is never stale.

Numba's own ``cache=True`` looks only at the file of the function that it caches: after an edit of a
function that a kernel *calls*, in another file, the old result is returned.  Here the cache lies in a
folder whose name is a digest of every source that a kernel may depend on, so that an edit anywhere in
the core starts a new folder.

The folder is ``$SCALA40_CACHE_DIR``, or ``scala40`` in the user's cache folder.  Folders that no run has used
for a month are removed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])

_MONTH = 30 * 24 * 3600.0


def _cache_root() -> Path:
    chosen = os.environ.get("SCALA40_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "scala40"


@cache
def _digest(folder: Path) -> str:
    """The digest of every Python source under ``folder`` (names and contents)."""
    state = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        state.update(path.relative_to(folder).as_posix().encode())
        state.update(path.read_bytes())
    return state.hexdigest()


@cache
def _cache_folder(sources: Path) -> Path:
    """The cache folder of kernels whose own package lies in ``sources``."""
    core = Path(__file__).resolve().parent
    state = hashlib.sha256(_digest(core).encode())
    if sources != core:
        state.update(_digest(sources).encode())
    state.update(repr((numba.__version__, bool(numba.config.BOUNDSCHECK))).encode())
    folder = _cache_root() / state.hexdigest()[:16]
    try:
        _forget_old_folders(folder)
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:
        pass  # a cache folder that cannot be written: Numba compiles anew in each process
    return folder


def _forget_old_folders(kept: Path) -> None:
    root = kept.parent
    if kept.exists() or not root.is_dir():
        return
    for folder in root.iterdir():
        if folder.is_dir() and time.time() - folder.stat().st_mtime > _MONTH:
            shutil.rmtree(folder, ignore_errors=True)


def _source_folder(function: Callable[..., object]) -> Path:
    """The folder of the top-level package of ``function``; of the core, for the core's own."""
    file = Path(function.__code__.co_filename).resolve()  # type: ignore[attr-defined]
    core = Path(__file__).resolve().parent
    if core in file.parents:
        return core
    package = sys.modules.get(function.__module__.split(".")[0])
    paths = list(getattr(package, "__path__", []))
    return Path(paths[0]).resolve() if paths else file.parent


def kernel(function: F) -> F:
    """Compile ``function`` with Numba, cached, without the GIL.

    With ``NUMBA_DISABLE_JIT=1`` the plain function is returned, so that coverage and a debugger see it.
    """
    kept = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_cache_folder(_source_folder(function)))
    try:
        compiled: F = numba.njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    finally:
        numba.config.CACHE_DIR = kept
    return compiled


_announced = False


def announce_compilation() -> None:
    """Say once, on standard error, that the engine is being compiled, where nothing is cached yet."""
    global _announced
    if _announced or numba.config.DISABLE_JIT:
        return
    _announced = True
    folder = _cache_folder(Path(__file__).resolve().parent)
    if not any(folder.rglob("*.nbi")):
        print("scala40: compiling the engine for this machine, once (about 20 seconds) ...", file=sys.stderr, flush=True)
