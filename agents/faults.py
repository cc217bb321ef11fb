"""What went wrong with an agent, in words that can be printed and kept, whatever the agent does."""

from __future__ import annotations

import re

_MOST = 200
_READ = 4000
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def one_line(error: BaseException) -> str:
    """An exception in one line of at most 200 printable characters, the same each time: addresses are left out."""
    name = type(error).__name__
    try:
        text = f"{name}: {error}"
    except KeyboardInterrupt:
        raise
    except BaseException:  # an exception of the user's own may fail at this as well
        text = name
    return plain(_ADDRESS.sub("", text[:_READ]).rstrip(": "))[:_MOST]


def plain(text: str) -> str:
    """A text on one line, what cannot be printed escaped: it can be written as UTF-8."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in " ".join(text.split()))
