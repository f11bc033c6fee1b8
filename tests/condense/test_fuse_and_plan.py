"""condense/fuse and condense/plan (condense.md, 'Blocks'; protocol.md)."""

import re
from collections.abc import Callable

import pytest

from afterturn.completion import CompleterError
from afterturn.condense.ports import Store
from afterturn.misfits import InvalidInputError
from afterturn_protocol.condense import FuseResult
from afterturn_protocol.settings import CondenseSettings
from tests.condense.conftest import OpenStore
from tests.condense.harness import Answer, FakeClock, FakeCompleter, Harness, batch, big, bullets, call, gathered

pytestmark = pytest.mark.anyio

FUSED = "- `t1` and `t2` did their work"


def model(fusion: Answer) -> Callable[[str], Answer]:
    return lambda prompt: fusion if "Several notes" in prompt else bullets("1:bash")


async def two_batches(harness: Harness) -> None:
    for word in ("a", "b"):
        await harness.summarize(batch(call("bash", big(word)), batch_id=word))


async def test_summaries_are_joined_without_a_model(store: Store) -> None:
    harness = Harness(store)
    await two_batches(harness)
    block = await harness.fuse(["a", "b"])
    assert (block.block_id, block.source, block.usage) == ("b1", "extractive", None)
    assert [ref.short_id for ref in block.refs] == ["t1", "t2"]
    assert set(re.findall(r"`(t\d+)`", block.summary_text)) == {"t1", "t2"}
    assert "Summarized tool refs" not in block.summary_text


async def test_a_model_merges_and_nothing_is_lost(store: Store) -> None:
    harness = Harness(store, FakeCompleter(model("- `t1` did its work, see `t88`")))
    await two_batches(harness)
    block = await harness.fuse(["a", "b"])
    assert block.source == "model"
    assert block.summary_text == (
        "- `t1` did its work, see\n\n---\n**Summarized tool refs**: `t2`\n"
        "Use `context_tree_query` with these refs to retrieve the original full outputs."
    )
    assert block.usage is not None


@pytest.mark.parametrize(
    "answer",
    [CompleterError("provider_error", "x", retryable=True), "", "I'm sorry, I can't.", "- 999 made up", "x " * 500],
)
async def test_a_model_that_fails_gives_way_to_joining(store: Store, answer: Answer) -> None:
    harness = Harness(store, FakeCompleter(model(answer)))
    await two_batches(harness)
    block = await harness.fuse(["a", "b"])
    assert (block.source, block.summary_text) == ("extractive", "- `t1` did its work\n\n- `t2` did its work")


async def test_the_same_range_is_the_same_block(open_again: OpenStore) -> None:
    completer = FakeCompleter(model(FUSED))
    harness = Harness(open_again(), completer)
    await two_batches(harness)
    first = await harness.fuse(["a", "b"])
    asked = len(completer.prompts)
    for again in (
        await harness.fuse(["b", "a"]),
        await Harness(open_again(), completer).fuse(short_ids=["t1", "t2"]),
        await harness.fuse(["a"], ["t2"]),
    ):
        assert (again.block_id, again.summary_text, again.usage) == (first.block_id, first.summary_text, None)
    assert len(completer.prompts) == asked


async def test_two_processes_with_the_same_range_ask_once(open_again: OpenStore) -> None:
    completer = FakeCompleter(model(FUSED))
    clock = FakeClock()
    one, two = Harness(open_again(), completer, clock=clock), Harness(open_again(), completer, clock=clock)
    await two_batches(one)
    asked = len(completer.prompts)
    completer.gate.clear()
    completer.entered.clear()

    async def let_go() -> FuseResult:
        await completer.entered.wait()
        await clock.slept.wait()
        completer.gate.set()
        return await one.fuse(["a", "b"])

    blocks = await gathered(lambda: one.fuse(["a", "b"]), let_go, lambda: two.fuse(["a", "b"]))
    assert len(completer.prompts) == asked + 1
    assert {(block.block_id, block.summary_text) for block in blocks} == {("b1", blocks[0].summary_text)}
    assert sum(block.usage is not None for block in blocks) == 1


async def test_one_summary_needs_no_model(store: Store) -> None:
    completer = FakeCompleter(model(FUSED))
    harness = Harness(store, completer)
    await two_batches(harness)
    assert (await harness.fuse(["a"])).summary_text == "- `t1` did its work"
    assert len(completer.prompts) == 2


async def test_switched_off_nothing_is_asked(store: Store) -> None:
    completer = FakeCompleter(model(FUSED))
    harness = Harness(store, completer)
    await two_batches(harness)
    harness.settings = CondenseSettings(enabled=False)
    assert (await harness.fuse(["a", "b"])).source == "extractive"
    assert len(completer.prompts) == 2


async def test_calls_without_any_summary(store: Store) -> None:
    harness = Harness(store)
    trivial = batch(
        call("bash", "x", args={"command": "ls SECRET1"}, result_timestamp=1_700_000_000_000),
        call("SECRET2", "y"),
        call("read", "z"),
        batch_id="small",
        turn=4,
    )
    await harness.summarize(trivial, min_batch_chars=1000)
    block = await harness.fuse(["small"])
    assert [ref.short_id for ref in block.refs] == ["t1", "t2", "t3"]
    assert block.summary_text == (
        "- 3 tool calls without a summary: [REDACTED:secret] x1, bash x1, read x1\n"
        "- turns 4 to 4, 2023-11-14T22:13:20+00:00 to 2023-11-14T22:13:20+00:00\n"
        '- first: `t1` bash {"command":"ls [REDACTED:secret]"}\n'
        "- last: `t3` read\n\n---\n**Summarized tool refs**: `t2`\n"
        "Use `context_tree_query` with these refs to retrieve the original full outputs."
    )


async def test_partial_coverage_loses_nothing(store: Store) -> None:
    """Prior art A3: small, protected and duplicate calls beside a summary keep their refs."""
    harness = Harness(store)
    await harness.summarize(
        batch(
            call("bash", big("a"), tool_call_id="one"),
            call("keep", big("k")),
            call("bash", big("a"), tool_call_id="two"),
            batch_id="a",
        ),
        protected_tools=["keep"],
    )
    await harness.summarize(batch(call("bash", "tiny"), batch_id="small"), min_batch_chars=1000)
    block = await harness.fuse(["a", "small"])
    assert [ref.short_id for ref in block.refs] == ["t1", "t2", "t3", "t4"]
    assert set(re.findall(r"`(t\d+)`", block.summary_text)) == {"t1", "t2", "t3", "t4"}
    assert "1 tool calls without a summary: bash x1" in block.summary_text


async def test_a_block_of_blocks_keeps_every_ref(store: Store) -> None:
    harness = Harness(store)
    await two_batches(harness)
    await harness.summarize(batch(call("bash", big("c")), batch_id="c"))
    await harness.fuse(["a", "b"])
    block = await harness.fuse(["c"], ["b1"])
    assert block.block_id == "b2"
    assert [ref.short_id for ref in block.refs] == ["t1", "t2", "t3"]
    assert set(re.findall(r"`([tb]\d+)`", block.summary_text)) == {"t1", "t2", "t3", "b1"}


async def test_a_block_resolves(store: Store) -> None:
    harness = Harness(store)
    await two_batches(harness)
    block = await harness.fuse(["a", "b"])
    (record,) = (await harness.resolve("b1")).records
    assert (record.short_id, record.text, record.args) == ("b1", block.summary_text, {"refs": ["t1", "t2"]})
    (missing,) = (await harness.resolve("b9")).missing
    assert (missing.reason, missing.known) == ("unknown", "b1..b1")


@pytest.mark.parametrize(
    ("batch_ids", "short_ids", "path"),
    [
        (None, None, "$"),
        ([], [], "$"),
        (["a", "nope"], None, "$.batchIds[1]"),
        (None, ["t1", "t9"], "$.shortIds[1]"),
        (None, ["b7"], "$.shortIds[0]"),
        (None, ["call-id"], "$.shortIds[0]"),
    ],
)
async def test_what_does_not_exist_is_named(
    store: Store, batch_ids: list[str] | None, short_ids: list[str] | None, path: str
) -> None:
    harness = Harness(store)
    await two_batches(harness)
    with pytest.raises(InvalidInputError) as refused:
        await harness.fuse(batch_ids, short_ids)
    assert refused.value.path == path


async def test_the_plan_holds_everything_and_changes_only_with_it(open_again: OpenStore) -> None:
    harness = Harness(open_again())
    empty = await harness.plan()
    assert (empty.replacements, empty.summaries, empty.blocks) == ([], [], [])
    one = call("bash", big("a"), entry_id="e1", result_timestamp=5)
    result = await harness.summarize(batch(one, call("bash", "tiny"), batch_id="a"))
    plan = await harness.plan()
    assert [(each.short_id, each.entry_id, each.result_timestamp, each.text) for each in plan.replacements] == [
        ("t1", "e1", 5, result.items[0].replacement)
    ]
    assert [(each.batch_id, each.summary_text, each.refs) for each in plan.summaries] == [
        ("a", result.summary_text, result.refs)
    ]
    assert plan.plan_hash != empty.plan_hash
    assert await Harness(open_again()).plan() == plan
    await harness.summarize(batch(one, call("bash", "tiny"), batch_id="a"))
    assert (await harness.plan()).plan_hash == plan.plan_hash
    block = await harness.fuse(["a"])
    later = await harness.plan()
    assert [(each.block_id, each.summary_text, each.refs) for each in later.blocks] == [
        ("b1", block.summary_text, block.refs)
    ]
    assert later.plan_hash != plan.plan_hash
