"""Content-addressed texts, stored once however often they occur (store.md, 'Blobs')."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from afterturn.store.sqlite.values import encoded, unseal

if TYPE_CHECKING:
    from sqlite3 import Connection


def content_hash(text: str) -> bytes:
    """The content address of a text: BLAKE2b, 32 bytes."""
    return hashlib.blake2b(encoded(text), digest_size=32).digest()


def keep_blob(connection: Connection, digest: bytes, sealed: bytes) -> int:
    """The number of the blob with this content, stored if it is new."""
    added = connection.execute(
        "INSERT INTO blobs (hash, data) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING", (digest, sealed)
    )
    if added.rowcount == 1 and added.lastrowid is not None:
        return added.lastrowid
    number: int = connection.execute("SELECT blob FROM blobs WHERE hash = ?", (digest,)).fetchone()[0]
    return number


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
