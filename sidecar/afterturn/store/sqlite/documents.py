"""What the full-text index holds of a trace, and how it gets in and out (store.md, 'Search').

The index keeps no copy of its texts, so a document can only be taken out with the words it was put in with; they stand
beside it. A row that changes or goes only marks its document, and the next step of the index takes it out: what is
marked is never found, because it belongs to no trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from afterturn.store.sqlite.values import Packer, unseal
from afterturn.store.sqlite.words import Words
from afterturn_protocol.traces import Trace

if TYPE_CHECKING:
    from sqlite3 import Connection


class Document(Struct, frozen=True):
    """A trace as words. said: what people and agents wrote and called; seen: what tools gave back."""

    said: str
    seen: str


def document_of(trace: Trace, words: Words) -> Document:
    """The words of a trace: of its texts, its tools' names, inputs and outputs, its reflection and its tags."""
    said = [trace.user_text, trace.agent_text, trace.reflection.text or "", *trace.tags]
    seen: list[str] = []
    for call in trace.tool_calls:
        said += (call.name, *_texts(call.input))
        said += (text for text in (call.assistant_text_before, call.error_code) if text is not None)
        seen += _texts(call.output)
    return Document(" ".join(filter(None, map(words.line, said))), " ".join(filter(None, map(words.line, seen))))


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, the names of fields among them."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting += reversed([part for pair in each.items() for part in pair])  # pyright: ignore
        elif isinstance(each, list):
            waiting += reversed(each)  # pyright: ignore
        elif each is not None and not isinstance(each, bool):
            yield str(each)


def scope_word(project: int) -> str:
    """The word that every document of a project holds."""
    return f"p{project}"


def put_document(connection: Connection, trace: int, project: int, document: Document, packer: Packer) -> None:
    """Put a document in."""
    number: int = connection.execute(
        "INSERT INTO documents (trace, project, words) VALUES (?, ?, ?) RETURNING document",
        (trace, project, packer.seal(f"{document.said}\n{document.seen}")),
    ).fetchone()[0]
    connection.execute(
        "INSERT INTO trace_text (rowid, scope, said, seen) VALUES (?, ?, ?, ?)",
        (number, scope_word(project), document.said, document.seen),
    )


def drop_document(connection: Connection, trace: int) -> None:
    """Mark what the index holds of a trace, so that it is taken out, and the trace to be put in anew."""
    connection.execute("UPDATE documents SET trace = NULL WHERE trace = ?", (trace,))
    connection.execute("UPDATE traces SET indexed = 0 WHERE trace = ?", (trace,))


def any_marked(connection: Connection) -> bool:
    """Whether there is a document to take out."""
    return connection.execute("SELECT 1 FROM documents WHERE trace IS NULL LIMIT 1").fetchone() is not None


def take_out_marked(connection: Connection, limit: int) -> int:
    """Take at most `limit` marked documents out; how many that were."""
    rows = connection.execute(
        "SELECT document, project, words FROM documents WHERE trace IS NULL LIMIT ?", (limit,)
    ).fetchall()
    for number, project, words in rows:
        said, seen = unseal(words).split("\n")
        connection.execute(
            "INSERT INTO trace_text (trace_text, rowid, scope, said, seen) VALUES ('delete', ?, ?, ?, ?)",
            (number, scope_word(project), said, seen),
        )
        connection.execute("DELETE FROM documents WHERE document = ?", (number,))
    return len(rows)
