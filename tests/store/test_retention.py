"""Raw output past its time (store.md, 'Blobs'; condense.md, 'The rule above all'). No clock but `now_ms`."""

import pytest

from afterturn.condense.ports import Found, Intake, RefQuery
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from afterturn.store.sqlite.values import seal
from tests.store.conftest import Opener
from tests.store.sample import DAY_MS, bytes_on_disk, call, frozen, key, take, take_turn, texts

pytestmark = pytest.mark.anyio

NEEDLE = "NEEDLE-7f3a"


async def sweep(store: SqliteStore, day: float, *, retention_days: int = 30, limit: int = 200) -> int:
    """Expire all that is to expire on this day; how much that was."""
    expired, more = 0, True
    while more:
        swept = await store.retention.step(retention_days=retention_days, now_ms=int(day * DAY_MS), limit=limit)
        expired, more = expired + swept.expired, swept.more
    return expired


async def test_a_ref_expires_after_the_time_and_not_before(store: SqliteStore) -> None:
    await take(store, "s", call("one"), call("two"), now_ms=0)
    await take(store, "later", call("one"), now_ms=DAY_MS)
    assert await sweep(store, 30) == 0
    assert await texts(store, "s", 1, now_ms=0) == ["one"]
    assert await sweep(store, 30.001) == 2
    assert await texts(store, "s", 1, 2, 3) == ["expired", "expired", None]
    assert await texts(store, "later", 1) == ["one"]
    assert await sweep(store, 30.001) == 0


@pytest.mark.parametrize("days", [1, 7, 3650])
async def test_the_time_is_a_setting(store: SqliteStore, days: int) -> None:
    await take(store, "s", call("one"), now_ms=0)
    assert await sweep(store, days, retention_days=days) == 0
    assert await sweep(store, days + 0.001, retention_days=days) == 1


async def test_steps_are_small_and_end(store: SqliteStore) -> None:
    await take(store, "s", *(call(f"{number}") for number in range(25)), now_ms=0)
    first = await store.retention.step(retention_days=30, now_ms=31 * DAY_MS, limit=10)
    assert (first.expired, first.more) == (10, True)
    assert await texts(store, "s", 10, 11, now_ms=0) == ["expired", "10"]
    assert await sweep(store, 31, limit=10) == 15


async def touch(store: SqliteStore, session: str, day: float) -> None:
    await store.sessions.touch(session, now_ms=int(day * DAY_MS))


async def open_again_later(store: SqliteStore, session: str, day: float) -> None:
    await store.sessions.open(session, project=None, parent_session_id=None, now_ms=int(day * DAY_MS))


async def archive_more(store: SqliteStore, session: str, day: float) -> None:
    await take(store, session, call("more"), now_ms=int(day * DAY_MS))


async def resolve(store: SqliteStore, session: str, day: float) -> None:
    await texts(store, session, 1, now_ms=int(day * DAY_MS))


@pytest.mark.parametrize("act", [touch, open_again_later, archive_more, resolve])
async def test_activity_keeps_a_session(store: SqliteStore, act) -> None:
    await take(store, "s", call("one"), now_ms=0)
    await act(store, "s", 20)
    assert await sweep(store, 50) == 0
    assert await sweep(store, 51) > 0


@pytest.mark.parametrize("act", [touch, archive_more, resolve])
async def test_activity_of_a_fork_keeps_its_ancestors(store: SqliteStore, act) -> None:
    await take(store, "a", call("one"), now_ms=0)
    await store.sessions.open("b", project=None, parent_session_id="a", now_ms=0)
    await store.sessions.open("c", project=None, parent_session_id="b", now_ms=0)
    await act(store, "c", 20)
    assert await sweep(store, 50) == 0
    assert await texts(store, "c", 1, now_ms=50 * DAY_MS) == ["one"]


async def test_activity_does_not_go_back(store: SqliteStore) -> None:
    await take(store, "s", call("one"), now_ms=20 * DAY_MS)
    await touch(store, "s", 1)
    assert await sweep(store, 50) == 0


async def test_a_text_that_another_session_has_too_stays(store: SqliteStore) -> None:
    await take(store, "s", call("same", id="a"), now_ms=0)
    await take(store, "later", call("same", id="b"), now_ms=20 * DAY_MS)
    assert await sweep(store, 31) == 1
    assert await texts(store, "later", 1) == ["same"]


@pytest.mark.parametrize("size", [1, 1000])
async def test_what_expired_is_in_no_file(store: SqliteStore, place: StorePlace, size: int) -> None:
    long = f"{NEEDLE}-{size} " * size
    await take(store, "s", call(long, args=f'"args {long}"', content=f"content {long}", images=NEEDLE), now_ms=0)
    await take(store, "later", call("kept"), now_ms=20 * DAY_MS)
    before = bytes_on_disk(place.file)
    assert (NEEDLE.encode() in before, seal(long)[1:] in before) == (True, True)
    assert await sweep(store, 31) == 1
    await store.close(timeout_ms=10_000)
    after = bytes_on_disk(place.file)
    assert (NEEDLE.encode() in after, seal(long)[1:] in after) == (False, False)


async def test_what_expired_goes_from_the_files_while_the_process_runs(store: SqliteStore, place: StorePlace) -> None:
    for number in range(300):
        await take(store, f"s{number}", call(f"{NEEDLE} {number}"), now_ms=0)
    await take(store, "later", call("kept"), now_ms=20 * DAY_MS)
    assert await sweep(store, 31) == 300
    await store.retention.scrub()
    assert NEEDLE.encode() not in bytes_on_disk(place.file)
    assert await texts(store, "later", 1) == ["kept"]


async def test_an_expired_call_is_known_by_its_id(store: SqliteStore) -> None:
    await take(store, "s", call("one", id="c", at=5), now_ms=0)
    await sweep(store, 31)
    queries = [RefQuery(raw="c"), RefQuery(raw="c@5", call_id="c", at=5), RefQuery(raw="d")]
    found = await store.archive.resolve("s", queries, now_ms=0)
    assert found == [Found(expired=True), Found(expired=True), Found()]


async def test_the_same_call_again_is_whole_again_under_its_ref(store: SqliteStore) -> None:
    await take(store, "s", call("one"), call("two"), now_ms=0)
    await store.batches.freeze("s", 0, frozen("b", refs=[1], summary="sum"), {1: "short"}, [1])
    await sweep(store, 31)
    intake = Intake(calls=[call("one")], batch_key=key("batch", "b"))
    taken = await store.archive.take_in("s", intake, now_ms=31 * DAY_MS)
    assert [(each.ref, each.is_new, each.replacement) for each in taken.placed] == [(1, False, "short")]
    assert taken.frozen == frozen("b", refs=[1], summary="sum")
    assert await texts(store, "s", 1, 2, now_ms=31 * DAY_MS) == ["one", "expired"]
    assert await sweep(store, 62) == 1


async def test_what_expired_is_nobodys_first(store: SqliteStore) -> None:
    await take(store, "s", call("same", id="a"), now_ms=0)
    await sweep(store, 31)
    taken = await store.archive.take_in("s", Intake(calls=[call("same", id="b")]), now_ms=31 * DAY_MS)
    assert [(each.ref, each.first_ref) for each in taken.placed] == [(2, 2)]


async def test_what_is_whole_again_is_the_first_for_those_after_it(store: SqliteStore) -> None:
    await take(store, "s", call("one", id="a"), now_ms=0)
    assert await sweep(store, 31) == 1
    calls = [call("one", id="b"), call("one", id="a"), call("one", id="c")]
    taken = await store.archive.take_in("s", Intake(calls=calls), now_ms=31 * DAY_MS)
    assert [(each.ref, each.first_ref) for each in taken.placed] == [(2, 2), (1, 1), (3, 1)]


async def test_what_waited_waits_no_more(store: SqliteStore) -> None:
    await take_turn(store, "s", call("one"), now_ms=0)
    await sweep(store, 31)
    assert await store.turns.pending("s") == []
    await take_turn(store, "s", call("one"), now_ms=31 * DAY_MS)
    assert [list(turn.calls) for turn in await store.turns.pending("s")] == [[(0, 1)]]


async def test_work_goes_on_between_the_steps_of_several_processes(open_again: Opener) -> None:
    one, two = open_again(), open_again()
    await take(one, "s", *(call(f"{number}") for number in range(30)), now_ms=0)
    expired = 0
    for number in range(10):
        for store in (one, two):
            expired += (await store.retention.step(retention_days=30, now_ms=31 * DAY_MS, limit=2)).expired
        assert await take(one, "other", call(f"{number}"), now_ms=31 * DAY_MS) == [number + 1]
    assert expired == 30
