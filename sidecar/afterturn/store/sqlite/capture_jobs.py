"""Episodes that wait to be captured (capture/ports.py, `CaptureJobs`; capture.md, 'Durability')."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

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
from afterturn.shapes import from_json
from afterturn.store.sqlite.claiming import claim_job, claimable, sealed_texts
from afterturn.store.sqlite.episodes import EpisodePlace, put_rows
from afterturn.store.sqlite.intake import known_job, take_in
from afterturn.store.sqlite.outbox import end_done, end_failed
from afterturn.store.sqlite.processes import Process, this_process
from afterturn.store.sqlite.sidecars import sidecar_of
from afterturn.store.sqlite.trace_rows import Prepared, prepare
from afterturn.store.sqlite.values import Packer, decoded, decoded_or_none, encoded, unseal_bytes
from afterturn_protocol.capture import CaptureDone, CaptureError, CaptureStatusResult

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

SMALL_BYTES = 256 * 1024
"""A snapshot of so many bytes is sealed in less time than it takes to hand it to another thread and back."""

FEW_ROWS = 64
"""So many rows are made ready in less time than it takes to hand them to another thread and back."""


class SqliteCaptureJobs:
    """`CaptureJobs` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._here: Process | None = None
        self._packer = Packer()  # for the writer's thread alone: making one takes as long as packing an episode

    async def take_in(
        self,
        new: NewEpisode,
        *,
        owner: str,
        max_queued: int,
        now_ms: int,
        lease_ms: int | None = None,
    ) -> TakenEpisode:
        """Keep an episode and its job in one durable transaction. Raises StoreUnavailable, as every method here."""
        here = self._process()
        texts: tuple[bytes, bytes] | None = None
        if len(new.snapshot) > SMALL_BYTES:
            texts = await asyncio.get_running_loop().run_in_executor(None, sealed_texts, new.snapshot, new.options)

        def write(connection: Connection) -> TakenEpisode:
            sealed = texts or sealed_texts(new.snapshot, new.options, self._packer)
            return take_in(connection, new, sealed, (owner, here), max_queued, lease_ms, now_ms)

        return await self._engine.write(write, key=self, durable=True)

    async def claim(self, *, owner: str, has_completer: bool, lease_ms: int, now_ms: int) -> Claim:
        """Take the newest job that is due, for `lease_ms`."""
        here = self._process()
        return await self._engine.write(
            lambda connection: claim_job(connection, owner, here, has_completer, lease_ms, now_ms), key=self
        )

    async def claimable(self, *, owner: str, has_completer: bool, lease_ms: int, now_ms: int) -> bool:
        """Whether `claim` would find anything to do."""
        here = self._process()
        return await self._engine.read(
            lambda connection: claimable(connection, owner, here, has_completer, lease_ms, now_ms), key=self
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
        prepared: list[Prepared] | None = None
        if len(put.rows) > FEW_ROWS:
            prepared = await asyncio.get_running_loop().run_in_executor(None, prepare, put.rows)

        def write(connection: Connection) -> CaptureDone | None:
            ready = prepare(put.rows, self._packer) if prepared is None else prepared
            return _finish(connection, work, put, ready, now_ms)

        return await self._engine.write(write, key=self)

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


# -- again -----------------------------------------------------------------------------------------------------------


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
    newest = known_job(connection, episode, content_hash)
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


def _held(connection: Connection, work: Work) -> tuple[int, EpisodePlace, int] | None:
    """A job that is still this sidecar's, its episode, and how often it has failed."""
    row = connection.execute(
        "SELECT j.job, j.failures, e.episode, e.session, e.project FROM capture_jobs j"
        " JOIN episodes e ON e.episode = j.episode WHERE j.id = ? AND j.token = ? AND j.state = 'running'",
        (encoded(work.job_id), work.token),
    ).fetchone()
    return None if row is None else (row[0], EpisodePlace(*row[2:]), row[1])


def _finish(
    connection: Connection, work: Work, put: Put, prepared: Sequence[Prepared], now_ms: int
) -> CaptureDone | None:
    held = _held(connection, work)
    if held is None:
        return None
    job, place, _ = held
    traces = put_rows(connection, place, put, prepared)
    result = put.result()
    seq = end_done(connection, job, result, full=put.full, project=place.project, now_ms=now_ms)
    return CaptureDone(job_id=work.job_id, seq=seq, result=replace(result, traces=traces if put.full else []))


def _fail(
    connection: Connection, work: Work, stage: str, error: CaptureError, retry_after_ms: int | None, now_ms: int
) -> Failed:
    held = _held(connection, work)
    if held is None:
        return Failed()
    job, place, failures = held
    if retry_after_ms is None or failures + 1 >= MAX_FAILURES:
        connection.execute("UPDATE capture_jobs SET failures = failures + 1 WHERE job = ?", (job,))
        return Failed(event=end_failed(connection, job, stage, error, project=place.project, now_ms=now_ms))
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
