"""Vectors beside the traces: kept as float32, with the signs of their components for the scan (store.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from afterturn.store.sqlite.values import encoded

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.trace_rows import Prepared

SUMMARY, ACTION = 1, 2
"""Bits of `traces.vectors`."""

FLOAT_BYTES = 4

_SHOW = (
    "INSERT OR REPLACE INTO vector_bits (project, trace, changed, embedder, summary, action) VALUES (?, ?, ?, ?, ?, ?)"
)
_SIGN_DIGITS = bytes(ord("0") if byte & 0x80 else ord("1") for byte in range(256))


def signs(vector: bytes) -> bytes:
    """One bit for each component of a little-endian float32 vector, 1 where it is not negative; the last byte full.

    The sign of a component is the top bit of its fourth byte, so no number has to be read.
    """
    digits = vector[3::FLOAT_BYTES].translate(_SIGN_DIGITS)
    digits += b"0" * (-len(digits) % 8)
    return int(digits, 2).to_bytes(len(digits) // 8, "big")


def embedder_number(connection: Connection, model: str, dimension: int) -> int:
    """The number of an embedding model."""
    key = (encoded(model), dimension)
    row = connection.execute("SELECT embedder FROM embedders WHERE model = ? AND dimension = ?", key).fetchone()
    if row is None:
        row = connection.execute(
            "INSERT INTO embedders (model, dimension) VALUES (?, ?) RETURNING embedder", key
        ).fetchone()
    number: int = row[0]
    return number


def read_vectors(connection: Connection, trace: int) -> tuple[bytes | None, bytes | None]:
    """A trace's vectors: of its summary, of its action."""
    found: dict[int, bytes] = dict(
        connection.execute("SELECT vector, data FROM vectors WHERE vector IN (?, ?)", (2 * trace, 2 * trace + 1))
    )
    return found.get(2 * trace), found.get(2 * trace + 1)


def write_vectors(connection: Connection, project: int, rows: Sequence[tuple[int, Prepared]], changed: int) -> None:
    """Replace the vectors of traces of a project by those that their rows bring, and show them to searches.

    A row that brings none is left alone. changed: the number of this change of the project's vectors.
    """
    numbers: dict[tuple[str, int], int] = {}
    data: list[tuple[int, bytes]] = []
    shown: list[tuple[int, int, int, int, bytes | None, bytes | None]] = []
    held: list[tuple[int, int, int]] = []
    for trace, prepared in rows:
        row = prepared.row
        brought = [(2 * trace + i, each) for i, each in enumerate((row.summary_vector, row.action_vector)) if each]
        if not brought:
            continue
        key = (row.trace.vectors.model or "", len(brought[0][1]) // FLOAT_BYTES)
        if key not in numbers:
            numbers[key] = embedder_number(connection, *key)
        data += brought
        shown.append((project, trace, changed, numbers[key], *prepared.signs))
        held.append((sum(1 << vector % 2 for vector, _ in brought), numbers[key], trace))
    connection.executemany("DELETE FROM vectors WHERE vector BETWEEN 2 * ?1 AND 2 * ?1 + 1", [(h[2],) for h in held])
    connection.executemany("INSERT INTO vectors (vector, data) VALUES (?, ?)", data)
    connection.executemany(_SHOW, shown)
    connection.executemany("UPDATE traces SET vectors = ?, embedder = ?, embed_tries = NULL WHERE trace = ?", held)


def show_vectors(connection: Connection, trace: int, project: int, changed: int) -> None:
    """Put the vectors that a trace has before searches again."""
    embedder = connection.execute("SELECT embedder FROM traces WHERE trace = ?", (trace,)).fetchone()[0]
    if embedder is not None:
        summary, action = (None if data is None else signs(data) for data in read_vectors(connection, trace))
        connection.execute(_SHOW, (project, trace, changed, embedder, summary, action))


def hide_vectors(connection: Connection, trace: int) -> bool:
    """Take a trace out of searches by vector; its vectors stay. Whether there were any."""
    return connection.execute("DELETE FROM vector_bits WHERE trace = ?", (trace,)).rowcount > 0


def drop_vectors(connection: Connection, trace: int) -> bool:
    """Erase the vectors of a trace. Whether there were any."""
    connection.execute("DELETE FROM vectors WHERE vector BETWEEN 2 * ?1 AND 2 * ?1 + 1", (trace,))
    connection.execute("UPDATE traces SET vectors = 0, embedder = NULL WHERE trace = ?", (trace,))
    return hide_vectors(connection, trace)
