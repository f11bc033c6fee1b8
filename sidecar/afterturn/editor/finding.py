"""Finding refs in a line of text. Pure. Inside words and in other people's numbers are none (clients.md, 'Editors')."""

import re
from collections.abc import Iterator

from msgspec import Struct

_TOKEN = re.compile(r"[tb][1-9][0-9]{0,17}")
_LETTER = re.compile(r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|[\u0300-\u036f]")
"""What makes a word of what stands beside it, an accent on a letter too. Scripts without blanks do not."""

_PART_BEFORE = frozenset("#$%&@+=~^/\\.:?-")
"""Before a token these make it a part of something else: #t12, \\t12, src/t12, --t12, x.t12, tag:t12."""

_PART_AFTER = frozenset("%$@#=&([\\/+")
"""The same behind it: t12(), t12=3, t12/x."""

_PART_IF_MORE = frozenset(".:?-")
"""These only where something follows them at once: t12.py, t12:30, t12-rc; a sentence may end in `t12.`"""

_JOINERS = ("..", "-", "\u2013", "/", "+")
"""What may stand between two refs: t1..t4, t1-t4, t1/t2."""

A_REF = "a ref such as t12 or b3"
"""What belongs where something else is."""

LONGEST = 19
"""Chars of the longest ref."""

AROUND = 64
"""So many chars to either side of a place say whether a ref stands there."""


class Span(Struct, frozen=True):
    """A ref in a line; start and end are chars in it."""

    ref: str
    start: int
    end: int


def is_ref(text: str) -> bool:
    """Whether a text is a ref and nothing else."""
    return _TOKEN.fullmatch(text) is not None


def find_refs(line: str) -> Iterator[Span]:
    """The refs in a line, in order. Linear in its length."""
    joined_from = -1  # where a ref that is joined to the one before would begin
    for match in _TOKEN.finditer(line):
        start, end = match.span()
        if not (start == joined_from or _free_before(line, start)):
            continue
        joiner = _joiner(line, end)
        if joiner or _free_after(line, end):
            joined_from = end + len(joiner) if joiner else -1
            yield Span(match[0], start, end)


def ref_at(line: str, index: int) -> Span | None:
    """The ref that the char at `index` belongs to, or that ends there. Looks at `AROUND` chars to either side only."""
    offset = max(index - AROUND, 0)
    for span in find_refs(line[offset : index + AROUND]):
        if span.start + offset <= index <= span.end + offset:
            return Span(span.ref, span.start + offset, span.end + offset)
    return None


def begun_before(line: str, index: int) -> str | None:
    """What is typed of a ref right before `index`: "t", "b" or one with digits; None where no ref can begin."""
    start = index
    while start > 0 and index - start < LONGEST and line[start - 1].isascii() and line[start - 1].isdigit():
        start -= 1
    start -= 1
    if start < 0 or line[start] not in "tb" or line[start + 1 : start + 2] == "0" or not _free_before(line, start):
        return None
    return line[start:index] if start < index else None


def _free_before(line: str, start: int) -> bool:
    return start == 0 or not (line[start - 1] in _PART_BEFORE or _LETTER.match(line, start - 1))


def _free_after(line: str, end: int) -> bool:
    if end == len(line):
        return True
    after = line[end]
    if after in _PART_IF_MORE:
        return end + 1 == len(line) or not _LETTER.match(line, end + 1)
    return not (after in _PART_AFTER or _LETTER.match(line, end))


def _joiner(line: str, end: int) -> str:
    """What joins the ref that ends here to another one; "" where nothing does."""
    for joiner in _JOINERS:
        if line.startswith(joiner, end):
            other = _TOKEN.match(line, end + len(joiner))
            return joiner if other and _free_after_other(line, other.end()) else ""
    return ""


def _free_after_other(line: str, end: int) -> bool:
    return _free_after(line, end) or any(
        line.startswith(joiner, end) and _TOKEN.match(line, end + len(joiner)) for joiner in _JOINERS
    )
