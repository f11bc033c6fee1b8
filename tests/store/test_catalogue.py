"""What is archived, without the outputs: newest sessions, spans and entries (editor/ports.py, `Catalogue`)."""

import pytest

from afterturn.condense.ports import RefQuery
from afterturn.editor.ports import Spans
from afterturn.store.sqlite.store import SqliteStore
from tests.store.sample import DAY_MS, call, take

pytestmark = pytest.mark.anyio


async def opened(store: SqliteStore, session_id: str, project: str | None, now_ms: int) -> None:
    await store.sessions.open(session_id, project=project, parent_session_id=None, now_ms=now_ms)


async def test_the_newest_session_of_some_projects(store: SqliteStore) -> None:
    await opened(store, "old", "/p", 1)
    await opened(store, "new", "/p", 2)
    await opened(store, "elsewhere", "/q", 3)
    await opened(store, "nowhere", None, 4)
    assert await store.catalogue.newest(["/p"]) == "new"
    assert await store.catalogue.newest(["/p", "/q"]) == "elsewhere"
    assert await store.catalogue.newest(["/r"]) is None
    await store.sessions.touch("old", now_ms=9)
    assert await store.catalogue.newest(["/p"]) == "old"
    await take(store, "new", call("one"), now_ms=8)
    await store.archive.resolve("new", [RefQuery(raw="t1", short=1)], now_ms=20)
    await store.open()  # what is written by the way comes before it
    assert await store.catalogue.newest(["/p"]) == "old", "who looks something up does not work there"
    await store.sessions.delete("old", now_ms=21)
    assert await store.catalogue.newest(["/p"]) == "new"


async def test_spans_and_entries_of_a_fork(store: SqliteStore) -> None:
    await take(store, "parent", call("one"), call("two"), now_ms=0)
    await store.sessions.open("fork", project=None, parent_session_id="parent", now_ms=1)
    await take(store, "parent", call("three"), now_ms=2)
    await take(store, "fork", call("mine"), now_ms=3)
    assert await store.catalogue.spans("fork") == Spans(refs=(1, 3))
    assert await store.catalogue.spans("nobody") == Spans()
    entries = await store.catalogue.newest_entries("fork", starting_with="", limit=10)
    assert [entry.ref for entry in entries] == [3, 2, 1]
    own = await store.catalogue.entry("fork", 3)
    assert own is not None
    assert own.tool_name == call("mine").tool_name
    assert await store.catalogue.entry("fork", 4) is None
    assert await store.catalogue.entry("nobody", 1) is None


async def test_entries_by_the_digits_they_begin_with(store: SqliteStore) -> None:
    await take(store, "s", *(call(f"output {number}") for number in range(1, 125)), now_ms=0)

    async def found(digits: str, limit: int = 100) -> list[int]:
        return [entry.ref for entry in await store.catalogue.newest_entries("s", starting_with=digits, limit=limit)]

    assert await found("12") == [124, 123, 122, 121, 120, 12]
    assert await found("12", 2) == [124, 123]
    assert await found("9") == [*range(99, 89, -1), 9]
    assert await found("125") == []


async def test_what_is_expired_is_not_listed(store: SqliteStore) -> None:
    await take(store, "s", call("one"), now_ms=0)
    await store.retention.step(retention_days=1, now_ms=2 * DAY_MS)
    assert await store.catalogue.spans("s") == Spans()
    assert await store.catalogue.entry("s", 1) is None
    assert await store.catalogue.newest_entries("s", starting_with="", limit=9) == []
