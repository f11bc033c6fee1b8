"""Frozen replacements: once given for a ref, the same text for ever (condense.md, 'Replacements')."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from afterturn.condense.ports import PlannedReplacement
from afterturn.store.sqlite.pieces import in_pieces
from afterturn.store.sqlite.scopes import Scope, owner_of
from afterturn.store.sqlite.values import Packer, decoded, decoded_or_none, unseal

if TYPE_CHECKING:
    from sqlite3 import Connection


def find_replacement(connection: Connection, scopes: list[Scope], ref: int) -> str | None:
    """The replacement of a ref in view; a session's own wins over an ancestor's."""
    for scope in scopes:
        if ref > scope.ref_top:
            break
        row = connection.execute(
            "SELECT text FROM replacements WHERE session = ? AND ref = ?", (scope.session, ref)
        ).fetchone()
        if row is not None:
            return unseal(row[0])
    return None


def find_replacements(connection: Connection, scopes: list[Scope], refs: Iterable[int]) -> dict[int, str]:
    """`find_replacement` of many, by ref, where there is one."""
    found: dict[int, str] = {}
    for scope in scopes:
        left = [ref for ref in refs if ref <= scope.ref_top and ref not in found]
        for marks, piece in in_pieces(left):
            rows = connection.execute(
                f"SELECT ref, text FROM replacements WHERE session = ? AND ref IN ({marks})", (scope.session, *piece)
            )
            found.update((ref, unseal(text)) for ref, text in rows)
    return found


def add_replacements(connection: Connection, session: int, texts: Mapping[int, str]) -> None:
    """Freeze texts for refs that have none yet."""
    packer = Packer()
    connection.executemany(
        "INSERT INTO replacements (session, ref, text) VALUES (?, ?, ?)",
        [(session, ref, packer.seal(text)) for ref, text in texts.items()],
    )


def keep_replacements(connection: Connection, scopes: list[Scope], texts: Mapping[int, str]) -> dict[int, str]:
    """Freeze those that are not frozen yet; the texts that are frozen now."""
    earlier = find_replacements(connection, scopes, texts)
    add_replacements(connection, scopes[0].session, {ref: text for ref, text in texts.items() if ref not in earlier})
    return {**texts, **earlier}


def all_replacements(connection: Connection, scopes: list[Scope]) -> list[PlannedReplacement]:
    """Every replacement in view, by ref, with what a host needs to find its result."""
    texts: dict[int, bytes] = {}
    for scope in reversed(scopes):
        texts.update(
            connection.execute(
                "SELECT ref, text FROM replacements WHERE session = ? AND ref <= ?", (scope.session, scope.ref_top)
            ).fetchall()
        )
    found: list[PlannedReplacement] = []
    for ref in sorted(texts):
        owner = owner_of(scopes, ref)
        row = (
            owner
            and connection.execute(
                "SELECT call_id, at, entry_id FROM results WHERE session = ? AND ref = ?", (owner.session, ref)
            ).fetchone()
        )
        if row:
            found.append(
                PlannedReplacement(
                    ref=ref,
                    tool_call_id=decoded(row[0]),
                    result_timestamp=row[1],
                    entry_id=decoded_or_none(row[2]),
                    text=unseal(texts[ref]),
                )
            )
    return found
