"""A real store for pools, and the backend."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore

Opener = Callable[[], SqliteStore]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def open_again(tmp_path: Path) -> AsyncIterator[Opener]:
    """Opens one and the same store, as another process would."""
    opened: list[SqliteStore] = []

    def open_one() -> SqliteStore:
        opened.append(SqliteStore(StorePlace(file=tmp_path / "data" / "afterturn.db", own_folder=True)))
        return opened[-1]

    yield open_one
    for store in opened:
        assert await store.close(timeout_ms=10_000)


@pytest.fixture
def store(open_again: Opener) -> SqliteStore:
    """A new store."""
    return open_again()
