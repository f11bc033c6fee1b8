"""Events that ended jobs, in the order of their commits (capture/ports.py, `Outbox`; protocol.md, 'Events').

A row says which job ended when. What is told of it is put together from the job and the rows of its traces, so that
no text stands in the store once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from afterturn.capture.ports import EventsPage, Scope
from afterturn.shapes import from_json, to_json
from afterturn.store.sqlite.counters import inserted
from afterturn.store.sqlite.projects import projects_in
from afterturn.store.sqlite.trace_rows import traces_by_id
from afterturn.store.sqlite.values import Packer, decoded, encoded, unseal_bytes
from afterturn_protocol.capture import CaptureDone, CaptureError, CaptureFailed, CaptureResult
from afterturn_protocol.events import StoredEvent

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

_EVENT = (
    "SELECT j.id, j.seq, j.state, j.full, j.outcome, j.episode_id, s.id, j.stage"
    " FROM capture_jobs j JOIN sessions s ON s.session = j.session"
)


def end_done(connection: Connection, job: int, result: CaptureResult, *, full: bool, project: int, now_ms: int) -> int:
    """End a job with a result; the `seq` of its event."""
    outcome = Packer().seal_bytes(to_json(replace(result, traces=[])))
    return _end(connection, job, result.state, outcome, None, full=full, project=project, now_ms=now_ms)


def end_failed(
    connection: Connection, job: int, stage: str, error: CaptureError, *, project: int | None, now_ms: int
) -> CaptureFailed:
    """End a job with a failure; its event."""
    outcome = Packer().seal_bytes(to_json(error))
    _end(connection, job, "failed", outcome, encoded(stage), full=True, project=project, now_ms=now_ms)
    event = event_of(connection, job)
    assert isinstance(event, CaptureFailed)
    return event


def event_of(connection: Connection, job: int) -> CaptureDone | CaptureFailed:
    """The event that ended a job."""
    return _event(connection, connection.execute(f"{_EVENT} WHERE j.job = ?", (job,)).fetchone())


def _end(
    connection: Connection,
    job: int,
    state: str,
    outcome: bytes,
    stage: bytes | None,
    *,
    full: bool,
    project: int | None,
    now_ms: int,
) -> int:
    session: int = connection.execute("SELECT session FROM capture_jobs WHERE job = ?", (job,)).fetchone()[0]
    seq = inserted(
        connection,
        "INSERT INTO outbox (job, session, project, at) VALUES (?, ?, ?, ?)",
        (job, session, project, now_ms),
    )
    connection.execute(
        "UPDATE capture_jobs SET state = ?, outcome = ?, stage = ?, full = ?, seq = ?, sidecar = NULL, holder = NULL"
        " WHERE job = ?",
        (state, outcome, stage, full, seq, job),
    )
    return seq


def _event(connection: Connection, row: tuple[Any, ...]) -> CaptureDone | CaptureFailed:
    job_id, seq, state, full, outcome, episode_id, session_id, stage = row
    if state == "failed":
        return CaptureFailed(
            job_id=decoded(job_id),
            seq=seq,
            episode_id=decoded(episode_id),
            session_id=decoded(session_id),
            stage=decoded(stage),
            error=from_json(unseal_bytes(outcome), CaptureError),
        )
    result = from_json(unseal_bytes(outcome), CaptureResult)
    traces = traces_by_id(connection, result.trace_ids)
    result = replace(result, trace_ids=[trace.trace_id for trace in traces], traces=traces if full else [])
    return CaptureDone(job_id=decoded(job_id), seq=seq, result=result)


class SqliteOutbox:
    """`Outbox` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def since(self, seq: int, *, scope: Scope, session_id: str | None = None, limit: int) -> EventsPage:
        """The events after `seq`: of one session, or of a project, or of the sessions. Raises StoreUnavailable."""
        return await self._engine.read(lambda connection: _since(connection, seq, scope, session_id, limit), key=self)

    async def last(self) -> int:
        """The newest seq; 0 before the first. Raises StoreUnavailable."""
        return await self._engine.read(_last, key=self)

    async def before(self, at_ms: int) -> int:
        """The seq that all events of that time, epoch ms, and later ones come after. Raises StoreUnavailable."""
        return await self._engine.read(lambda connection: _before(connection, at_ms), key=self)


def _last(connection: Connection) -> int:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'").fetchone()
    return 0 if row is None else row[0]


def _before(connection: Connection, at_ms: int) -> int:
    first: int | None = connection.execute("SELECT min(seq) FROM outbox WHERE at >= ?", (at_ms,)).fetchone()[0]
    return _last(connection) if first is None else first - 1


def _since(connection: Connection, seq: int, scope: Scope, session_id: str | None, limit: int) -> EventsPage:
    condition, values = _condition(connection, scope, session_id)
    rows = connection.execute(
        f"SELECT o.seq, o.job FROM outbox o WHERE o.seq > ? AND {condition} ORDER BY o.seq LIMIT ?",
        (seq, *values, limit + 1),
    ).fetchall()
    events: list[StoredEvent] = []
    for number, job in rows[:limit]:
        event = event_of(connection, job)
        method = "capture.done" if isinstance(event, CaptureDone) else "capture.failed"
        events.append(StoredEvent(seq=number, method=method, params=event))
    if len(rows) > limit:
        return EventsPage(events=events, next=events[-1].seq if events else seq)
    return EventsPage(events=events, next=max(seq, _last(connection)))


def _condition(connection: Connection, scope: Scope, session_id: str | None) -> tuple[str, list[Any]]:
    if session_id is None and scope.project is not None:
        projects = projects_in(connection, scope)
        if projects is None:
            return "1", []
        return f"o.project IN ({','.join('?' * len(projects))})", list(projects)
    ids = scope.session_ids if session_id is None else [session_id]
    marks = ",".join("?" * len(ids))
    return f"o.session IN (SELECT session FROM sessions WHERE id IN ({marks}))", [encoded(each) for each in ids]
