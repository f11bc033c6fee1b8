"""Raw results by their refs (condense/ports.py, `Archive`; condense.md, 'resolveRef')."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from afterturn.condense.ports import Found, Intake, RefQuery, StoredCall, Taken
from afterturn.store.sqlite.blocks import block_numbers, find_numbered
from afterturn.store.sqlite.replacements import find_replacement
from afterturn.store.sqlite.scopes import Scope, SessionRow, find_session, owner_of, view, view_of
from afterturn.store.sqlite.values import Packer, decoded, decoded_or_none, encoded, unseal, unseal_or_none

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.activity import Activity
    from afterturn.store.sqlite.engine import Engine
    from afterturn.store.sqlite.placing import Sealed

SMALL_CHARS = 256 * 1024
"""More than this is packed in a worker thread: here it would keep the write lock for a millisecond and more."""

_STORED = (
    "r.ref, r.identity, r.dedup, b.data, r.args, r.images, r.call_id, r.tool, r.is_error, r.status, r.turn_index, r.at,"
    " r.entry_id, r.lossy FROM results r JOIN blobs b ON b.blob = r.text WHERE r.session = ?1"
)


class SqliteArchive:
    """`Archive` on one engine."""

    def __init__(self, engine: Engine, activity: Activity) -> None:
        self._engine = engine
        self._activity = activity
        self._packer = Packer()  # for the writer's thread alone: making one takes as long as packing a few results

    async def take_in(self, session_id: str, intake: Intake, *, now_ms: int) -> Taken:
        """Archive calls and log a turn in one durable transaction. Raises StoreUnavailable."""
        from afterturn.store.sqlite.placing import seal_calls, take_in  # a first ref does without

        calls = intake.calls
        chars = sum(
            len(call.text) + len(call.args) + len(call.content or "") + len(call.images or "") for call in calls
        )
        ahead: list[Sealed] | None = None
        if chars > SMALL_CHARS:
            ahead = await asyncio.get_running_loop().run_in_executor(
                None, lambda: seal_calls(calls, Packer(), texts=True)
            )

        def write(connection: Connection) -> Taken:
            sealed = seal_calls(calls, self._packer, texts=False) if ahead is None else ahead
            return take_in(connection, session_id, intake, sealed, self._packer, now_ms)

        return await self._engine.write(write, key=session_id, durable=True)

    async def resolve(self, session_id: str, queries: Sequence[RefQuery], *, now_ms: int) -> Sequence[Found]:
        """One `Found` for each query, in order. Raises StoreUnavailable."""
        found = await self._engine.read(lambda connection: _resolve(connection, session_id, queries), key=session_id)
        if any(each.calls or each.block for each in found):
            self._activity.note(session_id, now_ms)
        return found

    async def load(self, session_id: str, refs: Sequence[int]) -> Sequence[StoredCall]:
        """The calls with these refs that are still there. Raises StoreUnavailable."""
        return await self._engine.read(lambda connection: _load(connection, session_id, refs), key=session_id)

    async def contents(self, session_id: str, refs: Sequence[int]) -> Mapping[int, str]:
        """The blocks of the calls that had more than text, as they came. Raises StoreUnavailable."""
        return await self._engine.read(lambda connection: _contents(connection, session_id, refs), key=session_id)


def _resolve(connection: Connection, session_id: str, queries: Sequence[RefQuery]) -> list[Found]:
    row = find_session(connection, session_id)
    if row is None:
        return [Found() for _ in queries]
    scopes = view_of(connection, row)
    return [_find(connection, row, scopes, query) for query in queries]


def _find(connection: Connection, row: SessionRow, scopes: list[Scope], query: RefQuery) -> Found:
    if query.short is not None:
        call = _by_ref(connection, scopes, query.short)
        if call is not None:
            return Found(calls=(call,))
    if query.block is not None:
        block = find_numbered(connection, scopes, query.block)
        if block is not None:
            return Found(block=block)
    calls: list[StoredCall] = []
    if query.call_id is not None:
        calls = _by_call_id(connection, scopes, query.call_id, query.at)
    calls = calls or _by_call_id(connection, scopes, query.raw, None)
    if calls:
        return Found(calls=calls)
    expired = (
        0 < (query.short or 0) <= row.last_ref
        or 0 < (query.block or 0) <= row.last_block
        or (query.call_id is not None and _has_call_id(connection, scopes, query.call_id, query.at))
        or _has_call_id(connection, scopes, query.raw, None)
    )
    known = block_numbers(connection, scopes) if query.block is not None else ref_numbers(connection, scopes)
    return Found(expired=expired, known=known)


def _by_ref(connection: Connection, scopes: list[Scope], ref: int) -> StoredCall | None:
    scope = owner_of(scopes, ref)
    if scope is None:
        return None
    row = connection.execute(f"SELECT {_STORED} AND r.ref = ?2", (scope.session, ref)).fetchone()
    return None if row is None else _stored(connection, scopes, scope, row)


def _by_call_id(connection: Connection, scopes: list[Scope], call_id: str, at: int | None) -> list[StoredCall]:
    found: list[StoredCall] = []
    for scope in reversed(scopes):
        rows = connection.execute(
            f"SELECT {_STORED} AND substr(r.call_id, -8) = substr(?2, -8) AND r.call_id = ?2 AND r.ref <= ?3"
            " AND r.at IS coalesce(?4, r.at) ORDER BY r.ref",
            (scope.session, encoded(call_id), scope.ref_top, at),
        ).fetchall()
        found += [_stored(connection, scopes, scope, row) for row in rows]
    return found


def _has_call_id(connection: Connection, scopes: list[Scope], call_id: str, at: int | None) -> bool:
    return any(
        connection.execute(
            "SELECT 1 FROM results WHERE session = ?1 AND substr(call_id, -8) = substr(?2, -8) AND call_id = ?2"
            " AND ref <= ?3 AND at IS coalesce(?4, at) LIMIT 1",
            (scope.session, encoded(call_id), scope.ref_top, at),
        ).fetchone()
        for scope in scopes
    )


def _load(connection: Connection, session_id: str, refs: Sequence[int]) -> list[StoredCall]:
    scopes = view(connection, session_id)
    found = [_by_ref(connection, scopes, ref) for ref in refs]
    return [call for call in found if call is not None]


def _contents(connection: Connection, session_id: str, refs: Sequence[int]) -> dict[int, str]:
    scopes = view(connection, session_id)
    found: dict[int, str] = {}
    for ref in refs:
        scope = owner_of(scopes, ref)
        row = (
            scope
            and connection.execute(
                "SELECT b.data FROM results r JOIN blobs b ON b.blob = r.content WHERE r.session = ? AND r.ref = ?",
                (scope.session, ref),
            ).fetchone()
        )
        if row:
            found[ref] = unseal(row[0])
    return found


def ref_numbers(connection: Connection, scopes: list[Scope]) -> tuple[int, int] | None:
    """The lowest and the highest ref in view that resolve."""
    condition = "FROM results WHERE session = ? AND ref <= ? AND text IS NOT NULL ORDER BY ref"
    lows = (
        connection.execute(f"SELECT ref {condition} LIMIT 1", (scope.session, scope.ref_top)).fetchone()
        for scope in reversed(scopes)
    )
    highs = (
        connection.execute(f"SELECT ref {condition} DESC LIMIT 1", (scope.session, scope.ref_top)).fetchone()
        for scope in scopes
    )
    low = next((row[0] for row in lows if row is not None), None)
    high = next((row[0] for row in highs if row is not None), None)
    return None if low is None or high is None else (low, high)


def _stored(connection: Connection, scopes: list[Scope], scope: Scope, row: tuple[Any, ...]) -> StoredCall:
    ref, identity, dedup, text, args, images, call_id, tool, is_error, status, turn_index, at, entry_id, lossy = row
    return StoredCall(
        session_id=decoded(scope.id),
        ref=ref,
        identity=identity,
        tool_call_id=decoded(call_id),
        tool_name=decoded(tool),
        args=unseal(args),
        text=unseal(text),
        is_error=bool(is_error),
        status=decoded_or_none(status),
        turn_index=turn_index,
        result_timestamp=at,
        entry_id=decoded_or_none(entry_id),
        images=unseal_or_none(images),
        lossy=bool(lossy),
        replacement=find_replacement(connection, scopes, ref),
        first_ref=_first_ref(connection, scopes, dedup, ref),
    )


def _first_ref(connection: Connection, scopes: list[Scope], dedup: bytes, ref: int) -> int:
    """The lowest ref in view with the same output that still resolves; ancestors' refs are lower than one's own."""
    for scope in reversed(scopes):
        row = connection.execute(
            "SELECT ref FROM results INDEXED BY results_dedup"
            " WHERE session = ?1 AND substr(dedup, 1, 8) = substr(?2, 1, 8) AND dedup = ?2"
            " AND ref <= ?3 AND text IS NOT NULL ORDER BY ref LIMIT 1",
            (scope.session, dedup, min(scope.ref_top, ref)),
        ).fetchone()
        if row is not None:
            found: int = row[0]
            return found
    return ref
