"""What is archived, without the outputs (editor/ports.py, `Catalogue`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afterturn.editor.ports import Entry, Spans
from afterturn.store.sqlite.archive import ref_numbers
from afterturn.store.sqlite.blocks import block_numbers
from afterturn.store.sqlite.scopes import Scope, owner_of, view
from afterturn.store.sqlite.values import decoded, decoded_or_none, encoded, unseal

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

_ENTRY = (
    "SELECT ref, tool, args, is_error, status, turn_index FROM results WHERE session = ? AND ref <= ?"
    " AND text IS NOT NULL AND"
)


class SqliteCatalogue:
    """`Catalogue` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def newest(self, projects: Sequence[str]) -> str | None:
        """The session of these projects that was worked in last. Raises StoreUnavailable, as every method here."""
        return await self._engine.read(lambda connection: _newest(connection, projects), key=self)

    async def spans(self, session_id: str) -> Spans:
        """Which refs and blocks of a session can be read."""

        def read(connection: Connection) -> Spans:
            scopes = view(connection, session_id)
            return Spans(refs=ref_numbers(connection, scopes), blocks=block_numbers(connection, scopes))

        return await self._engine.read(read, key=session_id)

    async def entry(self, session_id: str, ref: int) -> Entry | None:
        """One call, if it is in view and not expired."""

        def read(connection: Connection) -> Entry | None:
            scope = owner_of(view(connection, session_id), ref)
            found = scope and connection.execute(f"{_ENTRY} ref = ?", (scope.session, scope.ref_top, ref)).fetchone()
            return _entry(found) if found else None

        return await self._engine.read(read, key=session_id)

    async def newest_entries(self, session_id: str, *, starting_with: str, limit: int) -> Sequence[Entry]:
        """Calls whose number begins with these digits, newest first."""
        return await self._engine.read(
            lambda connection: _newest_entries(connection, view(connection, session_id), starting_with, limit),
            key=session_id,
        )


def _newest(connection: Connection, projects: Sequence[str]) -> str | None:
    marks = ", ".join("?" * len(projects))
    row = connection.execute(
        f"SELECT id FROM sessions WHERE known = 1 AND project IN ({marks})"
        " ORDER BY active_at DESC, session DESC LIMIT 1",
        [encoded(project) for project in projects],
    ).fetchone()
    return None if row is None else decoded(row[0])


def _newest_entries(connection: Connection, scopes: list[Scope], digits: str, limit: int) -> list[Entry]:
    found: list[Entry] = []
    for scope in scopes:
        rows = connection.execute(
            f"{_ENTRY} ref LIKE ? ORDER BY ref DESC LIMIT ?",
            (scope.session, scope.ref_top, f"{digits}%", limit - len(found)),
        )
        found += map(_entry, rows)
    return found


def _entry(row: tuple[Any, ...]) -> Entry:
    ref, tool, args, is_error, status, turn_index = row
    return Entry(
        ref=ref,
        tool_name=decoded(tool),
        args=unseal(args),
        is_error=bool(is_error),
        status=decoded_or_none(status),
        turn_index=turn_index,
    )
