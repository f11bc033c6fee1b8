"""The embedded store as a whole: its parts, its state, and its end."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from afterturn.store.files import companions
from afterturn.store.paths import StorePlace
from afterturn.store.sqlite.activity import Activity
from afterturn.store.sqlite.archive import SqliteArchive
from afterturn.store.sqlite.batches import SqliteBatches
from afterturn.store.sqlite.blocks import SqliteBlocks
from afterturn.store.sqlite.engine import LOCK_WAIT_MS, Engine
from afterturn.store.sqlite.leases import Leases
from afterturn.store.sqlite.sessions import SqliteSessions
from afterturn.store.sqlite.turns import SqliteTurns

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.opened import OpenedFiles
    from afterturn.store.sqlite.captures import SqliteCaptureStore
    from afterturn.store.sqlite.catalogue import SqliteCatalogue
    from afterturn.store.sqlite.models import SqliteModelStore
    from afterturn.store.sqlite.recaps import SqliteRecaps
    from afterturn.store.sqlite.retention import Retention


class StoreFacts(Struct, frozen=True, kw_only=True):
    """What a report says of the store. bytes: on disk, 0 before the first use. problem: why it cannot be used."""

    backend: str
    path: str
    bytes: int
    problem: str | None


class SqliteStore:
    """The parts that the ports of the jobs ask for, on one engine. Opened by its first use.

    What a first ref can do without is loaded with its own first use: the start waits for nothing that it does not need.
    """

    def __init__(self, place: StorePlace, *, lock_wait_ms: int = LOCK_WAIT_MS) -> None:
        self._engine = Engine(place, lock_wait_ms=lock_wait_ms)
        activity = Activity(self._engine)
        self.sessions = SqliteSessions(self._engine, activity)
        self.archive = SqliteArchive(self._engine, activity)
        self.leases = Leases(self._engine)
        self.batches = SqliteBatches(self._engine, self.leases)
        self.turns = SqliteTurns(self._engine)
        self.blocks = SqliteBlocks(self._engine)

    @cached_property
    def models(self) -> SqliteModelStore:
        """What `afterturn.models.pool.ModelStore` asks for."""
        from afterturn.store.sqlite.models import SqliteModelStore

        return SqliteModelStore(self._engine)

    @cached_property
    def retention(self) -> Retention:
        """What is old and goes."""
        from afterturn.store.sqlite.retention import Retention

        return Retention(self._engine)

    @cached_property
    def recaps(self) -> SqliteRecaps:
        """Saved recaps."""
        from afterturn.store.sqlite.recaps import SqliteRecaps

        return SqliteRecaps(self._engine)

    @cached_property
    def capture(self) -> SqliteCaptureStore:
        """What `afterturn.capture.ports.CaptureStore` asks for."""
        from afterturn.store.sqlite.captures import SqliteCaptureStore

        return SqliteCaptureStore(self._engine)

    @cached_property
    def catalogue(self) -> SqliteCatalogue:
        """What `afterturn.editor.ports.Catalogue` asks for; most processes serve no editor."""
        from afterturn.store.sqlite.catalogue import SqliteCatalogue

        return SqliteCatalogue(self._engine)

    @cached_property
    def opened(self) -> OpenedFiles:
        """What `afterturn.editor.ports.OpenedOriginals` asks for."""
        from afterturn.store.opened import OpenedFiles

        return OpenedFiles(self.place.file)

    @property
    def place(self) -> StorePlace:
        """Where it lies."""
        return self._engine.place

    def status(self) -> StoreFacts:
        """Where the store is and how large. Looks at the files, but does not open them."""
        path = self._engine.path
        size = 0
        for file in (path, *companions(path)):
            try:
                size += file.stat().st_size
            except OSError:
                continue
        return StoreFacts(backend="sqlite", path=str(path), bytes=size, problem=self._engine.problem)

    async def open(self) -> None:
        """Open the store now, ahead of its first use. Raises StoreUnavailable."""
        await self._engine.alone(lambda _: None)

    async def integrity_check(self) -> list[str]:
        """What is wrong inside the file, in the database's words; empty if nothing is. Reads all of it."""

        def read(connection: Connection) -> list[str]:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check").fetchall() if row[0] != "ok"]
            broken = connection.execute("PRAGMA foreign_key_check").fetchall()
            return found + [f"a row of {row[0]} refers to a missing one of {row[2]}" for row in broken]

        return await self._engine.read(read, key=self)

    async def close(self, *, timeout_ms: int = 1500) -> bool:
        """Finish what is queued and close; False if that takes longer, and then what was acknowledged is safe too."""
        if "opened" in self.__dict__:
            self.opened.forget_mine()
        return await self._engine.close(timeout_ms=timeout_ms)
