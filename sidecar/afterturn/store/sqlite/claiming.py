"""Which job is whose to do next (capture.md, 'Durability')."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from afterturn.capture.ports import LEFT_TO_COMPLETERS_MS, MAX_STARTS, Claim, Work
from afterturn.store.sqlite.counters import next_number
from afterturn.store.sqlite.outbox import end_failed
from afterturn.store.sqlite.processes import Process
from afterturn.store.sqlite.projects import name_of
from afterturn.store.sqlite.sidecars import forget, gone, known_sidecar, sidecar_of
from afterturn.store.sqlite.values import Packer, decoded, unseal_bytes
from afterturn_protocol.capture import CaptureError, CaptureFailed

if TYPE_CHECKING:
    from sqlite3 import Connection

GAVE_UP = CaptureError(
    code="internal", message="The job was started again and again and never came to an end", retryable=True
)


class _Claimant(Struct, frozen=True):
    """Who asks, and when. gone: the sidecars that are there no more."""

    sidecar: int
    gone: Set[int]
    has_completer: bool
    lease_ms: int
    now_ms: int

    @property
    def may_do(self) -> list[int]:
        """The sidecars whose jobs are this one's to do."""
        return [self.sidecar, *sorted(self.gone)]


def sealed_texts(snapshot: bytes, options: bytes, packer: Packer | None = None) -> tuple[bytes, bytes]:
    """A job's large parts as they are stored. For a worker thread."""
    packer = packer or Packer()
    return packer.seal_bytes(snapshot), packer.seal_bytes(options)


def claim_job(
    connection: Connection, owner: str, here: Process, has_completer: bool, lease_ms: int, now_ms: int
) -> Claim:
    """Give the newest job that this sidecar may do and that is due."""
    sidecar = sidecar_of(connection, owner, here, now_ms)
    claimant = _claimant(connection, sidecar, here, has_completer, lease_ms, now_ms)
    waits: list[int] = []
    failed: list[CaptureFailed] = []
    work = None
    for row, wait_ms in _open_jobs(connection, claimant):
        if wait_ms > 0:
            waits.append(wait_ms)
        elif row[10] >= MAX_STARTS:
            failed.append(_give_up(connection, row[0], row[1], now_ms))
        else:
            work = _start(connection, row[0], claimant)
            break
    if claimant.gone:
        forget(connection, claimant.gone)
    if work is None and _others_have_jobs(connection, claimant):
        waits.append(lease_ms)  # they are anybody's once those others are gone
    return Claim(work=work, wait_ms=min(waits) if waits and work is None else None, failed=failed)


def claimable(
    connection: Connection, owner: str, here: Process, has_completer: bool, lease_ms: int, now_ms: int
) -> bool:
    """Whether `claim_job` would find anything to do."""
    if connection.execute("SELECT 1 FROM capture_jobs WHERE state IN ('queued', 'running') LIMIT 1").fetchone() is None:
        return False
    sidecar = known_sidecar(connection, owner)
    claimant = _claimant(connection, sidecar, here, has_completer, lease_ms, now_ms)
    return any(wait_ms <= 0 for _, wait_ms in _open_jobs(connection, claimant))


def _claimant(
    connection: Connection, sidecar: int, here: Process, has_completer: bool, lease_ms: int, now_ms: int
) -> _Claimant:
    lost = gone(connection, here, silent_ms=lease_ms, now_ms=now_ms) - {sidecar}
    return _Claimant(sidecar, lost, has_completer, lease_ms, now_ms)


def _open_jobs(connection: Connection, claimant: _Claimant) -> Iterator[tuple[tuple[Any, ...], int]]:
    """The jobs that this sidecar may do, newest first, each with how long it is not to be had, in ms."""
    marks = ",".join("?" * len(claimant.may_do))
    for row in connection.execute(
        "SELECT job, episode, revision, state, sidecar, holder, with_completer, accepted_at, due_at, expires_at,"
        f" attempts FROM capture_jobs WHERE state IN ('queued', 'running') AND sidecar IN ({marks}) ORDER BY job DESC",
        claimant.may_do,
    ):
        yield row, _wait(connection, row, claimant)


def _others_have_jobs(connection: Connection, claimant: _Claimant) -> bool:
    marks = ",".join("?" * len(claimant.may_do))
    row = connection.execute(
        f"SELECT 1 FROM capture_jobs WHERE state IN ('queued', 'running') AND sidecar NOT IN ({marks}) LIMIT 1",
        claimant.may_do,
    ).fetchone()
    return row is not None


def _wait(connection: Connection, row: tuple[Any, ...], claimant: _Claimant) -> int:
    """How long, in ms, until it is worth asking for the job again: 0 for now."""
    job, episode, revision, state, sidecar, holder, with_completer, accepted_at, due_at, expires_at, _ = row
    now_ms = claimant.now_ms
    if with_completer and not claimant.has_completer and sidecar != claimant.sidecar:
        left = accepted_at + LEFT_TO_COMPLETERS_MS - now_ms
        if 0 < left <= LEFT_TO_COMPLETERS_MS:
            return left
    if state == "running" and holder not in claimant.gone:
        # A clock that was set back must not make a lease longer than it is.
        left = min(expires_at - now_ms, claimant.lease_ms)
        if left > 0:
            return left
    if state == "queued" and due_at > now_ms:
        return due_at - now_ms
    return claimant.lease_ms if older_open(connection, episode, revision, job) else 0


def older_open(connection: Connection, episode: int, revision: int, job: int) -> bool:
    """Whether the episode has a job that is to be done before this one."""
    row = connection.execute(
        "SELECT 1 FROM capture_jobs WHERE episode = ? AND state IN ('queued', 'running')"
        " AND (revision < ? OR revision = ? AND job < ?) LIMIT 1",
        (episode, revision, revision, job),
    ).fetchone()
    return row is not None


def lease(connection: Connection, job: int, sidecar: int, expires_at: int) -> int:
    """Make a job a sidecar's to do, until a time in epoch ms; the token of that."""
    token = next_number(connection, "lease_token")
    connection.execute(
        "UPDATE capture_jobs SET state = 'running', holder = ?, token = ?, expires_at = ?, attempts = attempts + 1,"
        " stage = NULL WHERE job = ?",
        (sidecar, token, expires_at, job),
    )
    return token


def _start(connection: Connection, job: int, claimant: _Claimant) -> Work:
    token = lease(connection, job, claimant.sidecar, claimant.now_ms + claimant.lease_ms)
    id, episode_id, session_id, project, revision, attempts, snapshot, options = connection.execute(
        "SELECT j.id, j.episode_id, s.id, e.project, j.revision, j.attempts, o.snapshot, o.options FROM capture_jobs j"
        " JOIN sessions s ON s.session = j.session JOIN episodes e ON e.episode = j.episode"
        " JOIN capture_sources o ON o.job = j.job WHERE j.job = ?",
        (job,),
    ).fetchone()
    return Work(
        job_id=decoded(id),
        token=token,
        episode_id=decoded(episode_id),
        session_id=decoded(session_id),
        project=name_of(connection, project),
        revision=revision,
        attempts=attempts,
        snapshot=unseal_bytes(snapshot),
        options=unseal_bytes(options),
    )


def _give_up(connection: Connection, job: int, episode: int, now_ms: int) -> CaptureFailed:
    project = connection.execute("SELECT project FROM episodes WHERE episode = ?", (episode,)).fetchone()[0]
    return end_failed(connection, job, "queued", GAVE_UP, project=project, now_ms=now_ms)
