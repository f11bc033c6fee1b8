"""The sidecars that have jobs, and whether they are still there (capture.md, 'Durability')."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from afterturn.store.sqlite.processes import Process, is_gone
from afterturn.store.sqlite.values import encoded

if TYPE_CHECKING:
    from sqlite3 import Connection

SEEN_EVERY_MS = 5_000


def known_sidecar(connection: Connection, owner: str) -> int:
    """The number of a sidecar; 0 for one that never had a job."""
    row = connection.execute("SELECT sidecar FROM sidecars WHERE owner = ?", (encoded(owner),)).fetchone()
    return 0 if row is None else row[0]


def sidecar_of(connection: Connection, owner: str, here: Process, now_ms: int) -> int:
    """The number of a sidecar that works now."""
    row = connection.execute(
        "SELECT sidecar, seen_at, gave_up FROM sidecars WHERE owner = ?", (encoded(owner),)
    ).fetchone()
    if row is None:
        row = connection.execute(
            "INSERT INTO sidecars (owner, place, pid, process_start, seen_at) VALUES (?, ?, ?, ?, ?) RETURNING sidecar",
            (encoded(owner), here.place, here.pid, here.start, now_ms),
        ).fetchone()
    elif abs(now_ms - row[1]) >= SEEN_EVERY_MS or row[2]:
        connection.execute("UPDATE sidecars SET seen_at = ?, gave_up = 0 WHERE sidecar = ?", (now_ms, row[0]))
    number: int = row[0]
    return number


def gone(connection: Connection, here: Process, *, silent_ms: int, now_ms: int) -> Set[int]:
    """The sidecars that are there no more.

    One in another place, whose end cannot be seen from here, is taken for gone after `silent_ms` without a sign.
    """
    found: set[int] = set()
    for sidecar, place, pid, start, gave_up, seen_at in connection.execute(
        "SELECT sidecar, place, pid, process_start, gave_up, seen_at FROM sidecars"
    ).fetchall():
        silent = place != here.place and now_ms - seen_at > silent_ms
        if gave_up or silent or is_gone(Process(place, pid, start), here):
            found.add(sidecar)
    return found


def forget(connection: Connection, sidecars: Set[int]) -> None:
    """Erase those of these sidecars that have no job any more."""
    connection.executemany(
        "DELETE FROM sidecars WHERE sidecar = ?1"
        " AND NOT EXISTS (SELECT 1 FROM capture_jobs WHERE sidecar = ?1 AND state IN ('queued', 'running'))"
        " AND NOT EXISTS (SELECT 1 FROM capture_jobs WHERE holder = ?1)",
        [(sidecar,) for sidecar in sidecars],
    )
