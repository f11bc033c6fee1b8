"""Frozen replacements: once given for a ref, the same text for ever (condense.md, 'Replacements')."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from afterturn.condense.ports import PlannedReplacement
from afterturn.store.sqlite.scopes import Scope, owner_of
from afterturn.store.sqlite.values import decoded, decoded_or_none, seal, unseal

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


def keep_replacements(connection: Connection, scopes: list[Scope], texts: Mapping[int, str]) -> dict[int, str]:
    """Freeze those that are not frozen yet; the texts that are frozen now."""
    frozen: dict[int, str] = {}
    for ref, text in texts.items():
        earlier = find_replacement(connection, scopes, ref)
        if earlier is None:
            connection.execute(
                "INSERT INTO replacements (session, ref, text) VALUES (?, ?, ?)", (scopes[0].session, ref, seal(text))
            )
        frozen[ref] = text if earlier is None else earlier
    return frozen


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
