"""One trace as a row of the table, and back (capture/rows.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from afterturn.capture.rows import TraceRow
from afterturn.shapes import from_json, to_json
from afterturn.store.sqlite.values import Packer, Unpacker, decoded, encoded
from afterturn.store.sqlite.vectors import ACTION, SUMMARY, read_vectors, signs
from afterturn_protocol.traces import Trace, TraceVectors

if TYPE_CHECKING:
    from sqlite3 import Connection

COLUMNS = (
    "t.trace, t.body, t.superseded, t.value, t.r_human, t.priority, t.vectors, e.model, e.dimension, p.name,"
    " t.step_index"
)
_AT_ONCE = 500
TABLES = "traces t JOIN projects p ON p.project = t.project LEFT JOIN embedders e ON e.embedder = t.embedder"


class Prepared(Struct, frozen=True):
    """What of a row is made before the transaction begins: the body sealed, the signs of its vectors taken."""

    row: TraceRow
    body: bytes
    signs: tuple[bytes | None, bytes | None]

    @property
    def trace_id(self) -> str:
        """The id of its trace."""
        return self.row.trace.trace_id

    @property
    def brings_vectors(self) -> bool:
        """Whether it has a vector."""
        return self.signs != (None, None)


def prepare(rows: Sequence[TraceRow], packer: Packer | None = None) -> list[Prepared]:
    """Rows made ready. Takes a millisecond or so for fifty: for a worker thread. Raises ValueError for NaN."""
    packer = packer or Packer()
    return [
        Prepared(
            row,
            packer.seal_bytes(to_json(row.trace)),
            (
                None if row.summary_vector is None else signs(row.summary_vector),
                None if row.action_vector is None else signs(row.action_vector),
            ),
        )
        for row in rows
    ]


def trace_of(columns: tuple[Any, ...], unpacker: Unpacker) -> Trace:
    """The trace behind the first `COLUMNS`, as it is now."""
    _, body, superseded, value, r_human, priority, vectors, model, dimension, project, step_index = columns[:11]
    trace = from_json(unpacker.unseal_bytes(body), Trace)
    return replace(
        trace,
        step_index=step_index,
        project=decoded(project[1:]) if project[:1] == b"p" else None,
        superseded=bool(superseded),
        value=value,
        r_human=r_human,
        priority=priority,
        vectors=TraceVectors(
            summary=bool(vectors & SUMMARY),
            action=bool(vectors & ACTION),
            model=None if model is None else decoded(model),
            dimension=dimension,
        ),
    )


def traces_where(connection: Connection, condition: str, values: Sequence[Any] = ()) -> Iterator[tuple[int, Trace]]:
    """(number, trace) of the rows that an SQL condition picks, in its order."""
    rows = connection.execute(f"SELECT {COLUMNS} FROM {TABLES} WHERE {condition}", values).fetchall()
    unpacker = Unpacker()
    return ((row[0], trace_of(row, unpacker)) for row in rows)


def traces_by_id(connection: Connection, trace_ids: Sequence[str]) -> list[Trace]:
    """The traces with these ids that are there, in this order."""
    found: dict[str, Trace] = {}
    for start in range(0, len(trace_ids), _AT_ONCE):
        part = [encoded(trace_id) for trace_id in trace_ids[start : start + _AT_ONCE]]
        for _, trace in traces_where(connection, f"t.id IN ({','.join('?' * len(part))})", part):
            found[trace.trace_id] = trace
    return [found[trace_id] for trace_id in trace_ids if trace_id in found]


def rows_where(connection: Connection, condition: str, values: Sequence[Any] = ()) -> list[TraceRow]:
    """Whole rows, vectors and all, that an SQL condition picks, in its order."""
    found: list[TraceRow] = []
    unpacker = Unpacker()
    rows = connection.execute(f"SELECT {COLUMNS}, t.content FROM {TABLES} WHERE {condition}", values).fetchall()
    for row in rows:
        summary, action = read_vectors(connection, row[0])
        found.append(
            TraceRow(trace=trace_of(row, unpacker), content=row[11], summary_vector=summary, action_vector=action)
        )
    return found
