"""Wire types as JSON that is kept: lone surrogates survive as escapes (store.md, 'Blobs')."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


def to_json(value: Any) -> bytes:
    """A Struct of the protocol as JSON. Raises TypeError, ValueError or RecursionError for what JSON cannot say."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        import json

        return json.dumps(msgspec.to_builtins(value), separators=(",", ":"), allow_nan=False).encode("ascii")


def from_json(data: bytes, type: type[T]) -> T:
    """The Struct behind `to_json`."""
    try:
        return msgspec.json.decode(data, type=type)
    except msgspec.DecodeError:
        import json

        return msgspec.convert(json.loads(data), type)
