"""Many values in one statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

AT_ONCE = 500
"""Every build of SQLite takes so many parameters, and a few more."""


def in_pieces(values: Sequence[T]) -> Iterator[tuple[str, Sequence[T]]]:
    """The values for an `IN (...)`, piece by piece, each with the marks that stand for it."""
    for start in range(0, len(values), AT_ONCE):
        piece = values[start : start + AT_ONCE]
        yield ",".join("?" * len(piece)), piece
