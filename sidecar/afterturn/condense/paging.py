"""Pages of an original, and finding lines in it (condense.md, 'resolveRef'). Lengths are chars."""

from msgspec import Struct

from afterturn.text import cut_at_line, lines_of

_AROUND = 2


class Page(Struct, frozen=True):
    """A piece of a text. next_offset is None at its end."""

    text: str
    offset: int
    total_chars: int
    next_offset: int | None


def page(text: str, offset: int, limit: int) -> Page:
    """At most `limit` chars from `offset`, up to a line end where there is one, else cut in the line.

    The pages of a text, joined, are the text. Never empty before the end: a limit below 1 counts as 1. An offset
    past the end gives an empty last page there.
    """
    total = len(text)
    start = min(max(offset, 0), total)
    if start == 0 and total <= limit:
        return Page(text, 0, total, None)
    size = max(limit, 1)
    piece = cut_at_line(text[start : start + size + 1], size)
    end = start + len(piece)
    return Page(piece, start, total, end if end < total else None)


def grep(text: str, needle: str) -> str:
    """The lines of `text` that hold `needle`, literally, with two lines around each, "" if there are none.

    A matching line is written `12:line`, one around it `11-line`; a line `--` stands between
    pieces that do not touch. Lines end at line feeds and are counted from 1.
    """
    if needle not in text:
        return ""
    lines = lines_of(text)
    found = [index for index, line in enumerate(lines) if needle in line]
    hits = set(found)
    shown: list[str] = []
    last = -1
    for hit in found:
        start = max(hit - _AROUND, last + 1)
        if start > last + 1 and shown:
            shown.append("--")
        stop = min(hit + _AROUND + 1, len(lines))
        for index in range(start, stop):
            shown.append(f"{index + 1}{':' if index in hits else '-'}{lines[index]}")
        last = max(last, stop - 1)
    return "\n".join(shown)
