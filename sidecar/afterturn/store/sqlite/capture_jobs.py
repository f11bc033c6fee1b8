"""Episodes that wait to be captured (capture/ports.py, `CaptureJobs`; capture.md, 'Durability')."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from afterturn.capture.ports import (
    MAX_FAILURES,
    Claim,
    Failed,
    NewEpisode,
    Put,
    TakenEpisode,
    Work,
)
from afterturn.store.sqlite.claiming import claim_job, sealed_texts
from afterturn.store.sqlite.episodes import put_rows
from afterturn.store.sqlite.outbox import end_done, end_failed, event_of
from afterturn.store.sqlite.processes import Process, this_process
from afterturn.store.sqlite.projects import project_of
from afterturn.store.sqlite.scopes import open_session, touch, view_of
from afterturn.store.sqlite.shapes import from_json
from afterturn.store.sqlite.sidecars import sidecar_of
from afterturn.store.sqlite.trace_rows import Prepared, prepare
from afterturn.store.sqlite.values import decoded, decoded_or_none, encoded, unseal_bytes
from afterturn_protocol.capture import CaptureDone, CaptureError, CaptureStatusResult

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

_OPEN = ("queued", "running")


class _Known(Struct, frozen=True):
    """A job that stands for what was sent."""

    job: int
    id: str
    state: str
    revision: int


class SqliteCaptureJobs:
    """`CaptureJobs` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._here: Process | None = None

    async def take_in(self, new: NewEpisode, *, owner: str, max_queued: int, now_ms: int) -> TakenEpisode:
        """Keep an episode and its job in one durable transaction. Raises StoreUnavailable, as every method here."""
        here = self._process()
        loop = asyncio.get_running_loop()
        texts = await loop.run_in_executor(None, sealed_texts, new.snapshot, new.options)

        def write(connection: Connection) -> TakenEpisode:
            return _take_in(connection, new, texts, (owner, here), max_queued, now_ms)

        return await self._engine.write(write, key=self, durable=True)

    async def claim(self, *, owner: str, has_completer: bool, lease_ms: int, now_ms: int) -> Claim:
        """Take the newest job that is due, for `lease_ms`."""
        here = self._process()
        return await self._engine.write(
            lambda connection: claim_job(connection, owner, here, has_completer, lease_ms, now_ms), key=self
        )

    async def renew(self, work: Work, *, stage: str, lease_ms: int, now_ms: int) -> bool:
        """Keep a job for `lease_ms` from now and say where it is; False if it is not this sidecar's any more."""

        def write(connection: Connection) -> bool:
            kept = connection.execute(
                "UPDATE capture_jobs SET expires_at = ?, stage = ? WHERE id = ? AND token = ? AND state = 'running'"
                " RETURNING holder",
                (now_ms + lease_ms, encoded(stage), encoded(work.job_id), work.token),
            ).fetchone()
            if kept is not None:
                connection.execute("UPDATE sidecars SET seen_at = ? WHERE sidecar = ?", (now_ms, kept[0]))
            return kept is not None

        return await self._engine.write(write, key=self)

    async def give_back(self, work: Work, *, now_ms: int) -> bool:
        """Stop working on a job that is not done, without a failure."""

        def write(connection: Connection) -> bool:
            changed = connection.execute(
                "UPDATE capture_jobs SET state = 'queued', holder = NULL, token = 0, stage = NULL, due_at = ?,"
                " attempts = attempts - 1 WHERE id = ? AND token = ? AND state = 'running'",
                (now_ms, encoded(work.job_id), work.token),
            )
            return changed.rowcount == 1

        return await self._engine.write(write, key=self)

    async def leave(self, *, owner: str) -> None:
        """The sidecar ends: its unfinished jobs are anybody's."""

        def write(connection: Connection) -> None:
            connection.execute("UPDATE sidecars SET gave_up = 1 WHERE owner = ?", (encoded(owner),))

        await self._engine.write(write, key=self)

    async def finish(self, work: Work, put: Put, *, now_ms: int) -> CaptureDone | None:
        """Rows, the episode's list of them, the job's end and its event, all at once; None for a lost job."""
        prepared = await asyncio.get_running_loop().run_in_executor(None, prepare, put.rows)
        return await self._engine.write(lambda connection: _finish(connection, work, put, prepared, now_ms), key=self)

    async def fail(
        self, work: Work, stage: str, error: CaptureError, *, retry_after_ms: int | None, now_ms: int
    ) -> Failed:
        """The job failed: due again, or over."""
        return await self._engine.write(
            lambda connection: _fail(connection, work, stage, error, retry_after_ms, now_ms), key=self
        )

    async def retry(self, job_id: str, *, new_job_id: str, owner: str, with_completer: bool, now_ms: int) -> str | None:
        """Do a failed job again under a new id; the id of the job that stands for its episode now."""
        here = self._process()
        return await self._engine.write(
            lambda connection: _retry(connection, job_id, new_job_id, (owner, here), with_completer, now_ms),
            key=self,
            durable=True,
        )

    async def status(
        self, *, job_id: str | None = None, episode_id: str | None = None, session_ids: Collection[str] = ()
    ) -> CaptureStatusResult | None:
        """A job's state, or that of an episode's newest revision."""
        return await self._engine.read(
            lambda connection: _status(connection, job_id, episode_id, list(session_ids)), key=self
        )

    async def unfinished(self, session_ids: Collection[str]) -> int:
        """How many jobs of these sessions are queued or running."""
        ids = [encoded(each) for each in session_ids]

        def read(connection: Connection) -> int:
            count: int = connection.execute(
                "SELECT count(*) FROM capture_jobs WHERE state IN ('queued', 'running') AND session IN"
                f" (SELECT session FROM sessions WHERE id IN ({','.join('?' * len(ids))}))",
                ids,
            ).fetchone()[0]
            return count

        return await self._engine.read(read, key=self)

    def _process(self) -> Process:
        if self._here is None:
            self._here = this_process()
        return self._here


# -- taking in ----------------------------------------------------------------------------------------------------


def _take_in(
    connection: Connection,
    new: NewEpisode,
    texts: tuple[bytes, bytes],
    by: tuple[str, Process],
    max_queued: int,
    now_ms: int,
) -> TakenEpisode:
    row = open_session(connection, new.session_id, now_ms)
    touch(connection, view_of(connection, row), now_ms)
    session = row.session
    episode: tuple[int, int] | None = connection.execute(
        "SELECT episode, revision FROM episodes WHERE session = ? AND id = ?", (session, encoded(new.episode_id))
    ).fetchone()
    key = None if new.idempotency_key is None else encoded(new.idempotency_key)
    if key is not None:
        meant = connection.execute(
            "SELECT episode, hash FROM idempotency_keys WHERE session = ? AND key = ?", (session, key)
        ).fetchone()
        if meant is not None and meant != (episode and episode[0], new.content_hash):
            return TakenEpisode(status="conflict", job_id="", revision=0)
    known = None if episode is None else _known(connection, episode[0], new.content_hash)
    if known is None or known.state == "failed":
        queued = connection.execute(
            "SELECT count(*) FROM capture_jobs WHERE session = ? AND state IN ('queued', 'running')", (session,)
        ).fetchone()[0]
        if queued >= max_queued:
            return TakenEpisode(status="busy", job_id="", revision=0)
        number, revision = _revised(connection, new, session, episode, known)
        _queue(connection, new, texts, by, (session, number, revision), now_ms)
        taken = TakenEpisode(status="accepted", job_id=new.job_id, revision=revision)
    else:
        number = episode[0] if episode is not None else 0
        taken = _already(connection, known)
    if key is not None:
        connection.execute(
            "INSERT OR IGNORE INTO idempotency_keys (session, key, episode, hash) VALUES (?, ?, ?, ?)",
            (session, key, number, new.content_hash),
        )
    return taken


def _known(connection: Connection, episode: int, content_hash: bytes) -> _Known | None:
    """The newest job for the same content."""
    row = connection.execute(
        "SELECT job, id, state, revision FROM capture_jobs WHERE episode = ? AND hash = ? ORDER BY job DESC LIMIT 1",
        (episode, content_hash),
    ).fetchone()
    return None if row is None else _Known(row[0], decoded(row[1]), row[2], row[3])


def _already(connection: Connection, known: _Known) -> TakenEpisode:
    if known.state in _OPEN:
        return TakenEpisode(status="duplicate", job_id=known.id, revision=known.revision)
    done = event_of(connection, known.job)
    assert isinstance(done, CaptureDone)
    return TakenEpisode(status="done", job_id=known.id, revision=known.revision, done=done)


def _revised(
    connection: Connection, new: NewEpisode, session: int, episode: tuple[int, int] | None, failed: _Known | None
) -> tuple[int, int]:
    """The episode's number and revision; content that failed before keeps its revision if it is still the newest."""
    project = project_of(connection, session, new.project)
    if episode is None:
        number: int = connection.execute(
            "INSERT INTO episodes (session, id, project, revision) VALUES (?, ?, ?, 1) RETURNING episode",
            (session, encoded(new.episode_id), project),
        ).fetchone()[0]
        return number, 1
    number, revision = episode
    if failed is None or failed.revision != revision:
        revision += 1
    connection.execute("UPDATE episodes SET revision = ?, project = ? WHERE episode = ?", (revision, project, number))
    return number, revision


def _queue(
    connection: Connection,
    new: NewEpisode,
    texts: tuple[bytes, bytes],
    by: tuple[str, Process],
    place: tuple[int, int, int],
    now_ms: int,
) -> None:
    session, episode, revision = place
    snapshot, options = texts
    job: int = connection.execute(
        "INSERT INTO capture_jobs (id, session, episode, episode_id, revision, hash, state, sidecar, with_completer,"
        " accepted_at) VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?) RETURNING job",
        (
            encoded(new.job_id), session, episode, encoded(new.episode_id), revision, new.content_hash,
            sidecar_of(connection, *by, now_ms), new.with_completer, now_ms,
        ),
    ).fetchone()[0]  # fmt: skip
    connection.execute(
        "INSERT INTO capture_sources (job, options, snapshot) VALUES (?, ?, ?)", (job, options, snapshot)
    )


def _retry(
    connection: Connection, job_id: str, new_job_id: str, by: tuple[str, Process], with_completer: bool, now_ms: int
) -> str | None:
    row = connection.execute(
        "SELECT state, episode, hash, job, NOT EXISTS (SELECT 1 FROM capture_sources s WHERE s.job = j.job)"
        " FROM capture_jobs j WHERE id = ?",
        (encoded(job_id),),
    ).fetchone()
    if row is None or row[1] is None:
        return None
    state, episode, content_hash, job, spent = row
    if state != "failed":
        return job_id
    newest = _known(connection, episode, content_hash)
    if newest is not None and newest.state != "failed":
        return newest.id
    if spent:
        return None
    revision = connection.execute("SELECT revision FROM episodes WHERE episode = ?", (episode,)).fetchone()[0]
    if newest is not None and newest.revision != revision:
        revision += 1
        connection.execute("UPDATE episodes SET revision = ? WHERE episode = ?", (revision, episode))
    new_job: int = connection.execute(
        "INSERT INTO capture_jobs (id, session, episode, episode_id, revision, hash, state, sidecar, with_completer,"
        " accepted_at) SELECT ?, session, episode, episode_id, ?, hash, 'queued', ?, ?, ? FROM capture_jobs"
        " WHERE job = ? RETURNING job",
        (encoded(new_job_id), revision, sidecar_of(connection, *by, now_ms), with_completer, now_ms, job),
    ).fetchone()[0]
    connection.execute(
        "INSERT INTO capture_sources (job, options, snapshot) SELECT ?, options, snapshot FROM capture_sources"
        " WHERE job = ?",
        (new_job, job),
    )
    return new_job_id


# -- ending -------------------------------------------------------------------------------------------------------


def _held(connection: Connection, work: Work) -> tuple[int, int, int] | None:
    """(job, episode, failures) of a job that is still this sidecar's."""
    row: tuple[int, int, int] | None = connection.execute(
        "SELECT job, episode, failures FROM capture_jobs WHERE id = ? AND token = ? AND state = 'running'",
        (encoded(work.job_id), work.token),
    ).fetchone()
    return row


def _finish(
    connection: Connection, work: Work, put: Put, prepared: Sequence[Prepared], now_ms: int
) -> CaptureDone | None:
    held = _held(connection, work)
    if held is None:
        return None
    job, episode, _ = held
    traces = put_rows(connection, episode, put, prepared)
    project: int = connection.execute("SELECT project FROM episodes WHERE episode = ?", (episode,)).fetchone()[0]
    result = put.result()
    seq = end_done(connection, job, result, full=put.full, project=project, now_ms=now_ms)
    return CaptureDone(job_id=work.job_id, seq=seq, result=replace(result, traces=traces if put.full else []))


def _fail(
    connection: Connection, work: Work, stage: str, error: CaptureError, retry_after_ms: int | None, now_ms: int
) -> Failed:
    held = _held(connection, work)
    if held is None:
        return Failed()
    job, episode, failures = held
    if retry_after_ms is None or failures + 1 >= MAX_FAILURES:
        project = connection.execute("SELECT project FROM episodes WHERE episode = ?", (episode,)).fetchone()[0]
        connection.execute("UPDATE capture_jobs SET failures = failures + 1 WHERE job = ?", (job,))
        return Failed(event=end_failed(connection, job, stage, error, project=project, now_ms=now_ms))
    connection.execute(
        "UPDATE capture_jobs SET state = 'queued', holder = NULL, token = 0, failures = failures + 1, stage = ?,"
        " due_at = ? WHERE job = ?",
        (encoded(stage), now_ms + retry_after_ms, job),
    )
    return Failed(again_ms=retry_after_ms)


# -- asking -------------------------------------------------------------------------------------------------------


def _status(
    connection: Connection, job_id: str | None, episode_id: str | None, session_ids: list[str]
) -> CaptureStatusResult | None:
    columns = "SELECT j.id, j.episode_id, j.state, j.attempts, j.stage, j.outcome FROM capture_jobs j"
    if job_id is not None:
        row = connection.execute(f"{columns} WHERE j.id = ?", (encoded(job_id),)).fetchone()
    else:
        marks = ",".join("?" * len(session_ids))
        row = connection.execute(
            f"{columns} JOIN episodes e ON e.episode = j.episode JOIN sessions s ON s.session = e.session"
            f" WHERE e.id = ? ORDER BY s.id IN ({marks}) DESC, j.revision DESC, j.job DESC LIMIT 1",
            (encoded(episode_id or ""), *(encoded(each) for each in session_ids)),
        ).fetchone()
    if row is None:
        return None
    id, episode, state, attempts, stage, outcome = row
    return CaptureStatusResult(
        job_id=decoded(id),
        episode_id=decoded(episode),
        state=state,
        attempts=attempts,
        stage=decoded_or_none(stage),
        error=from_json(unseal_bytes(outcome), CaptureError) if state == "failed" else None,
    )
