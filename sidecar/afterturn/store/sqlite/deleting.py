"""Deleting a session: its rows, and the blobs that nothing else refers to (store.md; case M14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from afterturn.store.sqlite.batches import forget_claims
from afterturn.store.sqlite.blobs import collect_blobs
from afterturn.store.sqlite.counters import ERASURES, next_number
from afterturn.store.sqlite.scopes import find_session, open_session

if TYPE_CHECKING:
    from sqlite3 import Connection

_TABLES = (
    "batch_refs",
    "batches",
    "batch_names",
    "replacements",
    "call_states",
    "turns",
    "attempts",
    "blocks",
    "results",
)
"""What belongs to a session, in an order that no reference stands against."""


def erase_session(connection: Connection, session_id: str, now_ms: int) -> int:
    """Erase everything of a session but the numbers it has given; how many results that were.

    Its life ends: the epoch grows, so that writes under way for the old life are dropped. Forks that were made from
    it keep what is theirs.
    """
    row = find_session(connection, session_id) or open_session(connection, session_id, now_ms)
    blobs = connection.execute(
        "SELECT text FROM results WHERE session = ?1 AND text IS NOT NULL"
        " UNION SELECT content FROM results WHERE session = ?1 AND content IS NOT NULL",
        (row.session,),
    ).fetchall()
    count = 0
    for table in _TABLES:
        count = connection.execute(f"DELETE FROM {table} WHERE session = ?", (row.session,)).rowcount
    collect_blobs(connection, (blob for (blob,) in blobs))
    forget_claims(connection, row.id)
    connection.execute(
        "UPDATE sessions SET epoch = epoch + 1, known = 0, opened = 0, severed = 1, holds_raw = 0, project = NULL,"
        " turn_state = NULL, active_at = ? WHERE session = ?",
        (now_ms, row.session),
    )
    next_number(connection, ERASURES)
    return count
