"""Secrets with something in or beside them that nobody sees: the colours of `grep --color` or of a printed object,
marks without width. Such a text is scanned as it is read, too; what is found there is replaced in the text as it is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache

from afterturn.redact.span import Span
from afterturn.text import C1_ESCAPE, ESCAPE, INVISIBLE

_ESCAPE = "\x1b"
# The same as JSON has it, and what else is not seen: a quick look.
_HINTS = ("\x9b", "\x00", "\\u001b")
_MARKS = tuple("\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\ufeff")


def is_parted(text: str) -> bool:
    """Whether there is anything in the text that nobody sees."""
    return _ESCAPE in text or _has_more(text)


def _has_more(text: str) -> bool:
    return any(hint in text for hint in _HINTS) or (not text.isascii() and any(mark in text for mark in _MARKS))


@cache
def _unseen() -> re.Pattern[str]:
    in_json = r"\\u001b\[[0-?]{0,32}[ -/]{0,4}[@-~]|\\u(?:200[bef]|202[a-e]|206[0-4]|feff)"
    return re.compile(rf"{ESCAPE}|{C1_ESCAPE}|[{INVISIBLE}]|{in_json}")


@cache
def _escapes() -> re.Pattern[str]:
    return re.compile(ESCAPE)


class Seen:
    """A text as it is read. text: without what nobody sees."""

    def __init__(self, whole: str) -> None:
        self._whole = whole
        # With escapes alone a search skips from one to the next.
        self._pattern = _unseen() if _has_more(whole) else _escapes()
        self.text = self._pattern.sub("", whole)

    def within(self, spans: Iterable[Span]) -> list[Span]:
        """The same spans in the text as it is."""
        found = list(spans)
        if not found:
            return []
        ends = [0]  # of what is not seen: there the seen parts begin, in chars of the whole
        begins = [0]  # the same in chars of what is seen
        for unseen in self._pattern.finditer(self._whole):
            begins.append(begins[-1] + unseen.start() - ends[-1])
            ends.append(unseen.end())

        def place(at: int) -> int:
            part = bisect_right(begins, at) - 1
            return ends[part] + at - begins[part]

        return [Span(place(span.start), place(span.end - 1) + 1, span.rank, span.type) for span in found]
