"""The faces with the oldest and with the newest versions of their libraries: ``python -m tests.versions``.

Each set of versions gets a virtual environment of its own, in a temporary folder.  What is installed is what
``pyproject.toml`` asks for, held to ``constraints-oldest.txt`` or ``constraints.txt``: where the oldest cannot be had
together, or where a bound admits less than is pinned, that ends in an error of pip's.  It takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
SETS = {"oldest": ROOT / "constraints-oldest.txt", "newest": ROOT / "constraints.txt"}
TESTS = [
    "envs/test_pettingzoo.py",
    "envs/test_gymnasium.py",
    "envs/test_vector.py",
    "envs/test_sb3.py",
    "replay/test_record.py",  # msgspec
    "training/test_arena_command.py",  # rich
]
SHOWN = ["gymnasium", "numba", "numpy", "pettingzoo", "sb3_contrib", "stable_baselines3", "torch"]
_CLOSING = re.compile(r"^.*\b(?:passed|failed|error|errors|skipped)\b.* in [\d.:]+.*$", re.MULTILINE)

console = Console(stderr=True)


def requirements() -> list[str]:
    """What the package and its extra ``train`` ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["train"]]


def unpinned_bounds(asked: list[str], pins: str) -> list[str]:
    """The requirements whose lower bound ``pins`` does not pin exactly; a bound that nobody tries is a guess."""
    pinned = dict(line.split("==") for line in pins.splitlines() if "==" in line and not line.startswith("#"))
    pinned = {name.replace("_", "-"): version for name, version in pinned.items()}
    wrong = []
    for requirement in asked:
        name, _, bound = requirement.partition(">=")
        shown = pinned.get(name, "")
        if bound and name != "torch" and re.sub(r"(\.0)+$", "", shown) != re.sub(r"(\.0)+$", "", bound):
            wrong.append(requirement)
    return wrong


def install(folder: Path, constraints: Path) -> Path:
    """A virtual environment with the requirements and pytest; returns its interpreter.

    Raises:
        subprocess.CalledProcessError: pip found no versions that fit, or could not fetch them.
    """
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    subprocess.run([*pip, "--constraint", str(constraints), *requirements(), "pytest"], check=True)
    return python


def versions(python: Path) -> dict[str, str]:
    """The versions of the libraries that matter, as installed."""
    code = "import sys; from importlib.metadata import version; print(*[version(name) for name in sys.argv[1:]])"
    done = subprocess.run([str(python), "-c", code, *SHOWN], check=True, capture_output=True, text=True)
    return dict(zip(SHOWN, done.stdout.split()))


def run_tests(python: Path, cache: Path) -> tuple[bool, str]:
    """Run the tests; whether all passed, and pytest's closing line."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCALA40_CACHE_DIR": str(cache)}
    command = [str(python), "-m", "pytest", "--quiet", "-p", "no:cacheprovider", *TESTS]
    done = subprocess.run(command, cwd=ROOT / "tests", env=environment, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
    closing = _CLOSING.findall(done.stdout)
    return done.returncode == 0, closing[-1] if closing else f"exit status {done.returncode}"


def check(name: str, table: Table) -> bool:
    """Install and run one set, and add a row to the table."""
    with tempfile.TemporaryDirectory(prefix=f"scala40-{name}-") as folder:
        console.print(f"{name}: installing ...")
        try:
            python = install(Path(folder) / "venv", SETS[name])
        except subprocess.CalledProcessError:
            table.add_row(name, *["-"] * len(SHOWN), "cannot be installed")
            return False
        found = versions(python)
        console.print(f"{name}: testing ...")
        fine, closing = run_tests(python, Path(folder) / "cache")
    table.add_row(name, *found.values(), closing)
    return fine


def main(arguments: list[str] | None = None) -> int:
    """Check both sets, or one; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.versions", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(SETS), help="one set alone")
    chosen = parser.parse_args(arguments)
    wrong = unpinned_bounds(requirements(), SETS["oldest"].read_text("utf-8"))
    if wrong:
        print(f"{SETS['oldest'].name}: does not pin the bound of {', '.join(wrong)}", file=sys.stderr)
        return 1
    table = Table("", *SHOWN, "result")
    fine = [check(name, table) for name in ([chosen.only] if chosen.only else SETS)]
    Console(width=160).print(table)
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
