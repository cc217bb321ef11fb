"""Writes the golden files anew: ``python -m tests.golden.regenerate``.  Read the difference before it is committed."""

from __future__ import annotations

from scala40_env.core.signature import signature
from tests.golden import perft
from tests.golden.games import FOLDER, GAMES, game_text, path_of

SIGNATURE = FOLDER / "signature.txt"


def main() -> None:
    """Write every file, and say which."""
    FOLDER.mkdir(exist_ok=True)
    for name, players, episode in GAMES:
        path_of(name, players).write_text(game_text(name, players, episode), encoding="utf-8")
        print(path_of(name, players).name)
    perft.write()
    print(perft.PATH.name)
    SIGNATURE.write_text(signature() + "\n", encoding="utf-8")
    print(SIGNATURE.name)


if __name__ == "__main__":
    main()
