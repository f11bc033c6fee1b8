"""Stores to run the condense service on: the model in memory, and the real one."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from afterturn.condense.ports import Store
from afterturn.store import StorePlace, open_store
from tests.condense.memory_store import MemoryStore

OpenStore = Callable[[], Store]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["memory", "sqlite"])
async def open_again(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenStore]:
    """Opens one and the same store, as a new process would; as often as it is called."""
    if request.param == "memory":
        memory = MemoryStore()
        yield lambda: memory
        return
    opened = []

    def open_one() -> Store:
        opened.append(open_store(StorePlace(file=tmp_path / "afterturn.db", own_folder=True)))
        return opened[-1]

    yield open_one
    for store in opened:
        assert await store.close(timeout_ms=10_000)


@pytest.fixture
def store(open_again: OpenStore) -> Store:
    """A new store."""
    return open_again()
