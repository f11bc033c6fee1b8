"""Numbers of the whole store that only grow, and of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlite3 import Connection

ERASURES, SCRUBBED = "erasures", "scrubbed"
"""Deletions so far, and of those the ones whose traces are wiped from the files."""


def number(connection: Connection, name: str) -> int:
    """The counter's value; 0 before its first use."""
    row = connection.execute("SELECT value FROM counters WHERE name = ?", (name,)).fetchone()
    return 0 if row is None else row[0]


def next_number(connection: Connection, name: str) -> int:
    """Count one up; the new value."""
    value = number(connection, name) + 1
    set_number(connection, name, value)
    return value


def inserted(connection: Connection, statement: str, values: Sequence[Any]) -> int:
    """Insert one row; its number. Less than half the time of an INSERT that returns it."""
    number = connection.execute(statement, values).lastrowid
    assert number is not None
    return number


def set_number(connection: Connection, name: str, value: int) -> None:
    """Raise the counter to at least this value."""
    connection.execute(
        "INSERT INTO counters (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
        (name, value),
    )
