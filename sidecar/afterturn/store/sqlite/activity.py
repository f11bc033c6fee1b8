"""That a session was read from, noted now and then: reading must not cost a write each time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from afterturn.store.sqlite.scopes import find_session, mark_read, view_of

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

NOTED_EVERY_MS = 3_600_000
"""Against a retention time of days an hour does not count."""

REMEMBERED_SESSIONS = 256


class Activity:
    """Writes down reads, each session's at most once an hour."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._noted: dict[str, int] = {}

    def note(self, session_id: str, now_ms: int) -> None:
        """The session is read from now. Nobody waits for the write; one that fails is tried with a later read."""
        if abs(now_ms - self._noted.get(session_id, -NOTED_EVERY_MS)) < NOTED_EVERY_MS:
            return
        if len(self._noted) >= REMEMBERED_SESSIONS:
            self._noted.clear()
        self._noted[session_id] = now_ms

        def write(connection: Connection) -> None:
            row = find_session(connection, session_id)
            if row is not None:
                mark_read(connection, view_of(connection, row), now_ms)

        def done(written: asyncio.Future[None]) -> None:
            if written.cancelled() or written.exception() is not None:
                self._noted.pop(session_id, None)

        # A key of its own: no read has to wait for it.
        self._engine.write(write, key=(self, session_id)).add_done_callback(done)

    def forget(self, session_id: str) -> None:
        """The session was deleted: what is noted of it is no longer so."""
        self._noted.pop(session_id, None)
