"""An episode on its way in: known already, or new and queued or claimed (capture.md, 'Durability')."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from afterturn.capture.ports import NewEpisode, TakenEpisode, Work
from afterturn.store.sqlite.claiming import lease, older_open
from afterturn.store.sqlite.counters import inserted
from afterturn.store.sqlite.outbox import event_of
from afterturn.store.sqlite.processes import Process
from afterturn.store.sqlite.projects import name_of, project_of
from afterturn.store.sqlite.scopes import open_session, touch, view_of
from afterturn.store.sqlite.sidecars import sidecar_of
from afterturn.store.sqlite.values import decoded, encoded
from afterturn_protocol.capture import CaptureDone

if TYPE_CHECKING:
    from sqlite3 import Connection

_OPEN = ("queued", "running")


class KnownJob(Struct, frozen=True):
    """A job that stands for what was sent."""

    job: int
    id: str
    state: str
    revision: int


def take_in(
    connection: Connection,
    new: NewEpisode,
    texts: tuple[bytes, bytes],
    by: tuple[str, Process],
    max_queued: int,
    lease_ms: int | None,
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
    known = None if episode is None else known_job(connection, episode[0], new.content_hash)
    if known is None or known.state == "failed":
        queued = connection.execute(
            "SELECT count(*) FROM capture_jobs WHERE session = ? AND state IN ('queued', 'running')", (session,)
        ).fetchone()[0]
        if queued >= max_queued:
            return TakenEpisode(status="busy", job_id="", revision=0)
        number, revision, project = _revised(connection, new, session, episode, known)
        job, sidecar = _queue(connection, new, texts, by, (session, number, revision), now_ms)
        work = None
        if lease_ms is not None and (revision == 1 or not older_open(connection, number, revision, job)):
            token = lease(connection, job, sidecar, now_ms + lease_ms)
            work = _work(new, token, revision, name_of(connection, project))
        taken = TakenEpisode(status="accepted", job_id=new.job_id, revision=revision, work=work)
    else:
        number = episode[0] if episode is not None else 0
        taken = _already(connection, known)
    if key is not None:
        connection.execute(
            "INSERT OR IGNORE INTO idempotency_keys (session, key, episode, hash) VALUES (?, ?, ?, ?)",
            (session, key, number, new.content_hash),
        )
    return taken


def known_job(connection: Connection, episode: int, content_hash: bytes) -> KnownJob | None:
    """The newest job for the same content."""
    row = connection.execute(
        "SELECT job, id, state, revision FROM capture_jobs WHERE episode = ? AND hash = ? ORDER BY job DESC LIMIT 1",
        (episode, content_hash),
    ).fetchone()
    return None if row is None else KnownJob(row[0], decoded(row[1]), row[2], row[3])


def _already(connection: Connection, known: KnownJob) -> TakenEpisode:
    if known.state in _OPEN:
        return TakenEpisode(status="duplicate", job_id=known.id, revision=known.revision)
    done = event_of(connection, known.job)
    assert isinstance(done, CaptureDone)
    return TakenEpisode(status="done", job_id=known.id, revision=known.revision, done=done)


def _work(new: NewEpisode, token: int, revision: int, project: str | None) -> Work:
    return Work(
        job_id=new.job_id,
        token=token,
        episode_id=new.episode_id,
        session_id=new.session_id,
        project=project,
        revision=revision,
        attempts=1,
        snapshot=new.snapshot,
        options=new.options,
    )


def _revised(
    connection: Connection, new: NewEpisode, session: int, episode: tuple[int, int] | None, failed: KnownJob | None
) -> tuple[int, int, int]:
    """The episode's number, revision and project.

    Content that failed before keeps its revision if it is still the newest.
    """
    project = project_of(connection, session, new.project)
    if episode is None:
        number = inserted(
            connection,
            "INSERT INTO episodes (session, id, project, revision) VALUES (?, ?, ?, 1)",
            (session, encoded(new.episode_id), project),
        )
        return number, 1, project
    number, revision = episode
    if failed is None or failed.revision != revision:
        revision += 1
    connection.execute("UPDATE episodes SET revision = ?, project = ? WHERE episode = ?", (revision, project, number))
    return number, revision, project


def _queue(
    connection: Connection,
    new: NewEpisode,
    texts: tuple[bytes, bytes],
    by: tuple[str, Process],
    place: tuple[int, int, int],
    now_ms: int,
) -> tuple[int, int]:
    """Add a job; its number, and that of this sidecar."""
    session, episode, revision = place
    snapshot, options = texts
    sidecar = sidecar_of(connection, *by, now_ms)
    job = inserted(
        connection,
        "INSERT INTO capture_jobs (id, session, episode, episode_id, revision, hash, state, sidecar, with_completer,"
        " accepted_at) VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?)",
        (
            encoded(new.job_id), session, episode, encoded(new.episode_id), revision, new.content_hash,
            sidecar, new.with_completer, now_ms,
        ),
    )  # fmt: skip
    connection.execute(
        "INSERT INTO capture_sources (job, options, snapshot) VALUES (?, ?, ?)", (job, options, snapshot)
    )
    return job, sidecar
