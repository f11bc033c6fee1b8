"""Episodes: what their revisions left, kept and erased (capture.md, 'Durability'; store.md, 'Deleting deletes')."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from afterturn.capture.ports import Put
from afterturn.shapes import to_json
from afterturn.store.sqlite.documents import drop_document
from afterturn.store.sqlite.outbox import end_failed
from afterturn.store.sqlite.projects import forget_empty, vectors_changed
from afterturn.store.sqlite.trace_rows import Prepared, traces_where
from afterturn.store.sqlite.values import decoded, encoded
from afterturn.store.sqlite.vectors import drop_vectors, hide_vectors, show_vectors, write_vectors
from afterturn_protocol.capture import CaptureError, CaptureFailed
from afterturn_protocol.traces import Trace

if TYPE_CHECKING:
    from sqlite3 import Connection

DELETED = CaptureError(code="deleted", message="What the job was to capture has been deleted", retryable=False)


class EpisodePlace(Struct, frozen=True):
    """The numbers of an episode, of its session and of its project."""

    episode: int
    session: int
    project: int


def put_rows(connection: Connection, place: EpisodePlace, put: Put, prepared: Sequence[Prepared]) -> list[Trace]:
    """Write the rows of a capture and mark those that are gone; the traces as they stand then, in step order."""
    missing = set(put.missing)
    known: dict[bytes, _Known] = {
        row[0]: _Known(*row[1:])
        for row in connection.execute(
            "SELECT id, trace, project, body, superseded, content, embed_tries FROM traces WHERE episode = ?",
            (place.episode,),
        )
    }
    # Rows that are all new and bring no vectors change nothing that is searched by them.
    with_vectors = bool(known) or any(each.brings_vectors for each in prepared)
    changed = vectors_changed(connection, place.project) if with_vectors else 0
    new = [each for each in prepared if encoded(each.trace_id) not in known] if known else prepared
    first = _insert(connection, place, new, missing)
    if with_vectors:
        write_vectors(connection, place.project, list(enumerate(new, first)), changed)
    traces = [each.row.trace for each in prepared]
    for index, each in enumerate(prepared if known else ()):
        row = known.get(encoded(each.trace_id))
        if row is not None:
            _update(connection, place.project, each, row, missing, changed)
            traces[index] = _stored(connection, row.trace)
    _supersede(connection, put.superseded)
    ids = to_json([trace.trace_id for trace in traces])
    connection.execute("UPDATE episodes SET trace_ids = ? WHERE episode = ?", (ids, place.episode))
    return traces


class _Known(Struct, frozen=True):
    """A row that is there already."""

    trace: int
    project: int
    body: bytes
    superseded: int
    content: bytes
    tries: int | None


def _insert(connection: Connection, place: EpisodePlace, rows: Sequence[Prepared], missing: set[str]) -> int:
    """Write rows that are new, all at once: one by one costs four times as much. The number of the first."""
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'traces'").fetchone()
    first: int = 1 if last is None else last[0] + 1
    episode, session, project = place.episode, place.session, place.project
    connection.executemany(
        "INSERT INTO traces (trace, id, episode, session, project, step_index, ts, embed_tries, value, r_human,"
        " priority, content, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                number, encoded(trace.trace_id), episode, session, project, trace.step_index, trace.ts,
                0 if trace.trace_id in missing else None,
                trace.value, trace.r_human, trace.priority, each.row.content, each.body,
            )
            for number, each in enumerate(rows, first)
            for trace in (each.row.trace,)
        ],
    )  # fmt: skip
    return first


def _update(
    connection: Connection, project: int, prepared: Prepared, known: _Known, missing: set[str], changed: int
) -> None:
    row, number = prepared.row, known.trace
    if known.body != prepared.body or known.superseded or known.project != project:
        drop_document(connection, number)
    if known.project != project and hide_vectors(connection, number):
        vectors_changed(connection, known.project, taken_away=True)
    tries = known.tries if known.tries is not None else 0 if prepared.trace_id in missing else None
    connection.execute(
        "UPDATE traces SET project = ?, step_index = ?, ts = ?, superseded = 0, embed_tries = ?, content = ?, body = ?"
        " WHERE trace = ?",
        (project, row.trace.step_index, row.trace.ts, tries, row.content, prepared.body, number),
    )
    if row.summary_vector is not None or row.action_vector is not None:
        write_vectors(connection, project, [(number, prepared)], changed)
    elif known.content == row.content:
        show_vectors(connection, number, project, changed)
    elif drop_vectors(connection, number):
        vectors_changed(connection, project, taken_away=True)


def _stored(connection: Connection, number: int) -> Trace:
    return next(trace for _, trace in traces_where(connection, "t.trace = ?", (number,)))


def _supersede(connection: Connection, trace_ids: Iterable[str]) -> None:
    for trace_id in trace_ids:
        row = connection.execute(
            "UPDATE traces SET superseded = 1 WHERE id = ? AND superseded = 0 RETURNING trace, project",
            (encoded(trace_id),),
        ).fetchone()
        if row is None:
            continue
        drop_document(connection, row[0])
        if hide_vectors(connection, row[0]):
            vectors_changed(connection, row[1], taken_away=True)


# -- erasing ------------------------------------------------------------------------------------------------------


def erase_traces(connection: Connection, rows: Sequence[tuple[int, int]]) -> None:
    """Erase (trace, project) rows with all that was made from them; their words leave the index with the next step."""
    numbers = [(trace,) for trace, _ in rows]
    connection.executemany("UPDATE documents SET trace = NULL WHERE trace = ?", numbers)
    connection.executemany("DELETE FROM vector_bits WHERE trace = ?", numbers)
    connection.executemany("DELETE FROM vectors WHERE vector BETWEEN 2 * ?1 AND 2 * ?1 + 1", numbers)
    connection.executemany("DELETE FROM traces WHERE trace = ?", numbers)
    for project in {project for _, project in rows}:
        vectors_changed(connection, project, taken_away=True)


def erase_episodes(connection: Connection, episodes: Sequence[int], now_ms: int) -> tuple[int, list[CaptureFailed]]:
    """Erase whole episodes: how many traces those had, and the events of the jobs that this ends.

    A job that is not done stays, without anything but its ids, until its event is past its time.
    """
    count = 0
    failed: list[CaptureFailed] = []
    projects: set[int] = set()
    for episode in episodes:
        rows = connection.execute("SELECT trace, project FROM traces WHERE episode = ?", (episode,)).fetchall()
        erase_traces(connection, rows)
        count += len(rows)
        project: int = connection.execute("SELECT project FROM episodes WHERE episode = ?", (episode,)).fetchone()[0]
        projects |= {project, *(number for _, number in rows)}
        failed += forget_sources(connection, episode, now_ms)
        connection.execute(
            "DELETE FROM outbox WHERE job IN (SELECT job FROM capture_jobs WHERE episode = ?)", (episode,)
        )
        connection.execute("DELETE FROM capture_jobs WHERE episode = ?", (episode,))
        connection.execute("DELETE FROM idempotency_keys WHERE episode = ?", (episode,))
        connection.execute("DELETE FROM episodes WHERE episode = ?", (episode,))
    forget_empty(connection, sorted(projects))
    return count, failed


def forget_sources(connection: Connection, episode: int, now_ms: int) -> list[CaptureFailed]:
    """Erase what traces of an episode could be made from again; the events of the jobs that this ends."""
    failed: list[CaptureFailed] = []
    jobs: list[tuple[int, bytes | None]] = connection.execute(
        "SELECT job, stage FROM capture_jobs WHERE episode = ? AND state IN ('queued', 'running') ORDER BY job",
        (episode,),
    ).fetchall()
    connection.execute(
        "DELETE FROM capture_sources WHERE job IN (SELECT job FROM capture_jobs WHERE episode = ?)", (episode,)
    )
    for job, stage in jobs:
        connection.execute("UPDATE capture_jobs SET episode = NULL, hash = NULL, token = 0 WHERE job = ?", (job,))
        at = "queued" if stage is None else decoded(stage)
        failed.append(end_failed(connection, job, at, DELETED, project=None, now_ms=now_ms))
    connection.execute("DELETE FROM score_memo WHERE episode = ?", (episode,))
    return failed
