"""Reading a model's reply, for all three jobs: what is stripped first, and the JSON in it (condense.md, 'Checking a
reply'; capture.md). Pure, and linear in the length of the reply.
"""

import re
from collections.abc import Collection
from typing import Any, cast

import msgspec

from afterturn.fences import fence_kind

# An opener counts at a line start and right behind another block: elsewhere a bullet talks about the tag.
_THINKING_TAG = re.compile(
    r"(^[ \t]*)?<(?:think|thinking|reasoning)>|(</(?:think|thinking|reasoning)>)([ \t]*$)?",
    re.MULTILINE | re.IGNORECASE,
)
_BLANKS = re.compile(r"[ \t]*")
_TEXT_INFO = ("markdown", "md", "text", "txt")


def without_thinking(text: str) -> str:
    """`text` without thinking blocks; an unclosed one takes the rest, an unopened one what is before its end."""
    if "<" not in text:
        return text
    kept: list[str] = []
    at = 0
    thinking = closed = False
    for tag in _THINKING_TAG.finditer(text):
        if tag[2] is None:
            adjoins = closed and _BLANKS.fullmatch(text, at, tag.start()) is not None
            if thinking or not (adjoins or tag[1] is not None):
                continue
            if not adjoins:
                kept.append(text[at : tag.start()])
            thinking = True
        elif thinking or tag[3] is not None:
            if not thinking:
                kept.clear()
            thinking, closed = False, True
            at = tag.end()
    if not thinking:
        kept.append(text[at:])
    return "".join(kept)


def unfenced(text: str) -> str:
    """`text` without a code fence around the whole of it; fences inside show that it is none, unless it says so."""
    lines = text.strip().split("\n")
    kind = fence_kind(lines[0])
    if len(lines) < 2 or not kind or lines[-1].strip().strip(kind) or fence_kind(lines[-1]) != kind:
        return text
    inner = lines[1:-1]
    fences = sum(fence_kind(line) == kind for line in inner)
    if fences and (fences % 2 or lines[0].strip().strip(kind).lower() not in _TEXT_INFO):
        return text
    return "\n".join(inner)


MAX_JSON_CHARS = 65_536
"""JSON is looked for in so much of a reply."""


def json_values(text: str) -> list[Any]:
    """The JSON objects and arrays of a reply, in order, however they are wrapped: thinking, prose, fences.

    Trailing commas, single quotes, bare keys, raw line breaks in strings, True, None, NaN and Infinity are taken as
    they are meant. What was cut off is left out; of several values with one inside the other only the outer counts.
    """
    body = without_thinking(text)[:MAX_JSON_CHARS]
    try:
        whole = msgspec.json.decode(unfenced(body).strip())
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        from afterturn.loose_json import loose_values  # only for what is not plain JSON

        return loose_values(body)
    return [whole] if isinstance(whole, dict | list) else []


def json_object(text: str, *fields: str) -> dict[str, Any] | None:
    """The last object of a reply that has all these fields: models think aloud first. None if there is none."""
    wanted: Collection[str] = fields
    for value in reversed(json_values(text)):
        if isinstance(value, dict) and all(name in value for name in wanted):
            return cast("dict[str, Any]", value)
    return None


def number(value: Any) -> float | None:
    """A number, also as a string; NaN and infinities pass, since what they mean is the job's to say. Else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        if len(text) > _MOST_DIGITS or not _NUMBER.fullmatch(text):
            return None
        return float(text)
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def whole_number(value: Any) -> int | None:
    """A whole number, also as a string or as 3.0. Else None."""
    found = number(value)
    return int(found) if found is not None and found.is_integer() and abs(found) < _MOST_WHOLE else None


def truth(value: Any) -> bool | None:
    """True or false, also as a word. Else None."""
    if isinstance(value, str):
        return _TRUTHS.get(value.strip().lower())
    return value if isinstance(value, bool) else None


_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|nan|NaN|[Ii]nf(?:inity)?)")
_MOST_DIGITS = 64
_MOST_WHOLE = 2**53
