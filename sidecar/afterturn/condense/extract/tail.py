"""The last lines of an output that say something."""

import re

from afterturn.condense.extract.output import is_wrapping
from afterturn.condense.extract.safe import is_instruction

_WORDS = re.compile(r"[^\W\d_]{2,}")
_NOISE = re.compile(r"[A-Za-z0-9+/=_-]{60,}|(?:[0-9a-fA-F]{2}[ :]){8,}")


def says_something(line: str) -> bool:
    """Whether a line has words of its own: no rule, frame, encoded bytes or order to the reader."""
    line = line[:400]
    return (
        _WORDS.search(line) is not None
        and _NOISE.search(line) is None
        and not is_wrapping(line)
        and not is_instruction(line.strip())
    )


def last_lines(lines: list[str], count: int = 2) -> list[str]:
    """Up to `count` last lines that say something, in their order, each once."""
    found: list[str] = []
    for line in reversed(lines[-60:]):
        text = line.strip()
        if text and says_something(line) and text not in found:
            found.append(text)
            if len(found) >= count:
                break
    return found[::-1]


def first_lines(lines: list[str], count: int = 2) -> list[str]:
    """Up to `count` first lines that say something."""
    found: list[str] = []
    for line in lines[:60]:
        text = line.strip()
        if text and says_something(line) and text not in found:
            found.append(text)
            if len(found) >= count:
                break
    return found
