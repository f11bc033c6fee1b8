"""Kimi CLI's wire log, newer and older."""

import pytest

from tests.replay.importers.made import EXAMPLES, MS, check, kimi, kimi_wire, lines, sessions_of


def test_changes_of_the_context() -> None:
    said = {"role": "user", "content": [{"type": "text", "text": "Count"}]}
    check(
        "kimi-cli",
        lines(
            {"type": "metadata", "protocol_version": "1.4"},
            {"type": "context.append_message", "message": said},
            kimi(1, type="step.begin"),
            kimi(2, type="content.part", part={"type": "think", "think": "hm"}),
            kimi(3, type="tool.call", toolCallId="Glob_0", name="Glob", args={"pattern": "*"}),
            kimi(4, type="tool.result", toolCallId="Glob_0", result={"output": "3124"}),
            kimi(5, type="content.part", step=2, part={"type": "text", "text": "Done."}),
        ),
        [("Count", None, [("Glob_0", "Glob", {"pattern": "*"}, "3124", False, 4)]), (None, "Done.", [])],
    )


def test_wire_messages() -> None:
    check("kimi-cli", EXAMPLES["kimi-cli wire"][1], [("Count", None, [("c", "Glob", {"p": 1}, "3124", False, MS)])])


@pytest.mark.parametrize(
    ("returned", "result", "failed"),
    [
        ({"is_error": True, "output": "", "message": "denied"}, "denied", True),
        ({"output": [{"type": "text", "text": "a"}]}, [{"type": "text", "text": "a"}], False),
    ],
)
def test_what_a_tool_returned(returned: object, result: object, failed: bool) -> None:
    call = kimi_wire("ToolCall", id="c", function={"name": "Glob", "arguments": "{}"})
    text = lines(call, kimi_wire("ToolResult", tool_call_id="c", return_value=returned))
    check("kimi-cli", text, [(None, None, [("c", "Glob", {}, result, failed, MS)])])


@pytest.mark.parametrize(
    ("first", "parts", "args"),
    [
        ("", ['{"p": ', "1", "}"], {"p": 1}),
        ('{"p": ', ["1}"], {"p": 1}),
        (None, ['{"p": 1}'], {"p": 1}),
        ('{"p": 1}', [""], {"p": 1}),
        ("", ['{"p": '], '{"p": '),
        ("{}", [], {}),
    ],
)
def test_arguments_in_parts(first: str | None, parts: list[str], args: object) -> None:
    call = kimi_wire("ToolCall", id="c", function={"name": "Glob", "arguments": first})
    told = [call, *(kimi_wire("ToolCallPart", arguments_part=part) for part in parts)]
    check("kimi-cli", lines(*told), [(None, None, [("c", "Glob", args, None, False, None)])])
    answered = [*told, kimi_wire("ToolResult", tool_call_id="c", return_value={"output": "a"})]
    check("kimi-cli", lines(*answered), [(None, None, [("c", "Glob", args, "a", False, MS)])])


def test_an_image_that_a_tool_returned_stays_a_block() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    text = lines(
        kimi(1, type="tool.call", toolCallId="c", name="ReadMedia", args={}),
        kimi(2, type="tool.result", toolCallId="c", result={"output": [image]}),
    )
    check("kimi-cli", text, [(None, None, [("c", "ReadMedia", {}, [image], False, 2)])])


def test_compactions_and_what_is_said_of_the_session() -> None:
    about = {"type": "config.update", "cwd": "/w", "modelAlias": "k2", "time": MS}
    opened = {"type": "metadata", "protocol_version": "1.4", "created_at": MS}
    (session,) = sessions_of(lines(opened, about, kimi(1, type="step.begin"), {"type": "context.compacted", "time": 5}))
    start = session.start
    assert start is not None
    assert (start.cwd, start.model, start.started) == ("/w", "k2", MS)
    assert [compaction.timestamp for compaction in session.compactions] == [5]
    older = sessions_of(lines(kimi_wire("StepBegin", n=1), kimi_wire("CompactionBegin")))[0]
    assert [compaction.timestamp for compaction in older.compactions] == [MS]
