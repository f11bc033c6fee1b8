"""Threads that read: each with a connection of its own that cannot write, beside the writer (store.md, 'SQLite')."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from sqlite3 import Connection, Error
from typing import Any

from afterturn.store.sqlite.connection import file_identity, open_reader, patiently
from afterturn.store.sqlite.failures import needs_new_connection, unavailable
from afterturn.store.sqlite.jobs import Job, Wakeups
from afterturn.store.sqlite.storefile import StoreFile

THREADS = 2
"""One for what somebody waits for, one more so that a long scan is not in its way."""

STOP_SECONDS = 1.0


class Readers:
    """Runs reads, each in one snapshot.

    send_back: takes a read that met a file other than the one that was opened; the writer opens it and forwards.
    """

    def __init__(self, file: StoreFile, wakeups: Wakeups, send_back: Callable[[Job], None]) -> None:
        self._file = file
        self._wakeups = wakeups
        self._send_back = send_back
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._open_jobs = 0
        self._threads: list[threading.Thread] = []

    def submit(self, job: Job) -> None:
        """Queue a read. From any thread."""
        with self._lock:
            self._open_jobs += 1
            if self._open_jobs > len(self._threads) < THREADS:
                thread = threading.Thread(target=self._run, name="afterturn-reader", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._queue.put(job)

    def stop(self) -> None:
        """Finish what is queued and end the threads; waits for a bounded time."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(STOP_SECONDS)

    def _run(self) -> None:
        connection: Connection | None = None
        opened: tuple[int, int] | None = None
        while (job := self._queue.get()) is not None:
            try:
                if connection is not None and (opened != self._file.opened or opened != file_identity(self._file.path)):
                    connection.close()
                    connection = None
                if connection is None:
                    opened = self._file.opened
                    if not self._file.is_current():
                        self._send_back(job)
                        continue
                    connection = open_reader(self._file.path)
                job.result = self._read(connection, job)
            except Exception as error:
                job.error = unavailable(error, self._file.path) or error
                if connection is not None and needs_new_connection(error):
                    connection.close()
                    connection = None
            finally:
                with self._lock:
                    self._open_jobs -= 1
            self._wakeups.settle([job])
        if connection is not None:
            connection.close()

    def _read(self, connection: Connection, job: Job) -> Any:
        def snapshot() -> Any:
            connection.execute("BEGIN")
            try:
                return job.function(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

        try:
            return patiently(snapshot, wait_ms=self._file.lock_wait_ms)
        except Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
