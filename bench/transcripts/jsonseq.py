"""Concatenated JSON values: JSON lines, pretty-printed objects one after another, or one object."""

import json
from collections.abc import Iterator
from typing import Any

_BLANK = " \t\r\n\x1e"


def values(text: str) -> Iterator[Any]:
    """Each JSON value in turn. Raises ValueError (JSONDecodeError) at the place where one cannot be read."""
    decoder = json.JSONDecoder()
    at, end = 0, len(text)
    while True:
        while at < end and text[at] in _BLANK:
            at += 1
        if at == end:
            return
        value, at = decoder.raw_decode(text, at)
        yield value
