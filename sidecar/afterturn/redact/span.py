"""Spans: the stretches of a text that are to be replaced.

Positions are chars from the start of the text, the end is exclusive.
"""

from collections.abc import Iterable

from msgspec import Struct

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
