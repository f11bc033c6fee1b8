"""Frozen batches: the first result that is kept for a batch is its result for ever (condense/ports.py, `Batches`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from afterturn.condense.ports import Freeze, FrozenBatch, PlannedReplacement
from afterturn.store.sqlite.attempts import forget_attempts, return_attempt, take_attempt
from afterturn.store.sqlite.leases import Leases
from afterturn.store.sqlite.replacements import (
    add_replacements,
    all_replacements,
    find_replacements,
    keep_replacements,
)
from afterturn.store.sqlite.scopes import Scope, find_session, open_session, view, view_of
from afterturn.store.sqlite.turns import settle
from afterturn.store.sqlite.values import Packer, decoded, encoded, unseal, unseal_or_none

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

CLAIM = "batch"

_COLUMNS = "batch, key, batch_id, result, summary, refs"


class SqliteBatches:
    """`Batches` on one engine."""

    def __init__(self, engine: Engine, leases: Leases) -> None:
        self._engine = engine
        self._leases = leases
        self._packer = Packer()  # for the writer's thread alone: making one takes as long as packing a result

    async def find(self, session_id: str, batch_key: bytes) -> FrozenBatch | None:
        """The frozen result of a batch, if there is one in view. Raises StoreUnavailable, as every method here."""
        return await self._engine.read(
            lambda connection: find_batch(connection, view(connection, session_id), batch_key), key=session_id
        )

    async def named(self, session_id: str, batch_id: str) -> FrozenBatch | None:
        """The frozen batch that was last given this id."""
        return await self._engine.read(
            lambda connection: _find_named(connection, view(connection, session_id), batch_id), key=session_id
        )

    async def holding(self, session_id: str, refs: Sequence[int]) -> Sequence[FrozenBatch]:
        """The summarized batches in view whose `refs` hold one of these, each once, oldest first."""
        return await self._engine.read(
            lambda connection: _find_holding(connection, view(connection, session_id), refs), key=session_id
        )

    async def summarized(self, session_id: str) -> Sequence[FrozenBatch]:
        """All summarized batches in view, oldest first."""
        return await self._engine.read(
            lambda connection: _find_summarized(connection, view(connection, session_id)), key=session_id
        )

    async def freeze(
        self, session_id: str, epoch: int, batch: FrozenBatch, replacements: Mapping[int, str], settled: Sequence[int]
    ) -> Freeze:
        """Keep a result for ever: first come, first kept."""
        return await self._engine.write(
            lambda connection: _freeze(connection, session_id, epoch, batch, replacements, settled, self._packer),
            key=session_id,
        )

    async def offer(self, session_id: str, epoch: int, replacements: Mapping[int, str]) -> Mapping[int, str]:
        """Freeze replacements outside of a batch; the texts that are frozen now, none if the session was deleted."""

        def write(connection: Connection) -> dict[int, str]:
            row = open_session(connection, session_id, None)
            return keep_replacements(connection, view_of(connection, row), replacements) if row.epoch == epoch else {}

        return await self._engine.write(write, key=session_id)

    async def replacements(self, session_id: str) -> Sequence[PlannedReplacement]:
        """Every frozen replacement in view, by ref."""
        return await self._engine.read(
            lambda connection: all_replacements(connection, view(connection, session_id)), key=session_id
        )

    async def take_attempt(
        self, session_id: str, batch_key: bytes, *, limit: int, cool_down_ms: int, now_ms: int
    ) -> tuple[int, int]:
        """Count one attempt before it is made: (its number from 1, 0), or (0, ms until the next is allowed)."""
        return await self._engine.write(
            lambda connection: take_attempt(
                connection,
                open_session(connection, session_id, now_ms).session,
                batch_key,
                limit=limit,
                cool_down_ms=cool_down_ms,
                now_ms=now_ms,
            ),
            key=session_id,
        )

    async def return_attempt(self, session_id: str, batch_key: bytes) -> None:
        """The attempt taken last was not made after all."""

        def write(connection: Connection) -> None:
            row = find_session(connection, session_id)
            if row is not None:
                return_attempt(connection, row.session, batch_key)

        await self._engine.write(write, key=session_id)

    async def claim(self, session_id: str, batch_key: bytes, *, owner: str, ttl_ms: int, now_ms: int) -> int:
        """Claim a batch for this process: 0 if `owner` has it now, else ms until the other claim ends."""
        taken = await self._leases.claim(
            CLAIM, _claim_key(encoded(session_id), batch_key), owner=owner, ttl_ms=ttl_ms, now_ms=now_ms
        )
        return taken.wait_ms

    async def release(self, session_id: str, batch_key: bytes, *, owner: str) -> None:
        """Give a claim up; one that is not the owner's stays."""
        await self._leases.release(CLAIM, _claim_key(encoded(session_id), batch_key), owner=owner)


def forget_claims(connection: Connection, session_id: bytes) -> None:
    """End all claims on batches of a session, given by its encoded id."""
    begin = _claim_key(session_id, b"")
    connection.execute("DELETE FROM leases WHERE kind = ? AND substr(key, 1, ?) = ?", (CLAIM, len(begin), begin))


def _claim_key(session_id: bytes, batch_key: bytes) -> bytes:
    return b"%d:" % len(session_id) + session_id + batch_key


def find_batch(connection: Connection, scopes: list[Scope], key: bytes) -> FrozenBatch | None:
    """The frozen result of a batch in view; a session's own wins over an ancestor's."""
    for scope in scopes:
        row = connection.execute(
            f"SELECT {_COLUMNS} FROM batches WHERE session = ? AND key = ? AND top_ref <= ?",
            (scope.session, key, scope.ref_top),
        ).fetchone()
        if row is not None:
            return _batch(row)
    return None


def give_name(connection: Connection, session: int, name: str, key: bytes) -> None:
    """The batch with this key, frozen or not, is called so from now on, beside its other names."""
    connection.execute(
        "INSERT INTO batch_names (session, name, key, given) VALUES (?1, ?2, ?3,"
        " (SELECT coalesce(max(given), 0) + 1 FROM batch_names WHERE session = ?1 AND name = ?2))"
        " ON CONFLICT (session, name, key) DO UPDATE SET given = excluded.given",
        (session, encoded(name), key),
    )


def _find_named(connection: Connection, scopes: list[Scope], name: str) -> FrozenBatch | None:
    for scope in scopes:
        keys = connection.execute(
            "SELECT key FROM batch_names WHERE session = ? AND name = ? ORDER BY given DESC",
            (scope.session, encoded(name)),
        ).fetchall()
        for (key,) in keys:
            batch = find_batch(connection, scopes, key)
            if batch is not None:
                return batch
    return None


def _find_holding(connection: Connection, scopes: list[Scope], refs: Iterable[int]) -> list[FrozenBatch]:
    found: dict[int, tuple[Any, ...]] = {}
    for ref in refs:
        for scope in scopes:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM batches WHERE summary IS NOT NULL AND top_ref <= ? AND batch IN"
                " (SELECT batch FROM batch_refs WHERE session = ? AND ref = ?)",
                (scope.ref_top, scope.session, ref),
            ).fetchall()
            found.update((row[0], row) for row in rows)
    return [_batch(found[number]) for number in sorted(found)]


def _find_summarized(connection: Connection, scopes: list[Scope]) -> list[FrozenBatch]:
    found: list[tuple[Any, ...]] = []
    for scope in scopes:
        found += connection.execute(
            f"SELECT {_COLUMNS} FROM batches WHERE session = ? AND summary IS NOT NULL AND top_ref <= ?",
            (scope.session, scope.ref_top),
        ).fetchall()
    return [_batch(row) for row in sorted(found, key=lambda row: row[0])]


def _freeze(
    connection: Connection,
    session_id: str,
    epoch: int,
    batch: FrozenBatch,
    replacements: Mapping[int, str],
    settled: Sequence[int],
    packer: Packer,
) -> Freeze:
    row = open_session(connection, session_id, None)
    if row.epoch != epoch:
        return Freeze(gone=True)
    scopes = view_of(connection, row)
    first = find_batch(connection, scopes, batch.batch_key)
    if first is None:
        earlier = find_replacements(connection, scopes, replacements)
        conflicts = {ref: text for ref, text in earlier.items() if text != replacements[ref]}
        if conflicts:
            return Freeze(conflicts=conflicts)
        added = {ref: text for ref, text in replacements.items() if ref not in earlier}
        add_replacements(connection, row.session, added)
        _keep_batch(connection, row.session, batch, max((*batch.refs, *replacements, *settled), default=0), packer)
        forget_attempts(connection, row.session, batch.batch_key)
    settle(connection, row.session, settled)
    return Freeze(batch=first or batch)


def _keep_batch(connection: Connection, session: int, batch: FrozenBatch, top_ref: int, packer: Packer) -> None:
    added = connection.execute(
        "INSERT INTO batches (session, key, batch_id, result, summary, refs, top_ref) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            session,
            batch.batch_key,
            encoded(batch.batch_id),
            packer.seal(batch.result),
            packer.seal_or_none(batch.summary),
            " ".join(map(str, batch.refs)),
            top_ref,
        ),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO batch_refs (session, ref, batch) VALUES (?, ?, ?)",
        [(session, ref, added.lastrowid) for ref in batch.refs],
    )
    named = connection.execute(
        "SELECT 1 FROM batch_names WHERE session = ? AND name = ? AND key = ?",
        (session, encoded(batch.batch_id), batch.batch_key),
    ).fetchone()
    if named is None:
        give_name(connection, session, batch.batch_id, batch.batch_key)


def _batch(row: tuple[Any, ...]) -> FrozenBatch:
    _, key, batch_id, result, summary, refs = row
    return FrozenBatch(
        batch_key=key,
        batch_id=decoded(batch_id),
        result=unseal(result),
        summary=unseal_or_none(summary),
        refs=[int(ref) for ref in refs.split()],
    )
