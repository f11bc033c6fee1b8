"""Fused ranges (condense/ports.py, `Blocks`; condense.md, 'Blocks')."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afterturn.condense.ports import StoredBlock
from afterturn.store.sqlite.scopes import Scope, open_session, view, view_of
from afterturn.store.sqlite.values import decoded, encoded, seal, unseal

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

_COLUMNS = "number, text, details, source, created_at"


class SqliteBlocks:
    """`Blocks` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def find(self, session_id: str, block_key: bytes) -> StoredBlock | None:
        """The block made from the same input before. Raises StoreUnavailable, as every method here."""
        return await self._engine.read(
            lambda connection: _find(connection, view(connection, session_id), block_key), key=session_id
        )

    async def numbered(self, session_id: str, number: int) -> StoredBlock | None:
        """Block bN, if it is in view."""
        return await self._engine.read(
            lambda connection: find_numbered(connection, view(connection, session_id), number), key=session_id
        )

    async def all(self, session_id: str) -> Sequence[StoredBlock]:
        """Every block in view, by number."""
        return await self._engine.read(
            lambda connection: _all(connection, view(connection, session_id)), key=session_id
        )

    async def add(
        self, session_id: str, epoch: int, block_key: bytes, *, text: str, details: str, source: str, now_ms: int
    ) -> StoredBlock | None:
        """Keep a block under the next number, or give the one that was first; None if the session was deleted."""

        def write(connection: Connection) -> StoredBlock | None:
            row = open_session(connection, session_id, now_ms)
            if row.epoch != epoch:
                return None
            first = _find(connection, view_of(connection, row), block_key)
            if first is not None:
                return first
            number = row.last_block + 1
            connection.execute("UPDATE sessions SET last_block = ? WHERE session = ?", (number, row.session))
            connection.execute(
                "INSERT INTO blocks (session, number, key, text, details, source, created_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (row.session, number, block_key, seal(text), seal(details), encoded(source), now_ms),
            )
            return StoredBlock(number=number, text=text, details=details, source=source, created_at=now_ms)

        return await self._engine.write(write, key=session_id)


def find_numbered(connection: Connection, scopes: list[Scope], number: int) -> StoredBlock | None:
    """The block with this number in view."""
    for scope in scopes:
        if scope.block_base < number <= scope.block_top:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM blocks WHERE session = ? AND number = ?", (scope.session, number)
            ).fetchone()
            return None if row is None else _block(row)
    return None


def block_numbers(connection: Connection, scopes: list[Scope]) -> tuple[int, int] | None:
    """The lowest and the highest number of a block in view."""
    ends = [
        connection.execute(
            "SELECT min(number), max(number) FROM blocks WHERE session = ? AND number <= ?",
            (scope.session, scope.block_top),
        ).fetchone()
        for scope in scopes
    ]
    there = [end for end in ends if end[0] is not None]
    return (min(low for low, _ in there), max(high for _, high in there)) if there else None


def _find(connection: Connection, scopes: list[Scope], key: bytes) -> StoredBlock | None:
    for scope in scopes:
        row = connection.execute(
            f"SELECT {_COLUMNS} FROM blocks WHERE session = ? AND key = ? AND number <= ?",
            (scope.session, key, scope.block_top),
        ).fetchone()
        if row is not None:
            return _block(row)
    return None


def _all(connection: Connection, scopes: list[Scope]) -> list[StoredBlock]:
    found: list[StoredBlock] = []
    for scope in reversed(scopes):
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM blocks WHERE session = ? AND number <= ? ORDER BY number",
            (scope.session, scope.block_top),
        ).fetchall()
        found += [_block(row) for row in rows]
    return found


def _block(row: tuple[Any, ...]) -> StoredBlock:
    number, text, details, source, created_at = row
    return StoredBlock(
        number=number, text=unseal(text), details=unseal(details), source=decoded(source), created_at=created_at
    )
