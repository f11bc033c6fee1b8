"""Trace rows, read, scored and erased (capture/ports.py, `Traces`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afterturn.capture.ports import Deleted, TraceFilter
from afterturn.capture.rows import TraceRow
from afterturn.store.sqlite.counters import ERASURES, next_number
from afterturn.store.sqlite.episodes import erase_episodes, erase_traces, forget_sources
from afterturn.store.sqlite.fulltext import forget_marked
from afterturn.store.sqlite.projects import forget_empty, projects_in
from afterturn.store.sqlite.trace_rows import COLUMNS, TABLES, rows_where, trace_of, traces_by_id
from afterturn.store.sqlite.values import Unpacker, encoded
from afterturn_protocol.capture import CaptureFailed
from afterturn_protocol.traces import ScoreUpdate, Trace

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

_OF_EPISODE = (
    "t.episode = (SELECT e.episode FROM episodes e JOIN sessions s ON s.session = e.session"
    " WHERE s.id = ? AND e.id = ?)"
)


class SqliteTraces:
    """`Traces` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def rows_of(self, session_id: str, episode_id: str) -> Sequence[TraceRow]:
        """Every stored row of an episode, in step order. Raises StoreUnavailable, as every method here."""
        return await self._engine.read(
            lambda connection: rows_where(
                connection, f"{_OF_EPISODE} ORDER BY t.step_index, t.trace", (encoded(session_id), encoded(episode_id))
            ),
            key=self,
        )

    async def page(self, which: TraceFilter, *, cursor: str | None, limit: int) -> tuple[Sequence[Trace], str | None]:
        """A page, and the cursor for the next one. Raises ValueError for a cursor that is none."""
        after = None if cursor is None else _read_cursor(cursor)
        return await self._engine.read(lambda connection: _page(connection, which, after, limit), key=self)

    async def get(self, trace_ids: Sequence[str]) -> Sequence[Trace]:
        """The traces with these ids that are there, in the order asked for."""

        return await self._engine.read(lambda connection: traces_by_id(connection, trace_ids), key=self)

    async def delete(self, which: TraceFilter, *, now_ms: int) -> Deleted:
        """Erase traces and all that was made from them; the text is in no file any more.

        When it cannot be wiped from the files this raises, with the rows gone; asking again tries again.
        """
        deleted = await self._engine.write(
            lambda connection: _delete(connection, which, now_ms), key=self, durable=True
        )
        await forget_marked(self._engine)
        await self._engine.alone(_scrub)
        return deleted

    async def update_scores(self, updates: Sequence[ScoreUpdate]) -> int:
        """Set what is given; how many traces were changed."""

        def write(connection: Connection) -> int:
            return sum(
                connection.execute(
                    "UPDATE traces SET value = coalesce(?, value), priority = coalesce(?, priority),"
                    " r_human = coalesce(?, r_human) WHERE id = ?",
                    (update.value, update.priority, update.r_human, encoded(update.trace_id)),
                ).rowcount
                for update in updates
            )

        return await self._engine.write(write, key=self)


def _scrub(connection: Connection) -> None:
    from afterturn.store.sqlite.scrubbing import scrub  # loads sqlite3, which the event loop's thread must not

    scrub(connection)


# -- which --------------------------------------------------------------------------------------------------------


def _condition(connection: Connection, which: TraceFilter) -> tuple[str, list[Any]]:
    """A filter as an SQL condition on `traces t`."""
    parts: list[str] = []
    values: list[Any] = []
    if which.trace_ids is not None:
        parts.append(f"t.id IN ({_marks(which.trace_ids)})")
        values += map(encoded, which.trace_ids)
    if which.episode_id is not None:
        episodes = _episodes(connection, which)
        parts.append(f"t.episode IN ({_marks(episodes)})")
        values += episodes
    if which.session_id is not None:
        parts.append("t.session = (SELECT session FROM sessions WHERE id = ?)")
        values.append(encoded(which.session_id))
    if which.before is not None:
        parts.append("t.ts < ?")
        values.append(which.before)
    if which.scope.project is not None or not _names_rows(which):
        projects = projects_in(connection, which.scope)
        if projects is not None:
            parts.append(f"t.project IN ({_marks(projects)})")
            values += projects
    return " AND ".join(parts) or "1", values


def _names_rows(which: TraceFilter) -> bool:
    return which.trace_ids is not None or which.episode_id is not None or which.session_id is not None


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _episodes(connection: Connection, which: TraceFilter) -> list[int]:
    """The episodes with the id asked for: other hosts may have used the same, so those of one's own sessions first."""
    found: list[tuple[int, bytes]] = connection.execute(
        "SELECT e.episode, s.id FROM episodes e JOIN sessions s ON s.session = e.session WHERE e.id = ?",
        (encoded(which.episode_id or ""),),
    ).fetchall()
    own = {encoded(session_id) for session_id in which.scope.session_ids}
    return [episode for episode, session in found if session in own] or [episode for episode, _ in found]


# -- pages --------------------------------------------------------------------------------------------------------


def _read_cursor(cursor: str) -> tuple[int, int]:
    place, _, number = cursor.partition(".")
    try:
        return int(place), int(number)
    except ValueError:
        raise ValueError(f"{cursor[:40]!r} is no cursor of traces") from None


def _page(
    connection: Connection, which: TraceFilter, after: tuple[int, int] | None, limit: int
) -> tuple[list[Trace], str | None]:
    condition, values = _condition(connection, which)
    if which.episode_id is not None:
        order, sort, then = "t.step_index", "t.step_index, t.trace", ">"
    else:
        order, sort, then = "t.ts", "t.ts DESC, t.trace DESC", "<"
    if after is not None:
        condition += f" AND ({order}, t.trace) {then} (?, ?)"
        values += after
    rows = connection.execute(
        f"SELECT {COLUMNS}, {order} FROM {TABLES} WHERE {condition} ORDER BY {sort} LIMIT ?", (*values, limit + 1)
    ).fetchall()
    page = rows[:limit]
    more = len(rows) > limit and bool(page)
    unpacker = Unpacker()
    return [trace_of(row, unpacker) for row in page], f"{page[-1][11]}.{page[-1][0]}" if more else None


# -- deleting -----------------------------------------------------------------------------------------------------


def _delete(connection: Connection, which: TraceFilter, now_ms: int) -> Deleted:
    condition, values = _condition(connection, which)
    count = 0
    failed: list[CaptureFailed] = []
    if which.trace_ids is None and which.before is None:
        # Whole episodes are meant, those that have no traces yet too.
        count, failed = erase_episodes(connection, _meant(connection, which), now_ms)
    rows = connection.execute(
        f"SELECT t.trace, t.project, t.episode FROM traces t WHERE {condition}", values
    ).fetchall()
    erase_traces(connection, [row[:2] for row in rows])
    for episode in sorted({row[2] for row in rows}):
        if connection.execute("SELECT 1 FROM traces WHERE episode = ? LIMIT 1", (episode,)).fetchone():
            failed += forget_sources(connection, episode, now_ms)
        else:
            failed += erase_episodes(connection, [episode], now_ms)[1]
    forget_empty(connection, sorted({row[1] for row in rows}))
    next_number(connection, ERASURES)
    return Deleted(count=count + len(rows), failed=failed)


def _meant(connection: Connection, which: TraceFilter) -> list[int]:
    """The episodes that a filter without ids of traces and without a time names as a whole."""
    parts: list[str] = []
    values: list[Any] = []
    if which.episode_id is not None:
        episodes = _episodes(connection, which)
        parts.append(f"episode IN ({_marks(episodes)})")
        values += episodes
    if which.session_id is not None:
        parts.append("session = (SELECT session FROM sessions WHERE id = ?)")
        values.append(encoded(which.session_id))
    if which.scope.project is not None or not _names_rows(which):
        projects = projects_in(connection, which.scope)
        if projects is not None:
            parts.append(f"project IN ({_marks(projects)})")
            values += projects
    rows = connection.execute(f"SELECT episode FROM episodes WHERE {' AND '.join(parts) or '1'}", values)
    return [episode for (episode,) in rows.fetchall()]
