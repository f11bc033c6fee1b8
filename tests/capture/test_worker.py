"""Doing the jobs, whatever happens: each ends once, is scored once, and is told once (capture.md, 'Durability')."""

import asyncio
import json
from collections import Counter
from typing import Any

import pytest

from afterturn.capture.embedder import EmbeddingError
from afterturn.capture.refusals import RefusedError
from afterturn.capture.worker import AT_ONCE
from afterturn.store_error import StoreError
from afterturn_protocol.settings import CaptureSettings
from tests.capture.conftest import Opener, Starter
from tests.capture.harness import FakeCompleter, FakeEmbedder, batch_for_all, exchange, says, score, user
from tests.capture.service_harness import FlakyStore, GatedCompleter

pytestmark = pytest.mark.anyio


class StoppingCompleter(FakeCompleter):
    """Scores, and never answers call number `stops_at`."""

    def __init__(self, stops_at: int | None = None) -> None:
        super().__init__(reflection_score=lambda asked: score(0.9))
        self.stops_at = stops_at
        self.entered = 0
        self.stopped = asyncio.Event()

    async def complete(self, purpose: Any, messages: Any, **more: Any) -> Any:
        self.entered += 1
        if self.entered == self.stops_at:
            self.stopped.set()
            await asyncio.Event().wait()
        return await super().complete(purpose, messages, **more)


def five_steps() -> list[dict[str, Any]]:
    return [turn for number in range(5) for turn in exchange(number, f"because of reason {number}")]


@pytest.mark.parametrize("stops_at", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("how", ["killed", "stopped"])
async def test_a_restart_pays_nothing_again(start: Starter, how: str, stops_at: int) -> None:
    """Case M03: ended during any of five scoring calls; the next process scores only what is left."""
    settings: dict[str, Any] = {"batch_mode": "per_step", "llm_concurrency": 1}
    first, second = StoppingCompleter(stops_at), StoppingCompleter()
    one = start(completer=first, **settings)
    accepted = await one.finalize("e1", *five_steps())
    await one.until(first.stopped.is_set)
    if how == "stopped":
        await one.stop()
    else:
        await one.cut_off()
    # One that was killed looks alive here, since it is this very process: its lease has to run out.
    two = start(completer=second, owner=one.owner if how == "killed" else None, **settings)
    two.use()
    await two.pass_time(until=lambda: "done" in two.names(), step_seconds=5)
    done = await two.done()
    assert done.job_id == accepted.job_id
    assert [trace.reflection.alpha for trace in done.result.traces] == [0.9] * 5
    assert len(first.asked) + len(second.asked) == 5
    assert len(second.asked) == 6 - stops_at
    assert (await two.status(job_id=done.job_id)).attempts == (2 if how == "killed" else 1)
    events = await two.outbox()
    assert [event.params.job_id for event in events] == [accepted.job_id]


async def test_nothing_is_claimed_before_the_host_is_at_work(start: Starter, stores: Opener) -> None:
    """Case: start-up calls no model and touches no store."""
    one = start(completer=GatedCompleter())
    for number in range(3):
        await one.finalize(f"e{number}")
    await one.stop()
    store = FlakyStore(stores().capture)
    completer = FakeCompleter(reflection_batch="x", reflection_score=lambda asked: score())
    two = start(store, completer=completer)
    await two.clock.wait(120)
    assert (store.calls, completer.asked, two.sent) == ([], [], [])
    two.use()
    await two.until(lambda: len(two.ends()) == 3)


@pytest.mark.req("invariant.acknowledged-work")
async def test_an_idle_process_takes_up_what_was_left_once_its_host_is_at_work(start: Starter) -> None:
    """It has worked before, found nothing more to do, and sleeps: nobody tells it that another one has ended."""
    one, two = start(completer=GatedCompleter()), start(completer=FakeCompleter(reflection_batch=batch_for_all()))
    two.use("mine")
    await two.clock.wait(2)
    accepted = await one.finalize("e1")
    await one.stop()
    await two.clock.wait(2)
    assert two.names() == []
    await two.service.go_on()
    assert (await two.done()).job_id == accepted.job_id


async def test_to_drain_is_to_be_at_work(start: Starter) -> None:
    one, two = start(completer=GatedCompleter()), start(completer=FakeCompleter(reflection_batch=batch_for_all()))
    two.use("s1")
    await two.clock.wait(2)
    await one.finalize("e1")
    await one.stop()
    assert await two.drain() == 1
    await two.done()
    await two.until(lambda: not two.service.worker.running(["s1"]))
    assert await two.drain() == 0


async def test_looking_for_jobs_claims_none_that_cannot_be_had(start: Starter, stores: Opener) -> None:
    """Nor does it ask where there is no place for one, or nothing is to be captured."""
    other, slow = start(completer=GatedCompleter()), GatedCompleter()
    await other.finalize("e1", session="theirs")
    process = start(store := FlakyStore(stores().capture), completer=slow)
    process.use()
    await process.until(lambda: store.calls.count("jobs.claim") == AT_ONCE)
    for _ in range(3):
        await process.service.go_on()
    assert (store.calls.count("jobs.claimable"), store.calls.count("jobs.claim")) == (3, AT_ONCE)
    settings, process.settings = process.settings, CaptureSettings(enabled=False)
    await process.service.go_on()
    process.settings = settings
    for number in range(AT_ONCE):
        await process.finalize(f"e{number}")
    await process.until(lambda: len(slow.asked) == AT_ONCE)
    before = store.calls.count("jobs.claimable")
    await process.service.go_on()
    assert (before, store.calls.count("jobs.claimable")) == (3, 3)
    slow.gate.set()
    await process.until(lambda: len(process.ends()) == AT_ONCE)


async def test_a_revision_begins_soon_after_the_one_before_it_ended_elsewhere(start: Starter) -> None:
    """No host says anything, and the lease that the second would wait for has long to go."""
    slow = GatedCompleter()
    one, two = start(completer=slow), start(completer=FakeCompleter(reflection_batch=batch_for_all()))
    await one.finalize("e1")
    await one.until(lambda: bool(slow.asked))
    second = await two.finalize("e1", user("question"), says("another answer", reflection="because it changed"))
    assert (second.status, second.revision) == ("accepted", 2)
    await two.clock.wait(2)
    assert two.names() == []
    slow.gate.set()
    await one.done()
    await two.clock.wait(2)
    assert (await two.event("capture.started")).job_id == second.job_id
    await two.until(lambda: second.job_id in two.ends())


async def test_what_a_killed_process_did_not_index_is_found_once_the_host_is_at_work(
    start: Starter, stores: Opener
) -> None:
    one, two = start(store := FlakyStore(stores().capture)), start()
    store.failing.add("text_index.catch_up")
    two.use("s1")
    await two.clock.wait(2)
    await one.finalize("e1")
    done = await one.done()
    await one.cut_off()
    assert await two.found("question") == []
    await two.service.go_on()
    await two.until_found("question", done.result.trace_ids)


async def test_the_newest_is_first_and_two_are_done_at_once(start: Starter) -> None:
    slow = GatedCompleter()
    process = start(completer=slow)
    await process.finalize("e0")
    await process.finalize("e1")
    await process.until(lambda: len(slow.asked) == 2)
    for number in range(2, 6):
        await process.finalize(f"e{number}")
    slow.gate.set()
    await process.until(lambda: len(process.ends()) == 6)
    begun = [params.episode_id for name, params in process.sent if name == "capture.started"]
    assert set(begun[:2]) == {"e0", "e1"}
    assert begun[2:] == ["e5", "e4", "e3", "e2"]


async def test_a_free_worker_begins_without_asking_for_the_job(start: Starter, stores: Opener) -> None:
    process = start(store := FlakyStore(stores().capture))
    await process.finalize("e0")
    await process.done()
    await process.until(lambda: process.clock.sleeping == AT_ONCE + 1)  # the workers, and who looks at the outbox
    store.failing |= {"jobs.claim", "traces.rows_of"}
    for number in range(1, 4):
        await process.finalize(f"e{number}")
        await process.done()


async def test_places_are_given_back_whatever_comes_of_an_episode(start: Starter) -> None:
    process = start(completer=(slow := GatedCompleter()), max_queued_jobs=1)
    await process.finalize("e0")
    for _ in range(5):
        assert (await process.finalize("e0")).status == "duplicate"
        with pytest.raises(RefusedError):
            await process.finalize("e1")
        sending = asyncio.ensure_future(process.finalize("e2", session="s2"))
        await asyncio.sleep(0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
    slow.gate.set()
    await process.until(lambda: len(process.ends()) == 2)
    slow.gate = asyncio.Event()
    asked = len(slow.asked)
    for number in range(3):
        await process.finalize("e3", session=f"t{number}")
    await process.until(lambda: len(slow.asked) == asked + 2)
    assert sum(name == "capture.started" for name, _ in process.sent) == 4
    slow.gate.set()
    await process.until(lambda: len(process.ends()) == 5)


async def test_a_lease_is_renewed_while_a_model_takes_its_time(start: Starter) -> None:
    slow = GatedCompleter()
    one, two = start(completer=slow), start()
    await one.finalize("e1")
    await one.until(lambda: bool(slow.asked))
    two.use()
    for _ in range(60):
        await one.clock.wait(5)
        await asyncio.sleep(0.002)
    status = await one.status(episode_id="e1")
    assert (status.state, status.attempts, status.stage) == ("running", 1, "alpha")
    slow.gate.set()
    await one.done()
    assert one.names() == []
    await two.clock.wait(2)
    await two.event("capture.done")
    assert two.names() == []


async def test_what_is_deleted_while_it_is_worked_on_ends_once(start: Starter) -> None:
    """Case M14: by its end, not by its result; its call is ended, and its later writes are dropped."""
    slow = GatedCompleter()
    process = start(completer=slow)
    job_id = (await process.finalize("e1")).job_id
    queued = [(await process.finalize(f"q{number}")).job_id for number in range(3)]
    await process.until(lambda: len(slow.asked) == 2)
    assert await process.delete(session_id="s1") == 0
    await process.until(lambda: len(process.ends()) == 4)
    failed = [params for name, params in process.sent if name == "capture.failed"]
    assert {each.job_id for each in failed} == {job_id, *queued}
    assert {(each.error.code, each.error.retryable) for each in failed} == {("deleted", False)}
    await process.until(lambda: not process.service.worker.running(["s1"]))
    slow.gate.set()
    await process.clock.wait(3)
    assert len(process.ends()) == 4
    process.sent.clear()
    again = await process.finalize("e1")
    assert (again.status, again.revision) == ("accepted", 1)
    await process.done()
    assert await process.delete(episode_id="e1") == 1
    assert await process.delete(episode_id="e1") == 0
    assert process.names() == []


async def test_a_store_that_fails_for_a_moment_costs_nothing(start: Starter, stores: Opener) -> None:
    process = start(store := FlakyStore(stores().capture))
    store.failing |= {"jobs.finish", "jobs.fail"}
    job_id = (await process.finalize("e1")).job_id
    await process.until(lambda: "jobs.fail" in store.calls)
    store.failing.clear()
    await process.pass_time(until=lambda: "done" in process.names())
    assert process.names() == ["started", "done"]
    assert process.ends() == [job_id]


@pytest.mark.req("events.store-failure", "events.one-end")
async def test_a_store_that_fails_for_good_is_told_without_a_place(start: Starter, stores: Opener) -> None:
    process = start(store := FlakyStore(stores().capture))
    await process.finalize("e0")
    await process.done()
    store.failing |= {"jobs.finish", "jobs.fail", "jobs.renew", "outbox.last"}
    job_id = (await process.finalize("e1")).job_id
    await process.pass_time(until=lambda: "failed" in process.names())
    failed = process.sent[-1][1]
    assert (failed.job_id, failed.seq, failed.stage) == (job_id, None, "persist")
    assert (failed.error.code, failed.error.retryable) == ("store_unavailable", True)
    for _ in range(30):
        await process.clock.wait(5)
    assert process.names() == ["started", "failed"]
    store.failing.clear()
    for _ in range(30):
        await process.clock.wait(5)
        await asyncio.sleep(0.002)
    assert process.names() == ["started", "failed"], "it is recorded now, and not told again"
    assert [(event.params.job_id, event.seq) for event in await process.outbox()][1:] == [(job_id, 2)]
    assert (await process.status(job_id=job_id)).state == "failed"
    process.sent.clear()
    assert await process.retry(job_id) != job_id
    await process.done()


async def test_asked_again_before_the_failure_is_recorded(start: Starter, stores: Opener) -> None:
    process = start(store := FlakyStore(stores().capture))
    store.failing |= {"jobs.finish", "jobs.fail"}
    job_id = (await process.finalize("e1")).job_id
    await process.pass_time(until=lambda: "failed" in process.names())
    store.failing |= {"jobs.claim"}
    with pytest.raises(StoreError):
        await process.finalize("e1")
    process.sent.clear()
    store.failing.clear()
    again = await process.finalize("e1")
    assert (again.status, again.job_id == job_id) == ("accepted", False)
    await process.pass_time(until=lambda: "done" in process.names())
    assert process.ends() == [again.job_id]


async def test_a_store_that_cannot_be_asked_is_asked_less_and_less(start: Starter, stores: Opener) -> None:
    process = start(store := FlakyStore(stores().capture))
    store.failing.add("*")
    process.use()
    await process.clock.wait(600)
    assert len(process.reports) < 50
    store.failing.clear()
    assert (await process.finalize("e1")).status == "accepted"
    await process.pass_time(until=lambda: "done" in process.names())


@pytest.mark.parametrize("problem", [ValueError("SECRET1"), ExceptionGroup("x", [KeyError("SECRET1")])])
async def test_a_bug_costs_attempts_and_then_the_job(start: Starter, problem: Exception) -> None:
    process = start(embedder=FakeEmbedder(problem=problem))  # type: ignore[arg-type]
    job_id = (await process.finalize("e1")).job_id
    await process.pass_time(until=lambda: "failed" in process.names())
    assert process.names() == ["started", "started", "started", "failed"]
    failed = process.sent[-1][1]
    assert (failed.job_id, failed.stage, failed.error.code) == (job_id, "embed", "internal")
    assert "SECRET" not in "".join(process.reports) + repr(failed)
    process.embedder = None
    process.sent.clear()
    await process.retry(job_id)
    await process.done()


async def test_a_bug_elsewhere_does_not_end_the_worker(start: Starter, stores: Opener) -> None:
    process = start(store := FlakyStore(stores().capture))
    store.breaking["jobs.claim"] = RuntimeError("SECRET1")
    process.use()
    await process.until(lambda: len(process.reports) == 2)
    assert "SECRET" not in "".join(process.reports)
    store.breaking.clear()
    await process.finalize("e1")
    await process.pass_time(until=lambda: "done" in process.names(), step_seconds=20)


@pytest.mark.req("events.one-end")
async def test_many_processes_end_each_job_once(start: Starter) -> None:
    processes = [start() for _ in range(4)]
    sent = await asyncio.gather(*(process.finalize(f"e{number}") for number in range(40) for process in processes))
    accepted = [each.job_id for each in sent if each.status == "accepted"]
    assert len(accepted) == 40
    for process in processes:
        await process.pass_time(until=lambda process=process: len(process.ends()) >= 40)
    events = await processes[0].outbox()
    assert sorted(event.params.job_id for event in events) == sorted(accepted)
    assert [event.seq for event in events] == list(range(1, 41))
    for process in processes:
        fresh = Counter(
            params.job_id for name, params in process.sent if name == "capture.done" and not params.replayed
        )
        assert set(fresh) <= set(accepted)
        assert set(fresh.values()) <= {1}, "told once as it ended; one that had ended already is told as a replay"


REPLIES = {
    "a fence": '```json\n{"alpha": 0.7, "usable": true, "reason": "r"}\n```',
    "thinking first": '<think>hm</think>{"alpha": 0.7, "usable": true, "reason": "r"}',
    "prose around": 'Sure! {"alpha": 0.7, "usable": true, "reason": "r"} Hope this helps.',
    "a number as text": '{"alpha": "0.7", "usable": true, "reason": "r"}',
    "a comma too much": '{"alpha": 0.7, "usable": true, "reason": "r",}',
    "the schema itself": '{"alpha": number, "usable": bool, "reason": string}',
    "nothing": "",
    "prose only": "The reflection is good.",
    "half of it": '{"alpha": 0.7, "usab',
    "a list": "[1, 2, 3]",
    "null": "null",
    "not finite": '{"alpha": NaN, "usable": true, "reason": "r"}',
}


@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("mode", ["per_step", "per_episode"])
async def test_no_reply_loses_a_trace(start: Starter, reply: str, mode: str) -> None:
    """Case M06: a reply that cannot be read costs its step the score, never the episode its trace."""
    completer = FakeCompleter(reflection_batch=REPLIES[reply], reflection_score=REPLIES[reply])
    process = start(completer=completer, batch_mode=mode)
    await process.finalize("e1")
    (trace,) = (await process.done()).result.traces
    assert trace.reflection.text == "because e1 wanted it"
    assert trace.reflection.alpha in (0.7, 0.5, 0.0)
    if reply in ("a fence", "thinking first", "prose around", "a number as text", "a comma too much"):
        assert (trace.reflection.alpha, trace.reflection.usable) == (0.7, True)


async def test_recalled_text_and_junk_is_not_captured(start: Starter) -> None:
    """Cases M01, M02: a system prompt, heartbeats and our own recalled text are no steps and cost no call."""
    completer = FakeCompleter(reflection_batch=json.dumps({"scores": []}), reflection_score=lambda asked: score())
    process = start(completer=completer)
    beats = [user(f"<system-reminder>heartbeat {number}</system-reminder>") for number in range(20)]
    turns = [{"role": "system", "content": "You are an agent."}] * 3 + beats
    await process.finalize("e1", *turns)
    assert (await process.done()).result.state == "doneEmpty"
    assert completer.asked == []
    await process.finalize("e2", *turns, user("thanks"), says("You are welcome."))
    done = await process.done()
    assert [trace.user_text for trace in done.result.traces] == ["thanks"]
    assert completer.asked == []


async def test_a_budget_that_is_used_up_takes_no_row_its_tries(start: Starter) -> None:
    """A row that failed six times is left alone; one that only waited for a new day is not."""
    embedder = FakeEmbedder(EmbeddingError("the limit models.dailyTokens is reached", waits=True))
    process = start(embedder=embedder)
    await process.finalize("e1")
    result = (await process.done()).result
    assert [warning.code for warning in result.warnings] == ["embedding_failed"]
    await process.pass_time(until=lambda: len(embedder.embedded) > 8, step_seconds=100)
    embedder.problem = None
    before = len(embedder.embedded)
    await process.pass_time(until=lambda: len(embedder.embedded) > before, step_seconds=100)
    await process.until_embedded()
    assert (await process.traces(result.trace_ids))[0].vectors.summary is True


async def test_vectors_come_later_where_the_embedder_fails(start: Starter) -> None:
    """Case M09: captured without, found by words, and made once the embedder is back; in one call."""
    embedder = FakeEmbedder(EmbeddingError("connection refused"))
    process = start(embedder=embedder)
    await process.finalize("e1")
    result = (await process.done()).result
    assert [warning.code for warning in result.warnings] == ["embedding_failed"]
    assert (result.traces[0].vectors.summary, result.traces[0].vectors.model) == (False, None)
    await process.until(lambda: len(embedder.embedded) >= 2)
    await process.until_found("question", result.trace_ids)
    embedder.problem = None
    before = len(embedder.embedded)
    await process.pass_time(until=lambda: len(embedder.embedded) > before, step_seconds=10)
    await process.until_embedded()
    assert len(embedder.embedded) == before + 1
    trace = (await process.traces(result.trace_ids))[0]
    assert (trace.vectors.summary, trace.vectors.action, trace.vectors.model) == (True, True, "fake-2")


async def test_an_embedder_that_never_works_is_left_alone_in_the_end(start: Starter) -> None:
    embedder = FakeEmbedder(EmbeddingError("gone"))
    process = start(embedder=embedder)
    await process.finalize("e1")
    await process.done()
    for _ in range(200):
        await process.clock.wait(60)
        await asyncio.sleep(0.001)
    assert len(embedder.embedded) == 1 + 6


async def test_the_end_of_the_process_leaves_its_jobs_to_others_at_once(start: Starter) -> None:
    one = start(completer=GatedCompleter())
    jobs = [(await one.finalize(f"e{number}")).job_id for number in range(4)]
    await one.until(lambda: one.names() == ["started", "started"])
    await one.stop()
    two = start()
    two.use()
    await two.clock.wait(3600)
    assert two.names() == [], "they were accepted under a model, and this process has none"
    await two.pass_time(until=lambda: sorted(two.ends()) == sorted(jobs), step_seconds=3600)
