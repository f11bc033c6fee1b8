"""The members of JSON documents that may be far larger than memory: arrays are given element by element.

The standard library's decoder over a sliding piece of text. ijson does not fit: its C parser makes a question mark of a
lone surrogate and its numbers are Decimals (or fail where they are large); its Python one takes 7 to 25 times as long.
"""

import re
from collections.abc import Callable, Iterator
from json import JSONDecodeError
from typing import Any, NamedTuple

from afterturn.replay.json_values import DECODER, TOO_DEEP
from afterturn.replay.source import Source

BROKEN = "a part of a document that is no JSON"
CUT_OFF = "a value that is cut off"
MAX_CHARS = 16 * 1024 * 1024
TOO_LONG = f"a value of more than {MAX_CHARS >> 20} million characters"

_BLANK = re.compile(r"[ \t\r\n\x00\x1e]*")
_DOCUMENT = re.compile(r"\n(?=[{\[])")
_IN_STRING = re.compile(r'["\\]|\n(?=[{\[])')
_OUTSIDE = re.compile(r'["{}\[\],]|\n(?=[{\[])')
_MARGIN = 16
"""An error this near to the end of the text may be none in the whole of it: a name or an escape that is cut."""


class Member(NamedTuple):
    document: int
    """Which of the documents in the file, from 0."""
    name: str
    """The member's name; "" for an element of a document that is a list."""
    value: Any
    """The value, or one element of it where the name is one of the arrays asked for."""


def members(source: Source, arrays: frozenset[str], skip: Callable[[str], None]) -> Iterator[Member]:
    """The members of each document in the file. What cannot be read is skipped with its reason.

    After a document that is broken, reading goes on with the next line that begins one.
    """
    text = _Text(source.text())
    number = 0
    while opened := text.peek():
        try:
            if opened == "{":
                yield from _object(text, number, arrays, skip)
            elif opened == "[":
                yield from (Member(number, "", item) for item in _array(text, skip))
            else:
                raise _BrokenError
        except _BrokenError:
            ended = text.peek() == ""
            skip(CUT_OFF if ended else BROKEN)
            text.seek_document()
        number += 1


class _BrokenError(Exception):
    """The text does not go on as JSON would."""


def _object(text: "_Text", number: int, arrays: frozenset[str], skip: Callable[[str], None]) -> Iterator[Member]:
    text.take("{")
    if text.peek() == "}":
        text.take("}")
        return
    while True:
        name = text.name()
        text.take(":")
        if name in arrays and text.peek() == "[":
            for item in _array(text, skip):
                yield Member(number, name, item)
        else:
            for value in _one(text, skip):
                yield Member(number, name, value)
        if text.take(",}") == "}":
            return


def _array(text: "_Text", skip: Callable[[str], None]) -> Iterator[Any]:
    text.take("[")
    if text.peek() == "]":
        text.take("]")
        return
    while True:
        yield from _one(text, skip)
        if text.take(",]") == "]":
            return


def _one(text: "_Text", skip: Callable[[str], None]) -> Iterator[Any]:
    """The next value, or nothing where it cannot be read and was passed over."""
    try:
        value = text.value()
    except RecursionError:
        reason = TOO_DEEP
    except JSONDecodeError:
        reason = TOO_LONG if text.is_long() else BROKEN
    else:
        yield value
        return
    if not text.pass_over():
        raise _BrokenError
    skip(reason)


class _Text:
    """The text not yet read, as far as it was fetched."""

    __slots__ = ("_at", "_at_line", "_chunks", "_text")

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._text = ""
        self._at: int = 0
        self._at_line = True
        """Whether nothing stands before this on its line."""

    def peek(self) -> str:
        """The next character that is not blank; "" at the end."""
        while True:
            found = _BLANK.match(self._text, self._at)
            if found and found[0]:
                self._at = found.end()
                self._at_line = self._at_line or "\n" in found[0]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, wanted: str) -> str:
        """The next character, which must be one of these."""
        found = self.peek()
        if not found or found not in wanted:
            raise _BrokenError
        self._go_to(self._at + 1)
        return found

    def name(self) -> str:
        """The name of a member."""
        if self.peek() != '"':
            raise _BrokenError
        try:
            return self.value()
        except JSONDecodeError:
            raise _BrokenError from None

    def value(self) -> Any:
        """The next value, whole. Raises JSONDecodeError where there is none, RecursionError where it is too deep."""
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except JSONDecodeError as problem:
                cut = problem.msg.startswith("Unterminated string") or problem.pos + _MARGIN >= len(self._text)
                if not cut or self.is_long() or not self._more():
                    raise
                continue
            except ValueError as problem:  # a whole number of thousands of digits
                raise JSONDecodeError(str(problem), "", 0) from None
            # A number that ends near the end of the text may go on behind it.
            if self._text[end - 1] in '"]}' or end + _MARGIN < len(self._text) or not self._more():
                self._go_to(end)
                return value

    def is_long(self) -> bool:
        return len(self._text) - self._at > MAX_CHARS

    def pass_over(self) -> bool:
        """Passes a value by its brackets and quotes alone; False where the file ends in it, or a document begins."""
        depth, in_string = 0, False
        self.peek()
        while True:
            found = (_IN_STRING if in_string else _OUTSIDE).search(self._text, self._at)
            if found is None:
                self._at = len(self._text) - self._text.endswith("\n")
                if not self._more():
                    self._at = len(self._text)
                    return False
                continue
            self._at = found.end()
            mark = found[0]
            if mark == "\n":
                self._at_line = True
                return False
            if mark == "\\":
                if self._at == len(self._text) and not self._more():
                    return False
                self._at += 1
            elif mark == '"':
                in_string = not in_string
            elif mark != ",":
                depth += 1 if mark in "{[" else -1
            if depth <= 0 and not in_string:
                is_behind = depth < 0 or mark == ","  # the end of what the value stands in, or of the value
                self._go_to(self._at - is_behind)
                return True

    def seek_document(self) -> None:
        """Goes on with the next line that begins a document, or to the end."""
        if self._at_line and self.peek() in "{[":
            return
        while (found := _DOCUMENT.search(self._text, self._at)) is None:
            self._at = max(self._at, len(self._text) - 1)
            if not self._more():
                self._at = len(self._text)
                return
        self._go_to(found.end())
        self._at_line = True

    def _go_to(self, at: int) -> None:
        self._at = at
        self._at_line = False

    def _more(self) -> bool:
        """Fetches as much again as is there, so that the work stays linear in the size of a value; False at the end."""
        fetched: list[str] = []
        missing = len(self._text) - self._at
        for chunk in self._chunks:
            fetched.append(chunk)
            missing -= len(chunk)
            if missing < 0:
                break
        if not any(fetched):
            return False
        self._text, self._at = "".join((self._text[self._at :], *fetched)), 0
        return True
