"""Identifiers and paths, as the future-use figure counts them.

An identifier is a word of letters, digits, `_` and `.`, not beginning with a digit, of at least 4 characters, that
holds a capital, an underscore, a digit or a dot; a dot at its end is not part of it. A path is at least two names
joined by `/`; besides the path itself its last name counts, where that is an identifier.
"""

import re
from typing import Any

_PATH = re.compile(r"(?:[\w.@~+-]*/)+[\w.@+-]*\w")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]{3,}")
_MARKED = re.compile(r"[A-Z_0-9.]")


def tokens(text: str) -> set[str]:
    found = {
        word for word in (w.rstrip(".") for w in _IDENTIFIER.findall(text)) if len(word) > 3 and _MARKED.search(word)
    }
    found.update(path for path in _PATH.findall(text) if len(path) > 3)
    return found


def flat(value: Any) -> str:
    """All the strings and numbers of a JSON value, names included, one a line."""
    if isinstance(value, dict):
        return "\n".join(f"{key}\n{flat(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "\n".join(flat(item) for item in value)
    return "" if value is None else str(value)
