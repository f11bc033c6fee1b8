"""An open document as lines, with what its lines mean for refs. Changes cost what they change (clients.md, 'Editors').

pygls's own documents split at every line end that Unicode knows, where LSP knows three, and put the whole text together
anew for each change: more than 100 ms a keystroke in one of ten megabytes, where this takes microseconds.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from afterturn.fences import fence_kind

_LINE_END = re.compile(r"\r\n|\r|\n")
_ENDS = ("\n", "\r\n", "\r", "")
_CR, _NONE = 2, 3
_SESSION = re.compile(
    r"[^\w\n]{0,8}[Ss]ession[*_]{0,2}:[*_]{0,2}[ \t]+"
    # In quotes an id may have blanks inside, and quotes of the other kinds.
    r"(?:([\"'`])(?P<quoted>(?!\1)\S(?:(?:(?!\1)[^\r\n]){0,510}(?!\1)\S)?)\1"
    r"|(?P<bare>[^\s\"'`](?:\S{0,510}[^\s\"'`])?))"
    r"[*_]{0,2}[ \t]*(?:-->|\*/)?[ \t]*"
)
_FENCED = re.compile(rb"`[^`]*`|~[^~]*~")
"""A fence and the next of its own kind, over the kinds of lines; one that nothing closes is none (afterturn.fences)."""

_NAMES_SESSION = ord("s")

LONGEST_LINE = 10_000
"""Chars of a line that are looked through for all refs: in a longer one each place costs too much to count."""


class Lines:
    """A document's lines, without their ends, and beside each two bytes: which end it has; and a fence's kind, a
    session line, or plain."""

    __slots__ = ("_ends", "_kinds", "_lines")

    def __init__(self, text: str) -> None:
        self._lines = split_lines(text)
        self._ends = _ends_of(text, len(self._lines))
        self._kinds = _kinds_of(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> str:
        """A line; "" past the end."""
        return self._lines[number] if number < len(self._lines) else ""

    def change(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """Put `text` in place of what is between two places, each a line and a char in it; past the end is the end."""
        start, end = self._within(start), self._within(end)
        end = max(start, end)
        first, last = start[0], end[0]
        whole = self._lines[first][: start[1]] + text + self._lines[last][end[1] :] + _ENDS[self._ends[last]]
        if first > 0 and self._ends[first - 1] == _CR:  # with a line feed behind it, it is one end and not two
            first -= 1
            whole = f"{self._lines[first]}\r{whole}"
        lines = split_lines(whole)
        ends = _ends_of(whole, len(lines))
        if self._ends[last] != _NONE:
            del lines[-1], ends[-1]  # what stands behind the last end is the next line, which stays
        self._lines[first : last + 1] = lines
        self._ends[first : last + 1] = ends
        self._kinds[first : last + 1] = _kinds_of(lines)

    def fenced(self, number: int) -> bool:
        """Whether a line is fenced code, or a fence."""
        for match in _FENCED.finditer(self._kinds):
            if match.start() > number:
                return False
            if number < match.end():
                return True
        return False

    def window(self, first: int, most: int, most_chars: int) -> list[tuple[int, str]]:
        """Lines from `first` on that are no fenced code, with their numbers: so many of the document's, and so much.

        Of a line longer than LONGEST_LINE the beginning.
        """
        fences = self._fences()
        found: list[tuple[int, str]] = []
        number, stop = first, min(first + most, len(self._lines))
        while number < stop and most_chars > 0:
            covered_to = _cover(fences, number)
            if covered_to:
                number = covered_to
                continue
            line, room = self._lines[number], min(most_chars, LONGEST_LINE)
            if len(line) > room:
                line = line[: line.rfind(" ", 0, room) + 1]  # half a ref would be another ref
            found.append((number, line))
            most_chars -= min(len(self._lines[number]), room)
            number += 1
        return found

    def session(self, number: int) -> str | None:
        """The session that a line belongs to, as the nearest session line at or above it says, else the first below.

        None where no line outside fenced code names one.
        """
        return session_of(self.sessions(), number)

    def sessions(self) -> list[tuple[int, str]]:
        """The session lines outside fenced code: their numbers, and the sessions they name."""
        found: list[tuple[int, str]] = []
        at = self._kinds.find(_NAMES_SESSION)
        fences = self._fences() if at >= 0 else []
        while at >= 0:
            name = None if _cover(fences, at) else named_session(self._lines[at])
            if name is not None:
                found.append((at, name))
            at = self._kinds.find(_NAMES_SESSION, at + 1)
        return found

    def _fences(self) -> list[tuple[int, int]]:
        return [match.span() for match in _FENCED.finditer(self._kinds)]

    def _within(self, place: tuple[int, int]) -> tuple[int, int]:
        line, char = place
        if line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        return line, min(char, len(self._lines[line]))


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends, which are those that LSP knows; never none."""
    return _LINE_END.split(text) if "\r" in text else text.split("\n")


def _ends_of(text: str, count: int) -> bytearray:
    """The end of each of a text's lines, as places in _ENDS."""
    if "\r" in text:
        return bytearray([*map(_ENDS.index, _LINE_END.findall(text)), _NONE])
    ends = bytearray(count)
    ends[-1] = _NONE
    return ends


def named_session(line: str) -> str | None:
    """The session id of a line that says nothing but `session: ID`, as text, list item, comment or in a quote."""
    match = _SESSION.fullmatch(line)
    return match["quoted"] or match["bare"] if match else None


def session_of(named: Sequence[tuple[int, str]], number: int) -> str | None:
    """The session of a line, given its document's session lines (`Lines.sessions`)."""
    at = bisect_right(named, number, key=lambda each: each[0]) - 1
    return named[max(at, 0)][1] if named else None


def _kinds_of(lines: list[str]) -> bytearray:
    kinds = bytearray(len(lines))
    for number, line in enumerate(lines):
        if "```" in line or "~~~" in line:
            kinds[number] = ord(fence_kind(line) or "\0")
        elif "ession" in line and named_session(line) is not None:
            kinds[number] = _NAMES_SESSION
    return kinds


def _cover(fences: list[tuple[int, int]], number: int) -> int:
    """The line behind the fenced code that a line is in; 0 where it is in none. fences: in order."""
    at = bisect_right(fences, number, key=lambda piece: piece[0]) - 1
    return fences[at][1] if at >= 0 and number < fences[at][1] else 0
