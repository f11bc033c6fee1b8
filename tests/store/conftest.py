"""Stores in a folder of their own, closed when the test is over."""

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
def place(tmp_path: Path) -> StorePlace:
    """Where the test's store lies; its folder does not exist yet."""
    return StorePlace(file=tmp_path / "data" / "afterturn.db", own_folder=True)


@pytest.fixture
async def open_again(place: StorePlace) -> AsyncIterator[Opener]:
    """Opens the test's store once more, as another process would, without waiting long for locks."""
    opened: list[SqliteStore] = []

    def open_one() -> SqliteStore:
        opened.append(SqliteStore(place, lock_wait_ms=200))
        return opened[-1]

    yield open_one
    for store in opened:
        assert await store.close(timeout_ms=10_000)


@pytest.fixture
async def store(open_again: Opener) -> SqliteStore:
    """A new store."""
    return open_again()
