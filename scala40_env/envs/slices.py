"""The names of the parts of an observation: a slice, and a layout of slices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Slice:
    """A named part of an observation: ``observation[offset : offset + length]``."""

    name: str
    offset: int
    length: int
    meaning: str
    low: int
    high: int
    """The range of each number, both ends included."""

    def of(self, observation: NDArray[Any]) -> NDArray[Any]:
        """This part of an observation, or of many: a view, the last axis cut."""
        return observation[..., self.offset : self.offset + self.length]


@dataclass(frozen=True)
class Layout:
    """All slices of an observation, in order and without gaps."""

    slices: tuple[Slice, ...]

    @property
    def size(self) -> int:
        """How many numbers there are."""
        last = self.slices[-1]
        return last.offset + last.length

    def __getitem__(self, name: str) -> Slice:
        for part in self.slices:
            if part.name == name:
                return part
        raise KeyError(name)

    @property
    def low(self) -> NDArray[np.uint8]:
        """The least that each number can be: ``uint8``, shape ``(size,)``."""
        return np.concatenate([np.full(part.length, part.low, dtype=np.uint8) for part in self.slices])

    @property
    def high(self) -> NDArray[np.uint8]:
        """The greatest that each number can be: ``uint8``, shape ``(size,)``."""
        return np.concatenate([np.full(part.length, part.high, dtype=np.uint8) for part in self.slices])
