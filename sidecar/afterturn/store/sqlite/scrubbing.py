"""What is left of deleted rows in the files, and how it is wiped (store.md, 'Deleting deletes').

`secure_delete` zeroes what is deleted. But when SQLite rebalances its pages it leaves copies of the rows it moves in
the gaps between the others, so one row in a few hundred is still readable after it was deleted. So the file is built
anew, and the log, which holds the older pages, is emptied.
"""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection

from afterturn.store.sqlite.connection import empty_wal, patiently
from afterturn.store.sqlite.counters import ERASURES, SCRUBBED, number, set_number

WAIT_MS = 10_000
REBUILT_IN_MEMORY_BYTES = 64 * 1024 * 1024


def scrub(connection: Connection) -> None:
    """Wipe the traces of everything that was erased before. Outside of a transaction; 50 MB take a quarter of a second.

    Raises sqlite3.Error, StoreUnavailable; what is not wiped then is wiped by the next one.
    """
    erased = number(connection, ERASURES)
    behind = number(connection, SCRUBBED) < erased
    if behind:
        patiently(lambda: _rebuild(connection), wait_ms=WAIT_MS)
    empty_wal(connection, wait_ms=WAIT_MS)
    if behind:
        patiently(lambda: set_number(connection, SCRUBBED, erased), wait_ms=WAIT_MS)


def scrub_small(connection: Connection) -> None:
    """`scrub`, where the file is no larger than what is rebuilt in memory: nobody waits long, and nobody asked."""
    if _file(connection).stat().st_size <= REBUILT_IN_MEMORY_BYTES:
        scrub(connection)


def _file(connection: Connection) -> Path:
    return Path(connection.execute("PRAGMA database_list").fetchone()[2])


def _rebuild(connection: Connection) -> None:
    """Build the file anew. The copy that this needs lies in memory; that of a large store in the store's own folder."""
    file = _file(connection)
    if file.stat().st_size <= REBUILT_IN_MEMORY_BYTES:
        connection.execute("VACUUM")
        return
    folder = str(file.parent).replace("'", "''")
    connection.execute(f"PRAGMA temp_store_directory = '{folder}'")
    connection.execute("PRAGMA temp_store = FILE")
    try:
        connection.execute("VACUUM")
    finally:
        connection.execute("PRAGMA temp_store = MEMORY")
