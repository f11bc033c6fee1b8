"""The last lines of an output that say something."""

import re

from afterturn.condense.extract.output import is_wrapping
from afterturn.condense.extract.safe import is_instruction

_WORDS = re.compile(r"[^\W\d_]{2,}")
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{60}")
_LONG_WORD = 60
# Encoded bytes have a slash in 64 chars; a path has more of them.
_MANY_SLASHES = 3
# The first pair is written out, so that the search can skip to its first digit.
_HEX_PAIRS = re.compile(r"[0-9a-fA-F][0-9a-fA-F][ :](?:[0-9a-fA-F]{2}[ :]){7}")
_MANY_PAIRS = 8


def says_something(line: str) -> bool:
    """Whether a line has words of its own: no rule, frame, encoded bytes or order to the reader."""
    line = line[:400]
    return (
        _WORDS.search(line) is not None
        and not _is_noise(line)
        and not is_wrapping(line)
        and not is_instruction(line.strip())
    )


def _is_noise(line: str) -> bool:
    """Whether a line holds encoded bytes."""
    if len(line) >= _LONG_WORD and max(map(len, line.split())) >= _LONG_WORD:
        encoded = _ENCODED.search(line)
        if encoded is not None and encoded[0].count("/") < _MANY_SLASHES:
            return True
    return line.count(" ") + line.count(":") >= _MANY_PAIRS and _HEX_PAIRS.search(line) is not None


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
