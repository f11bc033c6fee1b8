"""The parts that capture asks for, together (capture/ports.py, `CaptureStore`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from afterturn.store.sqlite.backfill import SqliteTraceVectors
from afterturn.store.sqlite.capture_jobs import SqliteCaptureJobs
from afterturn.store.sqlite.fulltext import SqliteTextIndex
from afterturn.store.sqlite.outbox import SqliteOutbox
from afterturn.store.sqlite.scores import SqliteScoreMemos
from afterturn.store.sqlite.search import SqliteTraceSearch
from afterturn.store.sqlite.traces import SqliteTraces

if TYPE_CHECKING:
    from afterturn.store.sqlite.engine import Engine


class SqliteCaptureStore:
    """`CaptureStore` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self.jobs = SqliteCaptureJobs(engine)
        self.traces = SqliteTraces(engine)
        self.vectors = SqliteTraceVectors(engine)
        self.text_index = SqliteTextIndex(engine)
        self.search = SqliteTraceSearch(engine)
        self.outbox = SqliteOutbox(engine)
        self.score_memos = SqliteScoreMemos(engine)
