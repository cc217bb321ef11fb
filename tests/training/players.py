"""Players that tests put into an arena: some of them misbehave."""

import os
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core.rules import Rules


class Stop(BaseException):
    """No ``Exception``, and no interrupt."""


class WordlessError(Exception):
    """One that cannot be put into words."""

    def __str__(self) -> str:
        raise Stop("no words")


class First:
    """Plays the first legal action, after a pause; after so many turns of a game something else, if asked to."""

    def __init__(self, *, then: str = "first", after: int = 10, pause: float = 0.0) -> None:
        self.name = f"first-{then}"
        self.then = then
        self.after = after
        self.pause = pause

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> Any:
        time.sleep(self.pause)
        if int(rows[0].turns[int(rows[0].seat)]) < self.after:
            return legal[0]
        if self.then == "raise":
            raise RuntimeError("out of ideas\nfor good")
        if self.then == "half of a character":
            raise RuntimeError("no such file: o\udcff")
        if self.then == "address":
            raise RuntimeError(f"a card for {object()} at 7 of 0x10")
        if self.then == "exit":
            raise SystemExit(3)
        if self.then == "stop":
            raise Stop("at once")
        if self.then == "wordless":
            raise WordlessError
        if self.then == "surrogate":
            raise RuntimeError("bad \ud800 name \x1b[31m")
        if self.then == "key":
            raise KeyError(object())
        if self.then == "die":
            os._exit(7)
        if self.then == "hang":
            while True:
                time.sleep(60)
        if self.then == "mutate":
            rows[0].hand_jokers[:] = 4
            rows[0].phase = 3
            first = int(legal[0])
            legal[:] = 744
            return first
        answers = {"first": legal[0], "illegal": 744, "far": 10**30, "huge": 10**5000, "none": None, "text": "draw"}
        answers |= {"half": 1.5, "object": object(), "list": [1] * 99, "long": "x" * 999}
        return answers[self.then]


class Slow(First):
    """Takes a while for its first decision, as if it had something to load, and ends its process where it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded = False

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> Any:
        if rng == 0:
            os._exit(7)
        if not self.loaded:
            time.sleep(3)
        self.loaded = True
        return legal[0]


class Thinks(First):
    """Plays the first legal action, and says how many there were; or something else, if asked to."""

    def __init__(self, *, kind: str = "plain", pause: float = 0.0) -> None:
        super().__init__(pause=pause)
        self.kind = kind
        self.seen = 0

    def act(self, rows: NDArray[Any], legal: NDArray[np.int16], rules: Rules, rng: int | None = None) -> Any:
        self.seen = len(legal)
        return super().act(rows, legal, rules, rng)

    @property
    def thought(self) -> Any:
        if self.kind == "raise":
            raise RuntimeError("no words for it")
        if self.kind == "die":
            os._exit(7)
        if self.kind == "hang":
            time.sleep(60)
        return {"plain": {"legal": self.seen}, "text": f"one of {self.seen}", "odd": {"legal": object()}}[self.kind]
