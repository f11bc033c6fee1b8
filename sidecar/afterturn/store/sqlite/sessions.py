"""Sessions as such (condense/ports.py, `Sessions`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from afterturn.store.sqlite.activity import Activity
from afterturn.store.sqlite.copies import forget_copies
from afterturn.store.sqlite.deleting import Erased, erase_session
from afterturn.store.sqlite.scopes import SessionRow, find_session, open_session, touch, view_of
from afterturn.store.sqlite.values import decoded, encoded

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine


class SqliteSessions:
    """`Sessions` on one engine."""

    def __init__(self, engine: Engine, activity: Activity) -> None:
        self._engine = engine
        self._activity = activity

    async def open(self, session_id: str, *, project: str | None, parent_session_id: str | None, now_ms: int) -> bool:
        """Make the session known; whether it was known before. Raises StoreUnavailable, as every method here."""
        return await self._engine.write(
            lambda connection: _open(connection, session_id, project, parent_session_id, now_ms), key=session_id
        )

    async def known(self, session_id: str) -> bool:
        """Whether the session was ever opened and not deleted since."""

        def read(connection: Connection) -> bool:
            row = find_session(connection, session_id)
            return row is not None and bool(row.known)

        return await self._engine.read(read, key=session_id)

    async def epoch(self, session_id: str) -> int:
        """How often the session was deleted."""

        def read(connection: Connection) -> int:
            row = find_session(connection, session_id)
            return 0 if row is None else row.epoch

        return await self._engine.read(read, key=session_id)

    async def touch(self, session_id: str, *, now_ms: int) -> None:
        """The session is active now, and so are its ancestors."""
        await self._engine.write(
            lambda connection: touch(
                connection, view_of(connection, open_session(connection, session_id, now_ms)), now_ms
            ),
            key=session_id,
        )

    async def delete(self, session_id: str, *, now_ms: int) -> int:
        """Erase all of the session; how many archived results that were. The text is in no file any more.

        When the traces cannot be wiped from the files this raises, with the rows gone; asking again tries again.
        """
        return (await self.erase(session_id, now_ms=now_ms)).results

    async def erase(self, session_id: str, *, now_ms: int) -> Erased:
        """`delete`, with the number of traces too. Jobs that it ends have their event in the outbox."""
        writing = self._engine.write(
            lambda connection: erase_session(connection, session_id, now_ms), key=session_id, durable=True
        )
        self._activity.forget(session_id)
        erased = await writing
        if erased.traces:
            from afterturn.store.sqlite.fulltext import forget_marked

            await forget_marked(self._engine)
        await self._engine.alone(_scrub)
        await forget_copies(self._engine.place.file, session_id)
        return erased


def _scrub(connection: Connection) -> None:
    from afterturn.store.sqlite.scrubbing import scrub  # loads sqlite3, which the event loop's thread must not

    scrub(connection)


def _open(
    connection: Connection, session_id: str, project: str | None, parent_session_id: str | None, now_ms: int
) -> bool:
    before = find_session(connection, session_id)
    known = before is not None and bool(before.known)
    row = open_session(connection, session_id, now_ms)
    if not row.opened and parent_session_id is not None and parent_session_id != session_id:
        row = _fork(connection, row, parent_session_id)
    connection.execute(
        "UPDATE sessions SET opened = 1, project = coalesce(?, project) WHERE session = ?",
        (None if project is None else encoded(project), row.session),
    )
    touch(connection, view_of(connection, row), now_ms)
    return known


def _fork(connection: Connection, row: SessionRow, parent_session_id: str) -> SessionRow:
    """Set the parent of a session that has given no number yet; its numbers start after the parent's last ones."""
    parent = find_session(connection, parent_session_id)
    if parent is None or row.last_ref or row.last_block or row.epoch:
        return row
    ancestor: int | None = parent.session
    while ancestor is not None:
        if ancestor == row.session:
            return row
        ancestor = connection.execute("SELECT parent FROM sessions WHERE session = ?", (ancestor,)).fetchone()[0]
    connection.execute(
        "UPDATE sessions SET parent = ?1, ref_base = ?2, last_ref = ?2, block_base = ?3, last_block = ?3"
        " WHERE session = ?4",
        (parent.session, parent.last_ref, parent.last_block, row.session),
    )
    found = find_session(connection, decoded(row.id))
    assert found is not None
    return found
