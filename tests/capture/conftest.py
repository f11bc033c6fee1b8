"""Services of capture on a store in a folder of their own; everything ends with the test."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from tests.capture.service_harness import Process
from tests.clocks import ManualClock

Starter = Callable[..., Process]
Opener = Callable[[], SqliteStore]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def place(tmp_path: Path) -> StorePlace:
    """Where the test's store lies; its folder does not exist yet."""
    return StorePlace(file=tmp_path / "data" / "afterturn.db", own_folder=True)


@pytest.fixture
async def stores(place: StorePlace) -> AsyncIterator[Opener]:
    """Opens the test's store once more, as another process would."""
    opened: list[SqliteStore] = []

    def open_one() -> SqliteStore:
        opened.append(SqliteStore(place))
        return opened[-1]

    yield open_one
    for store in opened:
        assert await store.close(timeout_ms=10_000)


@pytest.fixture
async def start(stores: Opener) -> AsyncIterator[Starter]:
    """Starts a process; all that are started share one store and one clock, and end with the test."""
    clock = ManualClock()
    started: list[Process] = []

    def start_one(store: Any = None, **given: Any) -> Process:
        started.append(Process(store if store is not None else stores().capture, clock, **given))
        return started[-1]

    yield start_one
    for process in started:
        await process.cut()
        assert process.failures == []
