"""Taking calls in: what is known keeps its ref, what is new gets the next one (condense.md, 'Order of work', 1).

All calls of an intake go through one statement for each thing to be done: one a call takes several times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from afterturn.condense.ports import Intake, NewCall, Placed, Taken
from afterturn.store.sqlite.batches import find_batch, give_name
from afterturn.store.sqlite.blobs import content_hash, keep_blobs, known_blobs
from afterturn.store.sqlite.pieces import in_pieces
from afterturn.store.sqlite.replacements import find_replacement
from afterturn.store.sqlite.scopes import Scope, open_session, touch, view_of
from afterturn.store.sqlite.turns import log_turn, phase_of
from afterturn.store.sqlite.values import Packer, encoded, encoded_or_none

if TYPE_CHECKING:
    from sqlite3 import Connection

_BLOB = "(SELECT blob FROM blobs WHERE hash = ?)"


class Sealed(Struct, frozen=True):
    """The parts of a `NewCall` that may be large, packed; content with its address.

    text: None where it is small, and need not be packed unless the store lacks it.
    """

    text: bytes | None
    args: bytes
    images: bytes | None
    content: tuple[bytes, bytes] | None


class _Known(Struct, frozen=True):
    """A call that has a ref: of which session of the view, with which output, and whether its text is still there."""

    session: int
    ref: int
    dedup: bytes
    whole: bool


def seal_calls(calls: Sequence[NewCall], packer: Packer, *, texts: bool) -> list[Sealed]:
    """Calls as they are stored. texts: pack those too, known or not."""
    return [
        Sealed(
            packer.seal(call.text) if texts else None,
            packer.seal(call.args),
            packer.seal_or_none(call.images),
            None if call.content is None else (content_hash(call.content), packer.seal(call.content)),
        )
        for call in calls
    ]


def take_in(
    connection: Connection, session_id: str, intake: Intake, sealed: Sequence[Sealed], packer: Packer, now_ms: int
) -> Taken:
    """Archive calls and log a turn. packer: for the texts that are not `sealed`."""
    row = open_session(connection, session_id, now_ms)
    scopes = view_of(connection, row)
    placed, last_ref = _place(connection, scopes, row.last_ref, list(zip(intake.calls, sealed, strict=True)), packer)
    frozen = None
    if intake.batch_key is not None:
        if intake.batch_id is not None:
            give_name(connection, row.session, intake.batch_id, intake.batch_key)
        frozen = find_batch(connection, scopes, intake.batch_key)
    if intake.turn is not None:
        log_turn(connection, row.session, intake.turn, placed)
    connection.execute(
        "UPDATE sessions SET last_ref = ?, holds_raw = holds_raw OR ?, turn_state = coalesce(?, turn_state)"
        " WHERE session = ?",
        (last_ref, bool(placed), encoded_or_none(intake.turn_state), row.session),
    )
    touch(connection, scopes, now_ms)
    return Taken(epoch=row.epoch, placed=placed, frozen=frozen)


def _place(
    connection: Connection, scopes: list[Scope], last_ref: int, calls: Sequence[tuple[NewCall, Sealed]], packer: Packer
) -> tuple[list[Placed], int]:
    """The places of calls, and the last ref that is given now."""
    known = _known_calls(connection, scopes, [call.identity for call, _ in calls])
    lowest = _lowest_refs(connection, scopes, [call.dedup for call, _ in calls])
    lacking = [(call, parts) for call, parts in calls if not ((found := known.get(call.identity)) and found.whole)]
    _keep_texts(connection, lacking, packer)
    placed: list[Placed] = []
    added: list[tuple[int, NewCall, Sealed]] = []
    for call, parts in calls:
        found = known.get(call.identity)
        is_new = found is None
        if found is None:
            last_ref += 1
            added.append((last_ref, call, parts))
            found = known[call.identity] = _Known(scopes[0].session, last_ref, call.dedup, whole=True)
            lowest.setdefault(call.dedup, last_ref)
        elif not found.whole:
            _restore(connection, found, call, parts)
            lowest[found.dedup] = min(found.ref, lowest.get(found.dedup, found.ref))
        ref = found.ref
        first_ref = min(ref, lowest.get(call.dedup, ref))
        replacement = None if is_new else find_replacement(connection, scopes, ref)
        phase = 0 if is_new else phase_of(connection, scopes, ref)
        placed.append(Placed(ref=ref, is_new=is_new, first_ref=first_ref, replacement=replacement, phase=phase))
    _add(connection, scopes[0].session, added)
    return placed, last_ref


def _known_calls(connection: Connection, scopes: list[Scope], identities: Sequence[bytes]) -> dict[bytes, _Known]:
    """The calls in view among these, by identity; a session's own come before its ancestors'."""
    found: dict[bytes, _Known] = {}
    for scope in scopes:
        for marks, piece in in_pieces(identities):
            rows = connection.execute(
                "SELECT identity, ref, dedup, text IS NOT NULL FROM results INDEXED BY results_identity"
                f" WHERE session = ? AND substr(identity, 1, 8) IN ({marks}) AND ref <= ?",
                (scope.session, *(identity[:8] for identity in piece), scope.ref_top),
            )
            for identity, ref, dedup, whole in rows:
                found.setdefault(identity, _Known(scope.session, ref, dedup, bool(whole)))
    return found


def _lowest_refs(connection: Connection, scopes: list[Scope], dedups: Sequence[bytes]) -> dict[bytes, int]:
    """The lowest ref in view with each output that still resolves; ancestors' refs are lower than one's own."""
    found: dict[bytes, int] = {}
    for scope in reversed(scopes):
        for marks, piece in in_pieces(dedups):
            rows = connection.execute(
                "SELECT column1, (SELECT ref FROM results INDEXED BY results_dedup WHERE session = ?"
                " AND substr(dedup, 1, 8) = substr(column1, 1, 8) AND dedup = column1 AND ref <= ?"
                " AND text IS NOT NULL ORDER BY ref LIMIT 1)"
                f" FROM (VALUES {marks.replace('?', '(?)')})",
                (scope.session, scope.ref_top, *piece),
            )
            for dedup, ref in rows:
                if ref is not None:
                    found.setdefault(dedup, ref)
    return found


def _keep_texts(connection: Connection, calls: Sequence[tuple[NewCall, Sealed]], packer: Packer) -> None:
    known = known_blobs(connection, [call.digest for call, _ in calls])
    blobs = {call.digest: parts.text or packer.seal(call.text) for call, parts in calls if call.digest not in known}
    blobs.update(parts.content for _, parts in calls if parts.content is not None)
    keep_blobs(connection, blobs)


def _add(connection: Connection, session: int, calls: Sequence[tuple[int, NewCall, Sealed]]) -> None:
    connection.executemany(
        "INSERT INTO results (session, ref, identity, dedup, text, content, args, images, call_id, tool, is_error,"
        " status, turn_index, at, entry_id, lossy)"
        f" VALUES (?, ?, ?, ?, {_BLOB}, {_BLOB}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                session,
                ref,
                call.identity,
                call.dedup,
                call.digest,
                parts.content and parts.content[0],
                parts.args,
                parts.images,
                encoded(call.tool_call_id),
                encoded(call.tool_name),
                call.is_error,
                encoded_or_none(call.status),
                call.turn_index,
                call.result_timestamp,
                encoded_or_none(call.entry_id),
                call.lossy,
            )
            for ref, call, parts in calls
        ],
    )


def _restore(connection: Connection, known: _Known, call: NewCall, parts: Sealed) -> None:
    """Make a call whose text had expired whole again."""
    connection.execute(
        f"UPDATE results SET text = {_BLOB}, content = {_BLOB}, args = ?, images = ?, lossy = ?"
        " WHERE session = ? AND ref = ?",
        (
            call.digest,
            parts.content and parts.content[0],
            parts.args,
            parts.images,
            call.lossy,
            known.session,
            known.ref,
        ),
    )
    connection.execute("UPDATE sessions SET holds_raw = 1 WHERE session = ?", (known.session,))
