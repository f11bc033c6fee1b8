"""What a search is compared with: a scan of all vectors with numpy, and one query of the same FTS5 index."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from afterturn.store.sqlite.words import query_words


class Floor:
    """The same vectors as two float32 matrices in memory, and a connection of its own to the same file."""

    def __init__(self, file: Path, dimension: int) -> None:
        self._connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
        self._matrices = [self._matrix(kind, dimension) for kind in (0, 1)]

    def _matrix(self, kind: int, dimension: int) -> Any:
        rows = self._connection.execute("SELECT data FROM vectors WHERE vector % 2 = ? ORDER BY vector", (kind,))
        data = b"".join(row[0] for row in rows)
        return np.frombuffer(data, dtype="<f4").reshape(-1, dimension)

    @property
    def vector_bytes(self) -> int:
        return sum(matrix.nbytes for matrix in self._matrices)

    def scan(self, vector: bytes, limit: int = 100) -> list[Sequence[int]]:
        """The nearest rows of both matrices, by cosine."""
        asked = np.frombuffer(vector, dtype="<f4")
        found: list[Sequence[int]] = []
        for matrix in self._matrices:
            scores = matrix @ asked
            best = np.argpartition(-scores, min(limit, len(scores) - 1))[:limit]
            found.append(best[np.argsort(-scores[best])].tolist())
        return found

    def text(self, query: str, limit: int = 100) -> list[tuple[int]]:
        """The best rows by BM25."""
        match = " OR ".join(f'"{word}"' for word in query_words(query, 32))
        return self._connection.execute(
            "SELECT rowid FROM trace_text WHERE trace_text MATCH ? ORDER BY rank LIMIT ?", (match, limit)
        ).fetchall()

    def pages(self, name: str) -> int:
        """Bytes that tables whose names begin so take in the file."""
        sizes = self._connection.execute("SELECT sum(pgsize) FROM dbstat WHERE name GLOB ?", (f"{name}*",))
        return sizes.fetchone()[0] or 0
