"""Spans: the stretches of a text that are to be replaced.

Positions are chars from the start of the text, the end is exclusive.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

# What stands where a secret stood; types are never longer.
CUT_MARKER = r"\[REDACTED:[a-z0-9-]{1,40}"
MARKER = CUT_MARKER + r"\]"
_MARKER = re.compile(MARKER)
_HEAD = "[REDACTED:"
_LONGEST = len(_HEAD) + 41

# Who names a stretch that several rules found: the form of a known key says more than the name it is stored under.
BY_FORM = 0
BY_PLACE = 1
BY_NAME = 2
BY_SETTING = 3


class Span(Struct, order=True, frozen=True):
    """One stretch to replace.

    start, end: chars. rank: one of BY_FORM .. BY_SETTING; the lowest names a merged stretch. type: what the marker
    says, such as "github-token".
    """

    start: int
    end: int
    rank: int
    type: str


def marker(type: str) -> str:
    """What stands where a secret of that type stood."""
    return f"[REDACTED:{type}]"


def has_markers(text: str) -> bool:
    """A quick look; True says that there may be some."""
    return _HEAD in text


def outside_markers(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """The spans without the markers in the text, which no rule may cover or cut, whether we made them or somebody else.

    Of a span in which markers stand, the parts between them stay, as far as there is more in them than marks.
    """
    for span in spans:
        start, end = span.start, span.end
        for found in _MARKER.finditer(text, max(0, start - _LONGEST + 1), end + _LONGEST):
            if found.end() <= start:
                continue
            if found.start() >= end:
                break
            yield from _part(text, span, start, found.start())
            start = found.end()
        if start == span.start:
            yield span
        else:
            yield from _part(text, span, start, end)


def _part(text: str, span: Span, start: int, end: int) -> Iterator[Span]:
    if any(map(str.isalnum, text[start:end])):
        yield Span(start, end, span.rank, span.type)


def merged(spans: Iterable[Span]) -> list[Span]:
    """The spans in order of start, those that overlap made one."""
    result: list[Span] = []
    for span in sorted(spans):
        if not result or span.start >= result[-1].end:
            result.append(span)
            continue
        last = result[-1]
        first = min(last, span, key=lambda one: (one.rank, one.start))
        result[-1] = Span(last.start, max(last.end, span.end), first.rank, first.type)
    return result
