"""Episodes that wait to be captured: identity, claims, ends (capture.md, 'Durability')."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from afterturn.capture.ports import MAX_STARTS, Failed, Scope
from afterturn.store.sqlite.store import SqliteStore
from tests.store.capture_sample import FAILED, LEASE_MS, ask, capture, claim, episode, put, row, take_in
from tests.store.conftest import Opener
from tests.store.sample import DAY_MS

pytestmark = pytest.mark.anyio


async def test_an_episode_is_taken_in_once(store: SqliteStore) -> None:
    first = await take_in(store, job="one")
    assert (first.status, first.job_id, first.revision) == ("accepted", "one", 1)
    again = await take_in(store, job="two")
    assert (again.status, again.job_id, again.revision, again.done) == ("duplicate", "one", 1, None)


async def test_a_finished_one_is_answered_with_its_event(store: SqliteStore) -> None:
    done = await capture(store, row("a", "user"), text="text")
    again = await take_in(store, job="other")
    assert (again.status, again.job_id, again.done) == ("done", done.job_id, done)


async def test_changed_content_is_a_new_revision(store: SqliteStore) -> None:
    assert (await take_in(store, text="one")).revision == 1
    assert (await take_in(store, text="two")).revision == 2
    assert (await take_in(store, text="one")).status == "duplicate"


async def test_the_same_id_in_another_session_is_another_episode(store: SqliteStore) -> None:
    await take_in(store, session="s1")
    taken = await take_in(store, session="s2")
    assert (taken.status, taken.revision) == ("accepted", 1)
    assert await store.capture.jobs.status(episode_id="e", session_ids=["s1"]) != await store.capture.jobs.status(
        episode_id="e", session_ids=["s2"]
    )


@pytest.mark.parametrize(
    ("second", "status"),
    [
        ({"text": "one"}, "duplicate"),
        ({"text": "other"}, "conflict"),
        ({"text": "one", "id": "f"}, "conflict"),
        ({"text": "other", "session": "s2"}, "accepted"),
    ],
    ids=["same", "other content", "other episode", "other session"],
)
async def test_an_idempotency_key_stands_for_its_content(store: SqliteStore, second: dict, status: str) -> None:
    await take_in(store, text="one", idempotency_key="k")
    assert (await take_in(store, **second, idempotency_key="k")).status == status


async def test_a_key_given_later_counts_too(store: SqliteStore) -> None:
    await take_in(store, text="one")
    assert (await take_in(store, text="one", idempotency_key="k")).status == "duplicate"
    assert (await take_in(store, text="two", idempotency_key="k")).status == "conflict"


async def test_a_full_queue_is_busy_for_its_session(store: SqliteStore) -> None:
    for number in range(3):
        assert (await take_in(store, f"e{number}", max_queued=3)).status == "accepted"
    assert (await take_in(store, "more", max_queued=3)).status == "busy"
    assert (await take_in(store, "e1", max_queued=3)).status == "duplicate"
    assert (await take_in(store, "more", session="other", max_queued=3)).status == "accepted"
    assert await store.capture.jobs.unfinished(["s"]) == 3
    assert await store.capture.jobs.unfinished(["s", "other", "unknown"]) == 4


async def test_a_job_that_is_claimed_as_it_is_taken_in(store: SqliteStore) -> None:
    """The same work as a claim gives, and nobody else's until the lease is over."""
    taken = await take_in(store, project="p", options=b'{"o":1}', lease_ms=LEASE_MS)
    assert (taken.status, taken.job_id) == ("accepted", taken.work and taken.work.job_id)
    assert (await ask(store)).wait_ms == LEASE_MS
    again = await claim(store, now_ms=1000 + LEASE_MS)
    assert taken.work is not None
    assert again == replace(taken.work, token=again.token, attempts=2)
    assert again.token > taken.work.token


async def test_what_is_claimed_as_it_is_taken_in_ends(store: SqliteStore) -> None:
    taken = await take_in(store, lease_ms=LEASE_MS)
    assert taken.work is not None
    assert await store.capture.jobs.finish(taken.work, put(row("t1")), now_ms=2000) is not None
    assert (await take_in(store, lease_ms=LEASE_MS)).work is None
    assert (await ask(store)).work is None


async def test_an_older_revision_goes_before_one_that_is_taken_in(store: SqliteStore) -> None:
    first = await take_in(store, text="one", lease_ms=LEASE_MS)
    second = await take_in(store, text="two", lease_ms=LEASE_MS)
    assert (first.work is not None, second.status, second.work) == (True, "accepted", None)


async def test_what_was_taken_in_comes_back_as_it_was(store: SqliteStore) -> None:
    text = "\ud83d" + "snapshot " * 2000
    await take_in(store, text=text, options=b'{"o":1}', project="p")
    work = await claim(store)
    assert work.snapshot == text.encode("utf-8", "surrogatepass")
    assert (work.options, work.project, work.session_id, work.attempts) == (b'{"o":1}', "p", "s", 1)


async def test_the_newest_is_first(store: SqliteStore) -> None:
    for number in range(3):
        await take_in(store, f"e{number}")
    assert [(await claim(store)).episode_id for _ in range(3)] == ["e2", "e1", "e0"]
    assert await ask(store) == await ask(store)  # nothing but what is being done
    assert (await ask(store)).work is None


async def test_revisions_of_one_episode_are_done_in_order(store: SqliteStore) -> None:
    await take_in(store, text="one")
    await take_in(store, text="two")
    first = await claim(store)
    assert (first.revision, (await ask(store)).work) == (1, None)
    await store.capture.jobs.finish(first, put(row("a")), now_ms=2)
    assert (await claim(store)).revision == 2


async def test_nothing_waits_in_an_empty_queue(store: SqliteStore) -> None:
    claimed = await ask(store)
    assert (claimed.work, claimed.wait_ms, claimed.failed) == (None, None, [])


# -- whose it is --------------------------------------------------------------------------------------------------


async def test_a_job_belongs_to_who_accepted_it_while_that_lives(open_again: Opener) -> None:
    one, two = open_again(), open_again()
    await take_in(one, owner="one")
    claimed = await ask(two, owner="two")
    assert (claimed.work, claimed.wait_ms) == (None, LEASE_MS)
    await one.capture.jobs.leave(owner="one")
    assert (await claim(two, owner="two")).episode_id == "e"


async def test_a_lease_that_ended_is_free_and_the_late_one_writes_nothing(store: SqliteStore) -> None:
    await take_in(store)
    late = await claim(store, now_ms=1000)
    assert (await ask(store, now_ms=1000 + LEASE_MS - 10)).wait_ms == 10
    now = await claim(store, now_ms=1000 + LEASE_MS)
    assert now.token > late.token
    jobs = store.capture.jobs
    assert await jobs.finish(late, put(row("late")), now_ms=2) is None
    assert await jobs.fail(late, "alpha", FAILED, retry_after_ms=None, now_ms=2) == Failed()
    assert not await jobs.renew(late, stage="alpha", lease_ms=1, now_ms=2)
    assert not await jobs.give_back(late, now_ms=2)
    await store.capture.score_memos.of(late).put(b"k", b"late")
    assert await store.capture.score_memos.of(now).get(b"k") is None
    assert await store.capture.traces.get(["late"]) == []
    assert await jobs.finish(now, put(row("now")), now_ms=2) is not None
    assert len(await store.capture.traces.get(["now"])) == 1


async def test_a_renewed_lease_lasts_and_tells_the_stage(store: SqliteStore) -> None:
    await take_in(store)
    work = await claim(store, now_ms=0)
    assert await store.capture.jobs.renew(work, stage="alpha", lease_ms=LEASE_MS, now_ms=20_000)
    assert (await ask(store, now_ms=40_000)).wait_ms == 10_000
    status = await store.capture.jobs.status(job_id=work.job_id)
    assert status is not None
    assert (status.state, status.stage, status.attempts) == ("running", "alpha", 1)


async def test_a_clock_set_back_does_not_lengthen_a_lease(store: SqliteStore) -> None:
    await take_in(store)
    await claim(store, now_ms=10**9)
    assert (await ask(store, now_ms=1000)).wait_ms == LEASE_MS


async def test_given_back_is_no_attempt(store: SqliteStore) -> None:
    await take_in(store)
    for _ in range(5):
        work = await claim(store)
        assert work.attempts == 1
        assert await store.capture.jobs.give_back(work, now_ms=1000)


async def test_jobs_of_a_completer_are_left_to_completers_for_a_day(open_again: Opener) -> None:
    one, two = open_again(), open_again()
    await take_in(one, owner="one", with_completer=True, now_ms=1000)
    await one.capture.jobs.leave(owner="one")
    assert (await ask(two, owner="two", has_completer=False, now_ms=1000)).wait_ms == DAY_MS
    assert (await ask(two, owner="two", has_completer=False, now_ms=1000 + DAY_MS)).work is not None


async def test_the_one_that_accepted_it_does_it_without_a_completer_too(store: SqliteStore) -> None:
    await take_in(store, with_completer=True)
    assert (await ask(store, has_completer=False)).work is not None


async def to_be_had(store: SqliteStore, now_ms: int = 1000, **who: Any) -> bool:
    """Whether there is said to be something to do, which a claim then has to find."""
    given = {"owner": "me", "has_completer": True, "lease_ms": LEASE_MS, "now_ms": now_ms, **who}
    said = await store.capture.jobs.claimable(**given)
    assert said == await store.capture.jobs.claimable(**given), "asking takes nothing"
    claimed = await store.capture.jobs.claim(**given)
    assert said == (claimed.work is not None or bool(claimed.failed))
    return said


async def test_asked_whether_there_is_a_job(open_again: Opener) -> None:
    one, two = open_again(), open_again()
    assert not await to_be_had(one), "nothing at all"
    await take_in(one, text="one")
    await take_in(one, text="two")
    assert not await to_be_had(two, owner="two"), "whose sidecar lives"
    assert await to_be_had(one), "its own, which is its now"
    assert not await to_be_had(one), "the second goes after the first"
    assert not await to_be_had(one, 1000 + LEASE_MS - 1)
    assert await to_be_had(one, 1000 + LEASE_MS), "its lease is over"
    await one.capture.jobs.leave(owner="me")
    assert await to_be_had(two, owner="two"), "whose sidecar has gone"
    assert not await to_be_had(two, owner="two")


async def test_asked_for_a_job_that_is_put_off(store: SqliteStore) -> None:
    await take_in(store)
    await store.capture.jobs.fail(await claim(store), "alpha", FAILED, retry_after_ms=500, now_ms=1000)
    assert not await to_be_had(store, 1499)
    assert await to_be_had(store, 1500)


async def test_asked_for_a_job_of_a_completer(open_again: Opener) -> None:
    one, two = open_again(), open_again()
    await take_in(one, owner="one", with_completer=True)
    await one.capture.jobs.leave(owner="one")
    assert not await to_be_had(two, owner="two", has_completer=False)
    assert await to_be_had(two, owner="two", has_completer=True)


async def test_asked_for_a_job_that_is_only_to_be_given_up(store: SqliteStore) -> None:
    await take_in(store)
    for start in range(MAX_STARTS):
        assert await to_be_had(store, start * LEASE_MS)
    assert await to_be_had(store, MAX_STARTS * LEASE_MS)
    assert not await to_be_had(store, MAX_STARTS * LEASE_MS)


# -- ends ---------------------------------------------------------------------------------------------------------


async def test_three_failures_end_a_job(store: SqliteStore) -> None:
    await take_in(store)
    jobs = store.capture.jobs
    for now_ms in (1000, 3000):
        work = await claim(store, now_ms=now_ms)
        assert await jobs.fail(work, "persist", FAILED, retry_after_ms=2000, now_ms=now_ms) == Failed(again_ms=2000)
        assert (await ask(store, now_ms=now_ms + 1)).wait_ms == 1999
    failed = await jobs.fail(await claim(store, now_ms=5000), "persist", FAILED, retry_after_ms=2000, now_ms=5000)
    assert failed.event is not None
    assert (failed.event.stage, failed.event.error, failed.event.seq) == ("persist", FAILED, 1)
    status = await jobs.status(episode_id="e")
    assert status is not None
    assert (status.state, status.attempts, status.error, status.stage) == ("failed", 3, FAILED, "persist")
    assert (await ask(store, now_ms=10**9)).work is None


async def test_a_failure_that_nothing_can_help_ends_it_at_once(store: SqliteStore) -> None:
    await take_in(store)
    failed = await store.capture.jobs.fail(await claim(store), "extract", FAILED, retry_after_ms=None, now_ms=1)
    assert failed.event is not None


async def test_a_failed_one_sent_again_is_accepted_under_a_new_id(store: SqliteStore) -> None:
    await take_in(store, job="one")
    await store.capture.jobs.fail(await claim(store), "extract", FAILED, retry_after_ms=None, now_ms=1)
    taken = await take_in(store, job="two")
    assert (taken.status, taken.job_id, taken.revision) == ("accepted", "two", 1)
    assert (await claim(store)).job_id == "two"


async def test_retry(store: SqliteStore) -> None:
    jobs = store.capture.jobs

    async def retry(id: str, new: str) -> str | None:
        return await jobs.retry(id, new_job_id=new, owner="me", with_completer=False, now_ms=2)

    await take_in(store, job="one", text="text " * 2000)
    assert await retry("unknown", "x") is None
    assert await retry("one", "x") == "one"
    await jobs.fail(await claim(store), "extract", FAILED, retry_after_ms=None, now_ms=1)
    assert await retry("one", "two") == "two"
    assert await retry("one", "three") == "two"
    work = await claim(store)
    assert (work.job_id, work.snapshot, work.revision) == ("two", b"text " * 2000, 1)
    await jobs.finish(work, put(row("a")), now_ms=2)
    assert await retry("one", "three") == "two"


async def test_a_job_that_ends_its_process_each_time_is_given_up(store: SqliteStore) -> None:
    await take_in(store)
    now_ms = 0
    for _ in range(MAX_STARTS):
        await claim(store, now_ms=now_ms)
        now_ms += LEASE_MS
    over = await ask(store, now_ms=now_ms)
    assert over.work is None
    assert [(event.job_id, event.error.retryable) for event in over.failed] == [(episode().job_id, True)]


async def test_an_empty_capture_is_an_end_too(store: SqliteStore) -> None:
    await take_in(store)
    done = await store.capture.jobs.finish(await claim(store), put(), now_ms=1)
    assert done is not None
    status = await store.capture.jobs.status(job_id=done.job_id)
    assert status is not None
    assert status.state == "doneEmpty"
    assert (await take_in(store)).done == done


async def test_status_of_what_is_not_known(store: SqliteStore) -> None:
    assert await store.capture.jobs.status(job_id="none") is None
    assert await store.capture.jobs.status(episode_id="none") is None


async def test_status_of_an_episode_is_its_newest_revisions(store: SqliteStore) -> None:
    await capture(store, row("a"), text="one")
    await take_in(store, text="two", job="second")
    status = await store.capture.jobs.status(episode_id="e")
    assert status is not None
    assert (status.job_id, status.state) == ("second", "queued")


# -- events -------------------------------------------------------------------------------------------------------


async def test_seq_grows_in_the_order_of_ends(store: SqliteStore) -> None:
    events = [await capture(store, row(f"t{n}", episode=f"e{n}", session=f"s{n % 2}"), project="p") for n in range(4)]
    assert [event.seq for event in events] == [1, 2, 3, 4]
    outbox = store.capture.outbox
    everything = await outbox.since(0, scope=Scope(project="*"), limit=10)
    assert [(event.seq, event.method, event.params) for event in everything.events] == [
        (event.seq, "capture.done", event) for event in events
    ]
    assert (everything.next, await outbox.last()) == (4, 4)
    own = await outbox.since(1, scope=Scope(session_ids=["s1"]), limit=10)
    assert [event.seq for event in own.events] == [2, 4]
    page = await outbox.since(0, scope=Scope(project="p"), limit=2)
    assert ([event.seq for event in page.events], page.next) == ([1, 2], 2)
    nothing = await outbox.since(0, scope=Scope(project="q"), limit=2)
    assert (nothing.events, nothing.next) == ([], 4)
    one = await outbox.since(0, scope=Scope(), session_id="s0", limit=5)
    assert [event.seq for event in one.events] == [1, 3]


async def test_an_event_with_ids_only_has_no_traces(store: SqliteStore) -> None:
    await take_in(store)
    done = await store.capture.jobs.finish(await claim(store), put(row("a"), full=False), now_ms=1)
    assert done is not None
    assert (done.result.trace_ids, done.result.traces) == (["a"], [])
    page = await store.capture.outbox.since(0, scope=Scope(project="*"), limit=1)
    assert page.events[0].params == done


async def test_events_past_their_time_go_and_their_episodes_stay_done(store: SqliteStore) -> None:
    done = await capture(store, row("a"), text="text", now_ms=0)
    await capture(store, row("b", episode="f"), now_ms=5 * DAY_MS)
    swept = await store.retention.outbox_step(outbox_days=7, now_ms=8 * DAY_MS)
    assert (swept.expired, swept.more) == (1, False)
    page = await store.capture.outbox.since(0, scope=Scope(project="*"), limit=5)
    assert [event.seq for event in page.events] == [2]
    assert (await take_in(store)).done == done


async def test_the_oldest_event_gone_its_seq_is_not_given_again(store: SqliteStore) -> None:
    await capture(store, row("a"), now_ms=0)
    await store.retention.outbox_step(outbox_days=7, now_ms=8 * DAY_MS)
    assert (await capture(store, row("b", episode="f"))).seq == 2


# -- scores -------------------------------------------------------------------------------------------------------


async def test_scores_survive_a_lost_lease(store: SqliteStore) -> None:
    await take_in(store)
    memo = store.capture.score_memos.of(await claim(store))
    assert await memo.get(b"key") is None
    await memo.put(b"key", b"score " * 2000)
    await memo.put(b"other", b"1")
    await memo.put(b"other", b"2")
    again = store.capture.score_memos.of(await claim(store, now_ms=10**6))
    assert (await again.get(b"key"), await again.get(b"other")) == (b"score " * 2000, b"2")


async def test_scores_are_of_their_episode(store: SqliteStore) -> None:
    await take_in(store, "e")
    await store.capture.score_memos.of(await claim(store)).put(b"key", b"score")
    await take_in(store, "f")
    assert await store.capture.score_memos.of(await claim(store)).get(b"key") is None


async def test_many_at_once(store: SqliteStore) -> None:
    taken = await asyncio.gather(*(take_in(store, f"e{number % 20}") for number in range(60)))
    assert sorted(each.status for each in taken) == ["accepted"] * 20 + ["duplicate"] * 40
    works = [claimed.work for claimed in await asyncio.gather(*(ask(store) for _ in range(30)))]
    mine = [work for work in works if work is not None]
    assert len({work.job_id for work in mine}) == len(mine) == 20
    rows = [row(f"t {work.episode_id}", episode=work.episode_id) for work in mine]
    done = await asyncio.gather(
        *(store.capture.jobs.finish(work, put(each), now_ms=1) for work, each in zip(mine, rows, strict=True))
    )
    assert sorted(each.seq for each in done if each) == list(range(1, 21))
    assert await store.integrity_check() == []


async def test_it_is_the_same_after_opening_again(open_again: Opener) -> None:
    first = open_again()
    done = await capture(first, row("a", "user \ud83d", reflection="because"), text="text")
    await first.close(timeout_ms=10_000)
    second = open_again()
    assert (await take_in(second)).done == done
    assert await second.capture.traces.get(["a"]) == [row("a", "user \ud83d", reflection="because").trace]
