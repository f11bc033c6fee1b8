"""capture/*: what each request is answered, and what follows (protocol.md, 'capture and traces')."""

import asyncio
from typing import Any

import pytest

from afterturn.capture.refusals import RefusedError
from afterturn.misfits import InvalidInputError
from afterturn.store_error import StoreError
from afterturn_protocol.capture import CaptureStatusParams
from tests.capture.conftest import Opener, Starter
from tests.capture.harness import FakeCompleter, says, score, user
from tests.capture.service_harness import FlakyStore, GatedCompleter, untimed

pytestmark = pytest.mark.anyio


@pytest.mark.req("capture.on-disk")
async def test_an_episode_is_answered_then_begun_then_done(start: Starter) -> None:
    process = start()
    result = await process.finalize("e1")
    assert (result.status, result.episode_id, result.revision, result.reason) == ("accepted", "e1", 1, None)
    begun = await process.event("capture.started")
    assert (begun.job_id, begun.episode_id, begun.session_id) == (result.job_id, "e1", "s1")
    done = await process.event("capture.done")
    assert (done.job_id, done.seq, done.replayed) == (result.job_id, 1, None)
    assert done.result.state == "done"
    (trace,) = done.result.traces
    assert (trace.user_text, trace.agent_text) == ("question of e1", "answer of e1")
    assert trace.reflection.text == "because e1 wanted it"
    assert (trace.reflection.alpha, trace.reflection.usable) == (0.5, True)


@pytest.mark.req("capture.idempotent")
async def test_the_same_again(start: Starter) -> None:
    """Case M16: three times, once after a restart: the same ids, no further call, no further row."""
    completer = FakeCompleter(reflection_batch='{"scores":[{"idx":0,"reflection_text":"","alpha":0.7,"usable":true}]}')
    first = start(completer=completer)
    accepted = await first.finalize("e1")
    done = await first.done()
    again = await first.finalize("e1")
    assert (again.status, again.job_id, again.revision) == ("done", accepted.job_id, 1)
    replayed = await first.event("capture.done")
    assert replayed.replayed is True
    assert untimed(replayed).result == untimed(done).result
    assert replayed.seq == done.seq
    await first.stop()
    other = start(completer=completer)
    assert (await other.finalize("e1")).status == "done"
    assert (await other.event("capture.done")).result.trace_ids == done.result.trace_ids
    assert len(completer.asked) == 1
    assert await other.drain() == 0
    assert other.names() == []


async def test_a_known_episode_that_is_not_finished_is_a_duplicate(start: Starter) -> None:
    process = start(completer=(slow := GatedCompleter()))
    one, two = await asyncio.gather(process.finalize("e1"), process.finalize("e1"))
    assert sorted([one.status, two.status]) == ["accepted", "duplicate"]
    slow.gate.set()
    assert one.job_id == two.job_id
    assert (await process.done()).job_id == one.job_id
    assert process.names() == []


async def test_a_duplicate_is_told_of_the_end_that_another_sidecar_writes(start: Starter) -> None:
    """Also where it ends between the answer and the first look at the outbox."""
    slow = GatedCompleter()
    one, two = start(completer=slow), start()
    accepted = await one.finalize("e1")
    await one.until(lambda: bool(slow.asked))
    assert (await two.finalize("e1")).status == "duplicate"
    slow.gate.set()
    await one.done()
    await two.clock.wait(2)
    assert (await two.event("capture.done")).job_id == accepted.job_id
    assert two.names() == []


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        pytest.param({}, {"text": "other"}, "accepted", id="changed content"),
        pytest.param({"key": "k"}, {"key": "k"}, "done", id="same key and content"),
        pytest.param({"key": "k"}, {"key": "k", "text": "other"}, "conflict", id="same key, other content"),
        pytest.param({"key": "k"}, {"key": "k", "episode": "e2"}, "conflict", id="same key, other episode"),
        pytest.param({"key": "k"}, {"key": "l"}, "done", id="another key for the same content"),
        pytest.param({}, {"options": {"resultDetail": "ids"}}, "done", id="options are no part of it"),
        pytest.param({}, {"session": "s2"}, "accepted", id="the same id in another session"),
        pytest.param({}, {"closedBy": "abandoned"}, "done", id="how it was closed is no part of it"),
    ],
)
async def test_what_makes_it_the_same(
    start: Starter, first: dict[str, Any], second: dict[str, Any], status: str
) -> None:
    process = start()

    async def send(text: str = "text", key: str | None = None, episode: str = "e1", **more: Any) -> str:
        try:
            result = await process.finalize(episode, user(text), says("answer"), idempotencyKey=key, **more)
        except RefusedError as problem:
            assert not problem.retryable
            return problem.kind
        return result.status

    assert await send(**first) == "accepted"
    await process.done()
    assert await send(**second) == status


async def test_a_changed_episode_is_a_new_revision_and_only_what_is_new_is_scored(start: Starter) -> None:
    scores = FakeCompleter(reflection_score=lambda asked: score(0.9))
    process = start(completer=scores, batch_mode="per_step")
    one = [user("first"), says("one", id="a1", reflection="because of the first")]
    two = [user("second"), says("two", id="a2", reflection="because of the second")]
    assert (await process.finalize("e1", *one)).revision == 1
    before = (await process.done()).result
    assert (await process.finalize("e1", *one, *two)).revision == 2
    after = (await process.done()).result
    assert after.trace_ids[:1] == before.trace_ids
    assert len(after.trace_ids) == 2
    assert len(scores.asked) == 2
    assert (await process.finalize("e1", *two)).revision == 3
    assert len((await process.done()).result.trace_ids) == 1
    assert len(scores.asked) == 2


async def test_a_full_queue_is_busy_and_says_when_to_come_again(start: Starter) -> None:
    process = start(completer=(slow := GatedCompleter()), max_queued_jobs=2)
    await process.finalize("e1")
    await process.finalize("e2")
    with pytest.raises(RefusedError) as refused:
        await process.finalize("e3")
    assert (refused.value.kind, refused.value.retryable, refused.value.retry_after_ms) == ("busy", True, 5000)
    assert (await process.finalize("e1", session="s2")).status == "accepted"
    slow.gate.set()
    assert await process.drain(0) == 3
    await process.until(lambda: len(process.ends()) == 3)
    assert (await process.finalize("e3")).status == "accepted"


@pytest.mark.parametrize(
    ("settings", "more", "reason"),
    [
        pytest.param({"enabled": False}, {}, "disabled", id="disabled"),
        pytest.param({"capture_abandoned": False}, {"closedBy": "abandoned"}, "abandoned", id="abandoned"),
        pytest.param(
            {}, {"closedBy": "abandoned", "options": {"captureAbandoned": False}}, "abandoned", id="by an option"
        ),
        pytest.param({"capture_abandoned": False}, {}, None, id="finalized"),
        pytest.param({}, {"closedBy": "abandoned"}, None, id="abandoned ones are captured"),
    ],
)
async def test_skipped(start: Starter, settings: dict[str, Any], more: dict[str, Any], reason: str | None) -> None:
    process = start(**settings)
    result = await process.finalize("e1", **more)
    assert (result.status, result.reason) == (("skipped", reason) if reason else ("accepted", None))
    assert (result.job_id is None) == (reason is not None)
    if reason:
        with pytest.raises(RefusedError, match="No such job"):
            await process.status(episode_id="e1")


@pytest.mark.parametrize(
    ("more", "path"),
    [
        pytest.param({"closedBy": "done"}, "$.closedBy", id="closedBy"),
        pytest.param({"idempotencyKey": " "}, "$.idempotencyKey", id="a blank key"),
        pytest.param({"project": "*"}, "$.project", id="all projects"),
        pytest.param({"options": {"batchMode": "never"}}, "$.options.batchMode", id="batchMode"),
        pytest.param({"options": {"downstreamStepCount": 4}}, "$.options.downstreamStepCount", id="too many"),
    ],
)
async def test_bad_values_are_refused_before_anything_starts(start: Starter, more: dict[str, Any], path: str) -> None:
    process = start()
    with pytest.raises(InvalidInputError) as refused:
        await process.finalize("e1", **more)
    assert refused.value.path == path
    assert await process.drain() == 0


@pytest.mark.req("capture.status")
async def test_status(start: Starter) -> None:
    process = start(completer=(slow := GatedCompleter()))
    job_id = (await process.finalize("e1")).job_id
    await process.until(lambda: bool(slow.asked))
    running = await process.status(job_id=job_id)
    assert (running.state, running.attempts, running.episode_id) == ("running", 1, "e1")
    slow.gate.set()
    await process.done()
    assert (await process.status(episode_id="e1")).state == "done"
    assert (await process.finalize("e2", user(""), says(""))).status == "accepted"
    await process.done()
    assert (await process.status(episode_id="e2")).state == "doneEmpty"
    for which in ({"job_id": "job-0-0"}, {"episode_id": "nobody"}):
        with pytest.raises(RefusedError) as refused:
            await process.status(**which)
        assert refused.value.kind == "unknown_job"
    for which in ({}, {"job_id": job_id, "episode_id": "e1"}):
        with pytest.raises(InvalidInputError, match="either jobId or episodeId"):
            await process.service.status(CaptureStatusParams(**which))


@pytest.mark.req("capture.drain")
async def test_drain_counts_waits_and_gives_up(start: Starter) -> None:
    process = start(completer=(slow := GatedCompleter()))
    for number in range(3):
        await process.finalize(f"e{number}")
    assert await process.drain() == 3
    waiting = asyncio.ensure_future(process.drain(1000))
    await process.until(lambda: bool(slow.asked))
    await process.clock.wait(1.1)
    assert await waiting == 3
    waiting = asyncio.ensure_future(process.drain(60_000))
    slow.gate.set()
    await process.until(lambda: len(process.ends()) == 3)
    await process.clock.wait(1)
    assert await waiting == 0
    assert await start().drain(60_000) == 0, "another connection's sessions are another's"


@pytest.mark.req("capture.retry")
async def test_a_failed_job_is_done_again_under_a_new_id(start: Starter, stores: Opener) -> None:
    process = start(store := FlakyStore(stores().capture))
    store.failing.add("jobs.finish")
    job_id = (await process.finalize("e1")).job_id
    await process.pass_time(until=lambda: "failed" in process.names())
    failed = await process.event("capture.failed")
    assert (failed.job_id, failed.stage, failed.error.code) == (job_id, "persist", "store_unavailable")
    assert failed.error.retryable
    assert failed.seq == 1
    status = await process.status(job_id=job_id)
    assert (status.state, status.stage, status.error) == ("failed", "persist", failed.error)
    store.failing.clear()
    process.sent.clear()
    new_id = await process.retry(job_id)
    assert new_id not in (job_id, None)
    assert (await process.done()).job_id == new_id
    assert await process.retry(new_id) == new_id, "it is done: this one stands for the episode"
    assert process.names() == []
    with pytest.raises(RefusedError, match="No such job"):
        await process.retry("job-0-0")


async def test_the_same_episode_after_a_failure_is_accepted_under_a_new_id(start: Starter, stores: Opener) -> None:
    process = start(store := FlakyStore(stores().capture))
    store.failing.add("jobs.finish")
    job_id = (await process.finalize("e1")).job_id
    await process.pass_time(until=lambda: "failed" in process.names())
    assert (await process.event("capture.failed")).job_id == job_id
    store.failing.clear()
    process.sent.clear()
    again = await process.finalize("e1")
    assert again.status == "accepted"
    assert again.job_id != job_id
    assert again.revision == 1
    assert (await process.done()).job_id == again.job_id


@pytest.mark.parametrize("ends", [False, True])
async def test_an_index_that_lags_behind_is_said_but_not_at_the_end(start: Starter, stores: Opener, ends: bool) -> None:
    process = start(store := FlakyStore(stores().capture))
    store.failing.add("text_index.catch_up")
    if ends:
        process.service.upkeep.end()
    await process.finalize("e1")
    await process.done()
    await process.stop()
    assert set(process.reports) == (set() if ends else {"the search index lags behind: the disk is full"})


async def test_a_store_that_fails_is_said_at_once_and_nothing_is_accepted(start: Starter, stores: Opener) -> None:
    process = start(store := FlakyStore(stores().capture))
    store.failing.add("*")
    with pytest.raises(StoreError):
        await process.finalize("e1")
    store.failing.clear()
    assert (await process.finalize("e1")).status == "accepted"
    assert (await process.done()).result.state == "done"


async def test_a_request_that_was_cancelled_leaves_nothing_hanging(start: Starter) -> None:
    process = start()
    sending = asyncio.ensure_future(process.finalize("e1"))
    await asyncio.sleep(0)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    assert (await process.finalize("e1")).status in ("accepted", "duplicate")
    assert (await process.done()).result.state == "done"
    assert await process.drain() == 0


async def test_secrets_are_gone_before_anything_is_stored(start: Starter, place: Any) -> None:
    """Case S01: in the user's words, in what a tool was given, in what it gave, and in what it failed with."""
    secret = "SECRET7"
    completer = FakeCompleter(
        reflection_batch='{"scores":[{"idx":0,"reflection_text":"","alpha":0.7,"usable":true,"reason":""}]}'
    )
    process = start(completer=completer)
    call = {
        "name": "bash",
        "input": {"command": f"curl {secret}"},
        "output": f"out {secret}",
        "errorCode": f"E {secret}",
        "thinkingBefore": f"use {secret}",
    }
    turns = [
        user(f"my key is {secret}"),
        says(f"I used {secret}", reflection=f"since {secret} works", agentThinking=secret, toolCalls=[call]),
    ]
    await process.finalize("e1", *turns, intent={"kind": "chat", "reason": secret})
    done = await process.done()
    assert done.result.redactions >= 8
    assert secret not in repr(done)
    assert secret not in repr(completer.asked)
    assert secret not in "".join(process.reports)
    await process.cut()
    for file in place.file.parent.iterdir():
        assert secret.encode() not in file.read_bytes(), file
