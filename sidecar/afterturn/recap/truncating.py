"""Cuts a part of a prompt to its cap: the beginning and the end stay (recap.md, 'Input').

Lengths are chars. Whatever the size of a text, the work on it is bounded by its cap.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from afterturn.recap.sanitising import sanitise
from afterturn.text import ELLIPSIS

Redact = Callable[[str], str]
"""Gives a text without its secrets."""

# Read beyond a cut, so that the redactor sees a secret whole that the cut would halve.
_MARGIN = 6000
# Never kept of a text that was read in part: a secret that began here may go on where nobody looked.
_UNSURE = 500
_JOINERS = "\u200c\u200d"
_MAX_MARKS = 16
_MAX_DEPTH = 8
_MAX_KEY = 100


def keep_ends(text: str, limit: int) -> str:
    """`text`, or its first and last `limit` // 2 chars around a marker that says how much is missing."""
    if len(text) <= limit:
        return text
    head = text[: boundary(text, limit // 2)]
    tail = text[_next_boundary(text, len(text) - limit // 2) :]
    return head + _marker(len(text) - len(head) - len(tail)) + tail


def safe_ends(text: str, limit: int, redact: Redact) -> str:
    """Like `keep_ends`, for text as it came: sanitised and redacted first, of a long one only what is near its ends."""
    span = limit // 2 + _MARGIN
    if len(text) <= 2 * span:
        return keep_ends(redact(sanitise(text)), limit)
    first = redact(sanitise(text[:span]))
    last = redact(sanitise(text[-span:]))
    head = first[: boundary(first, min(limit // 2, max(len(first) - _UNSURE, 0)))]
    tail = last[_next_boundary(last, len(last) - min(limit // 2, max(len(last) - _UNSURE, 0))) :]
    return head + _marker(len(text) - len(head) - len(tail)) + tail


def safe_head(text: str, limit: int, redact: Redact) -> str:
    """The first `limit` chars at most, sanitised and redacted."""
    if len(text) <= limit + _MARGIN:
        safe = redact(sanitise(text))
        return safe[: boundary(safe, limit)]
    safe = redact(sanitise(text[: limit + _MARGIN]))
    return safe[: boundary(safe, min(limit, max(len(safe) - _UNSURE, 0)))]


def boundary(text: str, at: int) -> int:
    """The greatest place up to `at` where a cut parts no character that is written with several code points."""
    at = min(max(at, 0), len(text))
    for place in range(at, max(at - _MAX_MARKS, 0), -1):
        if place == len(text) or not _goes_on(text[place - 1], text[place]):
            return place
    return 0 if at <= _MAX_MARKS else at


def json_head(value: Any, limit: int) -> str:
    """JSON of `value`, cut after about `limit` chars; the work is bounded by `limit`, not by the value's size."""
    writer = _JsonHead(limit)
    writer.write(value, 0)
    return "".join(writer.pieces)


class _JsonHead:
    __slots__ = ("pieces", "room")

    def __init__(self, limit: int) -> None:
        self.pieces: list[str] = []
        self.room = limit

    def write(self, value: Any, depth: int) -> None:
        if self.room <= 0 or depth > _MAX_DEPTH:
            self._put(ELLIPSIS)
        elif isinstance(value, str):
            self._put(_json_string(value, self.room))
        elif isinstance(value, Mapping):
            named = cast("Mapping[Any, Any]", value)
            self._items(((str(key)[:_MAX_KEY], each) for key, each in named.items()), "{}", depth)
        elif isinstance(value, list | tuple):
            self._items((("", each) for each in cast("Sequence[Any]", value)), "[]", depth)
        else:
            self._put(json.dumps(value, default=str)[:_MAX_KEY])

    def _items(self, items: Iterable[tuple[str, Any]], ends: str, depth: int) -> None:
        self._put(ends[0])
        for number, (key, each) in enumerate(items):
            if self.room <= 0:
                self._put(ELLIPSIS)
                break
            self._put((", " if number else "") + (f"{json.dumps(key, ensure_ascii=False)}: " if ends == "{}" else ""))
            self.write(each, depth + 1)
        self._put(ends[1])

    def _put(self, piece: str) -> None:
        self.pieces.append(piece)
        self.room -= len(piece)


def _json_string(value: str, room: int) -> str:
    if len(value) <= room:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value[: boundary(value, room)], ensure_ascii=False)[:-1] + ELLIPSIS + '"'


def _next_boundary(text: str, at: int) -> int:
    for place in range(max(at, 0), min(at + _MAX_MARKS, len(text))):
        if place == 0 or not _goes_on(text[place - 1], text[place]):
            return place
    return max(at, 0)


def _goes_on(before: str, char: str) -> bool:
    if char.isascii() and not ("\ud800" <= before <= "\udbff"):
        return before in _JOINERS and char.isalnum()
    if "\udc00" <= char <= "\udfff" and "\ud800" <= before <= "\udbff":
        return True
    if before in _JOINERS or char in _JOINERS or "\ufe00" <= char <= "\ufe0f" or "\U0001f3fb" <= char <= "\U0001f3ff":
        return True
    import unicodedata

    return unicodedata.combining(char) != 0


def _marker(missing: int) -> str:
    return f"\n[{missing} chars left out]\n"
