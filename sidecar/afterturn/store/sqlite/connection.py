"""Connections to the store's file: how they are opened, and how one waits for a lock (store.md, 'SQLite')."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection, Error, connect
from typing import TypeVar

from afterturn.store.errors import StoreUnavailable
from afterturn.store.files import APPLICATION_ID
from afterturn.store.sqlite.failures import is_waiting

T = TypeVar("T")

SLICE_MS = 50
"""How long the library itself waits for a lock; its own back-off grows with the wait and starves writers."""

JITTER_SECONDS = 0.005


def open_writer(path: Path) -> Connection:
    """A connection that may write. The file must exist. Raises sqlite3.Error, StoreUnavailable.

    The waiting time is set before anything can meet a lock. A file that is no store of ours is left as it is.
    """
    connection = _connect(path, "rw")
    try:
        _check_application(connection, path)
        patiently(lambda: _use_wal(connection, path), wait_ms=5000)
        # A migration that a power cut takes back is made again; whatever is durable is committed with FULL.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(path: Path) -> Connection:
    """A connection that cannot write. Raises sqlite3.Error."""
    return _connect(path, "ro")


def patiently(attempt: Callable[[], T], *, wait_ms: int) -> T:
    """What `attempt` returns, trying again while somebody holds a lock, for `wait_ms` in all. Raises sqlite3.Error."""
    give_up_at = time.monotonic() + wait_ms / 1000
    while True:
        try:
            return attempt()
        except Error as error:
            if not is_waiting(error) or time.monotonic() >= give_up_at:
                raise
        _pause()


def _pause() -> None:
    """A moment, of a length of its own for each who waits."""
    from random import random  # its import takes a millisecond, and hardly ever does anybody wait

    time.sleep(random() * JITTER_SECONDS)


def begin_write(connection: Connection, *, wait_ms: int) -> None:
    """Take the write lock. Raises sqlite3.Error when others hold it for longer than `wait_ms`."""
    patiently(lambda: connection.execute("BEGIN IMMEDIATE"), wait_ms=wait_ms)


def file_identity(path: Path) -> tuple[int, int] | None:
    """Which file stands at the path now; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def truncate_wal(connection: Connection) -> bool:
    """Bring everything into the database file and empty the log; False if somebody was in the way."""
    row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return row[0] == 0


def empty_wal(connection: Connection, *, wait_ms: int) -> None:
    """`truncate_wal`, again and again while somebody is in the way. Raises sqlite3.Error, StoreUnavailable."""
    give_up_at = time.monotonic() + wait_ms / 1000
    while not patiently(lambda: truncate_wal(connection), wait_ms=wait_ms):
        if time.monotonic() >= give_up_at:
            raise StoreUnavailable("The store's log cannot be emptied: another process reads it", retryable=True)
        _pause()


def _connect(path: Path, mode: str) -> Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = connect(uri, uri=True, timeout=SLICE_MS / 1000, isolation_level=None, cached_statements=256)
    connection.execute("PRAGMA temp_store = MEMORY")  # nothing of the store's in a shared temp folder
    return connection


def _check_application(connection: Connection, path: Path) -> None:
    def look() -> tuple[int, bool]:
        connection.execute("BEGIN")  # both from one snapshot: another process may be making the store right now
        try:
            number = connection.execute("PRAGMA application_id").fetchone()[0]
            return number, connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
        finally:
            connection.execute("COMMIT")

    number, has_tables = patiently(look, wait_ms=5000)
    if number == APPLICATION_ID:
        return
    if number == 0 and not has_tables:
        # Before the log is switched on, so that it stands in the file itself, where a wipe looks for it.
        patiently(lambda: connection.execute(f"PRAGMA application_id = {APPLICATION_ID}"), wait_ms=5000)
    else:
        raise StoreUnavailable(f"{path} is a database, but no store of afterturn; it is left as it is", retryable=False)


def _use_wal(connection: Connection, path: Path) -> None:
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise StoreUnavailable(f"The store {path} is on a file system that takes no write-ahead log", retryable=False)
