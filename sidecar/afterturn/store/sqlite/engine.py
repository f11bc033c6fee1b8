"""The embedded database as an asyncio service: hand in a function, await what it returns (store.md, 'SQLite')."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from afterturn.store.errors import StoreUnavailable
from afterturn.store.paths import StorePlace
from afterturn.store.sqlite.jobs import ALONE, READ, STOP, WRITE, Job, Wakeups

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.readers import Readers
    from afterturn.store.sqlite.storefile import StoreFile
    from afterturn.store.sqlite.writer import Writer

T = TypeVar("T")

LOCK_WAIT_MS = 10_000
REMEMBERED_KEYS = 512


class Engine:
    """One store file, for one process. Opened by the first job; nothing of it is loaded or touched before.

    Functions handed in get a connection and may do nothing but work on the database: a function can be run again
    when the group it was committed with is lost. Methods are for a thread with a running event loop. Every awaited
    job raises StoreUnavailable when the store's surroundings are at fault, and what the function raised otherwise.
    A job whose caller is cancelled is done nevertheless.
    """

    def __init__(self, place: StorePlace, *, lock_wait_ms: int = LOCK_WAIT_MS) -> None:
        """lock_wait_ms: how long a job waits for other processes' locks before it fails."""
        self.place = place
        self._lock_wait_ms = lock_wait_ms
        self._lock = threading.Lock()
        self._wakeups = Wakeups()
        self._queue: SimpleQueue[Job] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._running: tuple[StoreFile, Writer, Readers] | None = None
        self._submitted = 0
        self._last_write: dict[object, int] = {}
        self._closed = False

    @property
    def path(self) -> Path:
        """The database file."""
        return self.place.file

    @property
    def problem(self) -> str | None:
        """Why the store could not be opened at the last attempt; None if it was, or was not tried."""
        return self._running[0].problem if self._running is not None else None

    def write(self, function: Callable[[Connection], T], *, key: object, durable: bool = False) -> asyncio.Future[T]:
        """Run `function` in a write transaction, with others in one commit.

        key: whose write it is; reads with the same key that are submitted from now on see it.
        durable: it is on disk when the future is done; else it survives the end of the process, not of the machine.
        """
        job = Job(WRITE, function, durable=durable)
        with self._lock:
            self._submitted += 1
            if len(self._last_write) >= REMEMBERED_KEYS:
                finished = self._finished()
                self._last_write = {k: number for k, number in self._last_write.items() if number > finished}
            self._last_write[key] = self._submitted
            self._queue_up(job)
        return job.future

    def read(self, function: Callable[[Connection], T], *, key: object) -> asyncio.Future[T]:
        """Run `function` in a snapshot that holds every write of `key` that was submitted before."""
        job = Job(READ, function)
        with self._lock:
            running = self._running
            if running is None or running[0].opened is None or self._last_write.get(key, 0) > self._finished():
                self._queue_up(job)
            elif self._closed:
                raise self._closed_error()
            else:
                running[2].submit(job)
        return job.future

    def alone(self, function: Callable[[Connection], T]) -> asyncio.Future[T]:
        """Run `function` on the writer outside of any transaction, after what is queued and before what comes."""
        job = Job(ALONE, function)
        with self._lock:
            self._queue_up(job)
        return job.future

    async def close(self, *, timeout_ms: int) -> bool:
        """Finish what is queued and close the files; False if that takes longer than `timeout_ms`.

        What was acknowledged is safe in either case. Nothing can be submitted from now on.
        """
        with self._lock:
            thread = self._thread
            if self._closed or thread is None:
                self._closed = True
                return True
            job = Job(STOP, lambda _: None)
            self._queue.put(job)
            self._closed = True
        done, _ = await asyncio.wait([job.future], timeout=timeout_ms / 1000)
        if not done:
            return False
        job.future.exception()  # of tidying up; whatever it is, there is nothing more to do here
        thread.join()  # that was its last job
        return True

    def _finished(self) -> int:
        return self._running[1].finished if self._running is not None else 0

    def _queue_up(self, job: Job) -> None:
        if self._closed:
            raise self._closed_error()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="afterturn-writer", daemon=True)
            self._thread.start()
        self._queue.put(job)

    def _run(self) -> None:
        # Here and not at the top: sqlite3 costs 10 ms, which neither the start nor the event loop shall pay.
        from afterturn.store.sqlite.readers import Readers
        from afterturn.store.sqlite.storefile import StoreFile
        from afterturn.store.sqlite.writer import Writer

        file = StoreFile(self.place, lock_wait_ms=self._lock_wait_ms)
        readers = Readers(file, self._wakeups, self._queue.put)
        writer = Writer(file, self._queue, self._wakeups, readers)
        self._running = (file, writer, readers)
        writer.run()

    def _closed_error(self) -> StoreUnavailable:
        return StoreUnavailable(f"The store {self.path} is closed", retryable=False)
