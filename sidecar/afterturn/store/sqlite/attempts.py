"""Attempts at a batch: a few, then a pause (condense.md, 'Order of work'; case C03)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite3 import Connection


def take_attempt(
    connection: Connection, session: int, key: bytes, *, limit: int, cool_down_ms: int, now_ms: int
) -> tuple[int, int]:
    """Count an attempt: (its number from 1, 0), or (0, ms until the next one is allowed)."""
    found = connection.execute("SELECT made, last_at FROM attempts WHERE session = ? AND key = ?", (session, key))
    made, last_at = found.fetchone() or (0, now_ms)
    if made >= limit:
        # A clock that was set back must not make the pause longer than it was meant to be.
        left = min(last_at + cool_down_ms - now_ms, cool_down_ms)
        if left > 0:
            return 0, left
        made = 0
    connection.execute(
        "INSERT INTO attempts (session, key, made, last_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (session, key) DO UPDATE SET made = excluded.made, last_at = excluded.last_at",
        (session, key, made + 1, now_ms),
    )
    return made + 1, 0


def return_attempt(connection: Connection, session: int, key: bytes) -> None:
    """The attempt taken last was not made."""
    connection.execute("UPDATE attempts SET made = made - 1 WHERE session = ? AND key = ? AND made > 0", (session, key))


def forget_attempts(connection: Connection, session: int, key: bytes) -> None:
    """The batch is done."""
    connection.execute("DELETE FROM attempts WHERE session = ? AND key = ?", (session, key))
