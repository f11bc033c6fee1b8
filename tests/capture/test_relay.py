"""Who is told of what, and when: events of this sidecar and of others (protocol.md, 'Events')."""

import asyncio
from typing import Any

import pytest

from afterturn.capture.relay import MOST_OWED
from afterturn_protocol.events import EventsSinceParams
from tests.capture.conftest import Opener, Starter
from tests.capture.harness import FakeCompleter, score
from tests.capture.service_harness import FlakyStore, GatedCompleter, Process

pytestmark = pytest.mark.anyio


async def looked(process: Process, times: int = 3) -> None:
    """Let the process look at the outbox so often."""
    for _ in range(times):
        await process.clock.wait(1)
        await asyncio.sleep(0.01)


@pytest.mark.req("events.outbox")
async def test_every_client_that_has_used_the_session_is_told_once(start: Starter) -> None:
    one, two, other = start(), start(), start()
    two.use("s1")
    other.use("s2")
    await looked(two)
    await one.finalize("e1")
    await one.done()
    await looked(two)
    assert (two.names(), one.names(), other.names()) == (["done"], [], [])
    await looked(two)
    assert two.names() == ["done"]


async def test_what_ends_before_the_first_look_is_told(start: Starter) -> None:
    """The first look comes a second after the first use, so that it keeps no answer waiting."""
    one, two = start(), start()
    await one.finalize("early")
    await one.done()
    await one.clock.wait(60)
    two.used["s1"] = two.clock.now_ms()
    for episode_id in ("e1", "e2"):
        await one.finalize(episode_id)
        await one.done()
        await one.clock.wait(0.5)
    two.use("s1")
    await two.until(lambda: two.names() == ["done", "done"])
    assert [params.result.episode_id for _, params in two.sent] == ["e1", "e2"]
    await looked(two)
    assert two.names() == ["done", "done"]


async def test_a_session_that_comes_into_use_during_a_look_misses_nothing(start: Starter, stores: Opener) -> None:
    one = start()
    store = stores().capture
    two = start(store)
    two.use("other")
    await looked(two)
    await one.finalize("e0", session="other")
    await one.done()
    since = store.outbox.since
    during: list[None] = []

    async def slow_since(*given: Any, **more: Any) -> Any:
        if not during:
            during.append(None)
            two.use("s1")
            await one.finalize("e1")
            await one.done()
        return await since(*given, **more)

    store.outbox.since = slow_since  # type: ignore[method-assign]
    await two.pass_time(until=lambda: len(two.ends()) == 2)


async def test_what_ended_before_the_session_was_used_is_not_told(start: Starter) -> None:
    one, two = start(), start()
    two.use("s2")
    await one.finalize("e1")
    await one.done()
    await looked(two)
    two.use("s1")
    await looked(two)
    assert two.names() == []


@pytest.mark.req("events.since")
async def test_what_was_missed_can_be_read_again(start: Starter) -> None:
    one, two = start(), start()
    for number in range(3):
        await one.finalize(f"e{number}", project="/a")
        await one.done()
    await one.finalize("f", session="s2", project="/b")
    await one.done()

    async def since(process: Process, seq: int = 0, **more: object) -> tuple[list[int], int]:
        result = await process.recall.events_since(EventsSinceParams(seq=seq, **more))  # type: ignore[arg-type]
        assert [event.params.seq for event in result.events] == [event.seq for event in result.events]
        return [event.seq for event in result.events], result.next

    assert await since(one) == ([1, 2, 3, 4], 4)
    assert await since(one, 2) == ([3, 4], 4)
    assert await since(one, 4) == ([], 4)
    assert await since(one, limit=2) == ([1, 2], 2)
    assert await since(one, 2, limit=1) == ([3], 3)
    assert await since(two) == ([], 4), "it has used no session"
    assert await since(two, session_id="s1") == ([1, 2, 3], 4)
    assert await since(two, project="/b") == ([4], 4)
    assert await since(two, project="*") == ([1, 2, 3, 4], 4)
    assert await since(two, project="/c") == ([], 4)


@pytest.mark.req("events.seq")
async def test_seq_grows_over_all_sidecars(start: Starter) -> None:
    one, two = start(), start()
    seqs = []
    for number in range(6):
        process = (one, two)[number % 2]
        await process.finalize(f"e{number}", session=f"s{number}")
        seqs.append((await process.done()).seq)
    assert seqs == [1, 2, 3, 4, 5, 6]


async def test_a_client_that_does_not_read_gets_all_of_it_later(start: Starter) -> None:
    """Far more than is kept for it: the rest comes from the outbox."""
    process = start()
    process.use()
    await looked(process)
    process.congested = True
    count = MOST_OWED + 40
    for number in range(count):
        await process.finalize(f"e{number}")
    while await process.store.jobs.unfinished(["s1"]):  # noqa: ASYNC110
        await asyncio.sleep(0.002)
    await process.until(lambda: not process.service.worker.running(["s1"]))
    assert process.sent == []
    process.congested = False
    await process.pass_time(until=lambda: len(process.ends()) >= count)
    await looked(process)
    assert len(process.ends()) == count
    assert len(set(process.ends())) == count


async def test_a_store_that_fails_for_a_while_hides_nothing(start: Starter, stores: Opener) -> None:
    two = start(store := FlakyStore(stores().capture))
    two.use("s1")
    await looked(two)
    store.failing.add("*")
    await looked(two, 5)
    one = start()
    await one.finalize("e1")
    await one.done()
    assert len(two.reports) < 12
    store.failing.clear()
    await two.pass_time(until=lambda: two.names() == ["done"])


async def test_a_deleted_sessions_jobs_are_told_to_who_runs_them_and_who_deleted_it(
    start: Starter, stores: Opener
) -> None:
    slow = GatedCompleter()
    one, two = start(completer=slow), start()
    two.use("s1")
    await looked(two)
    job_id = (await one.finalize("e1")).job_id
    await one.until(lambda: bool(slow.asked))
    sessions = stores().sessions
    with two.service.relay.held():
        assert (await sessions.erase("s1", now_ms=two.clock.now_ms())).traces == 0
        await looked(two)
        assert two.names() == [], "the request that ended it has no answer yet"
    await looked(one)
    assert one.names() == ["started", "failed"]
    assert two.names() == ["failed"]
    for process in (one, two):
        failed = process.sent[-1][1]
        assert (failed.job_id, failed.error.code, failed.error.retryable) == (job_id, "deleted", False)
        assert failed.seq == 1
    await one.until(lambda: not one.service.worker.running(["s1"]))
    slow.gate.set()
    await looked(one)
    assert one.names() == ["started", "failed"]


async def test_a_job_that_another_process_left_is_told_to_who_finishes_it(start: Starter) -> None:
    slow = GatedCompleter()
    one = start(completer=slow)
    await one.finalize("e1", session="theirs")
    await one.until(lambda: bool(slow.asked))
    await one.stop()
    two = start(completer=FakeCompleter(reflection_batch="no", reflection_score=lambda asked: score()))
    two.use("mine")
    await two.until(lambda: two.names() == ["started", "done"])
    await looked(two)
    assert two.names() == ["started", "done"]
