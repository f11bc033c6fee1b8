"""The recap that is kept for a session (recap/ports.py)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from afterturn.recap.ports import Found, KeptRecap
from afterturn.store.errors import StoreUnavailable
from afterturn.store.sqlite.scopes import find_session, open_session
from afterturn.store.sqlite.values import decoded, decoded_or_none, encoded, encoded_or_none, seal, unseal

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

log = logging.getLogger("afterturn.store")


class SqliteRecaps:
    """`RecapStore` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def find(self, session_id: str) -> Found | None:
        """What is kept for a session; None where the store fails."""
        try:
            return await self._engine.read(lambda connection: _find(connection, session_id), key=session_id)
        except StoreUnavailable as problem:
            log.warning("no recap can be looked up: %s", problem)
            return None

    async def keep(self, session_id: str, epoch: int, recap: KeptRecap, *, now_ms: int) -> bool:
        """Keep a recap in place of the one before; False if the session was deleted since, or the store fails."""
        try:
            return await self._engine.write(
                lambda connection: _keep(connection, session_id, epoch, recap, now_ms), key=session_id
            )
        except StoreUnavailable as problem:
            log.warning("a recap is not kept: %s", problem)
            return False


def _find(connection: Connection, session_id: str) -> Found:
    row = find_session(connection, session_id)
    if row is None:
        return Found(epoch=0, kept=None)
    kept = connection.execute(
        "SELECT text, model, context_hash, created_at FROM recaps WHERE session = ?", (row.session,)
    ).fetchone()
    if kept is None:
        return Found(epoch=row.epoch, kept=None)
    text, model, context_hash, created_at = kept
    return Found(
        epoch=row.epoch,
        kept=KeptRecap(
            text=unseal(text),
            model=decoded_or_none(model),
            context_hash=decoded(context_hash),
            created_at=created_at,
        ),
    )


def _keep(connection: Connection, session_id: str, epoch: int, recap: KeptRecap, now_ms: int) -> bool:
    row = open_session(connection, session_id, now_ms)
    if row.epoch != epoch:
        return False
    connection.execute(
        "INSERT OR REPLACE INTO recaps (session, text, model, context_hash, created_at) VALUES (?, ?, ?, ?, ?)",
        (row.session, seal(recap.text), encoded_or_none(recap.model), encoded(recap.context_hash), recap.created_at),
    )
    return True
