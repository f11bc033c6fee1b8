"""Objects and arrays in a text that is not quite JSON (capture.md, 'Replies are parsed tolerantly'). Pure, linear."""

import re
from typing import Any, cast

MAX_DEPTH = 64
MAX_VALUES = 64
_VAIN_CHARS = 16_384
"""How much may be read in vain: a bracket in prose is tried and given up."""

_MOST_DIGITS = 64

_TOKEN = re.compile(
    r"""\s*+(?:(?P<mark>[{}\[\]:,])
    |"(?P<double>(?:[^"\\]++|\\.)*+)"
    |'(?P<single>(?:[^'\\]++|\\.)*+)'
    |(?P<number>[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?(?![\w.]))
    |(?P<word>[+-]?[A-Za-z_$][\w$-]*+))""",
    re.VERBOSE | re.DOTALL,
)
_OPENER = re.compile(r"[{\[]")
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS: dict[str, Any] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None,
    "NaN": float("nan"), "nan": float("nan"),
    "Infinity": float("inf"), "+Infinity": float("inf"), "-Infinity": float("-inf"), "inf": float("inf"),
    "-inf": float("-inf"),
}  # fmt: skip


class _NotJsonError(Exception):
    """at: where it stopped to make sense."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def loose_values(text: str) -> list[Any]:
    """The outermost objects and arrays of a text, in order; at most MAX_VALUES, the last ones.

    An opener that leads nowhere is skipped, and the next one is tried.
    """
    found: list[Any] = []
    effort = len(text) + _VAIN_CHARS
    at = 0
    while effort >= 0 and (opener := _OPENER.search(text, at)) is not None:
        start = opener.start()
        try:
            value, end = _value(text, start)
        except _NotJsonError as problem:
            effort -= problem.at - start
            at = start + 1
        else:
            effort -= end - start
            at = end
            found.append(value)
    return found[-MAX_VALUES:]


class _Open:
    """A container that is not closed yet. key: the one that waits for its value; None for none."""

    __slots__ = ("key", "wants", "what")

    def __init__(self, what: dict[str, Any] | list[Any]) -> None:
        self.what = what
        self.key: str | None = None
        self.wants = _ITEM if isinstance(what, list) else _KEY


_KEY, _COLON, _ITEM, _COMMA = range(4)


def _value(text: str, start: int) -> tuple[Any, int]:
    """The object or array that opens at `start`, and where it ends. Raises _NotJsonError."""
    stack: list[_Open] = []
    at = start
    while True:
        token = _TOKEN.match(text, at)
        if token is None:
            raise _NotJsonError(at)
        begin, at = at, token.end()
        mark = token["mark"]
        if mark in ("{", "["):
            if len(stack) >= MAX_DEPTH:
                raise _NotJsonError(at)
            made: dict[str, Any] | list[Any] = {} if mark == "{" else []
            if stack:
                _put(stack[-1], made, begin)
            stack.append(_Open(made))
        elif mark in ("}", "]"):
            closed = stack.pop()
            if isinstance(closed.what, list) != (mark == "]") or closed.key is not None:
                raise _NotJsonError(at)
            if not stack:
                return closed.what, at
        else:
            _take(stack[-1], mark, token, begin)


def _take(top: _Open, mark: str | None, token: re.Match[str], at: int) -> None:
    """A token inside a container that neither opens nor closes one."""
    if mark == ":":
        if top.wants != _COLON:
            raise _NotJsonError(at)
        top.wants = _ITEM
    elif mark == ",":
        if top.wants != _COMMA:
            raise _NotJsonError(at)
        top.wants = _ITEM if isinstance(top.what, list) else _KEY
    elif top.wants == _KEY:
        key = token["word"] or token["number"]
        top.key = _text(token) if key is None else key
        top.wants = _COLON
    else:
        _put(top, _scalar(token, at), at)


def _put(top: _Open, value: Any, at: int) -> None:
    if top.wants != _ITEM:
        raise _NotJsonError(at)
    if isinstance(top.what, list):
        top.what.append(value)
    else:
        top.what[cast("str", top.key)] = value
        top.key = None
    top.wants = _COMMA


def _scalar(token: re.Match[str], at: int) -> Any:
    number, word = token["number"], token["word"]
    if number is not None:
        if len(number) > _MOST_DIGITS:
            raise _NotJsonError(at)
        return int(number) if number.lstrip("+-").isdigit() else float(number)
    if word is None:
        return _text(token)
    if word not in _WORDS:
        raise _NotJsonError(at)
    return _WORDS[word]


def _text(token: re.Match[str]) -> str:
    raw = token["double"] if token["double"] is not None else token["single"]
    return _ESCAPE.sub(_unescaped, raw) if "\\" in raw else raw


def _unescaped(found: re.Match[str]) -> str:
    high, low, code, char = found.groups()
    if high is not None:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    return chr(int(code, 16)) if code is not None else _ESCAPED.get(char, char)
