"""JSON values one after another: JSON lines, pretty-printed objects, or several on a line."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from afterturn.replay.source import MAX_LINE_BYTES, Source

BROKEN = "a line that is no JSON"
TOO_LONG = f"a line of more than {MAX_LINE_BYTES >> 20} MB"
TOO_DEEP = "a value nested too deeply"

# strict=False: a raw control character in a string is read as it is; NaN and its like become their names.
DECODER = json.JSONDecoder(strict=False, parse_constant=str)
_BLANK = b" \t\r\n\x00\x1e"
_BOM = b"\xef\xbb\xbf"
_OPENING = (b"{", b"[")
_CLOSING = (b"}", b"]")
_INDENTED = (b" ", b"\t", b"\r", b"\n")


class Value(NamedTuple):
    begin: int
    """Where it stands in the file, or the line that it stands on with others, in bytes."""
    size: int
    """Of that place, in bytes."""
    value: Any


def values(source: Source, skip: Callable[[str], None]) -> Iterator[Value]:
    """Each value in turn. What cannot be read is skipped with its reason, and reading goes on at the next line.

    A line that is nothing but an opening bracket begins a pretty-printed value, which ends with the closing one in
    the first column. Decoded by the standard library, because it keeps lone surrogates and large whole numbers.
    """
    pretty = _Pretty()
    for start, read in source.lines():
        if read is None:
            skip(TOO_LONG)
            continue
        line = read.removeprefix(_BOM) if start == 0 else read
        offset = start + len(read) - len(line)
        if pretty.takes(line):
            if line[:1] in _CLOSING:
                yield from pretty.decoded(skip)
                pretty = _Pretty(line[1:], offset + 1)
            continue
        if pretty.is_begun:
            skip(BROKEN)
        pretty = _Pretty(line, offset)
        if not pretty.is_begun and line.strip(_BLANK):
            yield from _decoded(line, offset, skip)
    if pretty.is_begun:
        skip(BROKEN)


def decoded_values(raw: bytes) -> list[Any]:
    """The values in a piece of a file that `values` gave the place of, or in one of its lines, as far as they go."""
    return [item.value for item in _decoded(raw, 0, lambda _reason: None)]


class _Pretty:
    """A pretty-printed value, as far as it was read; not begun where the line is no opening bracket."""

    __slots__ = ("_begin", "_lines", "_size", "is_begun")

    def __init__(self, line: bytes = b"", offset: int = 0) -> None:
        self.is_begun = line.strip(_BLANK) in _OPENING
        self._lines = [line]
        self._begin = offset
        self._size = len(line)

    def takes(self, line: bytes) -> bool:
        """Whether the line can be one of the value: indented, or its last."""
        goes_on = self.is_begun and (line[:1] in _INDENTED or line[:1] in _CLOSING)
        if goes_on:
            closing = line[:1] in _CLOSING
            self._lines.append(line[:1] if closing else line)
            self._size += 1 if closing else len(line)
            if self._size > MAX_LINE_BYTES:
                self._lines = []
        return goes_on

    def decoded(self, skip: Callable[[str], None]) -> Iterator[Value]:
        if self._size > MAX_LINE_BYTES:
            skip(TOO_LONG)
        else:
            yield from _decoded(b"".join(self._lines), self._begin, skip)


def _decoded(raw: bytes, begin: int, skip: Callable[[str], None]) -> Iterator[Value]:
    text = decoded(raw).strip(" \t\r\n\x00\x1e")
    at = 0
    while at < len(text):
        try:
            value, at = DECODER.raw_decode(text, at)
        except RecursionError:
            skip(TOO_DEEP)
            return
        except ValueError:
            skip(BROKEN)
            return
        yield Value(begin, len(raw), value)
        while at < len(text) and text[at] in " \t\r\n\x1e":
            at += 1


def decoded(raw: bytes) -> str:
    """UTF-8 in which lone surrogates may stand; bytes that are none become U+FFFD."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")
