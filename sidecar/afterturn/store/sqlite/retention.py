"""What is past its time, in small steps: raw output and events (store.md, 'Blobs'; protocol.md, 'Events').

What was archived in a session is kept for the retention time after the session's last activity. Then text, args
and images go; the refs stay known, so that they answer "expired", and so do frozen results, which are the same for
ever and hold no raw output. The same call sent again is whole again, under the ref it had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from afterturn.store.sqlite.batches import forget_claims
from afterturn.store.sqlite.blobs import collect_blobs
from afterturn.store.sqlite.copies import forget_copies
from afterturn.store.sqlite.counters import ERASURES, next_number
from afterturn.store.sqlite.values import decoded

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

DAY_MS = 86_400_000
STEP_RESULTS = 200


class Swept(Struct, frozen=True):
    """What one step did: how many results expired, and whether there is more to do at once."""

    expired: int
    more: bool


class Retention:
    """Expires raw output. Several processes may do so at once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def step(self, *, retention_days: int, now_ms: int, limit: int = STEP_RESULTS) -> Swept:
        """Expire at most `limit` results of one session that is past its time. Raises StoreUnavailable.

        A step is one short transaction; other work goes on between steps.
        """
        before = now_ms - retention_days * DAY_MS
        expired: list[str] = []
        swept = await self._engine.write(lambda connection: _step(connection, before, limit, expired), key=self)
        for session_id in expired:
            await forget_copies(self._engine.place.file, session_id)
        return swept

    async def scrub(self) -> None:
        """Wipe what the steps left of expired rows in the gaps of the file, where building it anew is quick. A large
        store keeps it until the next session is deleted. Raises StoreUnavailable.
        """
        await self._engine.alone(_scrub_small)

    async def outbox_step(self, *, outbox_days: int, now_ms: int, limit: int = STEP_RESULTS) -> Swept:
        """Forget at most `limit` events past their time, and what no job can need any more. Raises StoreUnavailable."""
        before = now_ms - outbox_days * DAY_MS
        return await self._engine.write(lambda connection: _outbox_step(connection, before, limit), key=self)


def _scrub_small(connection: Connection) -> None:
    from afterturn.store.sqlite.scrubbing import scrub_small  # loads sqlite3, which the event loop's thread must not

    scrub_small(connection)


def _step(connection: Connection, before: int, limit: int, expired: list[str]) -> Swept:
    """One step; a session of which nothing raw is left then is added to `expired`."""
    row = connection.execute(
        "SELECT session, id FROM sessions WHERE holds_raw = 1 AND max(active_at, read_at) < ?"
        " ORDER BY max(active_at, read_at) LIMIT 1",
        (before,),
    ).fetchone()
    if row is None:
        return Swept(0, False)
    session, session_id = row
    results = connection.execute(
        "SELECT result, text, content FROM results WHERE session = ? AND text IS NOT NULL ORDER BY ref LIMIT ?",
        (session, limit),
    ).fetchall()
    connection.executemany(
        "UPDATE results SET text = NULL, content = NULL, args = NULL, images = NULL WHERE result = ?",
        [(result,) for result, _, _ in results],
    )
    collect_blobs(connection, {blob for _, text, content in results for blob in (text, content) if blob is not None})
    if len(results) < limit:
        _finish(connection, session, session_id)
        expired.append(decoded(session_id))
    if results:
        next_number(connection, ERASURES)
    return Swept(len(results), True)


def _finish(connection: Connection, session: int, session_id: bytes) -> None:
    """Nothing raw is left: what waits to be condensed cannot be any more, and work on it is over."""
    connection.execute("UPDATE sessions SET holds_raw = 0 WHERE session = ?", (session,))
    connection.execute("DELETE FROM call_states WHERE session = ? AND turn IS NOT NULL", (session,))
    connection.execute("DELETE FROM turns WHERE session = ?", (session,))
    connection.execute("DELETE FROM attempts WHERE session = ?", (session,))
    forget_claims(connection, session_id)


def _outbox_step(connection: Connection, before: int, limit: int) -> Swept:
    """A finished job keeps what it answers with; a failed one can be done again as long as its event can be read."""
    spent = connection.execute(
        "SELECT s.job, j.episode FROM capture_sources s JOIN capture_jobs j ON j.job = s.job"
        " WHERE j.state IN ('done', 'doneEmpty') LIMIT ?",
        (limit,),
    ).fetchall()
    for job, episode in spent:
        connection.execute("DELETE FROM capture_sources WHERE job = ?", (job,))
        connection.execute(
            "DELETE FROM score_memo WHERE episode = ?1 AND NOT EXISTS"
            " (SELECT 1 FROM capture_jobs WHERE episode = ?1 AND state IN ('queued', 'running', 'failed'))",
            (episode,),
        )
    # The oldest come first, so that one that is young enough ends the search.
    events = connection.execute("SELECT seq, job, at FROM outbox ORDER BY seq LIMIT ?", (limit,)).fetchall()
    old = [(seq, job) for seq, job, at in events if at < before]
    for seq, job in old:
        connection.execute("DELETE FROM outbox WHERE seq = ?", (seq,))
        connection.execute("DELETE FROM capture_sources WHERE job = ?", (job,))
        connection.execute("DELETE FROM capture_jobs WHERE job = ? AND episode IS NULL", (job,))
    return Swept(len(old), limit in (len(spent), len(old)))
