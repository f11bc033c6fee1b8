"""What follows the rows a moment later: the full-text index, and vectors that were not made (store.md, 'Search')."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from afterturn.capture.embedder import Embedder, EmbeddingError
from afterturn.capture.needs import CaptureNeeds
from afterturn.capture.rows import TraceRow
from afterturn.capture.vectors import log_failure, needs_vectors, with_vectors
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

ANY_TEXT = "a text, to see whether it works at all"

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
                    filled = await fill(rows, embedder)
                except EmbeddingError:
                    await needs.clock.sleep(LONGEST_REST_SECONDS)
                    continue
                kept = await needs.store.vectors.add(filled.made) if filled.made else 0
                if filled.failed or filled.refused:
                    await needs.store.vectors.failed([*filled.failed, *filled.refused])
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


class Filled(Struct, frozen=True):
    """made: rows that have all their vectors now. failed, refused: ids of those that have not, refused ones because of
    what their texts hold.
    """

    made: list[TraceRow]
    failed: list[str]
    refused: list[str]


async def fill(rows: Sequence[TraceRow], embedder: Embedder) -> Filled:
    """Make the vectors of rows. A text that is refused costs its own row only: the rest is asked for in halves.

    Who refuses any text is asked no more (case P04): two calls tell, for all of the rows.
    Raises EmbeddingError where nothing was made and all of it waits for another time: the rows have not failed.
    """
    filled = Filled([], [], [])
    parts = [[_without_others(row, embedder) for row in rows]]
    while parts:
        part = parts.pop()
        try:
            done = await with_vectors(part, embedder)
        except EmbeddingError as problem:
            if problem.of_text and len(part) > 1 and (len(part) < len(rows) or await _takes_any(embedder)):
                half = len(part) // 2
                parts += [part[half:], part[:half]]
                continue
            log_failure(len(part), problem)
            if problem.of_text and len(part) == 1:
                filled.refused.append(part[0].trace.trace_id)
                continue
            if problem.waits and not filled.made:
                raise
            if not problem.waits:
                filled.failed.extend(row.trace.trace_id for each in (part, *parts) for row in each)
            break
        filled.made.extend(row for row in done if not needs_vectors(row.trace))
        filled.failed.extend(row.trace.trace_id for row in done if needs_vectors(row.trace))
    return filled


async def _takes_any(embedder: Embedder) -> bool:
    """False where a text that nobody can mind is refused like the others."""
    try:
        await embedder.embed([ANY_TEXT])
    except EmbeddingError as problem:
        return not problem.of_text
    return True


def _without_others(row: TraceRow, embedder: Embedder) -> TraceRow:
    """A row without vectors of another model: the two of a row are always of one."""
    if row.trace.vectors.model in (None, embedder.model):
        return row
    trace = replace(row.trace, vectors=TraceVectors(summary=False, action=False))
    return replace(row, trace=trace, summary_vector=None, action_vector=None)
