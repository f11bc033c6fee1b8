"""Concurrency, priority, waiting, cancelling, and identical calls at the same time (models.md, 'Completers')."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterturn.completion import CompleterError, Completion, Purpose
from afterturn.models.provider import ProviderFailure
from afterturn.models.slots import Slots, rank_of
from afterturn.store.sqlite.store import SqliteStore
from tests.models.pool.harness import PATIENCE_SECONDS, PURPOSES, Harness, pass_by, reply, status, until

pytestmark = pytest.mark.anyio


def start(harness: Harness, *asked: tuple[Purpose, str], **given: Any) -> list[asyncio.Task[Completion]]:
    return [asyncio.create_task(harness.ask(text, purpose=purpose, **given)) for purpose, text in asked]


async def waiting(harness: Harness, count: int) -> None:
    await until(lambda: harness.pool.waiting == count)


async def test_p06_a_summary_goes_before_a_hundred_captures(store: SqliteStore) -> None:
    """Case P06: it is the next call, no more than the limit is in flight, and waiting fails nobody."""
    harness = Harness(store)
    harness.provider.gate.clear()
    captures = start(harness, *[("reflection.score", f"{number}") for number in range(100)])
    await until(lambda: len(harness.provider.prompts) == 2)
    await waiting(harness, 98)
    summary = start(harness, ("condense.batch", "now"))[0]
    await waiting(harness, 99)
    harness.provider.gate.set()
    await asyncio.gather(summary, *captures)
    assert [prompt.purpose for prompt in harness.provider.prompts[:3]] == ["reflection.score"] * 2 + ["condense.batch"]
    assert harness.provider.most_running == 2
    assert (harness.pool.running, harness.pool.waiting) == (0, 0)


async def test_the_order_is_condense_then_recap_then_capture_and_what_is_waited_for_first(store: SqliteStore) -> None:
    harness = Harness(store, concurrency=1)
    harness.provider.gate.clear()
    tasks = start(harness, ("recap", "first of all"))
    await until(lambda: len(harness.provider.prompts) == 1)
    tasks += start(harness, *[(purpose, f"{number}") for number, purpose in enumerate(reversed(PURPOSES))],
                   background=True)  # fmt: skip
    tasks += start(harness, ("condense.batch", "somebody waits"))
    await waiting(harness, 7)
    harness.provider.gate.set()
    await asyncio.gather(*tasks)
    said = [(prompt.purpose.split(".")[0], prompt.messages[1].content) for prompt in harness.provider.prompts[1:]]
    assert said[0] == ("condense", "somebody waits")
    assert [job for job, _ in said] == ["condense"] * 3 + ["recap"] + ["reflection"] * 3


async def test_the_deadline_starts_with_the_place(store: SqliteStore) -> None:
    harness = Harness(store, concurrency=1)
    harness.provider.gate.clear()
    tasks = start(harness, ("recap", "one"), ("recap", "two"), total_timeout_ms=5000)
    await waiting(harness, 1)
    harness.clock.ms += 3_600_000
    harness.provider.gate.set()
    await asyncio.gather(*tasks)
    assert harness.provider.prompts[1].total_timeout_ms == 5000


async def test_what_a_provider_needs_first_takes_no_time_of_the_calls(store: SqliteStore) -> None:
    """models.md: the worker's start does not count."""
    harness = Harness(store, status(503), reply())
    harness.provider.prepares_ms, harness.provider.takes_ms = 10_000, 1000
    completion = await harness.ask(total_timeout_ms=5000)
    first, second = (prompt.total_timeout_ms for prompt in harness.provider.prompts)
    pause_ms = round(harness.clock.slept[0] * 1000)
    assert (first, second) == (5000, 4000 - pause_ms)
    assert completion.spent_seconds == 2 + pause_ms / 1000


async def test_a_provider_that_cannot_be_made_ready_costs_nothing(store: SqliteStore) -> None:
    harness = Harness(store)
    harness.provider.unready = ProviderFailure("crashed", "the worker does not start", called=False)
    with pytest.raises(CompleterError) as caught:
        await harness.ask()
    assert (caught.value.called, caught.value.retryable, caught.value.usage) == (False, True, None)
    assert (harness.provider.prompts, await harness.counted(), len(harness.clock.slept)) == ([], [], 2)


async def test_a_back_off_holds_no_place(store: SqliteStore) -> None:
    harness = Harness(store, status(503), reply("one"), reply("two"), concurrency=1)
    slept = asyncio.Event()
    go_on = asyncio.Event()

    async def sleep(seconds: float) -> None:
        slept.set()
        await go_on.wait()

    harness.clock.sleep = sleep  # type: ignore[method-assign]
    first = start(harness, ("recap", "one"))[0]
    await asyncio.wait_for(slept.wait(), PATIENCE_SECONDS)
    assert (await harness.ask("two")).text == "one"
    go_on.set()
    assert (await first).text == "two"


async def test_more_places_are_used_at_once_when_the_settings_say_so(store: SqliteStore) -> None:
    harness = Harness(store, concurrency=1)
    await harness.ask("proves that the model answers")
    harness.provider.gate.clear()
    tasks = start(harness, *[("recap", f"{number}") for number in range(4)])
    await waiting(harness, 3)
    harness.change(concurrency=3)
    await until(lambda: harness.provider.running == 2)
    harness.provider.gate.set()
    await asyncio.gather(*tasks)
    assert harness.provider.most_running >= 2


async def test_cancelling_a_call_that_waits_leaves_no_trace(store: SqliteStore) -> None:
    harness = Harness(store)
    harness.provider.gate.clear()
    tasks = start(harness, ("recap", "one"), ("recap", "two"))
    await until(lambda: harness.provider.running == 2)  # the places are taken before the third asks for one
    (late,) = start(harness, ("recap", "three"))
    await waiting(harness, 1)
    late.cancel()
    await asyncio.wait([late])
    assert harness.pool.waiting == 0
    assert len(await harness.counted()) == 2
    harness.provider.gate.set()
    await asyncio.gather(*tasks)
    assert len(harness.provider.prompts) == 2
    assert (await harness.totals()).total.calls == 2


async def test_cancelling_a_call_in_flight_ends_it_and_keeps_its_estimate(store: SqliteStore) -> None:
    harness = Harness(store)
    harness.provider.gate.clear()
    task = start(harness, ("recap", "one"))[0]
    await until(lambda: harness.provider.running == 1)
    (reserved,) = await harness.counted()
    task.cancel()
    await asyncio.wait([task])
    assert (harness.provider.cancelled, harness.provider.running, harness.pool.running) == (1, 0, 0)
    assert await harness.counted() == [(reserved[0], 0, 1)]
    assert (await harness.totals()).total.input_tokens is None


async def test_cancelling_on_the_way_to_the_store_leaves_no_trace(store: SqliteStore) -> None:
    """At whatever moment it is cancelled, nothing stays reserved, and what was not asked is not counted."""
    all_asked = 0
    for moments in range(12):
        harness = Harness(store)
        harness.provider.gate.clear()
        task = start(harness, ("recap", f"{moments}"))[0]
        for _ in range(moments):
            await asyncio.sleep(0)
        asked = len(harness.provider.prompts)
        task.cancel()
        await asyncio.wait([task])
        await pass_by()
        all_asked += asked
        assert len(harness.provider.prompts) == asked
        assert harness.pool.running == harness.pool.waiting == 0
        rows = await harness.counted()
        assert (len(rows), [row for row in rows if row[1]]) == (all_asked, [])


async def test_identical_calls_at_the_same_time_are_one(store: SqliteStore) -> None:
    harness = Harness(store, reply("one answer"))
    harness.provider.gate.clear()
    tasks = start(harness, *[("recap", "the same")] * 5)
    await until(lambda: harness.provider.running == 1)
    await pass_by()
    harness.provider.gate.set()
    answers = await asyncio.gather(*tasks)
    assert [answer.text for answer in answers] == ["one answer"] * 5
    assert sum(answer.usage is not None for answer in answers) == 1, "paid for once"
    assert len(harness.provider.prompts) == 1


async def test_a_shared_failure_is_paid_for_once(store: SqliteStore) -> None:
    harness = Harness(store, status(401))
    harness.provider.gate.clear()
    tasks = start(harness, *[("recap", "the same")] * 3)
    await until(lambda: harness.provider.running == 1)
    await pass_by()
    harness.provider.gate.set()
    problems = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(problem, CompleterError) and problem.terminal for problem in problems)
    assert len(harness.provider.prompts) == 1


async def test_whoever_joined_goes_on_when_the_first_is_cancelled(store: SqliteStore) -> None:
    harness = Harness(store)
    harness.provider.gate.clear()
    (first,) = start(harness, ("recap", "the same"))
    await until(lambda: harness.provider.running == 1)
    (second,) = start(harness, ("recap", "the same"))
    await pass_by()
    assert harness.provider.running == 1
    first.cancel()
    await asyncio.wait([first])
    await until(lambda: harness.provider.running == 1)
    harness.provider.gate.set()
    assert (await second).usage is not None
    assert len(harness.provider.prompts) == 2


# -- the places alone


calls = st.lists(st.tuples(st.sampled_from(PURPOSES), st.sampled_from("abc"), st.booleans()), max_size=30)


@given(calls, st.integers(1, 5), st.dictionaries(st.sampled_from("abc"), st.integers(1, 3)), st.data())
@settings(deadline=None, max_examples=60)
def test_never_more_than_the_limits_and_nobody_is_forgotten(
    asked: list[tuple[Purpose, str, bool]], concurrency: int, most: dict[str, int], data: st.DataObject
) -> None:
    async def run() -> None:
        slots = Slots(lambda: concurrency, lambda key: most.get(str(key)))
        running: list[str] = []
        done = 0

        async def call(purpose: Purpose, key: str) -> None:
            nonlocal done
            async with slots.hold(rank_of(purpose, False), key):
                running.append(key)
                assert len(running) <= concurrency
                assert all(running.count(each) <= limit for each, limit in most.items())
                try:
                    for _ in range(3):
                        await asyncio.sleep(0)
                    done += 1
                finally:
                    running.remove(key)

        tasks = [asyncio.create_task(call(purpose, key)) for purpose, key, _ in asked]
        for _ in range(data.draw(st.integers(0, 5))):
            await asyncio.sleep(0)
        for task, (_, _, cancelled) in zip(tasks, asked, strict=True):
            if cancelled and not task.done():
                task.cancel()
        outcomes = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        assert not [each for each in outcomes if isinstance(each, AssertionError)]
        assert slots.running == slots.waiting == 0
        assert done >= len([None for *_, cancelled in asked if not cancelled])

    asyncio.run(run())
