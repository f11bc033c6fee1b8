"""Small session files of each format, made for these tests, and what is read from them."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from afterturn.replay.reading import events
from afterturn.replay.sessions import Session, collected
from afterturn.replay.stream import Event

STAMP = "2026-01-01T00:00:01.500Z"
MS = 1767225601500


def lines(*objects: Any) -> str:
    return "".join(json.dumps(item) + "\n" for item in objects)


def pretty(*objects: Any) -> str:
    return "".join(json.dumps(item, indent=2) + "\n" for item in objects)


def events_of(content: str | bytes, *, on_bytes: Callable[[int], None] | None = None) -> list[Event]:
    """What the stream of a file with this content is; the file's name tells nothing."""
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(raw)
        return list(events(path, on_bytes=on_bytes))


def sessions_of(content: str | bytes) -> list[Session]:
    return collected(events_of(content))


def shape(sessions: list[Session]) -> list[Any]:
    """Turn by turn: the user's words, the assistant's words, and of each call what identifies it and its result."""
    return [
        [
            (
                turn.user_text,
                turn.assistant_text,
                [(c.tool_call_id, c.tool_name, c.args, c.result, c.is_error, c.result_timestamp) for c in turn.calls],
            )
            for turn in session.turns
        ]
        for session in sessions
    ]


def check(harness: str, content: str | bytes, *sessions: Any) -> None:
    """The sessions as `shape` gives them."""
    found = sessions_of(content)
    assert {session.start.harness for session in found if session.start} == {harness}
    assert shape(found) == list(sessions)


# one entry of each format


def claude(kind: str, content: Any, message_id: str = "m1", **more: Any) -> dict[str, Any]:
    message = {"id": message_id, "content": content}
    return {"type": kind, "sessionId": "s", "timestamp": STAMP, "message": message} | more


def use(call_id: str, name: str = "Bash") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"n": call_id}}


def answer(call_id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content} | more


def pi(role: str, content: Any, entry: str = "", parent: str | None = None, **more: Any) -> dict[str, Any]:
    ids = {"id": entry, "parentId": parent} if entry else {}
    return {"type": "message", "message": {"role": role, "content": content, "timestamp": 7, **more}} | ids


def pi_call(call_id: str) -> list[dict[str, Any]]:
    return [
        {"type": "text", "text": "Reading."},
        {"type": "toolCall", "id": call_id, "name": "read", "arguments": {"p": 1}},
    ]


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": STAMP, "type": "response_item", "payload": {"type": kind, **payload}}


def codex_meta(**payload: Any) -> dict[str, Any]:
    return {"timestamp": STAMP, "type": "session_meta", "payload": {"id": "s", **payload}}


def part(part_id: str, kind: str, message: str = "m2", session: str = "ses_1", **more: Any) -> dict[str, Any]:
    return {"id": part_id, "messageID": message, "sessionID": session, "type": kind, **more}


def message(message_id: str, role: str, created: int, session: str = "ses_1", **more: Any) -> dict[str, Any]:
    return {"id": message_id, "role": role, "sessionID": session, "time": {"created": created}, **more}


def opencode_event(kind: str, **properties: Any) -> dict[str, Any]:
    return {"timestamp": 1, "event": {"type": kind, "properties": properties}}


def tool(part_id: str, output: str, **more: Any) -> dict[str, Any]:
    state = {"status": "completed", "input": {"command": "ls"}, "output": output, "time": {"start": 3, "end": 4}}
    return part(part_id, "tool", callID="c", tool="bash", state=state, **more)


def kimi(time: int, **event: Any) -> dict[str, Any]:
    return {"type": "context.append_loop_event", "event": {"turnId": "0", "step": 1, **event}, "time": time}


def kimi_wire(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": 1767225601.5, "message": {"type": kind, "payload": payload}}


def openhands_events() -> list[dict[str, Any]]:
    declared = {"id": "toolu_01", "function": {"name": "execute_bash", "arguments": '{"command": "ls"}'}}
    response = {"id": "r1", "choices": [{"message": {"content": "Look.", "tool_calls": [declared]}}]}
    made_by = {"tool_call_id": "toolu_01", "function_name": "execute_bash", "model_response": response}
    return [
        {"id": 1, "action": "message", "source": "user", "args": {"content": "Fix"}},
        {"id": 2, "action": "run", "source": "agent", "args": {}, "tool_call_metadata": made_by, "timestamp": 3},
        {
            "id": 3,
            "source": "agent",
            "observation": "run",
            "cause": 2,
            "content": "no",
            "timestamp": 4,
            "extras": {"metadata": {"exit_code": 1, "prefix": "", "suffix": "\n[exit code 1.]"}},
            "tool_call_metadata": made_by,
        },
        {"id": 4, "source": "agent", "observation": "error", "content": "bad parameter"},
    ]


def openhands_action(call_id: str, response: str = "r1") -> dict[str, Any]:
    return {
        "kind": "ActionEvent",
        "source": "agent",
        "timestamp": STAMP,
        "llm_response_id": response,
        "thought": [],
        "tool_call_id": call_id,
        "tool_name": "terminal",
        "tool_call": {"arguments": '{"command": "ls"}'},
    }


def openhands_seen(call_id: str, text: str) -> dict[str, Any]:
    seen = {"content": [{"type": "text", "text": text}], "is_error": False, "exit_code": 0}
    about = {"kind": "ObservationEvent", "source": "environment", "timestamp": 5}
    return about | {"tool_call_id": call_id, "observation": seen}


def gemini_call(call_id: str, *outputs: str) -> dict[str, Any]:
    result = [{"functionResponse": {"name": "read_file", "response": {"output": output}}} for output in outputs]
    about = {"id": call_id, "name": "read_file", "args": {"p": 1}, "status": "success", "timestamp": 5}
    return about | {"result": result}


def gemini(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"sessionId": "s", "projectHash": "h", "startTime": STAMP, "messages": list(messages)}


def amp(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"v": 3, "id": "T-1", "created": MS, "messages": list(messages), "title": "Plan it"}


def amp_result(call_id: str, run: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "toolUseID": call_id, "run": run}]}


MINI_FAILED = "<returncode>1</returncode>\n<output>\nno\n</output>"
SWE_STEPS = [
    {"thought": "Look.\n", "action": "open a.py\n", "observation": "[File: a.py]"},
    {"thought": "Run.", "action": "python a.py\n", "observation": ""},
]
AIDER = "\n".join(
    [
        "",
        "# aider chat started at 2026-01-01 10:00:00",
        "",
        "> Aider v1  ",
        "> Models: m  ",
        "",
        "#### Fix the printer  ",
        "#### please  ",
        "",
        "Edit `a.py`:",
        ">>>>>>> REPLACE",
        "",
        "> Applied edit to a.py  ",
        ">",
        "> 1 failed  ",
        "",
        "# aider chat started at 2026-01-01 11:00:00",
        "",
        "> Aider v1  ",
    ]
)

# a whole session of each format, harness first


EXAMPLES: dict[str, tuple[str, str]] = {
    "pi v1": (
        "pi",
        lines(
            {"type": "session", "id": "s1", "cwd": "/w", "provider": "p", "modelId": "m"},
            pi("user", [{"type": "text", "text": "Read it"}]),
            pi("assistant", pi_call("c1"), stopReason="toolUse"),
            pi("toolResult", [{"type": "text", "text": "body\ud83d"}], toolCallId="c1"),
            {"type": "compaction", "timestamp": STAMP, "summary": "…", "tokensBefore": 9},
        ),
    ),
    "pi v3": (
        "pi",
        lines(
            {"type": "session", "id": "s3", "version": 3, "cwd": "/w"},
            pi("user", "Go", "e1"),
            pi("assistant", pi_call("c1"), "e2", "e1"),
            pi("toolResult", [{"type": "text", "text": "one"}], "e3", "e2", toolCallId="c1"),
            pi("assistant", pi_call("c2"), "e4", "e1"),
            pi("toolResult", [{"type": "text", "text": "two"}], "e5", "e4", toolCallId="c2"),
            {"type": "context_edit", "id": "e6", "parentId": "e5", "targetId": "e4", "replacement": None},
        ),
    ),
    "claude-code": (
        "claude-code",
        lines(
            {"type": "summary", "summary": "a title", "leafUuid": "x"},
            claude("user", "Fix it", cwd="/w"),
            claude("assistant", [{"type": "text", "text": "Looking."}, use("a")]),
            claude("user", [answer("a", "one")]),
            claude("user", "Sub", isSidechain=True, agentId="a7"),
            claude("assistant", [use("b")], "m2", isSidechain=True, agentId="a7"),
            {"type": "system", "subtype": "compact_boundary", "sessionId": "s", "compactMetadata": {"preTokens": 7}},
        ),
    ),
    "codex": (
        "codex",
        pretty(
            codex_meta(cwd="/w"),
            codex("message", role="user", content=[{"type": "input_text", "text": "Fix"}]),
            codex("function_call", call_id="c1", name="exec", arguments='{"cmd": "x"}'),
            codex("function_call_output", call_id="c1", output="Process exited with code 2\n"),
            {"timestamp": STAMP, "type": "compacted", "payload": {"message": ""}},
        ),
    ),
    "opencode objects": (
        "opencode",
        pretty(
            {"id": "p", "worktree": "/w"},
            tool("p2", "a"),
            part("p1", "text", "m1", text="Go"),
            message("m2", "assistant", 2),
            message("m1", "user", 1),
            [{"file": "a"}],
        ),
    ),
    "opencode events": (
        "opencode",
        lines(
            opencode_event("session.created", info={"id": "ses_1", "title": "T", "directory": "/w"}),
            opencode_event("message.updated", info=message("m2", "assistant", 2)),
            opencode_event("message.part.updated", part=part("p1", "text", text="")),
            opencode_event("message.part.delta", partID="p1", field="text", delta="Hello"),
            opencode_event("message.part.updated", part=tool("p2", "a")),
        ),
    ),
    "opencode document": (
        "opencode",
        json.dumps(
            {
                "info": {"id": "ses_1", "title": "T", "directory": "/w", "time": {"created": MS}},
                "messages": [
                    {"info": message("m1", "user", MS), "parts": [part("p1", "text", "m1", text="Go")]},
                    {"info": message("m2", "assistant", MS), "parts": [tool("p2", "a")]},
                ],
            }
        ),
    ),
    "gemini-cli": (
        "gemini-cli",
        json.dumps(
            gemini(
                {"type": "user", "content": [{"text": "Go"}], "timestamp": STAMP},
                {"type": "gemini", "content": "", "timestamp": STAMP, "toolCalls": [gemini_call("c", "body")]},
            ),
            indent=2,
        ),
    ),
    "kimi-cli": (
        "kimi-cli",
        lines(
            {"type": "metadata", "protocol_version": "1.4", "created_at": MS},
            {"type": "context.append_message", "message": {"role": "user", "content": [{"text": "Count"}]}},
            kimi(1, type="step.begin"),
            kimi(3, type="tool.call", toolCallId="Glob_0", name="Glob", args={"pattern": "*"}),
            kimi(4, type="tool.result", toolCallId="Glob_0", result={"output": "3124"}),
        ),
    ),
    "kimi-cli wire": (
        "kimi-cli",
        lines(
            kimi_wire("TurnBegin", user_input="Count"),
            kimi_wire("StepBegin", n=1),
            kimi_wire("ToolCall", id="c", function={"name": "Glob", "arguments": '{"p":'}),
            kimi_wire("ToolCallPart", arguments_part=" 1}"),
            kimi_wire("ToolResult", tool_call_id="c", return_value={"is_error": False, "output": "3124"}),
        ),
    ),
    "amp": (
        "amp",
        json.dumps(
            amp(
                {"role": "user", "content": [{"type": "text", "text": "Plan"}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "Read", "input": {}}]},
                amp_result("x", {"status": "done", "result": {"content": "1: id"}}),
            )
        ),
    ),
    "swe-agent": (
        "swe-agent",
        json.dumps(
            {"environment": "e", "trajectory": SWE_STEPS, "history": [{"role": "user", "content": "Fix"}]}, indent=2
        ),
    ),
    "mini-swe-agent": (
        "mini-swe-agent",
        json.dumps(
            {
                "info": {"mini_version": "1", "submission": ""},
                "messages": [
                    {"role": "user", "content": "Fix"},
                    {"role": "assistant", "content": "THOUGHT: look\n\n```bash\nls\n```"},
                    {"role": "user", "content": MINI_FAILED},
                ],
                "instance_id": "i",
            }
        ),
    ),
    "openhands history": (
        "openhands",
        lines(
            {"instance_id": "i1", "metadata": {}, "history": openhands_events()},
            {"instance_id": "i2", "metadata": {}, "history": openhands_events()},
        ),
    ),
    "openhands export": ("openhands", json.dumps(openhands_events(), indent=2)),
    "openhands sdk": ("openhands", lines(openhands_action("c1"), openhands_seen("c1", "a"))),
    "aider": ("aider", AIDER),
}
