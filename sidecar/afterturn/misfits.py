"""What msgspec says of a value that does not fit its type, in the words of the wire (protocol.md, 'Errors')."""

import re

_JSON_NAMES = {"int": "integer", "str": "string", "float": "number", "bool": "boolean"}
_PROBLEM = re.compile(
    r"(?s)(?:Expected `(?P<type>[^`]*)`(?P<bound>.*?)|(?P<other>.*?))(?:, got `[^`]*`)?(?: - at `(?P<path>[^`]*)`)?"
)
_MISSING = re.compile(r"Object missing required field `([^`]*)`")
_OUT_OF_RANGE = "Number out of range"


def split_problem(text: str) -> tuple[str, str]:
    """A msgspec message as `(path, expected)`.

    For a missing field: the path of the object that lacks it, and the field's name.

    >>> split_problem("Expected `int`, got `str` - at `$.batch.turnIndex`")
    ('$.batch.turnIndex', 'integer')
    >>> split_problem("Expected `int` >= 1 - at `$.limit`")
    ('$.limit', 'integer >= 1')
    """
    match = _PROBLEM.fullmatch(text)
    path = (match and match["path"]) or "$"
    missing = _MISSING.match(text)
    if missing:
        return path, missing[1]
    if match is None or match["type"] is None:
        other = (match and match["other"]) or text
        return path, "number that 64 bits can hold" if other == _OUT_OF_RANGE else other
    types = " | ".join(_JSON_NAMES.get(word, word) for word in match["type"].split(" | "))
    return path, types + match["bound"]


class InvalidInputError(Exception):
    """A value in a request that its service cannot work with. path: its place in the params: `$.batchIds[0]`."""

    def __init__(self, path: str, expected: str) -> None:
        super().__init__(f"{path}: expected {expected}")
        self.path = path
        self.expected = expected
