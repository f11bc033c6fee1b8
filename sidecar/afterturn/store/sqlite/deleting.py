"""Deleting a session: its rows, its episodes, and the blobs that nothing else refers to (store.md; case M14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from afterturn.store.sqlite.batches import forget_claims
from afterturn.store.sqlite.blobs import collect_blobs
from afterturn.store.sqlite.counters import ERASURES, next_number
from afterturn.store.sqlite.scopes import find_session, open_session

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
    it keep what is theirs.
    """
    row = find_session(connection, session_id) or open_session(connection, session_id, now_ms)
    blobs = connection.execute(
        "SELECT text FROM results WHERE session = ?1 AND text IS NOT NULL"
        " UNION SELECT content FROM results WHERE session = ?1 AND content IS NOT NULL",
        (row.session,),
    ).fetchall()
    episodes = connection.execute("SELECT episode FROM episodes WHERE session = ?", (row.session,)).fetchall()
    traces = _erase_episodes(connection, [episode for (episode,) in episodes], now_ms) if episodes else 0
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


def _erase_episodes(connection: Connection, episodes: list[int], now_ms: int) -> int:
    from afterturn.store.sqlite.episodes import erase_episodes  # loads what capture is about: only where there is any

    return erase_episodes(connection, episodes, now_ms)[0]
