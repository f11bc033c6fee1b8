"""Checkpoints beside the writer: passive ones while there is work, a truncating one when it stops (store.md)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection, Error

from afterturn.store.sqlite.connection import open_writer, truncate_wal

PASSIVE_EVERY_SECONDS = 0.5
IDLE_SECONDS = 2.0
WAL_LIMIT_BYTES = 32 * 1024 * 1024
LIMIT_ATTEMPTS = 20


class Housekeeper:
    """A thread that moves the write-ahead log into the database file, on a connection of its own.

    So that no commit has to: a writer that does it itself has the odd commit of many milliseconds. The thread
    sleeps without a timer while nothing is written. A checkpoint that fails is left to the next one; whatever is
    wrong with the disk shows in the writer, where somebody waits for an answer.
    """

    def __init__(self, path: Path, inspect: Callable[[Connection], None]) -> None:
        """inspect: run once at the start, with the connection; raises nothing."""
        self._path = path
        self._wal = path.with_name(path.name + "-wal")
        self._inspect = inspect
        self._written = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="afterturn-checkpoints", daemon=True)
        self._thread.start()

    def wrote(self) -> None:
        """Something was committed. Cheap; from any thread."""
        if not self._written.is_set():
            self._written.set()

    def stop(self) -> None:
        """End the thread and close its connection; waits for a checkpoint that is under way."""
        self._stopped.set()
        self._written.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            connection = open_writer(self._path)
        except Exception:  # the writer meets the same trouble, and somebody waits for its answer
            return
        try:
            self._inspect(connection)
            self._serve(connection)
        finally:
            connection.close()

    def _serve(self, connection: Connection) -> None:
        while True:
            self._written.wait()
            if self._stopped.wait(PASSIVE_EVERY_SECONDS):
                return
            self._written.clear()
            _checkpoint(connection, truncate=False)
            if self._wal_bytes() > WAL_LIMIT_BYTES:
                # Where several processes write without a pause, no passive checkpoint ever reaches the end.
                for _ in range(LIMIT_ATTEMPTS):
                    if _checkpoint(connection, truncate=True):
                        break
            elif not self._written.wait(IDLE_SECONDS):
                _checkpoint(connection, truncate=True)

    def _wal_bytes(self) -> int:
        try:
            return self._wal.stat().st_size
        except OSError:
            return 0


def _checkpoint(connection: Connection, *, truncate: bool) -> bool:
    """Whether it got to the end."""
    try:
        if truncate:
            return truncate_wal(connection)
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except Error:
        return False
    return True
