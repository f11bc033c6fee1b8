"""What follows the rows a moment later: the full-text index, and vectors that were not made (store.md, 'Search')."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from msgspec.structs import replace

from afterturn.capture.embedder import Embedder, EmbeddingError
from afterturn.capture.needs import CaptureNeeds
from afterturn.capture.rows import TraceRow
from afterturn.capture.vectors import needs_vectors, with_vectors
from afterturn.store_error import StoreError
from afterturn_protocol.traces import TraceVectors

ROWS = 64
"""Rows in one call of the embedder."""

INDEXED_AT_ONCE = 16
"""Rows indexed in one transaction: a few milliseconds, for which an episode on its way in waits at most."""

BREATH_SECONDS = 0.02
"""Between two such transactions: captures go on before the index does."""

REST_SECONDS = 30.0
"""How long an embedder that failed is left alone; doubled with each failure in a row."""

LONGEST_REST_SECONDS = 600.0

Spawn = Callable[[Coroutine[Any, Any, None]], None]


class Upkeep:
    """Catches up when it is woken; does nothing before."""

    def __init__(self, needs: CaptureNeeds, spawn: Spawn) -> None:
        self._needs = needs
        self._over = False
        self._index = _Chore(spawn, self._catch_up)
        self._vectors = _Chore(spawn, self._back_fill)

    def wake(self) -> None:
        """Rows have come, or may have been left behind by a process that ended."""
        if not self._over:
            self._index.wake()
            self._vectors.wake()

    def wake_index(self) -> None:
        """Rows may have been left out of the index by a process that has ended since."""
        if not self._over:
            self._index.wake()

    def end(self) -> None:
        """The store is about to close: what is left undone is no news."""
        self._over = True

    def _report(self, text: str) -> None:
        if not self._over:
            self._needs.report(text)

    async def _catch_up(self) -> None:
        try:
            while await self._needs.store.text_index.catch_up(limit=INDEXED_AT_ONCE):
                await self._needs.clock.sleep(BREATH_SECONDS)
        except StoreError as problem:
            self._report(f"the search index lags behind: {problem}")

    async def _back_fill(self) -> None:
        """Vectors for rows without. Rows that fail are tried again after a while, but not for ever (case M09)."""
        needs = self._needs
        rest_seconds = REST_SECONDS
        try:
            while needs.settings().embed_traces and (embedder := needs.embedder()) is not None:
                rows = await needs.store.vectors.missing(limit=ROWS)
                if not rows:
                    return
                try:
                    made, failed = await fill(rows, embedder)
                except EmbeddingError:
                    await needs.clock.sleep(LONGEST_REST_SECONDS)
                    continue
                kept = await needs.store.vectors.add(made) if made else 0
                if failed:
                    await needs.store.vectors.failed(failed)
                    await needs.clock.sleep(rest_seconds)
                    rest_seconds = min(2 * rest_seconds, LONGEST_REST_SECONDS)
                elif not kept:
                    return  # they changed meanwhile: whoever changed them wakes this again
                else:
                    rest_seconds = REST_SECONDS
        except StoreError as problem:
            self._report(f"vectors are not made for now: {problem}")


class _Chore:
    """Runs a piece of work once more for every time it is woken while it runs."""

    def __init__(self, spawn: Spawn, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._spawn = spawn
        self._work = work
        self._busy = False
        self._again = False

    def wake(self) -> None:
        self._again = True
        if not self._busy:
            self._busy = True
            self._spawn(self._run())

    async def _run(self) -> None:
        try:
            while self._again:
                self._again = False
                await self._work()
        finally:
            self._busy = False


async def fill(rows: Sequence[TraceRow], embedder: Embedder) -> tuple[list[TraceRow], list[str]]:
    """The rows that have all their vectors of this embedder now, and the ids of those that have not.

    Raises EmbeddingError where nothing was tried, since a budget is used up: the rows have not failed.
    """
    wanting = [_without_others(row, embedder) for row in rows]
    try:
        filled = await with_vectors(wanting, embedder)
    except EmbeddingError as problem:
        if problem.waits:
            raise
        filled = wanting
    made = [row for row in filled if not needs_vectors(row.trace)]
    return made, [row.trace.trace_id for row in filled if needs_vectors(row.trace)]


def _without_others(row: TraceRow, embedder: Embedder) -> TraceRow:
    """A row without vectors of another model: the two of a row are always of one."""
    if row.trace.vectors.model in (None, embedder.model):
        return row
    trace = replace(row.trace, vectors=TraceVectors(summary=False, action=False))
    return replace(row, trace=trace, summary_vector=None, action_vector=None)
