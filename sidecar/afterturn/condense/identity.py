"""What makes a call the same call, an output the same output, a batch the same batch (condense.md, 'Order of work').

All keys are 32-byte hashes; they leave the process only into the store.
"""

import json
from collections.abc import Iterable, Sequence
from hashlib import blake2b, sha256
from typing import Any

_SIZE = 32
_plain = json.JSONEncoder(separators=(",", ":")).encode
_sorted = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode


def json_text(value: Any) -> str:
    """A JSON value as text: ASCII, so that lone surrogates survive as escapes. Raises RecursionError if too deep."""
    return _plain(value)


def canonical_json(value: Any) -> str:
    """Like `json_text`, the same for equal values whatever the order of keys."""
    return _sorted(value)


def digest(*parts: bytes) -> bytes:
    """A hash over parts that cannot run into each other."""
    state = blake2b(digest_size=_SIZE)
    for part in parts:
        state.update(b"%d:%b" % (len(part), part))
    return state.digest()


def encoded(text: str) -> bytes:
    """A text as bytes; lone surrogates pass."""
    return text.encode("utf-8", "surrogatepass")


def text_digest(data: bytes) -> bytes:
    """The content address of an encoded text. SHA-256, because most processors have it built in."""
    return sha256(data).digest()


def normalized(text: str) -> str:
    """A text as dedup compares it: CRLF as LF, blanks at line ends off, the whole trimmed. Idempotent."""
    # Looking for one char is thirty times faster than looking for two.
    if "\t" in text or "\r" in text or " \n" in text:
        text = "\n".join([line.rstrip(" \t\r") for line in text.split("\n")])
    return text.strip()


def timed_identity(tool_call_id: str, result_timestamp: int, content: bytes) -> bytes:
    """Identity of a call whose result has a timestamp; `content` is the digest of all of the result."""
    return digest(b"timed", encoded(tool_call_id), b"%d" % result_timestamp, content)


def untimed_identity(tool_call_id: str, tool_name: str, args: str, content: bytes, occurrence: int) -> bytes:
    """Identity of a call without a timestamp; `occurrence` counts equal ones within the batch, from 0."""
    return digest(b"untimed", encoded(tool_call_id), encoded(tool_name), encoded(args), content, b"%d" % occurrence)


def dedup_key(tool_name: str, args: str, outcome: str, text: bytes, other_content: str) -> bytes:
    """Key of an output: equal for the same tool, canonical args, outcome and normalised text.

    text: the content address of the normalised text.
    other_content: what the result holds beside text (images), as JSON text; "" for nothing.
    """
    return digest(b"output", encoded(tool_name), encoded(args), encoded(outcome), text, encoded(other_content))


def batch_key(identities: Iterable[bytes]) -> bytes:
    """Key of a batch by its calls in order; its id, turn, time and options do not count."""
    return digest(b"batch", *identities)


def open_identity(kind: str, tool_call_id: str, tool_name: str) -> bytes:
    """Identity, within a batch, of a call that has no ref of its own; `kind` says why it has none."""
    return digest(b"open", encoded(kind), encoded(tool_call_id), encoded(tool_name))


def made_batch_id(key: bytes) -> str:
    """The id of a batch that the host gave none."""
    return f"batch-{key[:8].hex()}"


def block_key(batch_keys: Sequence[bytes], refs: Sequence[str]) -> bytes:
    """Key of a fused block by the batches and further refs it is made from."""
    return digest(b"block", *batch_keys, *(encoded(ref) for ref in refs))
