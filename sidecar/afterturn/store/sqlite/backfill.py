"""Vectors that come later than their rows (capture/ports.py, `TraceVectors`; models.md, 'Embedders')."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from afterturn.capture.ports import VectorCounts
from afterturn.store.sqlite.projects import vectors_changed
from afterturn.store.sqlite.trace_rows import Prepared, prepare, rows_where
from afterturn.store.sqlite.values import encoded
from afterturn.store.sqlite.vectors import write_vectors

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.capture.rows import TraceRow
    from afterturn.store.sqlite.engine import Engine

MAX_TRIES = 6


class SqliteTraceVectors:
    """`TraceVectors` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def missing(self, *, limit: int) -> Sequence[TraceRow]:
        """Rows that shall get vectors and have not failed too often, newest first. Raises StoreUnavailable."""
        return await self._rows(
            "t.embed_tries IS NOT NULL AND t.embed_tries < ? AND t.superseded = 0 ORDER BY t.trace DESC LIMIT ?",
            (MAX_TRIES, limit),
        )

    async def stale(self, model: str, *, limit: int) -> Sequence[TraceRow]:
        """Rows whose vectors are not of this model. Raises StoreUnavailable."""
        return await self._rows(
            "t.embedder IN (SELECT embedder FROM embedders WHERE model != ?) AND t.superseded = 0"
            " ORDER BY t.trace DESC LIMIT ?",
            (encoded(model), limit),
        )

    async def add(self, rows: Sequence[TraceRow]) -> int:
        """Keep the vectors that these rows bring, where the content is the same. Raises StoreUnavailable."""
        prepared = await asyncio.get_running_loop().run_in_executor(None, prepare, rows)
        return await self._engine.write(lambda connection: _add(connection, prepared), key=self)

    async def failed(self, trace_ids: Sequence[str]) -> None:
        """These could not be embedded; after six times they are left alone. Raises StoreUnavailable."""

        def write(connection: Connection) -> None:
            connection.executemany(
                "UPDATE traces SET embed_tries = embed_tries + 1 WHERE id = ? AND embed_tries IS NOT NULL",
                [(encoded(trace_id),) for trace_id in trace_ids],
            )

        await self._engine.write(write, key=self)

    async def counts(self, model: str) -> VectorCounts:
        """How far the store is with this model. Raises StoreUnavailable."""

        def read(connection: Connection) -> VectorCounts:
            by_model = connection.execute(
                "SELECT e.model = ?, count(*) FROM traces t JOIN embedders e ON e.embedder = t.embedder"
                " WHERE t.superseded = 0 GROUP BY 1",
                (encoded(model),),
            )
            counts: dict[int, int] = dict(by_model.fetchall())
            missing = connection.execute(
                "SELECT count(*) FROM traces WHERE embed_tries IS NOT NULL AND superseded = 0"
            ).fetchone()[0]
            return VectorCounts(current=counts.get(1, 0), stale=counts.get(0, 0), missing=missing)

        return await self._engine.read(read, key=self)

    async def _rows(self, condition: str, values: Sequence[object]) -> list[TraceRow]:
        return await self._engine.read(lambda connection: rows_where(connection, condition, values), key=self)


def _add(connection: Connection, prepared: Sequence[Prepared]) -> int:
    kept = 0
    changes: dict[int, int] = {}
    for each in prepared:
        row = connection.execute(
            "SELECT trace, project FROM traces WHERE id = ? AND content = ? AND superseded = 0",
            (encoded(each.row.trace.trace_id), each.row.content),
        ).fetchone()
        if row is None:
            continue
        trace, project = row
        if not each.brings_vectors:  # it has no text any more: it waits for nothing
            connection.execute("UPDATE traces SET embed_tries = NULL WHERE trace = ?", (trace,))
            continue
        if project not in changes:
            changes[project] = vectors_changed(connection, project)
        write_vectors(connection, project, [(trace, each)], changes[project])
        kept += 1
    return kept
