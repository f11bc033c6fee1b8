"""Projects as numbers: what traces belong to, and what a search may see (protocol.md, 'capture and traces')."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from afterturn.capture.ports import Scope
from afterturn.store.sqlite.counters import next_number
from afterturn.store.sqlite.values import decoded, encoded

if TYPE_CHECKING:
    from sqlite3 import Connection

VECTOR_CHANGES = "vector_changes"
"""The counter behind `projects.changed`."""

_NAMED, _OF_SESSION = b"p", b"s"


def project_of(connection: Connection, session: int, given: str | None) -> int:
    """The number of the project that something of a session belongs to: the given one, else the session's.

    A session that was opened without project is a project of its own.
    """
    if given is not None:
        return _number(connection, _NAMED + encoded(given))
    session_id, project = connection.execute(
        "SELECT id, project FROM sessions WHERE session = ?", (session,)
    ).fetchone()
    return _number(connection, _OF_SESSION + session_id if project is None else _NAMED + project)


def name_of(connection: Connection, project: int) -> str | None:
    """The project's name; None for a session that has none."""
    name: bytes = connection.execute("SELECT name FROM projects WHERE project = ?", (project,)).fetchone()[0]
    return decoded(name[1:]) if name[:1] == _NAMED else None


def projects_in(connection: Connection, scope: Scope) -> Sequence[int] | None:
    """The numbers of the projects in a scope; None for all of them.

    A session counts with its project and as a project of its own: it may have got its project later than its traces.
    One that was opened without has those that its episodes came with.
    """
    if scope.project == "*":
        return None
    if scope.project is not None:
        names = {_NAMED + encoded(scope.project)}
    else:
        names = set[bytes]()
        for session_id in scope.session_ids:
            names |= _names_of(connection, encoded(session_id))
    rows = [connection.execute("SELECT project FROM projects WHERE name = ?", (name,)).fetchone() for name in names]
    return sorted(row[0] for row in rows if row is not None)


def _names_of(connection: Connection, session_id: bytes) -> set[bytes]:
    """The names of a session's projects."""
    names = {_OF_SESSION + session_id}
    row = connection.execute("SELECT session, project FROM sessions WHERE id = ?", (session_id,)).fetchone()
    if row is None:
        return names
    session, project = row
    if project is not None:
        return names | {_NAMED + project}
    rows = connection.execute(
        "SELECT name FROM projects WHERE project IN (SELECT project FROM episodes WHERE session = ?)", (session,)
    )
    return names | {name for (name,) in rows}


def vectors_changed(connection: Connection, project: int, *, taken_away: bool = False) -> int:
    """The number for a change of the project's vectors, noted as its last one."""
    number = next_number(connection, VECTOR_CHANGES)
    connection.execute("UPDATE projects SET changed = ? WHERE project = ?", (number, project))
    if taken_away:
        connection.execute("UPDATE projects SET rebuilt = ? WHERE project = ?", (number, project))
    return number


def forget_empty(connection: Connection, projects: Sequence[int]) -> None:
    """Erase the names of those of these projects that nothing belongs to any more."""
    connection.executemany(
        "DELETE FROM projects WHERE project = ?1"
        " AND NOT EXISTS (SELECT 1 FROM episodes WHERE project = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM traces WHERE project = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM outbox WHERE project = ?1)",
        [(project,) for project in projects],
    )


def _number(connection: Connection, name: bytes) -> int:
    row = connection.execute("SELECT project FROM projects WHERE name = ?", (name,)).fetchone()
    if row is None:
        row = connection.execute("INSERT INTO projects (name) VALUES (?) RETURNING project", (name,)).fetchone()
    number: int = row[0]
    return number
