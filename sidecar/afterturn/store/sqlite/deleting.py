"""Deleting a session: its rows, its episodes, and the blobs that nothing else refers to (store.md; case M14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from afterturn.store.sqlite.batches import forget_claims
from afterturn.store.sqlite.blobs import collect_blobs
from afterturn.store.sqlite.counters import ERASURES, next_number
from afterturn.store.sqlite.scopes import SessionRow, find_session, open_session
from afterturn.store.sqlite.turns import forget_empty_turns

if TYPE_CHECKING:
    from sqlite3 import Connection

_TABLES = (
    "memo",
    "batch_refs",
    "batches",
    "batch_names",
    "replacements",
    "call_states",
    "turns",
    "attempts",
    "blocks",
    "results",
)
"""What belongs to a session, in an order that no reference stands against."""


class Erased(Struct, frozen=True):
    """What went with a session: how many archived results, how many traces, and whether there was a recap."""

    results: int
    traces: int
    recaps: int


def erase_session(connection: Connection, session_id: str, now_ms: int) -> Erased:
    """Erase everything of a session but the numbers it has given.

    Its life ends: the epoch grows, so that writes under way for the old life are dropped. Forks that were made from
    it keep what is theirs, but not what stands for results that go.
    """
    row = find_session(connection, session_id) or open_session(connection, session_id, now_ms)
    blobs = connection.execute(
        "SELECT text FROM results WHERE session = ?1 AND text IS NOT NULL"
        " UNION SELECT content FROM results WHERE session = ?1 AND content IS NOT NULL",
        (row.session,),
    ).fetchall()
    episodes = connection.execute("SELECT episode FROM episodes WHERE session = ?", (row.session,)).fetchall()
    traces = _erase_episodes(connection, [episode for (episode,) in episodes], now_ms) if episodes else 0
    for fork, top_ref in _forks(connection, row):
        _forget_results(connection, fork, row.ref_base, top_ref)
    results = 0
    for table in _TABLES:
        results = connection.execute(f"DELETE FROM {table} WHERE session = ?", (row.session,)).rowcount
    recaps = connection.execute("DELETE FROM recaps WHERE session = ?", (row.session,)).rowcount
    collect_blobs(connection, (blob for (blob,) in blobs))
    forget_claims(connection, row.id)
    connection.execute(
        "UPDATE sessions SET epoch = epoch + 1, known = 0, opened = 0, severed = 1, holds_raw = 0, project = NULL,"
        " turn_state = NULL, active_at = ? WHERE session = ?",
        (now_ms, row.session),
    )
    next_number(connection, ERASURES)
    return Erased(results, traces, recaps)


def _forks(connection: Connection, row: SessionRow) -> list[tuple[int, int]]:
    """The sessions that see this one's refs, each with the highest of them in its view."""
    return connection.execute(
        "WITH RECURSIVE forks (session, top) AS ("
        " SELECT session, ref_base FROM sessions WHERE parent = ? AND severed = 0"
        " UNION ALL SELECT s.session, min(f.top, s.ref_base) FROM sessions s JOIN forks f ON s.parent = f.session"
        " WHERE s.severed = 0) SELECT session, top FROM forks WHERE top > ?",
        (row.session, row.ref_base),
    ).fetchall()


def _forget_results(connection: Connection, session: int, ref_base: int, ref_top: int) -> None:
    """Forget what a session keeps of refs above `ref_base` up to `ref_top`, which resolve no more.

    A batch with one of them is made anew when it comes again, under refs that do resolve. Which calls a batch without
    a summary holds is not known here: those are forgotten as well, and cost no model.
    """
    inside = (session, ref_base, ref_top)
    connection.execute("DELETE FROM replacements WHERE session = ? AND ref > ? AND ref <= ?", inside)
    connection.execute("DELETE FROM call_states WHERE session = ? AND ref > ? AND ref <= ?", inside)
    forget_empty_turns(connection, session)
    batches = connection.execute(
        "SELECT batch FROM batches WHERE session = ?1 AND (summary IS NULL OR batch IN"
        " (SELECT batch FROM batch_refs WHERE session = ?1 AND ref > ?2 AND ref <= ?3))",
        inside,
    ).fetchall()
    connection.executemany("DELETE FROM batch_refs WHERE batch = ?", batches)
    connection.executemany("DELETE FROM batches WHERE batch = ?", batches)


def _erase_episodes(connection: Connection, episodes: list[int], now_ms: int) -> int:
    from afterturn.store.sqlite.episodes import erase_episodes  # loads what capture is about: only where there is any

    return erase_episodes(connection, episodes, now_ms)[0]
