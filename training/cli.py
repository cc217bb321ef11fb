"""``scala40 train``: begin a training run from a file of settings, or go on with one."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.base import AgentError
from scala40_env.cli import Parser
from training.config import ALGORITHMS, SB3, ConfigError, load


def main(argv: Sequence[str]) -> int:
    """Run the command; returns 0, 2 for bad input, 130 where Ctrl-C ended it."""
    parser = Parser(
        prog="scala40 train",
        description="Train an agent: ppo and dmc by self-play, clone by imitating a bot, sb3 by MaskablePPO of "
        "sb3-contrib against a bot. Ctrl-C ends a run of the first three cleanly, and `resume` goes on with it.",
    )
    what = (*ALGORITHMS, "resume")
    parser.add_argument("what", choices=what, help="an algorithm, or `resume` and the folder of a run")
    parser.add_argument("folder", nargs="?", metavar="RUN", help="the run to go on with")
    parser.add_argument("--config", type=Path, metavar="FILE", help="TOML with settings (those of training/config.py)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="one setting; may be repeated")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="the folder of the run (runs/ALGORITHM-DATE-TIME)")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    args = parser.parse_args(argv)
    try:
        return _run(args, shlex.join(["scala40", "train", *argv]))
    except (ConfigError, AgentError, ValueError, OSError) as error:
        print(f"scala40 train: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


def _run(args: object, command: str) -> int:
    what, folder = args.what, args.folder  # type: ignore[attr-defined]
    config, changes, out = args.config, args.set, args.out  # type: ignore[attr-defined]
    if what == "resume":
        if folder is None:
            raise ConfigError("RUN: expected the folder of a run")
        if config is not None or changes or out is not None:
            raise ConfigError("resume: a run goes on with its own settings; --config, --set and --out do not apply")
    elif folder is not None:
        raise ConfigError(f"RUN: only `resume` takes a folder; --out says where a new run goes, got {folder!r}")
    settings = None if what == "resume" else load(ALGORITHMS[what], config, changes)
    try:
        import torch  # noqa: F401  only asked whether it is there
    except ImportError:
        raise ConfigError("training needs PyTorch: pip install 'scala40-env[train]'") from None
    out = out or Path("runs") / time.strftime(f"{what}-%Y%m%d-%H%M%S")
    if isinstance(settings, SB3):
        return _run_sb3(out, settings, command, quiet=args.quiet)  # type: ignore[attr-defined]
    from training.runs import BEST, Run

    run = Run.resume(Path(folder)) if settings is None else Run.begin(out, settings, command)
    if settings is None and run.trainer.is_done():
        print(f"{run.folder}: has had all its decisions; they are measured again")
    done = run.train(quiet=args.quiet)  # type: ignore[attr-defined]
    if not done:
        print(f"stopped; `scala40 train resume {run.folder}` goes on")
        return 130
    _show(run.tests)
    print(f"best weights: {run.folder / BEST}; curves: {run.folder / 'curves.png'}")
    return 0


def _run_sb3(out: Path, settings: SB3, command: str, *, quiet: bool) -> int:
    try:
        from training import sb3_maskable_ppo
    except ImportError:
        raise ConfigError("sb3 needs sb3-contrib: pip install 'scala40-env[train]'") from None
    _show(sb3_maskable_ppo.train(out, settings, command, quiet=quiet))
    print(f"weights: {out / sb3_maskable_ppo.WEIGHTS}; Stable-Baselines3's own: {out / sb3_maskable_ppo.MODEL}")
    return 0


def _show(tests: Mapping[str, Any]) -> None:
    for name, result in tests.items():
        mean, half = result.gained.mean, result.gained.half_width
        print(f"against {name}: {mean:+.2f} ± {half:.2f} points a round, {result.won:.1%} of the rounds won")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
