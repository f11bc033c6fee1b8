"""The turn log: finished turns with calls that wait to be condensed (condense/ports.py, `Turns`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from afterturn.condense.ports import PendingTurn, Placed, TurnEntry
from afterturn.store.sqlite.scopes import Scope, find_session, open_session
from afterturn.store.sqlite.values import (
    decoded,
    decoded_or_none,
    encoded,
    seal,
    seal_or_none,
    unseal,
    unseal_or_none,
)

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

WAITING, SETTLED = 1, 2


class SqliteTurns:
    """`Turns` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def state(self, session_id: str) -> str | None:
        """The small text that the last intake left. Raises StoreUnavailable, as every method here."""

        def read(connection: Connection) -> str | None:
            row = connection.execute("SELECT turn_state FROM sessions WHERE id = ?", (encoded(session_id),)).fetchone()
            return None if row is None else decoded_or_none(row[0])

        return await self._engine.read(read, key=session_id)

    async def pending(self, session_id: str) -> Sequence[PendingTurn]:
        """The turns with waiting calls, oldest first."""
        return await self._engine.read(lambda connection: _pending(connection, session_id), key=session_id)

    async def mark_due(self, session_id: str) -> None:
        """Every waiting turn is to be condensed now."""

        def write(connection: Connection) -> None:
            session = open_session(connection, session_id, None).session
            connection.execute("UPDATE turns SET due = 1 WHERE session = ? AND due = 0", (session,))

        await self._engine.write(write, key=session_id)


def phase_of(connection: Connection, scopes: list[Scope], ref: int) -> int:
    """How far a ref in view has come. What waits in an ancestor's turn log does not wait in this one's."""
    for number, scope in enumerate(scopes):
        if ref > scope.ref_top:
            break
        row = connection.execute(
            "SELECT phase FROM call_states WHERE session = ? AND ref = ?", (scope.session, ref)
        ).fetchone()
        if row is not None and (number == 0 or row[0] == SETTLED):
            phase: int = row[0]
            return phase
    return 0


def log_turn(connection: Connection, session: int, entry: TurnEntry, placed: Sequence[Placed]) -> None:
    """Append a turn with those of its calls that neither wait nor are settled; nothing if there is none."""
    waiting: dict[int, int] = {}
    for place, position in zip(placed, entry.positions, strict=True):
        if position is not None and place.phase == 0:
            waiting.setdefault(place.ref, position)
    if not waiting:
        return
    added = connection.execute(
        "INSERT INTO turns (session, batch_id, turn_index, timestamp, assistant_text, user_text, request_group, loose)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session,
            encoded(entry.batch_id),
            entry.turn_index,
            entry.timestamp,
            seal_or_none(entry.assistant_text),
            seal_or_none(entry.user_text),
            entry.group,
            seal(entry.loose),
        ),
    )
    connection.executemany(
        "INSERT INTO call_states (session, ref, phase, turn, position) VALUES (?, ?, ?, ?, ?)",
        [(session, ref, WAITING, added.lastrowid, position) for ref, position in waiting.items()],
    )


def settle(connection: Connection, session: int, refs: Sequence[int]) -> None:
    """These refs wait no more; turns without a waiting call are forgotten."""
    connection.executemany(
        "INSERT INTO call_states (session, ref, phase) VALUES (?, ?, ?)"
        " ON CONFLICT (session, ref) DO UPDATE SET phase = excluded.phase, turn = NULL, position = NULL",
        [(session, ref, SETTLED) for ref in refs],
    )
    forget_empty_turns(connection, session)


def forget_empty_turns(connection: Connection, session: int) -> None:
    """Forget the turns of a session that no call waits in."""
    connection.execute(
        "DELETE FROM turns WHERE session = ? AND NOT EXISTS"
        " (SELECT 1 FROM call_states WHERE call_states.turn = turns.turn)",
        (session,),
    )


def _pending(connection: Connection, session_id: str) -> list[PendingTurn]:
    row = find_session(connection, session_id)
    if row is None:
        return []
    turns = connection.execute(
        "SELECT turn, batch_id, turn_index, timestamp, assistant_text, user_text, request_group, due, loose FROM turns"
        " WHERE session = ? ORDER BY turn",
        (row.session,),
    ).fetchall()
    return [
        PendingTurn(
            sequence=turn,
            batch_id=decoded(batch_id),
            turn_index=turn_index,
            timestamp=timestamp,
            assistant_text=unseal_or_none(assistant_text),
            user_text=unseal_or_none(user_text),
            group=group,
            due=bool(due),
            loose=unseal(loose),
            calls=connection.execute(
                "SELECT position, ref FROM call_states WHERE turn = ? ORDER BY position, ref", (turn,)
            ).fetchall(),
        )
        for turn, batch_id, turn_index, timestamp, assistant_text, user_text, group, due, loose in turns
    ]
