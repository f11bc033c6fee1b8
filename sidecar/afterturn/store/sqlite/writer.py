"""The one thread of this process that writes. It commits what is waiting as one group (store.md, 'SQLite')."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from sqlite3 import Connection, Error

from afterturn.store.errors import StoreUnavailable
from afterturn.store.sqlite.checkpoints import Housekeeper
from afterturn.store.sqlite.connection import begin_write, truncate_wal
from afterturn.store.sqlite.failures import needs_new_connection, unavailable
from afterturn.store.sqlite.jobs import ALONE, READ, STOP, WRITE, Job, Wakeups
from afterturn.store.sqlite.readers import Readers
from afterturn.store.sqlite.storefile import StoreFile

MAX_GROUP = 256
MAX_HELD_SECONDS = 0.05
"""How long one group may hold the lock before what is left of it makes way for other processes."""


class _Collapsed(Exception):
    """The group's transaction is lost, through no fault of most of its jobs."""


class Writer:
    """Takes jobs from the queue in order and runs them with its own connection.

    Reads that were queued behind writes go to `readers` once those are committed.
    finished: how many writes are dealt with, in the order they were submitted.
    """

    def __init__(self, file: StoreFile, queue: SimpleQueue[Job], wakeups: Wakeups, readers: Readers) -> None:
        self.finished = 0
        self._file = file
        self._queue = queue
        self._wakeups = wakeups
        self._readers = readers
        self._held: deque[Job] = deque()
        self._connection: Connection | None = None
        self._housekeeper: Housekeeper | None = None
        self._synchronous = ""

    def run(self) -> None:
        """Serve until a STOP job comes. On the thread that keeps the connection."""
        while True:
            job = self._held.popleft() if self._held else self._queue.get()
            if job.kind == STOP:
                self._stop(job)
                return
            if job.kind == ALONE:
                self._run_alone(job)
                self._done([job])
            else:
                self._run_group(self._gather(job))

    def _gather(self, first: Job) -> list[Job]:
        group = [first]
        while len(group) < MAX_GROUP:
            try:
                job = self._held.popleft() if self._held else self._queue.get_nowait()
            except Empty:
                break
            if job.kind not in (WRITE, READ):
                self._held.appendleft(job)
                break
            group.append(job)
        return group

    def _run_group(self, group: list[Job]) -> None:
        """Commit the writes of a group, or as many as its time allows, then pass on the reads that came with them."""
        writes = [job for job in group if job.kind == WRITE]
        try:
            connection = self._ready()
            done = self._commit(connection, writes) if writes else 0
        except Exception as error:
            for job in group:
                job.error = error
            self._done(group)
            return
        if done < len(writes):
            cut = group.index(writes[done])
            self._held.extendleft(reversed(group[cut:]))
            group, writes = group[:cut], writes[:done]
        self._done(writes)
        for job in group:
            if job.kind == READ:
                self._readers.submit(job)

    def _commit(self, connection: Connection, jobs: list[Job]) -> int:
        """Run and commit the jobs; how many were dealt with, whatever became of each."""
        try:
            return self._transact(connection, jobs)
        except _Collapsed as collapsed:
            if len(jobs) == 1:
                jobs[0].error = self._explained(collapsed)
                return 1
        # One of them may be the reason, such as a text that no longer fits on the disk: each for itself.
        for job in jobs:
            job.error = job.result = None
            try:
                self._transact(self._ready(), [job])
            except (_Collapsed, StoreUnavailable) as error:
                job.error = self._explained(error)
        return len(jobs)

    def _transact(self, connection: Connection, jobs: list[Job]) -> int:
        done = len(jobs)
        try:
            self._set_synchronous(connection, "FULL" if any(job.durable for job in jobs) else "NORMAL")
            begin_write(connection, wait_ms=self._file.lock_wait_ms)
            until = time.monotonic() + MAX_HELD_SECONDS
            for index, job in enumerate(jobs):
                if index and time.monotonic() > until:
                    done = index
                    break
                self._run_unit(connection, job, alone=len(jobs) == 1)
            if connection.in_transaction:
                connection.execute("COMMIT")
        except (_Collapsed, Error) as error:
            cause = (error.__cause__ or error) if isinstance(error, _Collapsed) else error
            self._give_up(connection, cause)
            raise _Collapsed from cause
        if self._housekeeper is not None:
            self._housekeeper.wrote()
        return done

    def _run_unit(self, connection: Connection, job: Job, *, alone: bool) -> None:
        if not alone:
            connection.execute("SAVEPOINT unit")
        try:
            job.result = job.function(connection)
        except Exception as error:
            if not connection.in_transaction or unavailable(error, self._file.path) is not None:
                raise _Collapsed from error
            job.error = error
            connection.execute("ROLLBACK" if alone else "ROLLBACK TO unit")
        if not alone:
            connection.execute("RELEASE unit")

    def _explained(self, error: Exception) -> BaseException:
        cause = (error.__cause__ or error) if isinstance(error, _Collapsed) else error
        return unavailable(cause, self._file.path) or cause

    def _run_alone(self, job: Job) -> None:
        try:
            connection = self._ready()
            self._set_synchronous(connection, "FULL")
            job.result = job.function(connection)
        except Exception as error:
            job.error = unavailable(error, self._file.path) or error
            if self._connection is not None:
                self._give_up(self._connection, error)
        if self._housekeeper is not None:
            self._housekeeper.wrote()

    def _ready(self) -> Connection:
        if self._connection is not None and self._file.is_current():
            return self._connection
        self._drop()
        connection = self._file.open()
        self._connection = connection
        self._synchronous = ""
        self._housekeeper = Housekeeper(self._file.path, self._inspect)
        return connection

    def _inspect(self, connection: Connection) -> None:
        if not self._file.needs_check():
            return
        try:
            self._file.check(connection)
        except (StoreUnavailable, Error):
            return  # kept by the file, and met by the next job

    def _set_synchronous(self, connection: Connection, mode: str) -> None:
        if self._synchronous != mode:  # it cannot change inside a transaction
            connection.execute(f"PRAGMA synchronous = {mode}")
            self._synchronous = mode

    def _give_up(self, connection: Connection, cause: BaseException) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except Error:
            self._drop()
            return
        if needs_new_connection(cause):
            self._drop()

    def _drop(self) -> None:
        if self._housekeeper is not None:
            self._housekeeper.stop()
            self._housekeeper = None
        if self._connection is not None:
            with suppress(Error):  # nothing can be done for it, and nothing depends on it
                self._connection.close()
            self._connection = None
        self._file.opened = None

    def _done(self, jobs: Sequence[Job]) -> None:
        self.finished += sum(job.kind == WRITE for job in jobs)
        self._wakeups.settle(jobs)

    def _stop(self, job: Job) -> None:
        """Leave one file behind: everything in it, no log beside it (where no other process uses the store)."""
        self._readers.stop()
        if self._housekeeper is not None:
            self._housekeeper.stop()
            self._housekeeper = None
        if self._connection is not None and self._file.is_current():
            try:
                truncate_wal(self._connection)
            except Error as error:  # what was acknowledged is in the log, and the next start reads it from there
                job.error = unavailable(error, self._file.path)
        self._drop()
        left = list(self._held)
        while not self._queue.empty():
            left.append(self._queue.get_nowait())
        for late in left:
            late.error = StoreUnavailable(f"The store {self._file.path} is closed", retryable=False)
        self._done([*left, job])
