"""Sessions, forks, and what each of them sees (condense/ports.py)."""

import pytest

from afterturn.store.sqlite.store import SqliteStore
from tests.store.sample import call, take, texts

pytestmark = pytest.mark.anyio


async def open_fork(store: SqliteStore, session: str, parent: str | None) -> bool:
    return await store.sessions.open(session, project=None, parent_session_id=parent, now_ms=1000)


async def test_open_says_whether_it_was_known(store: SqliteStore) -> None:
    assert not await store.sessions.known("s")
    assert not await open_fork(store, "s", None)
    assert await store.sessions.known("s")
    assert await open_fork(store, "s", None)


async def test_every_write_opens_a_session(store: SqliteStore) -> None:
    await take(store, "a", call("text"))
    await store.sessions.touch("b", now_ms=1)
    await store.turns.mark_due("c")
    await store.batches.take_attempt("d", b"k", limit=1, cool_down_ms=1, now_ms=1)
    assert [await store.sessions.known(session) for session in "abcd"] == [True] * 4


async def test_reading_opens_nothing(store: SqliteStore) -> None:
    assert await texts(store, "s", 1) == [None]
    assert await store.archive.load("s", [1]) == []
    assert await store.turns.state("s") is None
    assert await store.turns.pending("s") == []
    assert await store.batches.summarized("s") == []
    assert await store.blocks.all("s") == []
    await store.batches.return_attempt("s", b"k")
    assert not await store.sessions.known("s")


async def test_a_session_id_may_be_any_text(store: SqliteStore) -> None:
    for session in ("", "\ud83d", "a\x00b", "漢字", "a" * 10_000):
        assert await take(store, session, call(f"of {session}")) == [1]
        assert await texts(store, session, 1) == [f"of {session}"]


async def test_a_fork_counts_on_and_sees_its_parents_refs(store: SqliteStore) -> None:
    await take(store, "parent", call("one"), call("two"))
    await open_fork(store, "child", "parent")
    assert await take(store, "child", call("three")) == [3]
    assert await take(store, "parent", call("other three")) == [3]
    assert await texts(store, "child", 1, 2, 3, 4) == ["one", "two", "three", None]
    assert await texts(store, "parent", 1, 2, 3, 4) == ["one", "two", "other three", None]
    assert [each.session_id for each in await store.archive.load("child", [1, 3])] == ["parent", "child"]


async def test_a_fork_of_a_fork_sees_all_three(store: SqliteStore) -> None:
    await take(store, "a", call("one"))
    await open_fork(store, "b", "a")
    await take(store, "b", call("two"))
    await open_fork(store, "c", "b")
    await take(store, "a", call("a's two"))
    await take(store, "b", call("b's three"))
    assert await take(store, "c", call("three")) == [3]
    assert await texts(store, "c", 1, 2, 3) == ["one", "two", "three"]


async def test_the_same_call_in_a_fork_keeps_its_parents_ref(store: SqliteStore) -> None:
    await take(store, "parent", call("one"))
    await open_fork(store, "child", "parent")
    assert await take(store, "child", call("one"), call("two")) == [1, 2]


async def test_a_parent_is_set_at_the_first_open_only(store: SqliteStore) -> None:
    await take(store, "parent", call("one"))
    await open_fork(store, "child", None)
    await open_fork(store, "child", "parent")
    assert await take(store, "child", call("two")) == [1]


async def test_a_parent_can_be_set_after_an_open_that_was_not_asked_for(store: SqliteStore) -> None:
    await take(store, "parent", call("one"))
    await store.sessions.touch("child", now_ms=1)
    await open_fork(store, "child", "parent")
    assert await take(store, "child", call("two")) == [2]


async def test_no_parent_is_set_once_numbers_were_given(store: SqliteStore) -> None:
    await take(store, "parent", call("one"))
    await take(store, "child", call("two"))
    await open_fork(store, "child", "parent")
    assert await texts(store, "child", 1) == ["two"]


@pytest.mark.parametrize("parent", ["child", "unheard of"])
async def test_a_parent_that_is_none(store: SqliteStore, parent: str) -> None:
    await open_fork(store, "child", parent)
    assert await take(store, "child", call("one")) == [1]


async def test_no_session_becomes_its_own_ancestor(store: SqliteStore) -> None:
    await store.sessions.touch("a", now_ms=1)
    await open_fork(store, "b", "a")
    await open_fork(store, "a", "b")
    assert await take(store, "a", call("one")) == [1]
    assert await texts(store, "b", 1) == [None]


async def test_a_deleted_parent_leaves_the_fork_its_own_and_its_grandparents(store: SqliteStore) -> None:
    await take(store, "a", call("one"))
    await open_fork(store, "b", "a")
    await take(store, "b", call("two"))
    await open_fork(store, "c", "b")
    await take(store, "c", call("three"))
    assert await store.sessions.delete("b", now_ms=1) == 1
    assert await texts(store, "c", 1, 2, 3) == ["one", "expired", "three"]
    assert await texts(store, "b", 1, 2) == ["expired", "expired"]


async def test_a_deleted_session_counts_on_in_its_next_life(store: SqliteStore) -> None:
    await take(store, "s", call("one"), call("two"))
    assert await store.sessions.epoch("s") == 0
    assert await store.sessions.delete("s", now_ms=1) == 2
    assert (await store.sessions.known("s"), await store.sessions.epoch("s")) == (False, 1)
    assert await take(store, "s", call("one")) == [3]
    assert await texts(store, "s", 1, 2, 3, 4) == ["expired", "expired", "one", None]
    assert await store.sessions.known("s")


async def test_a_deleted_fork_does_not_see_its_parent_again(store: SqliteStore) -> None:
    await take(store, "parent", call("one"))
    await open_fork(store, "child", "parent")
    await store.sessions.delete("child", now_ms=1)
    await open_fork(store, "child", "parent")
    assert await texts(store, "child", 1) == ["expired"]
    assert await take(store, "child", call("one")) == [2]


async def test_deleting_what_is_not_there_deletes_nothing(store: SqliteStore) -> None:
    assert await store.sessions.delete("s", now_ms=1) == 0
    await take(store, "s", call("one"))
    assert await store.sessions.delete("s", now_ms=1) == 1
    assert await store.sessions.delete("s", now_ms=1) == 0
