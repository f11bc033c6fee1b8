"""The writer's groups, the readers' view, waiting for locks, closing (store.md, 'SQLite')."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from sqlite3 import Connection

import pytest

from afterturn.store import StorePlace, StoreUnavailable
from afterturn.store.sqlite.engine import Engine

pytestmark = pytest.mark.anyio

ADD = "INSERT INTO counters (name, value) VALUES (?, ?)"


def add(name: str, value: int = 1) -> Callable[[Connection], int]:
    def write(connection: Connection) -> int:
        connection.execute(ADD, (name, value))
        return value

    return write


def names(connection: Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT name FROM counters ORDER BY name")]


@pytest.fixture
async def engine(place: StorePlace) -> AsyncIterator[Engine]:
    engine = Engine(place, lock_wait_ms=200)
    yield engine
    assert await engine.close(timeout_ms=10_000)


class Gate:
    """A write that begins, and then waits inside of its transaction until it is opened."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.opened = threading.Event()

    def __call__(self, connection: Connection) -> None:
        self.entered.set()
        assert self.opened.wait(10)


async def test_a_write_returns_what_its_function_returns(engine: Engine) -> None:
    assert await engine.write(add("a", 7), key="s") == 7


async def test_one_bad_unit_fails_alone(engine: Engine) -> None:
    def bad(connection: Connection) -> None:
        connection.execute(ADD, ("half", 1))
        raise LookupError("mine")

    gate = Gate()
    first = engine.write(gate, key="s")
    group = [engine.write(add("a"), key="s"), engine.write(bad, key="s"), engine.write(add("b"), key="s")]
    gate.opened.set()
    await first
    results = await asyncio.gather(*group, return_exceptions=True)
    assert [type(result) for result in results] == [int, LookupError, int]
    assert await engine.read(names, key="s") == ["a", "b"]


async def test_a_unit_that_breaks_the_transaction_fails_alone(engine: Engine) -> None:
    def breaks(connection: Connection) -> None:
        connection.execute(ADD, ("half", 1))
        connection.execute("ROLLBACK")
        raise sqlite3.OperationalError("the transaction is gone")

    gate = Gate()
    first = engine.write(gate, key="s")
    group = [engine.write(add("a"), key="s"), engine.write(breaks, key="s"), engine.write(add("b"), key="s")]
    gate.opened.set()
    await first
    results = await asyncio.gather(*group, return_exceptions=True)
    assert [type(result) for result in results] == [int, sqlite3.OperationalError, int]
    assert await engine.read(names, key="s") == ["a", "b"]


async def test_a_text_too_large_for_the_disk_fails_alone(engine: Engine) -> None:
    def limit(connection: Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 10}")

    def large(connection: Connection) -> None:
        connection.execute("INSERT INTO blobs (hash, data) VALUES (x'00', zeroblob(1000000))")

    await engine.write(add("first"), key="s")
    await engine.alone(limit)
    gate = Gate()
    first = engine.write(gate, key="s")
    group = [engine.write(add("a"), key="s"), engine.write(large, key="s"), engine.write(add("b"), key="s")]
    gate.opened.set()
    await first
    small, full, other = await asyncio.gather(*group, return_exceptions=True)
    assert (small, other) == (1, 1)
    assert isinstance(full, StoreUnavailable)
    assert (str(full), full.retryable) == (f"The store {engine.path} cannot be written: the disk is full", True)
    assert await engine.read(names, key="s") == ["a", "b", "first"]


async def test_what_waits_is_committed_as_one_group(engine: Engine) -> None:
    statements: list[str] = []
    await engine.alone(lambda connection: connection.set_trace_callback(statements.append))
    gate = Gate()
    first = engine.write(gate, key="s")
    await asyncio.to_thread(gate.entered.wait, 10)
    group = [engine.write(add(f"n{number}"), key="s") for number in range(100)]
    gate.opened.set()
    await asyncio.gather(first, *group)
    assert statements.count("COMMIT") == 2
    assert len(await engine.read(names, key="s")) == 100


@pytest.mark.parametrize("durable", [False, True])
async def test_a_read_sees_what_its_key_wrote_before(engine: Engine, durable: bool) -> None:
    for number in range(50):
        engine.write(add(f"{number:02}"), key="s", durable=durable)
        assert len(await engine.read(names, key="s")) == number + 1


async def test_a_read_of_another_key_does_not_wait(engine: Engine) -> None:
    await engine.write(add("a"), key="s")
    gate = Gate()
    waiting = engine.write(gate, key="s")
    await asyncio.to_thread(gate.entered.wait, 10)
    assert await engine.read(names, key="other") == ["a"]
    gate.opened.set()
    await waiting


async def test_a_read_after_a_cancelled_write_sees_it(engine: Engine) -> None:
    gate = Gate()
    first = engine.write(gate, key="s")
    cancelled = engine.write(add("a"), key="s")
    cancelled.cancel()
    seen = engine.read(names, key="s")
    gate.opened.set()
    await first
    assert await seen == ["a"]


async def test_a_read_cannot_write(engine: Engine) -> None:
    await engine.write(add("a"), key="s")
    with pytest.raises(StoreUnavailable, match="read-only"):
        await engine.read(add("b"), key="s")
    assert await engine.read(names, key="s") == ["a"]


async def test_a_read_is_one_snapshot(engine: Engine) -> None:
    between, written = threading.Event(), threading.Event()

    def twice(connection: Connection) -> tuple[int, int]:
        first = len(names(connection))
        between.set()
        assert written.wait(10)
        return first, len(names(connection))

    await engine.write(add("a"), key="s")
    reading = engine.read(twice, key="other")
    await asyncio.to_thread(between.wait, 10)
    await engine.write(add("b"), key="s")
    written.set()
    assert await reading == (1, 1)


async def test_a_lock_that_others_keep_is_one_clear_error(engine: Engine) -> None:
    await engine.write(add("a"), key="s")
    other = sqlite3.connect(engine.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="is locked by another process") as locked:
        await engine.write(add("b"), key="s")
    assert locked.value.retryable
    assert await engine.read(names, key="s") == ["a"]
    other.execute("COMMIT")
    assert await engine.write(add("b"), key="s") == 1
    other.close()


async def test_a_lock_that_is_let_go_in_time_is_waited_for(place: StorePlace) -> None:
    engine = Engine(place)
    await engine.write(add("a"), key="s")
    other = sqlite3.connect(engine.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    waiting = engine.write(add("b"), key="s")
    # Longer than one slice of waiting, so that at least one is tried again.
    threading.Timer(0.2, lambda: other.execute("COMMIT")).start()
    assert await waiting == 1
    other.close()
    assert await engine.close(timeout_ms=10_000)


async def test_durable_units_make_their_group_durable(engine: Engine) -> None:
    def mode(connection: Connection) -> int:
        return connection.execute("PRAGMA synchronous").fetchone()[0]

    normal, full = 1, 2
    assert await engine.write(mode, key="s") == normal
    gate = Gate()
    first = engine.write(gate, key="s", durable=True)
    await asyncio.to_thread(gate.entered.wait, 10)
    group = [engine.write(mode, key="s", durable=durable) for durable in (False, True, False)]
    gate.opened.set()
    await first
    assert await asyncio.gather(*group) == [full, full, full]
    assert await engine.write(mode, key="s") == normal


async def test_closing_finishes_what_is_queued(place: StorePlace) -> None:
    engine = Engine(place)
    writes = [engine.write(add(f"{number:03}"), key="s") for number in range(300)]
    reads = [engine.read(names, key="s")]
    assert await engine.close(timeout_ms=10_000)
    assert await asyncio.gather(*writes) == [1] * 300
    assert len((await asyncio.gather(*reads))[0]) == 300
    assert [path.name for path in place.file.parent.iterdir()] == ["afterturn.db"]
    with pytest.raises(StoreUnavailable, match="is closed"):
        await engine.write(add("late"), key="s")
    with pytest.raises(StoreUnavailable, match="is closed"):
        await engine.read(names, key="s")
    assert await engine.close(timeout_ms=10_000)


async def test_closing_does_not_wait_longer_than_it_may(place: StorePlace) -> None:
    engine = Engine(place)
    gate = Gate()
    stuck = engine.write(gate, key="s")
    await asyncio.to_thread(gate.entered.wait, 10)
    assert not await engine.close(timeout_ms=10)
    gate.opened.set()
    await stuck


async def test_one_that_was_never_used_leaves_nothing(place: StorePlace) -> None:
    engine = Engine(place)
    assert await engine.close(timeout_ms=10_000)
    assert not place.file.parent.exists()


def test_it_serves_one_event_loop_after_the_other(place: StorePlace) -> None:
    engine = Engine(place)

    async def write(name: str) -> int:
        return await engine.write(add(name), key="s")

    async def close() -> bool:
        return await engine.close(timeout_ms=10_000)

    assert asyncio.run(write("a")) == 1
    assert asyncio.run(write("b")) == 1
    assert asyncio.run(close())


def test_a_loop_that_ended_is_not_waited_for(place: StorePlace) -> None:
    engine = Engine(place)
    gate = Gate()

    async def abandon() -> None:
        engine.write(gate, key="s")
        engine.write(add("a"), key="s")
        await asyncio.to_thread(gate.entered.wait, 10)

    async def look() -> list[str]:
        return await engine.read(names, key="s")

    async def close() -> bool:
        return await engine.close(timeout_ms=10_000)

    asyncio.run(abandon())
    gate.opened.set()
    assert asyncio.run(look()) == ["a"]
    assert asyncio.run(close())


def test_nothing_is_loaded_before_the_first_use() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from pathlib import Path; from afterturn.store import open_store, StorePlace;"
        "open_store(StorePlace(file=Path('/nowhere/s.db'), own_folder=True));"
        "print([name for name in ('sqlite3', 'zstandard', 'platformdirs', 'random') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.stderr, ran.stdout) == ("", "[]\n")
