"""condense/onTurnEnd, flush and what follows in the background (condense.md, 'When to condense', 'Big results')."""

import asyncio
from typing import Any

import anyio
import pytest

from afterturn.completion import CompleterError
from afterturn.condense.footer import footer
from afterturn.condense.ports import Store
from afterturn_protocol.condense import Batch, CondenseTurnEndResult
from afterturn_protocol.settings import CondenseSettings
from tests.condense.conftest import OpenStore
from tests.condense.harness import PATIENCE_SECONDS, FakeCompleter, Harness, batch, big, bullets, call, same

pytestmark = pytest.mark.anyio


def turn(word: str, index: int, **given: Any) -> Batch:
    return batch(call("bash", big(word), tool_call_id=word), turn=index, batch_id=f"batch {word}", **given)


def settings(**given: Any) -> CondenseSettings:
    return CondenseSettings(min_batch_chars=0, **given)


def told(result: CondenseTurnEndResult) -> tuple[int, bool, str | None]:
    return result.pending_calls, result.will_condense, result.trigger


async def test_turns_wait_for_the_final_reply_and_then_each_is_a_batch(store: Store) -> None:
    harness = Harness(store)
    assert told(await harness.turn_end(turn("a", 1))) == (1, False, None)
    assert told(await harness.turn_end(turn("b", 2))) == (2, False, None)
    assert await harness.settle() == []
    assert told(await harness.turn_end(final=True)) == (2, True, "agent-message")
    results = sorted(await harness.settle(), key=lambda each: each.batch_id)
    assert [(each.outcome, each.batch_id) for each in results] == [("summarized", "batch a"), ("summarized", "batch b")]
    assert [each.items[0].turn_index for each in results] == [1, 2]
    assert told(await harness.turn_end(final=True)) == (0, False, None)


async def test_a_final_turn_may_bring_its_calls_along(store: Store) -> None:
    harness = Harness(store)
    assert told(await harness.turn_end(turn("a", 1), final=True)) == (1, True, "agent-message")
    assert [each.batch_id for each in await harness.settle()] == ["batch a"]


@pytest.mark.parametrize("reason", ["error", "aborted"])
async def test_a_reply_that_failed_is_not_final(store: Store, reason: str) -> None:
    """Prior art A10."""
    harness = Harness(store)
    await harness.turn_end(turn("a", 1))
    assert told(await harness.turn_end(final=True, stop_reason=reason)) == (1, False, None)
    assert told(await harness.turn_end(final=True, stop_reason="stop")) == (1, True, "agent-message")


async def test_on_demand_waits_for_a_flush(store: Store) -> None:
    harness = Harness(store, settings=settings(prune_on="on-demand"))
    await harness.turn_end(turn("a", 1))
    assert told(await harness.turn_end(final=True)) == (1, False, None)
    assert await harness.flush() == 1
    assert [each.outcome for each in await harness.settle()] == ["summarized"]
    assert await harness.flush() == 0


async def test_agent_message_mode_joins_the_turns_of_one_request(store: Store) -> None:
    completer = FakeCompleter(bullets("1:bash", "2:bash"))
    harness = Harness(store, completer, settings=settings(batching_mode="agent-message", prune_on="on-demand"))
    await harness.turn_end(turn("a", 1, user_text="first request", assistant_text="prose one"))
    await harness.turn_end(turn("b", 2, assistant_text="prose two"))
    await harness.turn_end(final=True)
    await harness.turn_end(turn("c", 4, user_text="second request"))
    assert await harness.flush() == 2
    joined, single = sorted(await harness.settle(), key=lambda each: each.items[0].turn_index)
    completer.prompts.sort(key=lambda prompt: "second request" in prompt)
    assert [(item.index, item.turn_index, item.short_id) for item in joined.items] == [(0, 1, "t1"), (1, 2, "t2")]
    body = "- `t1` did its work\n- `t2` did its work"
    assert joined.summary_text == body + footer(["t1", "t2"], "context_tree_query")
    assert single.batch_id == "batch c"
    assert "first request" in completer.prompts[0]
    assert "prose one\n\nprose two" in completer.prompts[0]
    assert "second request" in completer.prompts[1]


async def test_the_request_is_known_in_later_turns_of_it(store: Store) -> None:
    completer = FakeCompleter(bullets("1:bash"))
    harness = Harness(store, completer)
    await harness.turn_end(turn("a", 1, user_text="the request"))
    await harness.turn_end(turn("b", 2))
    await harness.turn_end(final=True)
    await harness.settle()
    assert ["the request" in prompt for prompt in completer.prompts] == [True, True]


# --- the context's size ------------------------------------------------------------------------------------------


async def test_the_level_trigger(store: Store) -> None:
    harness = Harness(store, settings=settings(auto_budget_threshold=0.5))
    assert told(await harness.turn_end(turn("a", 1), usage=(99_999, 200_000))) == (1, False, None)
    assert told(await harness.turn_end(turn("b", 2), usage=(None, 200_000))) == (2, False, None)
    assert told(await harness.turn_end(turn("c", 3), usage=(100_000, 200_000))) == (3, True, "budget")


async def test_the_growth_trigger_keeps_its_baseline(open_again: OpenStore) -> None:
    """Unknown tokens do not move it, a flush does not, a new process does not (prior art A2, case 41)."""
    asked = settings(budget_turn_delta=0.25, prune_on="on-demand")
    harness = Harness(open_again(), settings=asked)
    assert told(await harness.turn_end(turn("a", 1), usage=(20_000, 200_000)))[1:] == (False, None)
    assert told(await harness.turn_end(turn("b", 2), usage=(None, 200_000)))[1:] == (False, None)
    again = Harness(open_again(), settings=asked)
    assert told(await again.turn_end(turn("c", 3), usage=(70_000, 200_000)))[1:] == (True, "delta")
    await again.settle()
    assert told(await again.turn_end(turn("d", 4), usage=(100_000, 200_000)))[1:] == (False, None)
    assert told(await again.turn_end(turn("e", 5), usage=(150_000, 200_000)))[1:] == (True, "delta")


async def test_nothing_waits_nothing_starts(store: Store) -> None:
    harness = Harness(store, settings=settings(auto_budget_threshold=0.1))
    assert told(await harness.turn_end(usage=(190_000, 200_000))) == (0, False, None)


# --- at once -----------------------------------------------------------------------------------------------------


async def test_a_big_result_has_its_replacement_at_once_and_for_ever(open_again: OpenStore) -> None:
    """Also it has a ref and is in the summary (prior art A4)."""
    harness = Harness(open_again(), settings=settings(spill_threshold=1000, spill_preview_bytes=80))
    text = big("huge")
    result = await harness.turn_end(batch(call("bash", text, tool_call_id="x"), call("bash", "small"), batch_id="b"))
    first, second = result.items
    assert first.replacement == (
        f"- `t1` {len(text)} chars of output, of which this is the head\n[full output: context_tree_query t1]\n"
        "huge line 0 of some output that nobody reads twice"
    )
    assert (first.state, second.state, second.replacement) == ("condensed", "passthrough", None)
    again = Harness(open_again(), FakeCompleter(bullets("1:bash")))
    assert await again.flush() == 1
    (ready,) = await again.settle()
    assert ready.items[0].replacement == first.replacement
    assert "`t1` did its work" in (ready.summary_text or "")
    assert [each.text for each in (await again.plan()).replacements] == [first.replacement]


@pytest.mark.parametrize(("size", "spilled"), [(65_536, True), (65_535, False)])
async def test_where_a_big_result_begins(store: Store, size: int, spilled: bool) -> None:
    result = await Harness(store).turn_end(batch(call("bash", "x" * size)))
    assert (result.items[0].replacement is not None) is spilled


async def test_no_secret_is_cut_in_two_by_a_preview(store: Store) -> None:
    harness = Harness(store, settings=settings(spill_threshold=1000, spill_preview_bytes=100))
    result = await harness.turn_end(batch(call("bash", "x" * 95 + "SECRET" + "1" * 5000)))
    assert "SECRET" not in (result.items[0].replacement or "SECRET")


async def test_duplicates_have_their_pointer_at_once(store: Store) -> None:
    harness = Harness(store)
    await harness.turn_end(turn("a", 1))
    result = await harness.turn_end(batch(call("bash", big("a"), tool_call_id="again"), turn=2))
    item = result.items[0]
    assert (item.state, item.duplicate_of) == ("duplicate", "t1")
    assert item.replacement == "- `t2` same output as `t1`\n[full output: context_tree_query t2]"


async def test_protected_incomplete_and_recovered_calls_do_not_wait(store: Store) -> None:
    """Prior art case 38: a turn with nothing but these starts nothing."""
    harness = Harness(store, settings=settings(protected_tools=("keep",)))
    result = await harness.turn_end(
        batch(
            call("keep", big("a")), call("bash", None), call("context_tree_query", "x", args={"refs": ["t1"]}), turn=1
        ),
        final=True,
    )
    assert [item.state for item in result.items] == ["protected", "incomplete", "recovered"]
    assert [item.short_id for item in result.items] == ["t1", None, "t1"]
    assert told(result) == (0, False, None)


async def test_every_call_of_a_turn_is_in_the_result_that_follows(store: Store) -> None:
    harness = Harness(store, settings=settings(protected_tools=("keep",)))
    sent = batch(
        call("keep", big("k")),
        call("bash", None, tool_call_id="later"),
        call("bash", big("a"), entry_id="e2", result_timestamp=77),
        call("context_tree_query", "x", args={"refs": ["t1", "t2"]}),
        turn=1,
    )
    assert told(await harness.turn_end(sent, final=True)) == (1, True, "agent-message")
    (ready,) = await harness.settle()
    assert [(item.index, item.state, item.short_id) for item in ready.items] == [
        (0, "protected", "t1"),
        (1, "incomplete", None),
        (2, "condensed", "t2"),
        (3, "recovered", None),
    ]
    assert (ready.items[2].entry_id, ready.items[2].result_timestamp) == ("e2", 77)
    assert ready.items[3].recovered_refs == ["t1", "t2"]


async def test_a_turn_that_is_sent_again_with_more_results(store: Store) -> None:
    """Prior art case 27: results that come later join the ones that wait."""
    harness = Harness(store)
    await harness.turn_end(batch(call("bash", big("a"), tool_call_id="a"), call("bash", None, tool_call_id="b")))
    sent = batch(call("bash", big("a"), tool_call_id="a"), call("bash", big("b"), tool_call_id="b"))
    assert told(await harness.turn_end(sent)) == (2, False, None)
    await harness.turn_end(final=True)
    (ready,) = await harness.settle()
    assert [(item.index, item.tool_call_id, item.state) for item in ready.items] == [
        (0, "a", "condensed"),
        (1, "b", "condensed"),
    ]
    assert same(ready, await harness.summarize(sent))


async def test_a_turn_that_is_sent_twice_is_condensed_once(store: Store) -> None:
    harness = Harness(store)
    await harness.turn_end(turn("a", 1))
    assert told(await harness.turn_end(turn("a", 1), final=True)) == (1, True, "agent-message")
    assert len(await harness.settle()) == 1
    result = await harness.turn_end(turn("a", 1), final=True)
    assert told(result) == (0, False, None)
    assert result.items[0].state == "condensed"
    assert result.items[0].replacement is not None


async def test_what_was_summarised_on_request_does_not_wait_any_more(store: Store) -> None:
    harness = Harness(store)
    await harness.turn_end(turn("a", 1))
    first = await harness.summarize(turn("a", 1))
    assert told(await harness.turn_end(final=True)) == (0, False, None)
    assert first.outcome == "summarized"


# --- off ---------------------------------------------------------------------------------------------------------


async def test_switched_off_nothing_waits_and_the_past_stays_past(open_again: OpenStore) -> None:
    completer = FakeCompleter(bullets("1:bash"))
    harness = Harness(open_again(), completer, settings=settings(enabled=False, spill_threshold=10))
    result = await harness.turn_end(turn("a", 1), final=True)
    assert told(result) == (0, False, None)
    assert [(item.state, item.short_id, item.replacement) for item in result.items] == [("passthrough", "t1", None)]
    assert await harness.flush() == 0
    assert await harness.text("t1") == big("a")
    on = Harness(open_again(), completer)
    await on.turn_end(turn("b", 2), final=True)
    (ready,) = await on.settle()
    assert [item.tool_call_id for item in ready.items] == ["b"]


# --- the background ----------------------------------------------------------------------------------------------


async def test_at_most_so_many_batches_run_at_once(store: Store) -> None:
    completer = FakeCompleter(bullets("1:bash"))
    completer.gate.clear()
    harness = Harness(store, completer, settings=settings(concurrency=2))
    for number in range(6):
        await harness.turn_end(turn(f"w{number}", number))
    await harness.turn_end(final=True)
    with anyio.fail_after(PATIENCE_SECONDS):
        await completer.entered.wait()
        await anyio.wait_all_tasks_blocked()
    completer.gate.set()
    assert len(await harness.settle()) == 6
    assert completer.most_running <= 2
    assert {each["total_timeout_ms"] for each in completer.asked} == {180_000}
    assert {each["background"] for each in completer.asked} == {True}


async def test_one_failing_batch_holds_up_no_other(store: Store) -> None:
    """Prior art A5: the poison batch."""
    down = CompleterError("provider_error", "x", retryable=True)
    completer = FakeCompleter(lambda prompt: down if "bad line" in prompt else bullets("1:bash"))
    harness = Harness(store, completer, settings=settings(fallback="none"))
    for number, word in enumerate(("one", "bad", "two")):
        await harness.turn_end(turn(word, number))
    outcomes: list[list[tuple[str, str]]] = []
    for _ in range(5):
        await harness.turn_end(final=True)
        outcomes.append([(each.batch_id, each.reason or each.outcome) for each in await harness.settle()])
    assert sorted(outcomes[0]) == [
        ("batch bad", "provider_error"),
        ("batch one", "summarized"),
        ("batch two", "summarized"),
    ]
    assert outcomes[1:] == [
        [("batch bad", "provider_error")],
        [("batch bad", "provider_error")],
        [("batch bad", "attempts_exhausted")],
        [("batch bad", "attempts_exhausted")],
    ]
    assert len(completer.prompts) == 5


async def test_what_failed_is_tried_again_at_the_next_trigger_only(store: Store) -> None:
    completer = FakeCompleter(CompleterError("provider_error", "x", retryable=True))
    harness = Harness(store, completer, settings=settings(fallback="none"))
    await harness.turn_end(turn("a", 1), final=True)
    assert [each.outcome for each in await harness.settle()] == ["failed"]
    assert told(await harness.turn_end(turn("b", 2))) == (2, False, None)
    assert told(await harness.turn_end(final=True)) == (2, True, "agent-message")
    await harness.settle()
    assert len(completer.prompts) == 3


async def test_work_in_hand_is_not_started_again(store: Store) -> None:
    completer = FakeCompleter(bullets("1:bash"))
    completer.gate.clear()
    harness = Harness(store, completer)
    await harness.turn_end(turn("a", 1), final=True)
    await completer.entered.wait()
    assert told(await harness.turn_end(turn("b", 2), final=True)) == (2, True, "agent-message")
    assert told(await harness.turn_end(final=True)) == (2, False, None)
    completer.gate.set()
    assert sorted(each.batch_id for each in await harness.settle()) == ["batch a", "batch b"]
    assert len(completer.prompts) == 2


async def test_what_was_due_is_taken_up_by_the_next_process(open_again: OpenStore) -> None:
    completer = FakeCompleter(bullets("1:bash"))
    completer.gate.clear()
    dying = Harness(open_again(), completer)
    await dying.turn_end(turn("a", 1), final=True)
    await completer.entered.wait()
    dying.stop()
    await asyncio.sleep(0)
    completer.gate.set()
    alive = Harness(open_again(), completer)
    assert await alive.resume() == 1
    assert await alive.resume() == 0
    (ready,) = await alive.settle()
    assert (ready.batch_id, ready.source) == ("batch a", "model")
    assert await alive.resume() == 0


async def test_what_only_waits_is_not_taken_up(open_again: OpenStore) -> None:
    await Harness(open_again()).turn_end(turn("a", 1))
    alive = Harness(open_again())
    assert await alive.resume() == 0
    assert told(await alive.turn_end(turn("b", 2))) == (2, False, None)


async def test_a_session_deleted_meanwhile_gets_no_event(store: Store) -> None:
    completer = FakeCompleter(bullets("1:bash"))
    completer.gate.clear()
    harness = Harness(store, completer)
    await harness.turn_end(turn("a", 1), final=True)
    await completer.entered.wait()
    assert await store.sessions.delete("s", now_ms=harness.clock.now_ms()) == 1
    completer.gate.set()
    assert await harness.settle() == []
    assert harness.reports == []
    assert (await harness.plan()).summaries == []


async def test_a_store_that_fails_in_the_background_is_reported_and_tried_again(store: Store) -> None:
    harness = Harness(store)
    await harness.turn_end(turn("a", 1))
    archive = harness.service._needs.store.archive
    load = archive.load

    async def broken(session_id: str, refs: Any) -> Any:
        archive.load = load
        raise RuntimeError("SECRET1 in a path")

    archive.load = broken
    await harness.turn_end(final=True)
    assert await harness.settle() == []
    assert harness.reports == ["condensing in the background failed: RuntimeError"]
    await harness.turn_end(final=True)
    assert [each.outcome for each in await harness.settle()] == ["summarized"]


async def test_long_model_calls_do_not_hold_the_next_message(store: Store) -> None:
    """`arrived` is called when the archive has the calls, long before the model answers."""
    completer = FakeCompleter(bullets("1:bash"))
    completer.gate.clear()
    harness = Harness(store, completer)
    arrived = asyncio.Event()
    from afterturn_protocol.condense import SummarizeParams

    params = SummarizeParams(session_id="s", batch=turn("a", 1))
    task = asyncio.create_task(harness.service.summarize(params, arrived=arrived.set))
    with anyio.fail_after(PATIENCE_SECONDS):
        await arrived.wait()
        assert await harness.text("t1") == big("a")
        assert not task.done()
        completer.gate.set()
        assert (await task).outcome == "summarized"
