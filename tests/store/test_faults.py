"""A store that cannot be used is one clear error, and a later attempt may succeed (store.md, first point)."""

import random
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from afterturn.store import StorePlace, StoreUnavailable, open_store
from afterturn.store.sqlite import storefile
from afterturn.store.sqlite.store import SqliteStore
from afterturn.store.sqlite.storefile import StoreFile
from afterturn.store_error import StoreError
from tests.store.conftest import Opener
from tests.store.sample import call, take, texts

pytestmark = pytest.mark.anyio


async def problem_of(store: SqliteStore) -> StoreUnavailable:
    """The error that every use gives, and that status tells."""
    with pytest.raises(StoreUnavailable) as writing:
        await take(store, "s", call("text"))
    with pytest.raises(StoreUnavailable) as reading:
        await texts(store, "s", 1)
    assert str(writing.value) == str(reading.value) == store.status().problem
    assert isinstance(writing.value, StoreError)
    assert writing.value.kind == "store_unavailable"
    return writing.value


async def test_a_file_stands_where_the_folder_should_be(store: SqliteStore, place: StorePlace) -> None:
    place.file.parent.write_text("not a folder")
    problem = await problem_of(store)
    assert str(problem) == f"The store {place.file} cannot be opened: Not a directory"
    assert problem.retryable
    place.file.parent.unlink()
    assert await take(store, "s", call("text")) == [1]
    assert store.status().problem is None


async def test_a_folder_stands_where_the_file_should_be(store: SqliteStore, place: StorePlace) -> None:
    place.file.mkdir(parents=True)
    problem = await problem_of(store)
    assert str(problem) == f"The store {place.file} cannot be opened: what stands there is no file"
    assert problem.retryable


async def test_a_link_to_nowhere(store: SqliteStore, place: StorePlace, tmp_path: Path) -> None:
    place.file.parent.mkdir()
    place.file.symlink_to(tmp_path / "missing" / "file")
    problem = await problem_of(store)
    assert problem.retryable
    assert str(problem) == f"The store {place.file} cannot be opened: it is a link into a folder that is not there"
    assert not (tmp_path / "missing").exists()
    (tmp_path / "missing").mkdir()
    assert await take(store, "s", call("text")) == [1]
    assert place.file.is_symlink()


@contextmanager
def no_more_than(size: int) -> Iterator[None]:
    """A disk that is full: no file of this process may grow beyond `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_full_disk_at_the_start(store: SqliteStore) -> None:
    with no_more_than(2000):
        with pytest.raises(StoreUnavailable) as full:
            await take(store, "s", call("text"))
        assert full.value.retryable
    assert await take(store, "s", call("text")) == [1]


async def test_a_disk_that_becomes_full(store: SqliteStore) -> None:
    await take(store, "s", call("before"))
    noise = random.Random(1).randbytes(500_000).hex()
    with no_more_than(600_000):
        with pytest.raises(StoreUnavailable) as full:
            await take(store, "s", call(noise))
        assert full.value.retryable
        assert await texts(store, "s", 1) == ["before"]
        assert await take(store, "s", call("small")) == [2]
    assert await take(store, "s", call(noise)) == [3]
    assert await texts(store, "s", 1, 2, 3) == ["before", "small", noise]
    assert await store.integrity_check() == []


async def filled(open_again: Opener, count: int = 300) -> Path:
    """The file of a store that is closed, with some pages in it."""
    store = open_again()
    await take(store, "s", *(call(f"text {number} " * 30) for number in range(count)))
    await store.close(timeout_ms=10_000)
    path = store.status().path
    assert path is not None
    return Path(path)


def garbage(file: Path) -> None:
    file.write_bytes(b"no database " * 1000)


def broken_header(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(b"\xff" * 100 + data[100:])


def broken_pages(file: Path) -> None:
    data = bytearray(file.read_bytes())
    for start in range(4096 * 3, len(data), 4096):
        data[start : start + 64] = b"\xff" * 64
    file.write_bytes(data)


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: 4096 * 5])


@pytest.mark.parametrize("damage", [garbage, broken_header, broken_pages, cut_short])
async def test_a_damaged_file(open_again: Opener, damage: Callable[[Path], None]) -> None:
    file = await filled(open_again)
    damage(file)
    bytes_before = file.read_bytes()
    store = open_again()
    problem = await problem_of(store)
    assert "is damaged" in str(problem)
    assert not problem.retryable
    assert file.read_bytes() == bytes_before
    shutil.move(file, file.with_name("put aside"))
    assert await take(store, "s", call("text")) == [1]
    assert store.status().problem is None


async def test_a_large_damaged_file_is_found_out_beside_the_work(
    open_again: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = await filled(open_again)
    with closing(sqlite3.connect(file)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'blocks'").fetchone()[0]
    data = bytearray(file.read_bytes())
    data[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    file.write_bytes(data)
    monkeypatch.setattr(storefile, "CHECKED_AT_ONCE_BYTES", 1000)
    store = open_again()
    for _ in range(20_000):
        try:
            assert await texts(store, "s", 1, 301) == ["text 0 " * 30, None]
        except StoreUnavailable as problem:
            assert "is damaged" in str(problem)
            break
    else:
        raise AssertionError("the damage was not found")
    await problem_of(store)


async def test_a_store_of_a_newer_program(open_again: Opener) -> None:
    file = await filled(open_again)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 999")
    before = file.read_bytes()
    problem = await problem_of(open_again())
    assert str(problem).startswith(f"The store {file} was made by a newer afterturn (schema 999; this one knows ")
    assert not problem.retryable
    assert file.read_bytes() == before


async def test_the_folder_is_deleted_while_the_store_is_open(open_again: Opener, place: StorePlace) -> None:
    one, two = open_again(), open_again()
    await take(one, "s", call("one"), call("two"))
    assert await texts(two, "s", 1, 2) == ["one", "two"]
    shutil.rmtree(place.file.parent)
    assert await texts(one, "s", 1) == [None]
    assert await take(one, "s", call("three")) == [1]
    assert await take(two, "s", call("four")) == [2]
    assert await texts(one, "s", 1, 2) == ["three", "four"]
    assert await two.integrity_check() == []
    await one.close(timeout_ms=10_000)
    await two.close(timeout_ms=10_000)
    assert await texts(open_again(), "s", 1, 2) == ["three", "four"]


def test_a_file_that_is_gone_needs_no_check(place: StorePlace) -> None:
    """The thread that looks a large file over begins after the store was opened, perhaps too late."""
    assert StoreFile(place, lock_wait_ms=0).needs_check() is False


async def test_a_backup_is_put_in_place_while_the_store_is_open(open_again: Opener, tmp_path: Path) -> None:
    file = await filled(open_again, 3)
    shutil.copy(file, tmp_path / "backup")
    store = open_again()
    assert await take(store, "s", call("later")) == [4]
    for each in file.parent.iterdir():
        each.unlink()
    shutil.move(tmp_path / "backup", file)
    assert await texts(store, "s", 3, 4) == ["text 2 " * 30, None]
    assert await take(store, "s", call("another")) == [4]


def test_a_database_server_is_not_there_yet(place: StorePlace) -> None:
    with pytest.raises(StoreUnavailable, match=r"store\.url names a database server"):
        open_store(place, url="postgresql://somewhere/else")
