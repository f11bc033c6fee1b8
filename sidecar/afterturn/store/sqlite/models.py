"""The parts that the pool asks for, together (models/pool.py, `ModelStore`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from afterturn.store.sqlite.memo import SqliteMemo
from afterturn.store.sqlite.usage import SqliteLedger

if TYPE_CHECKING:
    from afterturn.store.sqlite.engine import Engine


class SqliteModelStore:
    """`ModelStore` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self.ledger = SqliteLedger(engine)
        self.memo = SqliteMemo(engine)
