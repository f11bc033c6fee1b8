"""Deleting deletes, of what capture keeps too: no byte of it is in any file (store.md; case M14)."""

import asyncio
from collections.abc import Sequence

import pytest

from afterturn.capture.ports import Scope, TraceFilter
from afterturn.capture.rows import TraceRow
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from afterturn.store.sqlite.values import seal
from afterturn_protocol.traces import ScoreUpdate, ToolCallDTO
from tests.store.capture_sample import FAILED, capture, claim, found, listed, put, row, take_in, vector
from tests.store.sample import bytes_on_disk, key

pytestmark = pytest.mark.anyio

EVERYTHING = Scope(project="*")


def needle(*of: object) -> str:
    """A word that stands nowhere else; the index holds it as it is, the rows too."""
    return f"needle{key(*of).hex()[:40]}"


def needles(name: str, size: int) -> tuple[list[str], TraceRow]:
    """A row with a needle in each of its texts, and those needles."""
    places = ["user", "agent", "tool", "input", "output", "reflection", "tag"]
    say = {each: needle(name, each) for each in places}
    long = {each: f"{text} " * size for each, text in say.items()}
    seed = int.from_bytes(key(name)[:4], "big")
    call = ToolCallDTO(name=say["tool"], input={"in": long["input"]}, output=long["output"])
    made = row(
        f"tr_{say['user'][6:30]}", long["user"], long["agent"], calls=[call], reflection=long["reflection"],
        tags=[say["tag"]], summary=vector(1, seed, 0.123), action=vector(seed, 1, 0.456),
    )  # fmt: skip
    return [*say.values(), made.trace.trace_id], made


async def fill(store: SqliteStore, name: str, size: int, project: str | None = None) -> list[bytes]:
    """A captured episode, one that failed and one that waits, with needles everywhere; what is to be gone."""
    texts, made = needles(name, size)
    trace = made.trace.__class__(
        **{f: getattr(made.trace, f) for f in made.trace.__struct_fields__}
        | {"episode_id": f"{name} one", "session_id": name, "project": project}
    )
    made = TraceRow(
        trace=trace, content=made.content, summary_vector=made.summary_vector, action_vector=made.action_vector
    )
    others = [f"{needle(name, each)} " * size for each in ("done", "failed", "waiting", "memo")]
    await take_in(store, f"{name} one", session=name, text=others[0], project=project, idempotency_key=needle(name, 1))
    work = await claim(store)
    await store.capture.score_memos.of(work).put(key(name), others[3].encode())
    await store.capture.jobs.finish(work, put(made), now_ms=1)
    await store.capture.text_index.catch_up()
    await take_in(store, f"{name} two", session=name, text=others[1], project=project)
    await store.capture.jobs.fail(await claim(store), "extract", FAILED, retry_after_ms=None, now_ms=1)
    await take_in(store, f"{name} three", session=name, text=others[2], project=project, owner=f"owner of {name}")
    assert made.summary_vector is not None
    assert made.action_vector is not None
    return [
        *(text.encode() for text in [*texts, *map(str.strip, others), needle(name, 1)]),
        *(seal(text)[1:] for text in others),
        made.summary_vector,
        made.action_vector,
    ]


def left(place: StorePlace, texts: Sequence[bytes]) -> list[bytes]:
    """Those of the texts that stand in the files."""
    data = bytes_on_disk(place.file)
    return [text[:60] for text in texts if text in data]


@pytest.mark.parametrize("size", [1, 40, 900])
@pytest.mark.parametrize("how", ["session", "project", "traces of session", "everything"])
async def test_what_is_deleted_is_in_no_file(store: SqliteStore, place: StorePlace, how: str, size: int) -> None:
    kept = await fill(store, "kept", size, "a project")
    gone = await fill(store, "gone", size, needle("project"))
    gone.append(needle("project").encode())
    assert len(left(place, gone)) > 9, "the needles were never there"
    if how == "session":
        assert (await store.sessions.erase("gone", now_ms=2)).traces == 1
    elif how == "everything":
        assert (await store.capture.traces.delete(TraceFilter(scope=EVERYTHING), now_ms=2)).count == 2
    else:
        by_project = TraceFilter(scope=Scope(project=needle("project")))
        which = by_project if how == "project" else TraceFilter(session_id="gone")
        deleted = await store.capture.traces.delete(which, now_ms=2)
        assert (deleted.count, [event.episode_id for event in deleted.failed]) == (1, ["gone three"])
    assert left(place, gone) == []
    assert (len(left(place, kept)) > 9) == (how != "everything")
    assert await found(store, needle("kept", "user"), vector=vector(1)) == await listed(store, scope=EVERYTHING)
    assert await store.integrity_check() == []


async def test_a_single_trace_goes_with_its_sources_and_the_others_stay(store: SqliteStore, place: StorePlace) -> None:
    texts, one = needles("one", 3)
    await take_in(store, "e", text=" ".join(texts))
    work = await claim(store)
    await store.capture.score_memos.of(work).put(b"k", texts[5].encode())
    await store.capture.jobs.finish(work, put(one, row("other", "stays", step=1)), now_ms=1)
    await store.capture.text_index.catch_up()
    deleted = await store.capture.traces.delete(TraceFilter(trace_ids=[one.trace.trace_id, "unknown"]), now_ms=2)
    assert (deleted.count, deleted.failed) == (1, [])
    kept_id = one.trace.trace_id.encode()
    assert left(place, [text.encode() for text in texts[:-1]]) == []
    assert await found(store, "stays") == ["other"]
    again = await take_in(store, "e", text=" ".join(texts))
    assert again.done is not None
    assert [trace.trace_id for trace in again.done.result.traces] == again.done.result.trace_ids == ["other"]
    assert kept_id not in repr(again).encode()


async def test_the_last_trace_of_an_episode_takes_it_along(store: SqliteStore) -> None:
    await capture(store, row("a"), row("b", step=1), text="text")
    await store.capture.traces.delete(TraceFilter(trace_ids=["a", "b"]), now_ms=2)
    assert (await take_in(store, "e", text="text")).status == "accepted"


async def test_before_a_time(store: SqliteStore) -> None:
    await capture(store, row("a", ts=1), row("b", ts=5, step=1))
    await capture(store, row("c", episode="f", ts=2))
    deleted = await store.capture.traces.delete(TraceFilter(before=4, scope=EVERYTHING), now_ms=9)
    assert deleted.count == 2
    assert await listed(store, scope=EVERYTHING) == ["b"]


async def test_jobs_that_are_not_done_end_and_write_nothing_any_more(store: SqliteStore) -> None:
    await take_in(store, "e", job="running")
    work = await claim(store)
    await store.capture.jobs.renew(work, stage="alpha", lease_ms=10**6, now_ms=1)
    await take_in(store, "e", job="queued", text="other")
    deleted = await store.capture.traces.delete(TraceFilter(episode_id="e"), now_ms=2)
    assert [(event.job_id, event.stage, event.error.code, event.error.retryable) for event in deleted.failed] == [
        ("running", "alpha", "deleted", False),
        ("queued", "queued", "deleted", False),
    ]
    assert await store.capture.jobs.finish(work, put(row("late")), now_ms=3) is None
    await store.capture.score_memos.of(work).put(b"k", b"late")
    page = await store.capture.outbox.since(0, scope=Scope(session_ids=["s"]), limit=9)
    assert [event.params for event in page.events] == list(deleted.failed)
    status = await store.capture.jobs.status(job_id="running")
    assert status is not None
    assert (status.state, status.error and status.error.code) == ("failed", "deleted")
    assert await store.capture.jobs.status(episode_id="e") is None
    assert await store.capture.jobs.retry("queued", new_job_id="x", owner="me", with_completer=False, now_ms=3) is None
    assert (await take_in(store, "e", job="new")).status == "accepted"
    assert (await claim(store)).job_id == "new"


async def test_a_deleted_session_ends_its_jobs_in_the_outbox(store: SqliteStore) -> None:
    await take_in(store, "e")
    await capture(store, row("a", episode="f"))
    assert await store.sessions.delete("s", now_ms=2) == 0
    page = await store.capture.outbox.since(0, scope=Scope(session_ids=["s"]), limit=9)
    assert [(event.method, event.params.episode_id) for event in page.events] == [("capture.failed", "e")]
    await store.retention.outbox_step(outbox_days=7, now_ms=10**12)
    assert await store.capture.outbox.last() == 2


async def test_what_changes_leaves_no_old_words(store: SqliteStore, place: StorePlace) -> None:
    old, new = needle("old"), needle("new")
    await capture(store, row("a", old), text="one")
    await capture(store, row("a", new), text="two")
    await store.capture.traces.delete(TraceFilter(trace_ids=["none"]), now_ms=2)
    assert left(place, [old.encode()]) == []
    assert await found(store, new) == ["a"]


async def test_deleting_while_another_process_writes(place: StorePlace) -> None:
    one, two = SqliteStore(place), SqliteStore(place)

    async def write() -> None:
        for number in range(40):
            await capture(one, row(f"t{number}", f"words {number}", episode=f"e{number}", session="w"), owner="one")

    async def churn() -> None:
        for number in range(10):
            await capture(two, row("gone", "words", session="d"), text=str(number), owner="two", now_ms=5)
            await two.capture.traces.delete(TraceFilter(session_id="d"), now_ms=5)

    await asyncio.gather(write(), churn())
    assert len(await listed(one, scope=EVERYTHING)) == 40
    assert len(await found(two, "words", limit=100)) == 40
    assert await one.capture.traces.update_scores([ScoreUpdate(trace_id="gone", value=1)]) == 0
    assert await one.integrity_check() == []
    for store in (one, two):
        assert await store.close(timeout_ms=10_000)
