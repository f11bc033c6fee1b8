"""`afterturn reembed`: vectors of the embedder in use for every trace that has none, or those of another one.

It can be ended at any time and started again: what was done stays done, and old vectors stay until they are replaced.
"""

import argparse
import os
import sys
from collections.abc import Sequence

import anyio

from afterturn.capture.embedder import Embedder, EmbeddingError
from afterturn.capture.ports import Scope, TraceFilter, VectorCounts
from afterturn.capture.rows import TraceRow
from afterturn.capture.upkeep import ANY_TEXT, ROWS, fill
from afterturn.capture.vectors import needs_vectors
from afterturn.cli.embedder import user_embedder
from afterturn.cli.place import file_settings, user_store
from afterturn.storage import store_status
from afterturn.store.sqlite.store import SqliteStore
from afterturn.store_error import StoreError


def run(options: argparse.Namespace) -> int:
    """Make the vectors; 1 where there is no store or no embedder, or some could not be made."""
    try:
        return anyio.run(_run)
    except (StoreError, EmbeddingError, ValueError) as problem:
        sys.stderr.write(f"afterturn: {problem}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nafterturn: stopped; `afterturn reembed` goes on from here\n")
        return 130


async def _run() -> int:
    store = user_store(os.environ)
    async with user_embedder(file_settings(os.environ), os.environ, store) as embedder:
        if embedder is None:
            sys.stderr.write('afterturn: embeddings.provider is "none": there is nothing to make vectors with\n')
            return 1
        if store_status(store).bytes is None:
            sys.stderr.write(f"afterturn: there is no store at {store.place.file}\n")
            return 1
        try:
            return await reembed(store, embedder)
        finally:
            await store.close()


async def reembed(store: SqliteStore, embedder: Embedder) -> int:
    """Make the vectors that are missing and those of other models; 1 where some could not be made.

    Raises StoreError, and EmbeddingError where nothing can be made.
    """
    return await _Reembedding(store, embedder).run()


class _Reembedding:
    """One run over a store."""

    def __init__(self, store: SqliteStore, embedder: Embedder) -> None:
        self._store = store.capture
        self._embedder = embedder
        self._made = 0
        self._wanted = 0
        self._refused: set[str] = set()

    async def run(self) -> int:
        """Make what is missing, then what is stale; says what there was and what is left."""
        before = await self._counts()
        self._wanted = before.stale + before.missing
        sys.stdout.write(
            f"{self._embedder.model}: {before.current:,} current, {before.stale:,} stale, {before.missing:,} missing\n"
        )
        sys.stdout.flush()
        if self._wanted:
            await self._embedder.embed([ANY_TEXT])
            for rows in (self._new_ones, self._left_alone, self._stale):
                if not await rows():
                    break
            self._end_line()
        if self._refused:
            sys.stderr.write(f"afterturn: traces whose text the embedder refuses: {len(self._refused):,}\n")
        after = await self._counts()
        sys.stdout.write(f"{self._made:,} traces have new vectors; {after.stale:,} stale, {after.missing:,} missing\n")
        return 1 if after.stale or after.missing else 0

    async def _counts(self) -> VectorCounts:
        return await self._store.vectors.counts(self._embedder.model)

    async def _new_ones(self) -> bool:
        """Rows that wait for their first vectors; False once some cannot be made."""
        while rows := self._open(await self._store.vectors.missing(limit=self._page)):
            if not await self._replaced(rows):
                return False
        return True

    async def _stale(self) -> bool:
        while rows := self._open(await self._store.vectors.stale(self._embedder.model, limit=self._page)):
            if not await self._replaced(rows):
                return False
        return True

    @property
    def _page(self) -> int:
        """How many rows to look at, so that some are among them that were not refused."""
        return ROWS + len(self._refused)

    def _open(self, rows: Sequence[TraceRow]) -> list[TraceRow]:
        return [row for row in rows if row.trace.trace_id not in self._refused]

    async def _left_alone(self) -> bool:
        """Rows that have failed too often to be tried on the way; a person who asks for them has mended something."""
        cursor: str | None = None
        which = TraceFilter(scope=Scope(project="*"))
        while (await self._counts()).missing:
            page, cursor = await self._store.traces.page(which, cursor=cursor, limit=500)
            wanting = [trace for trace in page if needs_vectors(trace) and not trace.superseded]
            for session_id, episode_id in dict.fromkeys((trace.session_id, trace.episode_id) for trace in wanting):
                rows = await self._store.traces.rows_of(session_id, episode_id)
                todo = [row for row in self._open(rows) if needs_vectors(row.trace) and not row.trace.superseded]
                if todo and not await self._replaced(todo):
                    return False
            if cursor is None:
                return True
        return True

    async def _replaced(self, rows: Sequence[TraceRow]) -> bool:
        """Whether there is use in going on: these were made, but for some whose texts are refused."""
        filled = await fill(rows, self._embedder)
        kept = await self._store.vectors.add(filled.made) if filled.made else 0
        self._made += kept
        self._refused.update(filled.refused)
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{self._made:,} of {self._wanted:,}")
            sys.stderr.flush()
        return not filled.failed and (kept > 0 or bool(filled.refused))

    def _end_line(self) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\n")
