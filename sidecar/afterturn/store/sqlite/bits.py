"""The signs of a project's vectors in memory, and the scan over them (store.md: 'vectors are plain float32 blobs').

numpy is imported with the first search by vector, never before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afterturn.store.sqlite.vectors import FLOAT_BYTES, signs

if TYPE_CHECKING:
    from sqlite3 import Connection

    from numpy import uint8, uint64
    from numpy.typing import NDArray

KINDS = ("summary", "action")
GROWTH = 1.5
WORD_BYTES = 8


class BitMatrix:
    """The signs of one project's vectors; None stands for all projects.

    Kept up by asking for what changed since, which is cheap where nothing did. Not for two threads at once.
    """

    def __init__(self, project: int | None, embedder: int, dimension: int) -> None:
        self._project = project
        self._embedder = embedder
        self._bytes = -(-dimension // 64) * WORD_BYTES
        self._changed = 0
        self._rebuilt = -1
        self._count = 0
        self._places: dict[int, int] = {}
        self._traces: NDArray[uint64] | None = None
        self._words: tuple[NDArray[uint64], ...] = ()
        self._has: tuple[NDArray[uint8], ...] = ()
        self.others = 0

    def keep_up(self, connection: Connection) -> None:
        """Take over what changed since the last time. others: how many rows have another model's vectors."""
        condition, values = ("1", []) if self._project is None else ("project = ?", [self._project])
        changed, rebuilt = connection.execute(
            f"SELECT coalesce(max(changed), 0), coalesce(max(rebuilt), 0) FROM projects WHERE {condition}", values
        ).fetchone()
        if rebuilt != self._rebuilt:
            self._clear()
        elif changed == self._changed:
            return
        rows = connection.execute(
            f"SELECT trace, summary, action FROM vector_bits WHERE {condition} AND changed > ? AND embedder = ?",
            (*values, self._changed, self._embedder),
        ).fetchall()
        self._take(rows)
        self.others = (
            connection.execute(f"SELECT count(*) FROM vector_bits WHERE {condition}", values).fetchone()[0]
            - self._count
        )
        self._changed, self._rebuilt = changed, rebuilt

    def nearest(self, vector: bytes, kind: str, limit: int) -> Sequence[int]:
        """The traces whose vectors of this kind differ from `vector` in the fewest signs, in no order."""
        import numpy as np

        if self._traces is None or not self._count:
            return []
        index, count = KINDS.index(kind), self._count
        query = np.frombuffer(_padded(signs(vector), self._bytes), dtype=np.uint64)
        words = self._words[index]
        far = np.zeros(count, dtype=np.uint16)
        for number, word in enumerate(query):
            far += np.bitwise_count(words[number, :count] ^ word)
        far[self._has[index][:count] == 0] = 0xFFFF
        if count > limit:
            # A distance is a small number, so that counting them finds the limit faster than sorting does.
            reached = np.cumsum(np.bincount(far, minlength=1))
            picked = np.flatnonzero(far <= int(np.searchsorted(reached, limit)))
        else:
            picked = np.arange(count)
        picked = picked[far[picked] != 0xFFFF]
        return self._traces[picked].tolist()

    def _clear(self) -> None:
        self._changed = self._count = 0
        self._places = {}
        self._traces = None

    def _take(self, rows: Sequence[tuple[int, bytes | None, bytes | None]]) -> None:
        import numpy as np

        if not rows:
            return
        places = np.empty(len(rows), dtype=np.int64)
        for number, (trace, _, _) in enumerate(rows):
            places[number] = self._places.setdefault(trace, len(self._places))
        self._count = len(self._places)
        self._grow(self._count)
        assert self._traces is not None
        self._traces[places] = [row[0] for row in rows]
        nothing = bytes(self._bytes)
        for index, kept in enumerate(self._words):
            column = [row[1:][index] for row in rows]
            data = b"".join(nothing if each is None else _padded(each, self._bytes) for each in column)
            kept[:, places] = np.frombuffer(data, dtype=np.uint64).reshape(len(rows), -1).T
            self._has[index][places] = [each is not None for each in column]

    def _grow(self, count: int) -> None:
        import numpy as np

        held = 0 if self._traces is None else len(self._traces)
        if count <= held:
            return
        size = max(count, int(held * GROWTH), 64)
        words = self._bytes // WORD_BYTES

        def larger(old: NDArray[Any] | None, shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
            new = np.zeros(shape, dtype=kind)
            if old is not None and held:
                new[..., :held] = old
            return new

        before: tuple[Any, ...] = self._words if held else (None, None)
        marks: tuple[Any, ...] = self._has if held else (None, None)
        self._words = tuple(larger(old, (words, size), np.uint64) for old in before)
        self._has = tuple(larger(old, (size,), np.uint8) for old in marks)
        self._traces = larger(self._traces, (size,), np.int64)


def _padded(data: bytes, size: int) -> bytes:
    return data.ljust(size, b"\0")


def cosines(vector: bytes, others: Sequence[bytes]) -> Sequence[float]:
    """The cosine of a unit vector with each of some others of the same dimension."""
    import numpy as np

    matrix = np.frombuffer(b"".join(others), dtype="<f4").reshape(len(others), len(vector) // FLOAT_BYTES)
    return (matrix @ np.frombuffer(vector, dtype="<f4")).tolist()
