"""The formats that are one JSON document."""

import json
from typing import Any

import pytest

from tests.replay.importers.made import (
    EXAMPLES,
    MINI_FAILED,
    MS,
    SWE_STEPS,
    amp,
    amp_result,
    check,
    gemini,
    gemini_call,
    sessions_of,
)


def test_gemini_cli() -> None:
    check(
        "gemini-cli",
        json.dumps(
            gemini(
                {"type": "user", "content": "Go"},
                {
                    "type": "gemini",
                    "content": "",
                    "timestamp": 4,
                    "toolCalls": [gemini_call("c", "body"), gemini_call("d"), gemini_call("e", "one", "two")],
                },
                {"type": "info", "content": "not said"},
            )
        ),
        [
            (
                "Go",
                None,
                [
                    ("c", "read_file", {"p": 1}, "body", False, 5),
                    ("d", "read_file", {"p": 1}, None, False, None),
                    ("e", "read_file", {"p": 1}, "one\ntwo", False, 5),
                ],
            )
        ],
    )


@pytest.mark.parametrize("status", ["error", "cancelled"])
def test_gemini_cli_thoughts_and_a_failed_call(status: str) -> None:
    failed = gemini_call("c") | {
        "status": status,
        "result": [{"functionResponse": {"response": {"error": "no such file"}}}],
    }
    thoughts = [{"subject": "Looking", "description": "at it"}, {"subject": "Then"}]
    said = {"type": "gemini", "model": "g", "content": "x", "thoughts": thoughts, "toolCalls": [failed]}
    (session,) = sessions_of(json.dumps(gemini(said)))
    (turn,) = session.turns
    assert (turn.thinking, turn.assistant_text) == ("Looking\nat it\n\nThen", "x")
    assert (turn.calls[0].result, turn.calls[0].is_error) == ("no such file", True)
    assert session.start is not None
    assert (session.start.model, session.start.started) == ("g", MS)


def test_amp() -> None:
    uses = [{"type": "tool_use", "id": call_id, "name": "Read", "input": {"path": "a"}} for call_id in "xyznc"]
    check(
        "amp",
        json.dumps(
            amp(
                {"role": "user", "content": [{"type": "text", "text": "Plan"}]},
                {"role": "assistant", "content": [{"type": "text", "text": "Reading."}, *uses]},
                amp_result("x", {"status": "done", "result": {"content": "1: id", "absolutePath": "/a"}}),
                amp_result("y", {"status": "error", "error": {"message": "no such file"}}),
                amp_result("z", {"status": "done", "result": [1]}),
                amp_result("n", {"status": "rejected-by-user"}),
                amp_result("c", {"status": "cancelled", "reason": "stopped"}),
            )
        ),
        [
            (
                "Plan",
                "Reading.",
                [
                    ("x", "Read", {"path": "a"}, "1: id", False, None),
                    ("y", "Read", {"path": "a"}, "no such file", True, None),
                    ("z", "Read", {"path": "a"}, "[1]", False, None),
                    ("n", "Read", {"path": "a"}, "", True, None),
                    ("c", "Read", {"path": "a"}, "stopped", True, None),
                ],
            )
        ],
    )


def test_mini_swe_agent_rejected_replies_run_nothing() -> None:
    messages = [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "Fix"},
        {"role": "assistant", "content": "THOUGHT: two\n\n```bash\na\n```\n```bash\nb\n```"},
        {"role": "user", "content": "Please always provide one"},
        {"role": "assistant", "content": "THOUGHT: look\n\n```bash\nls\n```\n\n```bash\nnever ended"},
        {"role": "user", "content": MINI_FAILED},
    ]
    text = json.dumps({"messages": messages, "trajectory_format": "mini-swe-agent-1", "instance_id": "i"})
    check(
        "mini-swe-agent",
        text,
        [
            ("Fix", "THOUGHT: two", []),
            (
                "Please always provide one",
                "THOUGHT: look\n\n\n\n```bash\nnever ended",
                [("call-4", "bash", {"command": "ls"}, MINI_FAILED, True, None)],
            ),
        ],
    )
    assert [session.start.title for session in sessions_of(text) if session.start] == ["i"]


def test_mini_swe_agent_with_tool_calls() -> None:
    call = {"id": "k", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    messages = [
        {"role": "assistant", "content": "Look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "k", "content": "<returncode>0</returncode>\n<output>\n</output>"},
    ]
    check(
        "mini-swe-agent",
        json.dumps({"info": {"mini_version": "2"}, "messages": messages}),
        [(None, "Look.", [("k", "bash", {"command": "ls"}, messages[1]["content"], False, None)])],
    )


DEMO = {"role": "user", "content": "an example", "is_demo": True}
ASKED = {"role": "user", "content": [{"type": "text", "text": "Fix"}]}


def declared(number: int, **more: Any) -> dict[str, Any]:
    call = {"id": f"k{number}", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    return {"role": "assistant", "content": "", "tool_calls": [call]} | more


@pytest.mark.parametrize(
    ("history", "calls"),
    [
        (
            [DEMO, ASKED],
            [("step-0", "open", {"command": "open a.py"}), ("step-1", "bash", {"command": "python a.py"})],
        ),
        (
            [declared(9, is_demo=True), ASKED, declared(0), declared(1)],
            [("k0", "bash", {"command": "ls"}), ("k1", "bash", {"command": "ls"})],
        ),
        (
            [ASKED, declared(0)],
            [("step-0", "open", {"command": "open a.py"}), ("step-1", "bash", {"command": "python a.py"})],
        ),
    ],
    ids=["typed", "declared", "one declared of two"],
)
@pytest.mark.parametrize("first", ["trajectory", "history"])
def test_swe_agent(first: str, history: list[Any], calls: list[Any]) -> None:
    members = {"trajectory": SWE_STEPS, "history": history}
    ordered = {first: members[first]} | members
    (one, two) = calls
    check(
        "swe-agent",
        json.dumps(ordered),
        [
            ("Fix", "Look.", [(*one, "[File: a.py]", False, None)]),
            (None, "Run.", [(*two, "", False, None)]),
        ],
    )


def test_a_document_that_is_cut_off_gives_what_it_has_and_says_so() -> None:
    text = EXAMPLES["amp"][1]
    (session,) = sessions_of(text[: text.index('"toolUseID"')])
    assert [call.result for call in session.calls] == [None]
    assert session.skipped == {"a value that is cut off": 1}


def test_what_stands_behind_the_messages_is_known_where_the_file_is_read_twice() -> None:
    info = {"mini_version": "1", "config": {"model": {"model_name": "m"}}}
    start = sessions_of(json.dumps({"messages": [{"role": "user", "content": "Go"}], "info": info}))[0].start
    assert start is not None
    assert start.model == "m"
