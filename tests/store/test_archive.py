"""Archiving and resolving (condense.md, 'Order of work' 1 and 5, 'resolveRef'; case C01)."""

import pytest

from afterturn.condense.ports import Found, Intake, NewCall, RefQuery
from afterturn.store.sqlite.store import SqliteStore
from tests.store.conftest import Opener
from tests.store.sample import call, frozen, key, take, texts

pytestmark = pytest.mark.anyio

TEXTS = [
    pytest.param("", id="empty"),
    pytest.param("line\r\n\r\nline \t\n", id="line ends"),
    pytest.param("cut \ud83d here", id="lone surrogate"),
    pytest.param("\ud83d\ude00 as two halves", id="surrogate pair in halves"),
    pytest.param("漢字 🚀 é \x00 \x1b[0m", id="other scripts and controls"),
    pytest.param("x" * 4095, id="below the compression size"),
    pytest.param("x" * 4096, id="compressed"),
    pytest.param("\ud83d" * 5000, id="compressed, lone surrogates"),
    pytest.param("".join(chr(33 + (number * 7919) % 90000 % 5000) for number in range(60_000)), id="large"),
]


@pytest.mark.parametrize("text", TEXTS)
async def test_a_text_comes_back_as_it_was_also_to_another_process(open_again: Opener, text: str) -> None:
    await take(open_again(), "s", call(text))
    assert await texts(open_again(), "s", 1) == [text]


async def test_everything_else_comes_back_too(store: SqliteStore) -> None:
    new = NewCall(
        identity=key(1), dedup=key(2), digest=key(3), tool_call_id="id \ud83d", tool_name="tool", args='{"a":1}',
        text="text", is_error=True, status="denied", turn_index=7, result_timestamp=99, entry_id="e1",
        images='[{"mimeType":"image/png"}]', content="[1]", lossy=True,
    )  # fmt: skip
    await take(store, "s", new)
    (stored,) = await store.archive.load("s", [1])
    for field in NewCall.__struct_fields__:
        if field not in ("dedup", "digest", "content"):
            assert getattr(stored, field) == getattr(new, field), field
    assert (stored.session_id, stored.ref, stored.first_ref, stored.replacement) == ("s", 1, 1, None)


async def test_refs_count_on_for_the_session(open_again: Opener) -> None:
    assert await take(open_again(), "s", call("one"), call("two")) == [1, 2]
    assert await take(open_again(), "s", call("three")) == [3]
    assert await take(open_again(), "other", call("one")) == [1]


async def test_the_same_call_keeps_its_ref(store: SqliteStore) -> None:
    first = await store.archive.take_in("s", Intake(calls=[call("one"), call("two"), call("one")]), now_ms=1)
    again = await store.archive.take_in("s", Intake(calls=[call("two"), call("three")]), now_ms=1)
    assert [(each.ref, each.is_new) for each in first.placed] == [(1, True), (2, True), (1, False)]
    assert [(each.ref, each.is_new) for each in again.placed] == [(2, False), (3, True)]


async def test_other_content_under_the_same_id_and_time_is_another_result(store: SqliteStore) -> None:
    assert await take(store, "s", call("one", id="c", at=5), call("two", id="c", at=5)) == [1, 2]
    assert await texts(store, "s", 1, 2) == ["one", "two"]


async def test_first_ref_tells_duplicates(store: SqliteStore) -> None:
    calls = [call("same", id="a"), call("other", id="b"), call("same", id="c"), call("same", id="d", is_error=True)]
    taken = await store.archive.take_in("s", Intake(calls=calls), now_ms=1)
    assert [(each.ref, each.first_ref) for each in taken.placed] == [(1, 1), (2, 2), (3, 1), (4, 4)]
    later = await store.archive.take_in("s", Intake(calls=[call("same", id="e")]), now_ms=1)
    assert later.placed[0].first_ref == 1
    assert [each.first_ref for each in await store.archive.load("s", [5, 2, 3])] == [1, 2, 1]


async def test_the_output_of_a_call_is_the_one_it_was_archived_with(store: SqliteStore) -> None:
    await take(store, "s", call("one", id="c", at=5))
    calls = [call("one", id="c", at=5, is_error=True), call("one", id="d", at=5, is_error=True)]
    taken = await store.archive.take_in("s", Intake(calls=calls), now_ms=1)
    assert [(each.ref, each.first_ref) for each in taken.placed] == [(1, 1), (2, 2)]


async def test_more_calls_than_one_statement_takes(store: SqliteStore) -> None:
    calls = [call(f"text {number % 600}", id=f"c{number}") for number in range(1203)]
    for is_new in (True, False):
        taken = await store.archive.take_in("s", Intake(calls=calls), now_ms=1)
        assert [(each.ref, each.first_ref, each.is_new) for each in taken.placed] == [
            (number + 1, number % 600 + 1, is_new) for number in range(1203)
        ]
    assert await texts(store, "s", 1, 601, 1203) == ["text 0", "text 0", "text 2"]


async def test_a_duplicate_in_a_fork_is_one_of_its_parents(store: SqliteStore) -> None:
    await take(store, "parent", call("same", id="a"))
    await store.sessions.open("child", project=None, parent_session_id="parent", now_ms=1)
    await take(store, "parent", call("later", id="b"))
    taken = await store.archive.take_in("child", Intake(calls=[call("same", id="c"), call("later", id="d")]), now_ms=1)
    assert [(each.ref, each.first_ref) for each in taken.placed] == [(2, 1), (3, 3)]


async def test_a_batch_that_is_frozen_comes_with_the_intake(store: SqliteStore) -> None:
    intake = Intake(calls=[call("one")], batch_key=frozen("b").batch_key, batch_id="b")
    taken = await store.archive.take_in("s", intake, now_ms=1)
    assert taken.frozen is None
    await store.batches.freeze("s", taken.epoch, frozen("b", summary="sum", refs=[1]), {1: "short"}, [1])
    again = await store.archive.take_in("s", intake, now_ms=1)
    assert again.frozen == frozen("b", summary="sum", refs=[1])
    assert [(each.replacement, each.phase) for each in again.placed] == [("short", 2)]


async def test_the_turn_state_stays_until_it_is_replaced(store: SqliteStore) -> None:
    await store.archive.take_in("s", Intake(calls=[], turn_state="first \ud83d"), now_ms=1)
    await take(store, "s", call("one"))
    assert await store.turns.state("s") == "first \ud83d"
    await store.archive.take_in("s", Intake(calls=[], turn_state=""), now_ms=1)
    assert await store.turns.state("s") == ""


async def resolve(store: SqliteStore, query: RefQuery, session: str = "s") -> Found:
    return (await store.archive.resolve(session, [query], now_ms=1))[0]


async def test_a_reused_id_gives_every_occurrence_in_order(store: SqliteStore) -> None:
    await take(store, "s", call("one", id="c", at=5), call("other", id="d"), call("two", id="c", at=9))
    assert [each.text for each in (await resolve(store, RefQuery(raw="c"))).calls] == ["one", "two"]
    timed = await resolve(store, RefQuery(raw="c@9", call_id="c", at=9))
    assert [each.text for each in timed.calls] == ["two"]


async def test_an_id_that_looks_like_a_ref_or_holds_a_time(store: SqliteStore) -> None:
    await take(store, "s", call("one", id="t9"), call("two", id="b7"), call("three", id="c@9"))
    assert (await resolve(store, RefQuery(raw="t9", short=9))).calls[0].text == "one"
    assert (await resolve(store, RefQuery(raw="t1", short=1))).calls[0].text == "one"
    assert (await resolve(store, RefQuery(raw="b7", block=7))).calls[0].text == "two"
    assert (await resolve(store, RefQuery(raw="c@9", call_id="c", at=9))).calls[0].text == "three"


async def test_ids_are_found_in_a_fork_up_to_where_it_was_forked(store: SqliteStore) -> None:
    await take(store, "parent", call("one", id="c", at=1))
    await store.sessions.open("child", project=None, parent_session_id="parent", now_ms=1)
    await take(store, "parent", call("two", id="c", at=2))
    await take(store, "child", call("three", id="c", at=3))
    assert [each.text for each in (await resolve(store, RefQuery(raw="c"), "child")).calls] == ["one", "three"]
    assert [each.text for each in (await resolve(store, RefQuery(raw="c"), "parent")).calls] == ["one", "two"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(RefQuery(raw="t0", short=0), Found(known=(1, 2)), id="no number"),
        pytest.param(RefQuery(raw="t3", short=3), Found(known=(1, 2)), id="not given yet"),
        pytest.param(RefQuery(raw="what"), Found(known=(1, 2)), id="no such id"),
        pytest.param(RefQuery(raw="b1", block=1), Found(known=None), id="no block"),
        pytest.param(RefQuery(raw=f"t{2**62}", short=2**62), Found(known=(1, 2)), id="a huge number"),
    ],
)
async def test_unknown(store: SqliteStore, query: RefQuery, expected: Found) -> None:
    await take(store, "s", call("one"), call("two"))
    assert await resolve(store, query) == expected


async def test_one_that_is_missing_does_not_spoil_the_others(store: SqliteStore) -> None:
    await take(store, "s", call("one"), call("two"))
    assert await texts(store, "s", 2, 9, 1, 2) == ["two", None, "one", "two"]
    assert [each.ref for each in await store.archive.load("s", [2, 9, 1, 2])] == [2, 1, 2]


async def test_a_text_is_stored_once_however_often_it_occurs(open_again: Opener) -> None:
    text = "".join(map(str, range(400_000)))
    first, second = open_again(), open_again()
    await take(first, "s", call(text, id="first"))
    await first.close(timeout_ms=10_000)
    one = first.status().bytes
    assert 100_000 < one < len(text) / 2
    for number in range(20):
        await take(second, f"s{number}", call(text, id=f"again {number}"))
    await second.close(timeout_ms=10_000)
    assert second.status().bytes < one + 100_000
