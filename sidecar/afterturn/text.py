"""Small text helpers shared by the jobs: cutting, cleaning, measuring.

Lengths are chars (Unicode code points) unless a name says otherwise. Nothing here fails on lone surrogates,
and everything is linear in the length of the text.
"""

import re
from functools import cache

ELLIPSIS = "\u2026"
# Controls but tab and line feed; C1 controls; zero-width marks, BOM and bidirectional overrides, which can hide text.
# The zero-width joiners U+200C and U+200D stay: some scripts and emoji need them. A part of a pattern.
INVISIBLE = (
    r"\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f"
    r"\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
)
# Escape sequences of terminals, parts of patterns. Each alternative stops at the next ESC or line end, so that one
# without its end costs at most its own line.
ESCAPE = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    r"|[PX^_][^\x1b\n]*(?:\x1b\\)?|[ -/]+[0-~]?|[0-~])?"
)
C1_ESCAPE = r"\x9b[0-?]*[ -/]*[@-~]?"
_INVISIBLE_ASCII = bytes(code for code in (*range(0x20), 0x7F) if code not in b"\b\t\n\r")


def cut(text: str, limit: int, marker: str = ELLIPSIS) -> str:
    """`text` in at most `limit` chars; when something is left out the result ends in `marker`.

    A marker longer than the limit is left out itself. A limit below 1 gives "".
    """
    if limit < 1:
        return ""
    if len(text) <= limit:
        return text
    if len(marker) >= limit:
        return text[:limit]
    return text[: limit - len(marker)] + marker


def cut_words(text: str, limit: int, marker: str = ELLIPSIS) -> str:
    """Like `cut`, but ends on a blank if there is one in the last third of what fits."""
    short = cut(text, limit, marker)
    if len(text) <= limit or len(marker) >= limit:
        return short
    kept = short[: len(short) - len(marker)]
    if text[len(kept)].isspace():
        return kept.rstrip() + marker
    blank = kept.rfind(" ", len(kept) * 2 // 3)
    return (kept[:blank].rstrip() if blank > 0 else kept) + marker


def cut_at_line(text: str, limit: int) -> str:
    """The longest head of `text` in `limit` chars that ends with a line end.

    A first line longer than the limit is cut in the line, so the result is empty only for an empty text or limit.
    """
    if len(text) <= limit:
        return text
    head = text[: max(limit, 0)]
    end = head.rfind("\n")
    return head[: end + 1] if end >= 0 else head


def lines_of(text: str) -> list[str]:
    """The lines of `text`, split at line feeds only and without them; a final line feed adds no empty line."""
    if not text:
        return []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def count_lines(text: str) -> int:
    """How many lines `lines_of` would give."""
    return text.count("\n") + (0 if text.endswith("\n") or not text else 1)


def one_line(text: str) -> str:
    """`text` with every run of white space, line ends among them, as one blank; ends trimmed."""
    return " ".join(text.split())


def clean(text: str) -> str:
    """`text` as a terminal would have left it: for reading, never for recovery.

    Escape sequences and invisible characters go, CRLF becomes LF, a carriage return overwrites its line (progress
    bars) and a backspace deletes. A text with carriage returns but no line feed is taken to use them as line ends.
    """
    if "\x1b" in text or "\x9b" in text:
        text = _ansi().sub("", text)
    if "\r" in text:
        text = _apply_returns(text)
    if "\b" in text:
        text = "\n".join(_apply_backspaces(line) if "\b" in line else line for line in text.split("\n"))
    if not text.isascii():
        return _invisible().sub("", text)
    # Bytes are gone through in half the time that a text takes.
    seen = text.encode().translate(None, _INVISIBLE_ASCII)
    return text if len(seen) == len(text) else seen.decode()


@cache
def _invisible() -> re.Pattern[str]:
    return re.compile(f"[{INVISIBLE}]")


@cache
def _ansi() -> re.Pattern[str]:
    return re.compile(f"{ESCAPE}|{C1_ESCAPE}")


def _apply_returns(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if "\r" not in text:
        return text
    if "\n" not in text:
        return text.replace("\r", "\n")
    return "\n".join(_last_segment(line) if "\r" in line else line for line in text.split("\n"))


def _last_segment(line: str) -> str:
    end = len(line.rstrip("\r"))
    start = line.rfind("\r", 0, end) + 1
    return line[start:end]


def _apply_backspaces(line: str) -> str:
    kept: list[str] = []
    for char in line:
        if char != "\b":
            kept.append(char)
        elif kept:
            kept.pop()
    return "".join(kept)


def width(text: str) -> int:
    """Columns that `text` takes in a terminal: East Asian wide characters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if char.isascii():
        return 1
    import unicodedata  # a shared library of its own: not on the start path

    if unicodedata.combining(char) or char in "\u200c\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut_width(text: str, columns: int, marker: str = ELLIPSIS) -> str:
    """`text` in at most `columns` terminal columns, ending in `marker` when something is left out."""
    if width(text) <= columns:
        return text
    room = columns - width(marker)
    if room < 0:
        room, marker = columns, ""
    used = 0
    for index, char in enumerate(text):
        used += _char_width(char)
        if used > room:
            return text[:index] + marker
    return text
