"""Completions by what was asked (models/ports.py, `Memo`), so that none is paid for twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from afterturn.models.ports import Recalled, Remembered
from afterturn.store.sqlite.counters import ERASURES, next_number
from afterturn.store.sqlite.scopes import find_session
from afterturn.store.sqlite.values import decoded, encoded, seal, unseal

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

KEPT_MS = 7 * 86_400_000
KEPT_ROWS = 2000


class SqliteMemo:
    """`Memo` on one engine. Every method raises StoreUnavailable."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def find(self, session_id: str, keys: Sequence[bytes], *, now_ms: int) -> Recalled:
        """The completion under the first of the keys that has one, and the session's epoch."""
        return await self._engine.read(
            lambda connection: _find(connection, session_id, keys, now_ms - KEPT_MS), key=session_id
        )

    async def keep(self, session_id: str, epoch: int, key: bytes, completion: Remembered, *, now_ms: int) -> None:
        """Keep a completion, unless its session was deleted meanwhile, or was never opened."""
        await self._engine.write(
            lambda connection: _keep(connection, session_id, epoch, key, completion, now_ms), key=session_id
        )


def _find(connection: Connection, session_id: str, keys: Sequence[bytes], oldest_ms: int) -> Recalled:
    row = find_session(connection, session_id)
    epoch = 0 if row is None else row.epoch
    for key in keys:
        found = connection.execute(
            "SELECT text, model FROM memo WHERE key = ? AND at >= ?", (key, oldest_ms)
        ).fetchone()
        if found is not None:
            return Recalled(epoch, Remembered(unseal(found[0]), decoded(found[1])))
    return Recalled(epoch, None)


def _keep(connection: Connection, session_id: str, epoch: int, key: bytes, completion: Remembered, now_ms: int) -> None:
    row = find_session(connection, session_id)
    if row is None or not row.known or row.epoch != epoch:
        return
    replaced = connection.execute("DELETE FROM memo WHERE key = ?", (key,)).rowcount
    connection.execute(
        "INSERT INTO memo (session, key, model, text, at) VALUES (?, ?, ?, ?, ?)",
        (row.session, key, encoded(completion.model), seal(completion.text), now_ms),
    )
    old = connection.execute("DELETE FROM memo WHERE at < ?", (now_ms - KEPT_MS,)).rowcount
    many = connection.execute(
        "DELETE FROM memo WHERE memo <= (SELECT memo FROM memo ORDER BY memo DESC LIMIT 1 OFFSET ?)", (KEPT_ROWS,)
    ).rowcount
    if replaced or old or many:
        next_number(connection, ERASURES)
