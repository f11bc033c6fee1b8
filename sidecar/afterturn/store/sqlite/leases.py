"""Claims on work, so that no two processes do it at once (store.md: 'Work is claimed by lease with a fencing token').

A lease ends with its time, with a release, or with the process that holds it. A token is never given twice and
always grows, so a writer can prove that nobody else took over in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from afterturn.store.sqlite.counters import next_number
from afterturn.store.sqlite.processes import Process, is_gone, this_process
from afterturn.store.sqlite.values import encoded

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine


class Claim(Struct, frozen=True):
    """How a claim ended: a token above 0 and no wait, or token 0 and the ms until the other's lease ends."""

    token: int
    wait_ms: int


class Leases:
    """Leases on one engine. kind and key name the work; owner is whoever claims, unlike any other on the store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._here: Process | None = None

    async def claim(self, kind: str, key: bytes, *, owner: str, ttl_ms: int, now_ms: int) -> Claim:
        """Claim, or renew what `owner` has, which keeps its token. Raises StoreUnavailable, as every method here."""
        here = self._process()
        return await self._engine.write(
            lambda connection: _claim(connection, kind, key, owner, ttl_ms, now_ms, here), key=(kind, key)
        )

    async def renew(self, kind: str, key: bytes, *, token: int, ttl_ms: int, now_ms: int) -> bool:
        """Keep a lease for `ttl_ms` from now; False if it is somebody else's by now."""

        def write(connection: Connection) -> bool:
            changed = connection.execute(
                "UPDATE leases SET expires_at = ? WHERE kind = ? AND key = ? AND token = ?",
                (now_ms + ttl_ms, kind, key, token),
            )
            return changed.rowcount == 1

        return await self._engine.write(write, key=(kind, key))

    async def release(self, kind: str, key: bytes, *, owner: str) -> None:
        """End a lease; one that is not the owner's stays."""

        def write(connection: Connection) -> None:
            connection.execute(
                "DELETE FROM leases WHERE kind = ? AND key = ? AND owner = ?", (kind, key, encoded(owner))
            )

        await self._engine.write(write, key=(kind, key))

    def _process(self) -> Process:
        if self._here is None:
            self._here = this_process()
        return self._here


def holds(connection: Connection, kind: str, key: bytes, token: int) -> bool:
    """Whether the lease is still the one with this token: to be asked in the transaction that the lease protects."""
    row = connection.execute("SELECT token FROM leases WHERE kind = ? AND key = ?", (kind, key)).fetchone()
    return row is not None and row[0] == token


def _claim(connection: Connection, kind: str, key: bytes, owner: str, ttl_ms: int, now_ms: int, here: Process) -> Claim:
    row = connection.execute(
        "SELECT owner, token, place, pid, process_start, expires_at FROM leases WHERE kind = ? AND key = ?", (kind, key)
    ).fetchone()
    token = 0
    if row is not None:
        holder, held_token, place, pid, start, expires_at = row
        left = min(expires_at - now_ms, ttl_ms)  # a clock that was set back must not make a lease longer than it is
        if holder == encoded(owner):
            token = held_token if left > 0 else 0
        elif left > 0 and not is_gone(Process(place, pid, start), here):
            return Claim(0, left)
    token = token or next_number(connection, "lease_token")
    connection.execute(
        "INSERT OR REPLACE INTO leases (kind, key, owner, token, place, pid, process_start, expires_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (kind, key, encoded(owner), token, here.place, here.pid, here.start, now_ms + ttl_ms),
    )
    return Claim(token, 0)
