"""Frozen results, names, replacements, attempts, claims (condense/ports.py, `Batches`; cases C03, C08)."""

import asyncio

import pytest

from afterturn.condense.ports import Freeze, Intake, PlannedReplacement
from afterturn.store.sqlite.store import SqliteStore
from tests.store.conftest import Opener
from tests.store.sample import call, frozen, key, take

pytestmark = pytest.mark.anyio


async def fork(store: SqliteStore, child: str, parent: str) -> None:
    await store.sessions.open(child, project=None, parent_session_id=parent, now_ms=1)


async def test_first_come_first_kept_for_every_process(open_again: Opener) -> None:
    one, two = open_again(), open_again()
    results = await asyncio.gather(
        one.batches.freeze("s", 0, frozen("b", by="one"), {}, []),
        two.batches.freeze("s", 0, frozen("b", by="two"), {}, []),
    )
    kept = await open_again().batches.find("s", key("batch", "b"))
    assert kept in (frozen("b", by="one"), frozen("b", by="two"))
    assert [result.batch for result in results] == [kept, kept]


async def test_a_result_comes_back_byte_for_byte(open_again: Opener) -> None:
    large = frozen("b \ud83d", refs=[3, 1, 2], summary="s\ud83d" * 5000, by="x" * 50_000)
    assert await open_again().batches.freeze("s", 0, large, {}, []) == Freeze(batch=large)
    assert await open_again().batches.find("s", large.batch_key) == large


async def test_another_replacement_is_a_conflict_and_writes_nothing(store: SqliteStore) -> None:
    await take(store, "s", call("one"), call("two"))
    assert await store.batches.offer("s", 0, {1: "head of one"}) == {1: "head of one"}
    refused = await store.batches.freeze("s", 0, frozen("b", refs=[1, 2]), {1: "other", 2: "two"}, [1, 2])
    assert refused == Freeze(conflicts={1: "head of one"})
    assert await store.batches.find("s", key("batch", "b")) is None
    kept = await store.batches.freeze("s", 0, frozen("b", refs=[1, 2]), {1: "head of one", 2: "two"}, [1, 2])
    assert kept == Freeze(batch=frozen("b", refs=[1, 2]))
    assert [each.text for each in await store.batches.replacements("s")] == ["head of one", "two"]


async def test_an_offer_is_frozen_once(store: SqliteStore) -> None:
    await take(store, "s", call("one"), call("two"))
    assert await store.batches.offer("s", 0, {1: "first"}) == {1: "first"}
    assert await store.batches.offer("s", 0, {1: "second", 2: "other"}) == {1: "first", 2: "other"}
    assert (await store.archive.load("s", [1]))[0].replacement == "first"


async def test_what_belongs_to_a_deleted_life_is_dropped(store: SqliteStore) -> None:
    await take(store, "s", call("one"))
    await store.sessions.delete("s", now_ms=1)
    assert await store.batches.freeze("s", 0, frozen("b"), {1: "text"}, [1]) == Freeze(gone=True)
    assert await store.batches.offer("s", 0, {1: "text"}) == {}
    assert await store.batches.find("s", key("batch", "b")) is None
    assert await store.batches.replacements("s") == []
    assert await store.batches.freeze("s", 1, frozen("b"), {}, []) == Freeze(batch=frozen("b"))


async def test_planned_replacements_name_their_results_by_ref(store: SqliteStore) -> None:
    await take(store, "s", call("one", id="a", at=5, entry_id="e1"), call("two", id="b"))
    await store.batches.offer("s", 0, {2: "of two"})
    await store.batches.offer("s", 0, {1: "of one"})
    assert await store.batches.replacements("s") == [
        PlannedReplacement(ref=1, tool_call_id="a", result_timestamp=5, entry_id="e1", text="of one"),
        PlannedReplacement(ref=2, tool_call_id="b", result_timestamp=None, entry_id=None, text="of two"),
    ]


async def test_a_fork_sees_its_parents_batches_and_replacements_up_to_its_fork(store: SqliteStore) -> None:
    await take(store, "parent", call("one"))
    await store.batches.freeze("parent", 0, frozen("first", refs=[1], summary="1"), {1: "short"}, [1])
    await fork(store, "child", "parent")
    await take(store, "parent", call("two"))
    await store.batches.freeze("parent", 0, frozen("second", refs=[2], summary="2"), {2: "other"}, [2])
    assert await store.batches.find("child", key("batch", "first")) == frozen("first", refs=[1], summary="1")
    assert await store.batches.find("child", key("batch", "second")) is None
    assert [each.batch_id for each in await store.batches.summarized("child")] == ["first"]
    assert [each.batch_id for each in await store.batches.holding("child", [1, 2])] == ["first"]
    assert [each.text for each in await store.batches.replacements("child")] == ["short"]
    assert await store.batches.named("child", "first") == frozen("first", refs=[1], summary="1")


async def test_a_forks_own_replacement_of_its_parents_ref_is_its_own(store: SqliteStore) -> None:
    await take(store, "parent", call("one"))
    await fork(store, "child", "parent")
    assert await store.batches.offer("child", 0, {1: "the child's"}) == {1: "the child's"}
    assert await store.batches.offer("parent", 0, {1: "the parent's"}) == {1: "the parent's"}
    assert [each.text for each in await store.batches.replacements("child")] == ["the child's"]
    assert [each.text for each in await store.batches.replacements("parent")] == ["the parent's"]


async def test_holding_and_summarized_leave_out_what_has_no_summary(store: SqliteStore) -> None:
    await take(store, "s", *(call(f"{number}") for number in range(4)))
    await store.batches.freeze("s", 0, frozen("b2", refs=[2, 1], summary="b2"), {}, [])
    await store.batches.freeze("s", 0, frozen("skipped"), {}, [3])
    await store.batches.freeze("s", 0, frozen("b1", refs=[4], summary="b1"), {}, [])
    assert [each.batch_id for each in await store.batches.summarized("s")] == ["b2", "b1"]
    assert [each.batch_id for each in await store.batches.holding("s", [4, 2, 1, 3, 9])] == ["b2", "b1"]
    assert await store.batches.holding("s", [3]) == []


async def name(store: SqliteStore, batch_id: str, batch: str) -> None:
    await store.archive.take_in("s", Intake(calls=[], batch_key=key("batch", batch), batch_id=batch_id), now_ms=1)


async def test_a_name_is_the_frozen_batch_that_got_it_last(store: SqliteStore) -> None:
    await name(store, "x", "a")
    await name(store, "x", "b")
    assert await store.batches.named("s", "x") is None
    await store.batches.freeze("s", 0, frozen("a"), {}, [])
    assert await store.batches.named("s", "x") == frozen("a")
    await store.batches.freeze("s", 0, frozen("b"), {}, [])
    assert await store.batches.named("s", "x") == frozen("b")
    await name(store, "x", "a")
    assert await store.batches.named("s", "x") == frozen("a")
    assert await store.batches.named("s", "a") == frozen("a")
    assert await store.batches.named("s", "y") is None


async def attempt(store: SqliteStore, now_ms: int) -> tuple[int, int]:
    return await store.batches.take_attempt("s", b"k", limit=3, cool_down_ms=100, now_ms=now_ms)


async def test_attempts_are_few_and_then_there_is_a_pause(open_again: Opener) -> None:
    store = open_again()
    assert [await attempt(store, now) for now in (0, 10, 20, 20, 119)] == [(1, 0), (2, 0), (3, 0), (0, 100), (0, 1)]
    assert await attempt(open_again(), 120) == (1, 0)


async def test_a_clock_that_was_set_back_does_not_make_the_pause_longer(store: SqliteStore) -> None:
    for _ in range(3):
        await attempt(store, 1_000_000)
    assert await attempt(store, 0) == (0, 100)


async def test_an_attempt_can_be_given_back(store: SqliteStore) -> None:
    await store.batches.return_attempt("s", b"k")
    for _ in range(3):
        await attempt(store, 0)
    await store.batches.return_attempt("s", b"k")
    assert await attempt(store, 0) == (3, 0)


async def test_a_frozen_batch_has_no_attempts(store: SqliteStore) -> None:
    for _ in range(3):
        await store.batches.take_attempt("s", key("batch", "b"), limit=3, cool_down_ms=100, now_ms=0)
    await store.batches.freeze("s", 0, frozen("b"), {}, [])
    assert await store.batches.take_attempt("s", key("batch", "b"), limit=3, cool_down_ms=100, now_ms=0) == (1, 0)


async def test_a_claim_is_one_owners_until_it_ends(store: SqliteStore) -> None:
    async def claim(owner: str, now_ms: int, session: str = "s") -> int:
        return await store.batches.claim(session, b"k", owner=owner, ttl_ms=100, now_ms=now_ms)

    assert [await claim("a", 0), await claim("b", 40), await claim("a", 50)] == [0, 60, 0]
    assert [await claim("b", 149), await claim("b", 0, "other"), await claim("b", 150)] == [1, 0, 0]
    await store.batches.release("s", b"k", owner="a")
    assert await claim("a", 151) == 99
    await store.batches.release("s", b"k", owner="b")
    assert await claim("a", 151) == 0
