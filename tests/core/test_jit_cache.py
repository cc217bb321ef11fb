"""The cache of compiled kernels: an edit of any source of the core is seen, and a second run compiles nothing.

A small kernel stands for the engine: ``jit.py`` and ``cards.py`` are copied into a package of their own, with one
module that uses them, and run in processes of their own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import scala40_env.core.jit

_CORE = Path(scala40_env.core.jit.__file__).parent

_USER = '''
from scala40_env.core.cards import LANE_BITS, bit_count
from scala40_env.core.jit import kernel


@kernel
def answer(mask):
    """Uses a function and a constant of another module."""
    return 1000 * bit_count(mask) + LANE_BITS
'''

_DRIVER = """
import numpy as np
from scala40_env.core.user import answer
print(answer(np.uint64(0b1011)))
"""


class _Package:
    """A package with a few of the core's modules, and its own cache folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.core = folder / "scala40_env" / "core"
        self.core.mkdir(parents=True)
        (self.core.parent / "__init__.py").touch()
        (self.core / "__init__.py").touch()
        for name in ("jit.py", "cards.py"):
            shutil.copy(_CORE / name, self.core / name)
        (self.core / "user.py").write_text(_USER)

    def run(self, **environment: str) -> int:
        """What the kernel returns in a new process."""
        variables = {
            **{name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")},
            "PYTHONPATH": str(self.folder),
            "SCALA40_CACHE_DIR": str(self.folder / "cache"),
            **environment,
        }
        done = subprocess.run(
            [sys.executable, "-P", "-c", _DRIVER], env=variables, capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    def edit(self, name: str, old: str, new: str) -> None:
        """Change one place of a module."""
        path = self.core / name
        text = path.read_text()
        assert text.count(old) == 1, f"{name} has {old!r} {text.count(old)} times"
        path.write_text(text.replace(old, new))

    @property
    def compiled(self) -> dict[str, int]:
        """The files of the cache, with the time of their last change."""
        return {str(path): path.stat().st_mtime_ns for path in (self.folder / "cache").rglob("*.nb?")}


@pytest.fixture
def package(tmp_path: Path) -> _Package:
    return _Package(tmp_path)


def test_a_second_run_compiles_nothing(package: _Package):
    assert package.run() == 3016
    before = package.compiled
    assert any(name.endswith(".nbi") for name in before)
    assert package.run() == 3016
    assert package.compiled == before


def test_an_edit_of_a_callee_in_another_file_is_seen(package: _Package):
    assert package.run() == 3016
    package.edit("cards.py", "np.uint64(56))", "np.uint64(56)) + 4")
    assert package.run() == 7016


def test_an_edit_of_a_constant_in_another_file_is_seen(package: _Package):
    assert package.run() == 3016
    package.edit("cards.py", "LANE_BITS = 16\n", "LANE_BITS = 17\n")
    assert package.run() == 3017


def test_an_edit_undone_finds_the_first_cache_again(package: _Package):
    assert package.run() == 3016
    before = package.compiled
    package.edit("cards.py", "LANE_BITS = 16\n", "LANE_BITS = 17\n")
    package.run()
    package.edit("cards.py", "LANE_BITS = 17\n", "LANE_BITS = 16\n")
    assert package.run() == 3016
    assert {name: package.compiled[name] for name in before} == before


def test_checks_of_bounds_have_a_cache_of_their_own(package: _Package):
    assert package.run() == 3016
    before = set(package.compiled)
    assert package.run(NUMBA_BOUNDSCHECK="1") == 3016
    assert set(package.compiled) > before


def test_interpreted_kernels_need_no_cache(package: _Package):
    assert package.run(NUMBA_DISABLE_JIT="1", PYTHONWARNINGS="ignore") == 3016
    assert package.compiled == {}


def test_a_cache_folder_that_cannot_be_written_only_costs_time(package: _Package):
    (package.folder / "cache").touch()  # a file where the folder should be
    assert package.run() == 3016


def test_a_cache_folder_that_cannot_be_written_leaves_nothing_beside_the_sources(package: _Package):
    (package.folder / "cache").touch()
    package.run()
    assert not list(package.folder.rglob("*.nb?"))


def test_a_first_run_says_that_its_work_cannot_be_kept(tmp_path: Path):
    (tmp_path / "cache").touch()
    environment = {**os.environ, "SCALA40_CACHE_DIR": str(tmp_path / "cache" / "x")}
    program = "from scala40_env.core import first_run; first_run.prepare()"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    line = (
        f"scala40: compiling the engine for this machine, and it cannot be kept: {tmp_path}/cache/x is not writable ..."
    )
    assert done.stderr == line + "\n"


def test_the_second_process_of_a_first_run_leaves_nothing_behind(tmp_path: Path):
    program = (
        "import gc, warnings; warnings.simplefilter('error')\n"
        "from scala40_env.core import first_run\n"
        "first_run.prepare(); gc.collect()\n"
    )
    environment = {**os.environ, "SCALA40_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stderr == "scala40: compiling the engine for this machine, once (about half a minute) ...\n"
