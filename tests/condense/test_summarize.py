"""condense/summarize from intake to frozen result (condense.md, 'Order of work')."""

import json
from typing import Any

import pytest

from afterturn.condense.footer import footer
from afterturn.condense.ports import Store
from afterturn.misfits import InvalidInputError
from afterturn_protocol.condense import CondenseResult, ToolCall
from afterturn_protocol.settings import CondenseSettings
from tests.condense.conftest import OpenStore
from tests.condense.harness import FakeCompleter, Harness, batch, big, bullets, call, same

pytestmark = pytest.mark.anyio


def states(result: CondenseResult) -> list[str]:
    return [item.state for item in result.items]


def refs(result: CondenseResult) -> list[str | None]:
    return [item.short_id for item in result.items]


async def test_calls_get_refs_in_order_and_a_summary_with_footer(store: Store) -> None:
    result = await Harness(store).summarize(batch(call("read", big("a")), call("bash", big("b")), batch_id="mine"))
    assert (result.outcome, result.source, result.usage, result.batch_id) == ("summarized", "extractive", None, "mine")
    assert [(ref.short_id, ref.tool_call_id) for ref in result.refs] == [
        ("t1", result.items[0].tool_call_id),
        ("t2", result.items[1].tool_call_id),
    ]
    assert states(result) == ["condensed", "condensed"]
    body, end = (result.summary_text or "").split("\n\n---\n")
    assert body.startswith("- `t1` ")
    assert "\n- `t2` " in body
    assert "\n\n---\n" + end == footer(["t1", "t2"], "context_tree_query")
    assert result.raw_chars == len(big("a")) + len(big("b"))
    assert result.summary_chars == len(result.summary_text or "")


async def test_replacements_name_ref_and_tool_and_are_shorter(store: Store) -> None:
    result = await Harness(store).summarize(batch(call("read", big("a")), call("bash", "ok", tool_call_id="x")))
    first, second = result.items
    assert first.replacement is not None
    assert len(first.replacement) < len(big("a"))
    assert "`t1`" in first.replacement
    assert "context_tree_query" in first.replacement
    assert (second.state, second.replacement) == ("condensed", None)


async def test_a_model_writes_the_summary(store: Store) -> None:
    completer = FakeCompleter(bullets("1:read", "2:bash"))
    result = await Harness(store, completer).summarize(batch(call("read", big("a")), call("bash", big("b"))))
    assert result.summary_text == "- `t1` did its work\n- `t2` did its work" + footer(
        ["t1", "t2"], "context_tree_query"
    )
    assert result.items[1].replacement == "- `t2` did its work\n[full output: context_tree_query t2]"
    assert (result.source, result.warnings) == ("model", [])
    assert result.usage is not None
    assert result.usage.calls == 1


async def test_a_call_that_the_model_leaves_out_still_has_a_replacement(store: Store) -> None:
    completer = FakeCompleter(bullets("2:bash"))
    result = await Harness(store, completer).summarize(batch(call("read", big("a")), call("bash", big("b"))))
    assert result.items[0].replacement is not None
    assert result.items[0].replacement.startswith("- `t1` read")
    assert [ref.short_id for ref in result.refs] == ["t1", "t2"]


async def test_refs_count_on_over_batches_and_processes(open_again: OpenStore) -> None:
    assert refs(await Harness(open_again()).summarize(batch(call(text=big("a"))))) == ["t1"]
    assert refs(await Harness(open_again()).summarize(batch(call(text=big("b"))))) == ["t2"]
    assert refs(await Harness(open_again()).summarize(batch(call(text=big("c"))), session="other")) == ["t1"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({}, {}, "t1"),
        ({"result_timestamp": 7}, {"result_timestamp": 7}, "t1"),
        ({"result_timestamp": 7}, {"result_timestamp": 8}, "t2"),
        ({"result_timestamp": 7}, {"result_timestamp": 7, "text": big("other")}, "t2"),
        ({"args": {"x": 1}}, {"args": {"x": 2}}, "t2"),
    ],
)
async def test_the_same_call_again_keeps_its_ref(
    store: Store, first: dict[str, Any], second: dict[str, Any], expected: str
) -> None:
    harness = Harness(store)
    common = {"text": big("a"), "tool_call_id": "reused"}
    assert refs(await harness.summarize(batch(call(**{**common, **first})))) == ["t1"]
    again = await harness.summarize(batch(call(**{**common, **second}), call(text=big("z"), tool_call_id="z")))
    assert again.items[0].short_id == expected


async def test_equal_calls_without_time_in_one_batch_are_several_results(store: Store) -> None:
    one = call(text=big("a"))
    result = await Harness(store).summarize(batch(one, one, call(text=big("b"))))
    assert refs(result) == ["t1", "t2", "t3"]
    assert states(result) == ["condensed", "duplicate", "condensed"]


async def test_the_very_same_call_twice_in_a_batch_is_summarised_once(store: Store) -> None:
    one = call(text=big("a"), result_timestamp=5)
    result = await Harness(store).summarize(batch(one, one))
    assert refs(result) == ["t1", "t1"]
    assert states(result) == ["condensed", "condensed"]
    assert result.items[0].replacement == result.items[1].replacement
    assert len(result.refs) == 1


# --- duplicates --------------------------------------------------------------------------------------------------


async def test_a_duplicate_points_to_the_first_and_resolves_to_its_own(store: Store) -> None:
    harness = Harness(store)
    await harness.summarize(batch(call(text=big("a"), tool_call_id="one"), turn=1))
    result = await harness.summarize(
        batch(call(text=big("a").replace("\n", "  \r\n"), tool_call_id="two"), call(text=big("b")), turn=2)
    )
    duplicate = result.items[0]
    assert (duplicate.state, duplicate.short_id, duplicate.duplicate_of) == ("duplicate", "t2", "t1")
    assert duplicate.replacement == "- `t2` same output as `t1`\n[full output: context_tree_query t2]"
    assert [ref.short_id for ref in result.refs] == ["t3"]
    (record,) = (await harness.resolve("t2")).records
    assert (record.tool_call_id, record.turn_index) == ("two", 2)
    assert record.text == big("a").replace("\n", "  \r\n")


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ({}, "duplicate"),
        ({"args": {"command": "other"}}, "condensed"),
        ({"is_error": True}, "condensed"),
        ({"name": "sh"}, "condensed"),
    ],
)
async def test_what_makes_a_duplicate(store: Store, second: dict[str, Any], expected: str) -> None:
    common = {"name": "bash", "text": big("a"), "args": {"command": "x"}}
    result = await Harness(store).summarize(
        batch(call(**{**common, "tool_call_id": "one"}), call(**{**common, "tool_call_id": "two", **second}))
    )
    assert states(result) == ["condensed", expected]


async def test_dedup_can_be_switched_off(store: Store) -> None:
    calls = [call(text=big("a"), tool_call_id=name) for name in ("one", "two")]
    result = await Harness(store).summarize(batch(*calls), dedup_by_content_hash=False)
    assert states(result) == ["condensed", "condensed"]


async def test_a_small_duplicate_stays_verbatim(store: Store) -> None:
    calls = [call(text="ok", tool_call_id=name) for name in ("one", "two")]
    result = await Harness(store).summarize(batch(*calls, call(text=big("b"))))
    assert (result.items[1].state, result.items[1].replacement) == ("duplicate", None)


async def test_only_duplicates(store: Store) -> None:
    harness = Harness(store)
    await harness.summarize(batch(call(text=big("a"), tool_call_id="one")))
    result = await harness.summarize(batch(call(text=big("a"), tool_call_id="two")))
    assert (result.outcome, result.reason, result.refs, result.source) == ("skipped", "deduplicated", [], "none")
    assert result.items[0].replacement is not None


# --- left alone --------------------------------------------------------------------------------------------------


async def test_protected_calls_are_archived_and_left(store: Store) -> None:
    harness = Harness(store)
    result = await harness.summarize(
        batch(
            call("mcp__memory_get", big("a")),
            call("read", big("b"), args={"path": "C:\\x\\skills\\SKILL.md"}),
            call("bash", big("c")),
        ),
        protected_tools=["mcp__memory*"],
    )
    assert states(result) == ["protected", "protected", "condensed"]
    assert refs(result) == ["t1", "t2", "t3"]
    assert [ref.short_id for ref in result.refs] == ["t3"]
    assert [item.replacement for item in result.items[:2]] == [None, None]
    assert await harness.text("t1") == big("a")
    assert "[[" not in (result.summary_text or "")


async def test_labels_are_numbered_without_gaps(store: Store) -> None:
    completer = FakeCompleter(bullets("1:bash", "2:grep"))
    result = await Harness(store, completer).summarize(
        batch(call("keep", big("a")), call("bash", big("b")), call("wait", None), call("grep", big("c"))),
        protected_tools=["keep"],
    )
    assert "[[1:bash]] Tool: bash(null)\nResult (OK): b line 0" in completer.prompts[0]
    assert "[[2:grep]] Tool: grep(null)\nResult (OK): c line 0" in completer.prompts[0]
    assert "a line 0" not in completer.prompts[0]
    assert (result.summary_text or "").startswith("- `t2` did its work\n- `t3` did its work\n\n---\n")


async def test_an_incomplete_call_gets_its_ref_when_its_result_comes(store: Store) -> None:
    harness = Harness(store)
    waiting = call("bash", None, tool_call_id="later")
    first = await harness.summarize(batch(call("read", big("a")), waiting))
    assert (states(first), refs(first)) == (["condensed", "incomplete"], ["t1", None])
    second = await harness.summarize(batch(call("read", big("a")), call("bash", big("b"), tool_call_id="later")))
    assert (states(second), refs(second)) == (["condensed", "condensed"], ["t1", "t2"])
    assert second.items[0].replacement == first.items[0].replacement


async def test_an_empty_result_is_a_result(store: Store) -> None:
    result = await Harness(store).summarize(
        batch(call("a", ""), ToolCall(tool_call_id="c", tool_name="b", content=[]), call("c", big("x")))
    )
    assert refs(result) == ["t1", "t2", "t3"]


@pytest.mark.parametrize(
    ("asked", "short_id"),
    [
        (["t1"], "t1"),
        (["original"], "t1"),
        (["t1", "t2"], None),
        (["t99"], None),
        ([], None),
    ],
)
async def test_a_recovered_original_is_not_archived_again(store: Store, asked: list[str], short_id: str | None) -> None:
    harness = Harness(store)
    await harness.summarize(batch(call(text=big("a"), tool_call_id="original"), call(text=big("b"))))
    result = await harness.summarize(
        batch(call("context_tree_query", big("a"), args={"refs": asked}), call(text=big("c")), turn=2)
    )
    item = result.items[0]
    assert (item.state, item.short_id, item.recovered_refs) == ("recovered", short_id, asked)
    assert item.replacement is None
    assert result.items[1].short_id == "t3"


@pytest.mark.parametrize(
    ("calls", "options", "reason"),
    [
        ([], {}, "empty"),
        ([call("bash", None)], {}, "empty"),
        ([call("keep", big("a"))], {"protected_tools": ["keep"]}, "protected"),
        ([call("context_tree_query", big("a"), args={"refs": ["t1"]})], {}, "protected"),
    ],
)
async def test_nothing_is_left(store: Store, calls: list[ToolCall], options: dict[str, Any], reason: str) -> None:
    completer = FakeCompleter("unused")
    result = await Harness(store, completer).summarize(batch(*calls), **options)
    assert (result.outcome, result.reason, result.source, completer.prompts) == ("skipped", reason, "none", [])


async def test_a_trivial_batch_is_archived_and_costs_nothing(store: Store) -> None:
    completer = FakeCompleter("unused")
    harness = Harness(store, completer)
    result = await harness.summarize(batch(call(text="x" * 999)), min_batch_chars=1000)
    assert (result.outcome, result.reason, states(result)) == ("skipped", "trivial", ["passthrough"])
    assert completer.prompts == []
    assert await harness.text("t1") == "x" * 999
    assert (await harness.summarize(batch(call(text="y" * 1000)), min_batch_chars=1000)).reason != "trivial"


# --- once, and for ever ------------------------------------------------------------------------------------------


async def test_c08_the_same_batch_is_the_same_bytes_for_ever(open_again: OpenStore) -> None:
    """Case C08: twice, after a restart, under another id, turn, time and with other options: one provider call."""
    completer = FakeCompleter(lambda prompt: bullets("1:bash") + f" {len(completer.prompts)}")
    harness = Harness(open_again(), completer)
    calls = [call("bash", big("a"))]
    first = await harness.summarize(batch(*calls, batch_id="one"))
    again = [
        await harness.summarize(batch(*calls, batch_id="one")),
        await Harness(open_again(), completer).summarize(batch(*calls, batch_id="two", turn=9)),
        await Harness(open_again()).summarize(batch(*calls), min_batch_chars=100_000, protected_tools=["*"]),
    ]
    assert all(same(first, other) for other in again)
    assert [other.usage for other in again] == [None] * 3
    assert len(completer.prompts) == 1


async def test_the_same_skip_is_remembered(open_again: OpenStore) -> None:
    small = batch(call(text="x" * 10))
    first = await Harness(open_again()).summarize(small, min_batch_chars=1000)
    second = await Harness(open_again()).summarize(small, min_batch_chars=0)
    assert second.reason == "trivial"
    assert same(first, second)


async def test_a_batch_without_id_gets_one_that_lasts(open_again: OpenStore) -> None:
    first = await Harness(open_again()).summarize(batch(call(text=big("a"))))
    second = await Harness(open_again()).summarize(batch(call(text=big("a"))))
    assert first.batch_id == second.batch_id != ""


async def test_a_replacement_given_in_one_batch_stands_in_every_other(store: Store) -> None:
    completer = FakeCompleter(lambda prompt: bullets("1:bash", "2:bash") + f" {len(completer.prompts)}")
    harness = Harness(store, completer)
    shared = call(text=big("b"), tool_call_id="b")
    first = await harness.summarize(batch(call(text=big("a")), shared))
    second = await harness.summarize(batch(shared, call(text=big("c"))))
    assert first.items[1].replacement == second.items[0].replacement
    assert "work 1" in (first.items[1].replacement or "")
    assert "work 2" in (second.items[1].replacement or "")


# --- text is text ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("odd", ["\ud83d cut", "\ude80\ud83d", "\u6f22\u5b57 \U0001f680 \u00e9", "\x00\x1b[1m", "\r\n"])
async def test_any_text_survives(open_again: OpenStore, odd: str) -> None:
    text = f"{odd}\n{big('a')}{odd}"
    given = call(text=text, args={odd: [odd]}, tool_call_id=f"id{odd}")
    harness = Harness(open_again(), FakeCompleter(bullets("1:bash")))
    result = await harness.summarize(batch(given, assistant_text=odd, user_text=odd))
    assert result.outcome == "summarized"
    (record,) = (await Harness(open_again()).resolve("t1")).records
    assert (record.text, record.args, record.tool_call_id) == (text, {odd: [odd]}, f"id{odd}")


async def test_blocks_are_joined_and_images_described(store: Store) -> None:
    harness = Harness(store)
    blocks = [
        {"type": "text", "text": big("a")},
        {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
        {"type": "text", "text": "end"},
        {"type": "custom", "x": 1},
    ]
    result = await harness.summarize(batch(ToolCall(tool_call_id="c", tool_name="shot", content=blocks)))
    whole = big("a") + '\nend\n{"type":"custom","x":1}'
    assert result.raw_chars == len(whole)
    (record,) = (await harness.resolve("t1")).records
    assert record.text == whole
    assert [(image.mime_type, image.bytes, image.data) for image in record.images or ()] == [("image/png", 8, None)]


IMAGE = {"type": "image", "mimeType": "image/png", "data": "QUJD" * 5000}


async def test_images_are_told_and_never_shown(store: Store) -> None:
    """A result of images alone is not one without output."""
    completer = FakeCompleter(bullets("1:shot", "2:shot"))
    one = batch(
        ToolCall(tool_call_id="a", tool_name="shot", content=[IMAGE]),
        ToolCall(tool_call_id="b", tool_name="shot", content=[{"type": "text", "text": big("x")}, IMAGE, IMAGE]),
    )
    result = await Harness(store).summarize(one)
    lines = (result.summary_text or "").split("\n")
    assert lines[0] == "- `t1` shot -> 1 image (image/png, 15,000 bytes)"
    assert lines[1].startswith("- `t2` shot -> 2 images (image/png, 30,000 bytes); (100 lines)")
    await Harness(store, completer).summarize(one, session="model")
    (prompt,) = completer.prompts
    assert "Result (OK): 1 image (image/png, 15,000 bytes)\n" in prompt
    assert "\n2 images (image/png, 30,000 bytes)\n" in prompt
    assert "QUJD" not in prompt


async def test_images_are_told_of_turns_that_waited(store: Store) -> None:
    harness = Harness(store)
    shot = ToolCall(tool_call_id="a", tool_name="shot", content=[{"type": "text", "text": big("x")}, IMAGE])
    await harness.turn_end(batch(shot), final=True)
    (result,) = await harness.settle()
    assert "`t1` shot -> 1 image (image/png, 15,000 bytes)" in (result.summary_text or "")


@pytest.mark.req("condense.resolve-other-blocks")
async def test_a_replaced_result_gives_its_blocks_of_other_types_back(store: Store) -> None:
    completer = FakeCompleter(bullets("1:mcp"))
    harness = Harness(store, completer)
    resource = {"type": "resource", "resource": {"uri": "x://1", "text": "RESOURCE 漢 " * 200}}
    only = ToolCall(tool_call_id="c", tool_name="mcp", content=[resource])
    result = await harness.summarize(batch(only))
    assert (result.outcome, result.items[0].state) == ("summarized", "condensed")
    assert result.items[0].replacement is not None
    assert "x://1" in completer.prompts[0]
    (record,) = (await harness.resolve("t1")).records
    assert json.loads(record.text) == resource
    assert result.raw_chars == len(record.text)
    (found,) = (await harness.resolve("t1", grep="漢")).records
    assert found.text == f"1:{record.text}"


@pytest.mark.parametrize("field", ["args", "content"])
async def test_what_is_nested_too_deep_is_refused_by_place(store: Store, field: str) -> None:
    deep: Any = None
    for _ in range(200_000):
        deep = [deep]
    given = {"args": deep, "content": [{"type": "x", "deep": deep}]}[field]
    with pytest.raises(InvalidInputError) as refused:
        await Harness(store).summarize(
            batch(call(text="a"), ToolCall(tool_call_id="c", tool_name="t", **{"result_text": "b", field: given}))
        )
    assert refused.value.path == f"$.batch.toolCalls[1].{field}"
    while deep:
        deep = deep[0]


async def test_raw_off_keeps_the_redacted_form_and_says_so(store: Store) -> None:
    harness = Harness(store, keep_raw=False)
    text = f"SECRET1\n{big('a')}"
    one = batch(call("SECRET4", text, args={"key": "SECRET2"}, status="SECRET5", tool_call_id="id"))
    result = await harness.summarize(one)
    (record,) = (await harness.resolve("t1")).records
    assert record.lossy is True
    assert record.tool_name == "[REDACTED:secret]"
    assert "SECRET" not in repr(record)
    assert record.text == text.replace("SECRET1", "[REDACTED:secret]")
    assert record.args == {"key": "[REDACTED:secret]"}
    assert same(result, await harness.summarize(one))


async def test_settings_can_be_overlaid_but_not_switched_on(store: Store) -> None:
    harness = Harness(store, settings=CondenseSettings(enabled=False))
    result = await harness.summarize(batch(call(text=big("a"))), min_batch_chars=0)
    assert result.outcome == "disabled"
