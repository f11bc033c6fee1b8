"""The first values of a file, of which the last may be cut short: what a format is known by."""

from typing import Any

from afterturn.replay.json_values import DECODER, decoded

MAX_VALUES = 200
_DEPTH = 4
_BLANK = " \t\r\n\x00\x1e"


def first_values(head: bytes) -> list[Any]:
    """The JSON values that the head of a file begins with, the last as far as it goes; text between them is passed."""
    text = decoded(head).removeprefix("\ufeff")
    found: list[Any] = []
    at = 0
    while len(found) < MAX_VALUES and (at := _skip_blank(text, at)) < len(text):
        if text[at] in "{[":
            value, end = _partial(text, at, _DEPTH)
            found.append(value)
            if end is not None:
                at = end
                continue
        line_end = text.find("\n", at)
        if line_end < 0:
            break
        at = line_end + 1
    return found


def _partial(text: str, at: int, depth: int) -> tuple[Any, int | None]:
    """A value and where it ends; what could be read of it and None where it is cut short or broken."""
    try:
        return DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        if depth == 0 or at >= len(text) or text[at] not in "{[":
            return None, None
    return (_partial_object if text[at] == "{" else _partial_array)(text, at + 1, depth - 1), None


def _partial_object(text: str, at: int, depth: int) -> dict[str, Any]:
    members: dict[str, Any] = {}
    while True:
        at = _skip_blank(text, at)
        if at >= len(text) or text[at] != '"':
            return members
        name, end = _partial(text, at, 0)
        if end is None or (at := _skip_blank(text, end)) >= len(text) or text[at] != ":":
            return members
        members[name], end = _partial(text, _skip_blank(text, at + 1), depth)
        if end is None or (at := _skip_blank(text, end)) >= len(text) or text[at] != ",":
            return members
        at += 1


def _partial_array(text: str, at: int, depth: int) -> list[Any]:
    items: list[Any] = []
    while True:
        item, end = _partial(text, _skip_blank(text, at), depth)
        items.append(item)
        if end is None or (at := _skip_blank(text, end)) >= len(text) or text[at] != ",":
            return items
        at += 1


def _skip_blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at
