"""Which rows a session sees: its own, and its ancestors' up to the ref each was forked at (condense/ports.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from afterturn.store.sqlite.values import encoded

if TYPE_CHECKING:
    from sqlite3 import Connection

NO_LIMIT = 2**63 - 1

_COLUMNS = "session, id, parent, severed, ref_base, last_ref, block_base, last_block, epoch, known, opened"


class SessionRow(Struct, frozen=True, gc=False):
    """A session's numbers, as its row holds them."""

    session: int
    id: bytes
    parent: int | None
    severed: int
    ref_base: int
    last_ref: int
    block_base: int
    last_block: int
    epoch: int
    known: int
    opened: int


class Scope(Struct, frozen=True, gc=False):
    """One session's part of a view: its own refs and blocks above a base, up to a top."""

    session: int
    id: bytes
    ref_base: int
    ref_top: int
    block_base: int
    block_top: int


def find_session(connection: Connection, session_id: str) -> SessionRow | None:
    """The session's row, also one that is only left to keep its numbers."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM sessions WHERE id = ?", (encoded(session_id),)).fetchone()
    return None if row is None else SessionRow(*row)


def open_session(connection: Connection, session_id: str, now_ms: int | None) -> SessionRow:
    """The session's row, made, or brought back to life, where it is not known. Without a time it counts as old."""
    row = find_session(connection, session_id)
    if row is not None and row.known:
        return row
    time = now_ms or 0
    connection.execute(
        "INSERT INTO sessions (id, created_at, active_at) VALUES (?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET known = 1, created_at = excluded.created_at, active_at = excluded.active_at",
        (encoded(session_id), time, time),
    )
    found = find_session(connection, session_id)
    assert found is not None
    return found


def view_of(connection: Connection, row: SessionRow) -> list[Scope]:
    """The session's own scope, then those of its ancestors, nearest first. Their refs grow smaller on the way."""
    scopes = [Scope(row.session, row.id, row.ref_base, NO_LIMIT, row.block_base, NO_LIMIT)]
    if row.severed:
        return scopes
    while row.parent is not None:
        found = connection.execute(f"SELECT {_COLUMNS} FROM sessions WHERE session = ?", (row.parent,)).fetchone()
        parent = SessionRow(*found)
        scopes.append(
            Scope(parent.session, parent.id, parent.ref_base, row.ref_base, parent.block_base, row.block_base)
        )
        row = parent
    return scopes


def view(connection: Connection, session_id: str) -> list[Scope]:
    """The view of a session by its id; empty for one that was never opened."""
    row = find_session(connection, session_id)
    return [] if row is None else view_of(connection, row)


def owner_of(scopes: list[Scope], ref: int) -> Scope | None:
    """The scope that a ref of this view belongs to."""
    return next((scope for scope in scopes if scope.ref_base < ref <= scope.ref_top), None)


def touch(connection: Connection, scopes: list[Scope], now_ms: int) -> None:
    """The session is worked in now, and so are its ancestors, whose refs are resolved from it."""
    for scope in scopes:
        connection.execute(
            "UPDATE sessions SET active_at = ? WHERE session = ? AND active_at < ?", (now_ms, scope.session, now_ms)
        )


def mark_read(connection: Connection, scopes: list[Scope], now_ms: int) -> None:
    """The session is read from now, and so are its ancestors: what is looked up is kept, but nobody works there."""
    for scope in scopes:
        connection.execute(
            "UPDATE sessions SET read_at = ? WHERE session = ? AND read_at < ?", (now_ms, scope.session, now_ms)
        )
