"""Content-addressed texts, stored once however often they occur (store.md, 'Blobs')."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from afterturn.store.sqlite.pieces import in_pieces
from afterturn.store.sqlite.values import encoded, unseal

if TYPE_CHECKING:
    from sqlite3 import Connection


def content_hash(text: str) -> bytes:
    """The content address of a text: BLAKE2b, 32 bytes."""
    return hashlib.blake2b(encoded(text), digest_size=32).digest()


def known_blobs(connection: Connection, hashes: Sequence[bytes]) -> set[bytes]:
    """Which of these are stored already."""
    found: set[bytes] = set()
    for marks, piece in in_pieces(hashes):
        found.update(row[0] for row in connection.execute(f"SELECT hash FROM blobs WHERE hash IN ({marks})", piece))
    return found


def keep_blobs(connection: Connection, blobs: Mapping[bytes, bytes]) -> None:
    """Store sealed texts by their hashes; what is there stays."""
    connection.executemany("INSERT INTO blobs (hash, data) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING", blobs.items())


def read_blob(connection: Connection, number: int) -> str:
    """The text of a blob."""
    return unseal(connection.execute("SELECT data FROM blobs WHERE blob = ?", (number,)).fetchone()[0])


def collect_blobs(connection: Connection, numbers: Iterable[int]) -> None:
    """Erase those of these blobs that nothing refers to any more."""
    connection.executemany(
        "DELETE FROM blobs WHERE blob = ?1"
        " AND NOT EXISTS (SELECT 1 FROM results WHERE text = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM results WHERE content = ?1)",
        ((number,) for number in numbers),
    )
