"""Manifests: the values of a Kubernetes Secret, whatever their names are."""

import re
from collections.abc import Iterator

from afterturn.redact import names
from afterturn.redact.span import BY_NAME, Span
from afterturn.redact.values import is_stand_in

# The kind whose values are secrets.
KIND = "Secret"
# A manifest is looked at so many chars before and behind its kind; where its borders are near, no further.
_WITHIN = 4096
_NEAR = 128
_BORDERS = ("\n---", "kind: ", '"kind": ')
_KIND = re.compile(r"(?:kind:[ \t]{1,4}|\"kind\":[ \t]{0,4}\")\Z")
_DATA = re.compile(r"^(?P<indent>[ \t]{0,16})(?:data|stringData):[ \t]{0,8}\r?\n", re.MULTILINE)
_ROW = re.compile(
    r"(?P<indent>[ \t]{1,24})[\"']?[\w.-]{1,128}[\"']?:[ \t]{1,8}(?P<quote>[\"']?)"
    r"(?P<value>[^\s\"'|>#\[{][^\s\"']*+)"
)
_OBJECT = re.compile(r"\"(?:data|stringData)\":\s{0,16}\{(?P<rows>[^{}]*+)\}")
_PAIR = re.compile(r"\"[\w.-]{1,128}\":\s{0,16}\"(?P<value>[^\s\"\\]++)\"")


def is_kind(text: str, start: int) -> bool:
    """Whether the word at `start` is the kind of a manifest."""
    return bool(_KIND.search(text, max(0, start - 16), start))


def secret_values(text: str, start: int, floor: int) -> Iterator[Span]:
    """The values of the manifest whose kind, `Secret`, is at `start`; nothing before `floor` is touched."""
    first, last = _first(text, start, floor), _last(text, start)
    for data in _DATA.finditer(text, first, last):
        yield from _rows(text, data, last)
    for data in _OBJECT.finditer(text, first, last):
        for pair in _PAIR.finditer(text, data.start("rows"), data.end("rows")):
            if not is_stand_in(pair["value"]):
                yield _span(pair)


def _first(text: str, start: int, floor: int) -> int:
    """Where the manifest begins: behind the border that stands last before its kind."""
    first = max(floor, start - _WITHIN)
    end = max(first, start - 9)  # the kind itself stands right before `start`
    for reach in (_NEAR, _WITHIN):
        begin = max(first, end - reach)
        found = max((at + len(border) for border in _BORDERS if (at := text.rfind(border, begin, end)) >= 0), default=0)
        if found:
            return found
    return first


def _last(text: str, start: int) -> int:
    """Where the manifest ends: at the first border behind its kind."""
    for reach in (_NEAR, _WITHIN):
        end = min(len(text), start + reach)
        found = min((at for border in _BORDERS if (at := text.find(border, start, end)) >= 0), default=-1)
        if found >= 0:
            return found
    return end


def _rows(text: str, data: re.Match[str], last: int) -> Iterator[Span]:
    at = data.end()
    while at < last:
        row = _ROW.match(text, at, last)
        if row and len(row["indent"]) > len(data["indent"]) and not is_stand_in(row["value"]):
            yield _span(row)
        end = text.find("\n", at, last)
        if end < 0 or not text[at : at + len(data["indent"]) + 1].isspace():
            return
        at = end + 1


def _span(found: re.Match[str]) -> Span:
    return Span(found.start("value"), found.end("value"), BY_NAME, names.SECRET)
