"""An episode as it is kept until it is captured, and what makes it the same one again (capture.md, 'Durability')."""

import json
from hashlib import sha256
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from afterturn_protocol.capture import Episode
from afterturn_protocol.settings import CaptureSettings

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode
_escaped = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_canonical = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode


class JobOptions(Struct, frozen=True, kw_only=True):
    """What a run needs beside the episode: the settings with its options, and how many secrets were replaced."""

    settings: CaptureSettings
    redactions: int


def content_hash(episode: Episode) -> bytes:
    """32 bytes over the episode as it was sent; the order of keys in any JSON of it does not count.

    SHA-256, because most processors have it built in.
    """
    try:
        data = _encode_sorted(episode)
    except UnicodeEncodeError:  # a lone surrogate
        data = _canonical(msgspec.to_builtins(episode, str_keys=True)).encode()
    return sha256(data).digest()


def packed(value: Struct) -> bytes:
    """A value as JSON, with keys in their order; a lone surrogate is kept as its escape."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _escaped(msgspec.to_builtins(value, str_keys=True)).encode()


def unpacked(data: bytes, type_: type[T]) -> T:
    """What was packed. Raises ValueError for bytes that were not."""
    try:
        return msgspec.json.decode(data, type=type_)
    except msgspec.DecodeError:
        plain: Any = json.loads(data)
        return msgspec.convert(plain, type_)
