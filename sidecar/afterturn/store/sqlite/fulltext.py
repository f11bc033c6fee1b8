"""The full-text index as something that follows the rows (capture/ports.py, `TextIndex`; store.md, 'SQLite').

Rows are marked in the transaction that writes them, so a process that ends in between loses nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from afterturn.shapes import from_json
from afterturn.store.sqlite.documents import Document, any_marked, document_of, put_document, take_out_marked
from afterturn.store.sqlite.values import Packer, Unpacker
from afterturn.store.sqlite.words import Words
from afterturn_protocol.traces import Trace

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

PACKED_FROM_BYTES = 256
"""The words of a document are only read to take it out: they may take long to unpack, but shall take little room."""

MERGED_PAGES = 500
"""How much of the index one transaction merges; about 10 ms."""


class SqliteTextIndex:
    """`TextIndex` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def catch_up(self, *, limit: int = 200) -> bool:
        """Index at most `limit` rows that wait for it; whether more wait. Raises StoreUnavailable."""
        waiting, marked = await self._engine.read(
            lambda connection: (_waiting(connection, limit), any_marked(connection)), key=self
        )
        if not waiting and not marked:
            return False  # without a write: it is asked for whenever there may be something
        documents = await asyncio.get_running_loop().run_in_executor(None, _documents, waiting)
        return await self._engine.write(lambda connection: _step(connection, waiting, documents, limit), key=self)


async def forget_marked(engine: Engine) -> None:
    """Take everything out that is marked, and leave nothing of it between the rest. Raises StoreUnavailable.

    In short transactions: other work goes on between them. Only then does a scrub of the file find nothing.
    """
    while await engine.write(lambda connection: take_out_marked(connection, 200), key=forget_marked):
        pass
    pages = -MERGED_PAGES  # the first call with a number below 0 sets everything up to become one segment
    while await engine.write(lambda connection, pages=pages: _merge(connection, pages), key=forget_marked):
        pages = MERGED_PAGES


class _Waiting(Struct, frozen=True):
    """A row that is to be indexed: its number, and what it held when it was read."""

    number: int
    body: bytes


def _waiting(connection: Connection, limit: int) -> list[_Waiting]:
    rows = connection.execute(
        "SELECT trace, body FROM traces WHERE indexed = 0 AND superseded = 0 ORDER BY trace DESC LIMIT ?", (limit,)
    )
    return [_Waiting(*row) for row in rows.fetchall()]


def _documents(waiting: Sequence[_Waiting]) -> list[Document]:
    words, unpacker = Words(), Unpacker()
    return [document_of(from_json(unpacker.unseal_bytes(each.body), Trace), words) for each in waiting]


def _step(connection: Connection, waiting: Sequence[_Waiting], documents: Sequence[Document], limit: int) -> bool:
    packer = Packer(PACKED_FROM_BYTES)
    for each, document in zip(waiting, documents, strict=True):
        # It may have changed between reading and writing, or another process may have been here.
        row = connection.execute(
            "UPDATE traces SET indexed = 1 WHERE trace = ? AND indexed = 0 AND superseded = 0 AND body = ?"
            " RETURNING project",
            (each.number, each.body),
        ).fetchone()
        if row is not None:
            put_document(connection, each.number, row[0], document, packer)
    marked = take_out_marked(connection, limit)
    return len(waiting) == limit or marked == limit


def _merge(connection: Connection, pages: int) -> bool:
    """Merge some of the index's segments; whether there was something to merge."""
    before = connection.total_changes
    connection.execute("INSERT INTO trace_text (trace_text, rank) VALUES ('merge', ?)", (pages,))
    return connection.total_changes - before >= 2
