"""Fused blocks (condense/ports.py, `Blocks`)."""

import pytest

from afterturn.condense.ports import Found, RefQuery, StoredBlock
from afterturn.store.sqlite.store import SqliteStore
from tests.store.conftest import Opener

pytestmark = pytest.mark.anyio


def block(number: int, text: str, now_ms: int = 5) -> StoredBlock:
    return StoredBlock(number=number, text=text, details=f"[{text!r}]", source="model", created_at=now_ms)


async def add(store: SqliteStore, key: bytes, text: str, session: str = "s", epoch: int = 0) -> StoredBlock | None:
    return await store.blocks.add(session, epoch, key, text=text, details=f"[{text!r}]", source="model", now_ms=5)


async def test_blocks_are_numbered_and_kept(open_again: Opener) -> None:
    store = open_again()
    assert await add(store, b"k1", "one \ud83d") == block(1, "one \ud83d")
    assert await add(store, b"k2", "two" * 5000) == block(2, "two" * 5000)
    again = open_again()
    assert await again.blocks.all("s") == [block(1, "one \ud83d"), block(2, "two" * 5000)]
    assert await again.blocks.numbered("s", 1) == block(1, "one \ud83d")
    assert await again.blocks.find("s", b"k2") == block(2, "two" * 5000)
    assert (await again.blocks.numbered("s", 3), await again.blocks.find("s", b"k3")) == (None, None)


async def test_the_same_input_gives_the_block_that_was_first(store: SqliteStore) -> None:
    await add(store, b"k1", "one")
    assert await add(store, b"k1", "another") == block(1, "one")
    assert await add(store, b"k2", "two") == block(2, "two")


async def test_a_fork_counts_on_and_sees_its_parents(store: SqliteStore) -> None:
    await add(store, b"k1", "one", "parent")
    await store.sessions.open("child", project=None, parent_session_id="parent", now_ms=1)
    await add(store, b"k2", "later", "parent")
    assert await add(store, b"k1", "another", "child") == block(1, "one")
    assert await add(store, b"k2", "own", "child") == block(2, "own")
    assert await store.blocks.all("child") == [block(1, "one"), block(2, "own")]


async def test_a_deleted_block_is_expired_and_its_number_not_given_again(store: SqliteStore) -> None:
    async def resolve(number: int) -> Found:
        return (await store.archive.resolve("s", [RefQuery(raw=f"b{number}", block=number)], now_ms=1))[0]

    await add(store, b"k1", "one")
    await add(store, b"k2", "two")
    assert await resolve(2) == Found(block=block(2, "two"))
    assert await resolve(3) == Found(known=(1, 2))
    await store.sessions.delete("s", now_ms=1)
    assert await add(store, b"k3", "of an earlier life") is None
    assert await resolve(2) == Found(expired=True)
    assert await add(store, b"k3", "three", epoch=1) == block(3, "three")
    assert await resolve(2) == Found(expired=True, known=(3, 3))
