"""Structured data: JSON, JSON lines, delimited tables."""

import re
from collections.abc import Iterable
from functools import partial
from typing import Any, cast

import msgspec

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.names import names_of
from afterturn.condense.extract.sight import Sight
from afterturn.text import cut_words

_MAX_DECODE = 2_000_000
_MAX_NODES = 4000
_KEY = re.compile(r"\"([A-Za-z_$][\w.$-]{0,60})\"\s*:")
_TELLING = (
    *(
        "error",
        "message",
        "status",
        "state",
        "code",
        "name",
        "id",
        "title",
        "path",
        "file",
        "url",
        "version",
        "type",
        "result",
    ),
    *(
        "number",
        "sha",
        "count",
        "total",
        "reason",
        "description",
        "key",
        "success",
        "exit_code",
        "branch",
        "user",
        "email",
    ),
)


def decode(text: str) -> Any:
    """The JSON value of `text`, or None where it is none (a JSON null is none of interest)."""
    stripped = text.strip()
    if not stripped or stripped[0] not in "{[" or len(stripped) > _MAX_DECODE:
        return None
    try:
        return msgspec.json.decode(stripped)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def read_json(view: Sight, digest: Digest, value: Any) -> None:
    """Add the shape, the telling scalars and the keys of a decoded value."""
    scalars, keys = _walk(value)
    digest.names += [
        Group("keys", list(keys)[:80], share=35),
        Group("values", scalars, share=75),
        _names(view, keys),
    ]


def _names(view: Sight, keys: Iterable[str]) -> Group:
    return Group("names", partial(names_of, view.text, view.wanted, view.known | frozenset(keys)), " ", bare=True)


def _walk(value: Any) -> tuple[list[str], dict[str, None]]:
    """Scalars with a telling key first, and keys, breadth first, up to a bound."""
    keys: dict[str, None] = {}
    telling: list[str] = []
    others: list[str] = []
    level: list[Any] = [value]
    seen = 0
    while level and seen < _MAX_NODES:
        deeper: list[Any] = []
        for node in level:
            children = _children(node)
            for key, child in children[:200]:
                seen += 1
                if key:
                    keys.setdefault(key)
                if isinstance(child, dict | list):
                    deeper.append(child)
                    continue
                text = _scalar(key, child)
                if text:
                    (telling if key.lower() in _TELLING else others).append(text)
            if seen >= _MAX_NODES:
                break
        level = deeper
    return list(dict.fromkeys(telling + others))[:300], keys


def _children(node: Any) -> list[tuple[str, Any]]:
    if isinstance(node, dict):
        return [(str(key), child) for key, child in cast("dict[Any, Any]", node).items()]
    return [("", child) for child in cast("list[Any]", node)] if isinstance(node, list) else []


def _scalar(key: str, value: Any) -> str:
    if value is None or value == "" or isinstance(value, float):
        return ""
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    if len(text) > 400 or "\n" in text:
        return ""
    return f"{key} {cut_words(text, 100)}" if key else cut_words(text, 100)


def read_broken_json(view: Sight, digest: Digest) -> None:
    """Add the keys and names of text that looks like JSON but is cut or has several values."""
    digest.count_lines(view.lines.all)
    keys = dict.fromkeys(_KEY.findall(view.text[:200_000]))
    digest.names += [Group("keys", list(keys)[:80], share=45), _names(view, keys)]


def read_table(view: Sight, digest: Digest) -> None:
    """Add the header and the first rows of delimited text."""
    rows = [line.strip() for line in view.lines.all if line.strip(" -+|=\t")]
    digest.count_lines(rows)
    shown = [cut_words(row, 120) for row in [*rows[1:3], *rows[3:][-1:]]]
    digest.names += [
        Group("header", [cut_words(row, 200) for row in rows[:1]], share=60, cut=True),
        Group("rows", shown, " / ", cut=True),
    ]
