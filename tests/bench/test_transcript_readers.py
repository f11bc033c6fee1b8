"""Each reader on a few lines of its format, made for these tests."""

import json
from typing import Any

import pytest

from afterturn.cli.transcript import Session, epoch_ms
from bench import transcripts
from bench.transcripts.pi import read_pi


def lines(*objects: Any) -> str:
    return "".join(json.dumps(item) + "\n" for item in objects)


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


def check(harness: str, text: str, *sessions: Any) -> None:
    assert shape(transcripts.READERS[harness](text)) == list(sessions)


# claude-code


def claude(kind: str, content: Any, message_id: str = "m1", **more: Any) -> dict[str, Any]:
    stamp = "2026-01-01T00:00:01.500Z"
    return {
        "type": kind,
        "sessionId": "s",
        "timestamp": stamp,
        "message": {"id": message_id, "content": content},
    } | more


def use(call_id: str, name: str = "Bash") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"n": call_id}}


def answer(call_id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content} | more


MS = 1767225601500


def test_claude_code_parallel_calls_on_several_lines_of_one_message_are_one_turn() -> None:
    check(
        "claude-code",
        lines(
            claude("user", "Fix it"),
            claude("assistant", [{"type": "text", "text": "Looking."}]),
            claude("assistant", [use("a")]),
            claude("user", [answer("a", "one")]),
            claude("assistant", [use("b", "Read")]),
            claude("user", [answer("b", "", is_error=True)]),
            claude("assistant", [{"type": "text", "text": "Done."}], "m2"),
        ),
        [
            (
                "Fix it",
                "Looking.",
                [
                    ("a", "Bash", {"n": "a"}, "one", False, MS),
                    ("b", "Read", {"n": "b"}, "", True, MS),
                ],
            ),
            (None, "Done.", []),
        ],
    )


def test_claude_code_leaves_out_noise_and_keeps_results_in_meta_lines() -> None:
    check(
        "claude-code",
        lines(
            {"type": "summary", "summary": "a title", "leafUuid": "x"},
            {"type": "progress", "data": {"type": "agent_progress"}},
            claude("user", "a caveat", isMeta=True),
            claude("user", "what was said so far", isCompactSummary=True),
            claude("assistant", [use("a")]),
            claude("user", [answer("a", "one")], isMeta=True),
        )
        + '{"type":"assistant","message":{"id":"m9","conte',
        [(None, None, [("a", "Bash", {"n": "a"}, "one", False, MS)])],
    )


def test_claude_code_blocks_and_an_unescaped_line_separator() -> None:
    blocks = [
        {"type": "text", "text": "before\u2028after"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
    ]
    text = json.dumps(claude("assistant", [use("a")])) + "\n"
    text += json.dumps(claude("user", [answer("a", blocks)]), ensure_ascii=False)
    kept = [blocks[0], {"type": "image", "mimeType": "image/png", "data": "iVBO"}]
    check("claude-code", text, [(None, None, [("a", "Bash", {"n": "a"}, kept, False, MS)])])
    assert transcripts.READERS["claude-code"](text)[0].calls[0].result_text == "before\u2028after"


def test_claude_code_subagents_are_sessions_of_their_own() -> None:
    text = lines(
        claude("user", "Main"),
        claude("assistant", [use("t", "Task")]),
        claude("user", "Sub", isSidechain=True, agentId="a7"),
        claude("assistant", [use("a")], isSidechain=True, agentId="a7"),
        claude("user", [answer("a", "inner")], isSidechain=True, agentId="a7"),
        claude("user", [answer("t", "outer")]),
    )
    check(
        "claude-code",
        text,
        [("Main", None, [("t", "Task", {"n": "t"}, "outer", False, MS)])],
        [("Sub", None, [("a", "Bash", {"n": "a"}, "inner", False, MS)])],
    )
    assert [session.session_id for session in transcripts.READERS["claude-code"](text)] == ["s", "s/a7"]


def test_a_reused_id_answers_its_oldest_open_call_and_a_stray_result_is_an_orphan() -> None:
    text = lines(
        claude("assistant", [use("a")], "m1"),
        claude("assistant", [use("a")], "m2"),
        claude("user", [answer("a", "first"), answer("a", "second"), answer("a", "third")]),
    )
    (session,) = transcripts.READERS["claude-code"](text)
    assert [call.result for call in session.calls] == ["first", "second"]
    assert session.orphan_results == 1


def test_an_unanswered_call_has_no_result() -> None:
    check(
        "claude-code",
        lines(claude("assistant", [use("a")])),
        [(None, None, [("a", "Bash", {"n": "a"}, None, False, None)])],
    )


# pi


def pi(role: str, content: Any, entry: str = "", parent: str | None = None, **more: Any) -> dict[str, Any]:
    ids = {"id": entry, "parentId": parent} if entry else {}
    return {"type": "message", "message": {"role": role, "content": content, "timestamp": 7, **more}} | ids


def pi_call(call_id: str) -> list[dict[str, Any]]:
    return [
        {"type": "text", "text": "Reading."},
        {"type": "toolCall", "id": call_id, "name": "read", "arguments": {"p": 1}},
    ]


def test_pi_linear_with_a_command_of_the_user() -> None:
    check(
        "pi",
        lines(
            {"type": "session", "id": "s1"},
            pi("user", [{"type": "text", "text": "Read it"}]),
            pi("assistant", pi_call("c1")),
            pi("toolResult", [{"type": "text", "text": "body"}], toolCallId="c1", isError=True),
            {"type": "compaction", "summary": "…"},
            {
                "type": "message",
                "message": {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 0, "timestamp": 9},
            },
        ),
        [
            ("Read it", "Reading.", [("c1", "read", {"p": 1}, "body", True, 7)]),
            (None, None, [("bash-9", "bashExecution", {"command": "ls"}, "a", False, 9)]),
        ],
    )


def test_pi_branches_are_read_in_file_order_or_along_the_leaf_path() -> None:
    text = lines(
        {"type": "session", "id": "s3", "version": 3},
        pi("user", "Go", "e1"),
        pi("assistant", pi_call("c1"), "e2", "e1"),
        pi("toolResult", [{"type": "image", "mimeType": "image/png", "data": "x"}], "e3", "e2", toolCallId="c1"),
        pi("assistant", pi_call("c2"), "e4", "e1"),
    )
    picture = [{"type": "image", "mimeType": "image/png", "data": "x"}]
    first = ("Go", "Reading.", [("c1", "read", {"p": 1}, picture, False, 7)])
    assert shape(read_pi(text)) == [[first, (None, "Reading.", [("c2", "read", {"p": 1}, None, False, None)])]]
    assert shape(read_pi(text, leaf_only=True)) == [[("Go", "Reading.", [("c2", "read", {"p": 1}, None, False, None)])]]


# codex


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:01.500Z", "type": "response_item", "payload": {"type": kind, **payload}}


EXITED = "Wall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno\n"


def test_codex_calls_outputs_and_searches() -> None:
    said = [{"type": "input_text", "text": "Fix"}]
    check(
        "codex",
        "\n".join(
            json.dumps(item, indent=2)
            for item in (
                {"timestamp": "t", "type": "session_meta", "payload": {"id": "s"}},
                {"timestamp": "t", "type": "event_msg", "payload": {"type": "user_message", "message": "Fix"}},
                codex("message", role="developer", content=said),
                codex("message", role="user", content=said),
                codex("function_call", call_id="c1", name="exec", arguments='{"cmd": "x"}'),
                codex("custom_tool_call", call_id="c2", name="apply_patch", input="*** Begin Patch"),
                codex("function_call_output", call_id="c1", output=EXITED),
                codex("custom_tool_call_output", call_id="c2", output='{"output": "ok", "metadata": {"exit_code": 0}}'),
                codex("web_search_call", id="w1", action={"query": "q"}),
            )
        ),
        [
            (
                "Fix",
                None,
                [
                    ("c1", "exec", {"cmd": "x"}, EXITED, True, MS),
                    ("c2", "apply_patch", {"input": "*** Begin Patch"}, "ok", False, MS),
                ],
            ),
            (None, None, [("w1", "web_search", {"query": "q"}, None, False, None)]),
        ],
    )


@pytest.mark.parametrize(
    ("output", "result", "failed"),
    [
        ("plain", "plain", False),
        ('{"output": "no", "metadata": {"exit_code": 1}}', "no", True),
        ({"type": "input_text", "text": "a.txt"}, "a.txt", False),
        ([{"type": "input_text", "text": "a"}], [{"type": "text", "text": "a"}], False),
    ],
)
def test_codex_output_forms(output: Any, result: Any, failed: bool) -> None:
    check(
        "codex",
        lines(
            codex("function_call", call_id="c", name="x", arguments="not json"),
            codex("function_call_output", call_id="c", output=output),
        ),
        [(None, None, [("c", "x", "not json", result, failed, MS)])],
    )


# opencode


def part(part_id: str, kind: str, message: str = "m2", session: str = "s", **more: Any) -> dict[str, Any]:
    return {"id": part_id, "messageID": message, "sessionID": session, "type": kind, **more}


def message(message_id: str, role: str, created: int, session: str = "s") -> dict[str, Any]:
    return {"id": message_id, "role": role, "sessionID": session, "time": {"created": created}}


TOOL = {"callID": "c", "tool": "bash"}


def test_opencode_export_with_several_sessions_pretty_printed() -> None:
    done = {"status": "completed", "input": {"command": "ls"}, "output": "a", "time": {"start": 3, "end": 4}}
    broken = {"status": "error", "input": {}, "error": "no such file", "time": {"end": 6}}
    check(
        "opencode",
        "\n".join(
            json.dumps(item, indent=1)
            for item in (
                {"id": "p", "worktree": "/w"},
                part("p2", "tool", state=done, **TOOL),
                part("p1", "text", "m1", text="Go"),
                part("p3", "text", text="There."),
                message("m2", "assistant", 2),
                message("m1", "user", 1),
                [{"file": "a", "additions": 1}],
                part("q1", "tool", "n1", "z", state=broken, **TOOL),
                message("n1", "assistant", 5, "z"),
            )
        ),
        [("Go", "There.", [("c", "bash", {"command": "ls"}, "a", False, 4)])],
        [(None, None, [("c", "bash", {}, "no such file", True, 6)])],
    )


def test_opencode_events_last_write_wins_and_deltas_add_up() -> None:
    def event(kind: str, **properties: Any) -> dict[str, Any]:
        return {"timestamp": 1, "event": {"type": kind, "properties": properties}}

    running = {"status": "running", "input": {}}
    done = {"status": "completed", "input": {"x": 1}, "output": "ok", "time": {"end": 4}}
    check(
        "opencode",
        lines(
            event("message.updated", info=message("m2", "assistant", 2)),
            event("message.part.updated", part=part("p1", "text", text="")),
            event("message.part.delta", partID="p1", field="text", delta="Hel"),
            event("message.part.delta", partID="p1", field="text", delta="lo"),
            event("message.part.updated", part=part("p2", "tool", state=running, **TOOL)),
            event("message.part.updated", part=part("p2", "tool", state=done, **TOOL)),
            event("session.idle", sessionID="s"),
        ),
        [(None, "Hello", [("c", "bash", {"x": 1}, "ok", False, 4)])],
    )


# one file each


def test_gemini_cli() -> None:
    answered = {"functionResponse": {"id": "c", "name": "read_file", "response": {"output": "body"}}}
    call = {"id": "c", "name": "read_file", "args": {"p": 1}, "status": "success", "result": [answered], "timestamp": 5}
    chat = {
        "sessionId": "s",
        "messages": [
            {"type": "user", "content": "Go"},
            {"type": "gemini", "content": "", "timestamp": 4, "toolCalls": [call, call | {"id": "d", "result": []}]},
        ],
    }
    check(
        "gemini-cli",
        json.dumps(chat),
        [
            (
                "Go",
                None,
                [("c", "read_file", {"p": 1}, "body", False, 5), ("d", "read_file", {"p": 1}, None, False, None)],
            )
        ],
    )


def test_kimi_cli() -> None:
    def event(time: int, **event: Any) -> dict[str, Any]:
        return {"type": "context.append_loop_event", "event": {"turnId": "0", "step": 1, **event}, "time": time}

    check(
        "kimi-cli",
        lines(
            {"type": "metadata", "protocol_version": "1.4"},
            {
                "type": "context.append_message",
                "message": {"role": "user", "content": [{"type": "text", "text": "Count"}]},
            },
            event(1, type="step.begin"),
            event(2, type="content.part", part={"type": "think", "think": "hm"}),
            event(3, type="tool.call", toolCallId="Glob_0", name="Glob", args={"pattern": "*"}),
            event(4, type="tool.result", toolCallId="Glob_0", result={"output": "3124"}),
        ),
        [("Count", None, [("Glob_0", "Glob", {"pattern": "*"}, "3124", False, 4)])],
    )


def test_mini_swe_agent_rejected_replies_run_nothing() -> None:
    failed = "<returncode>1</returncode>\n<output>\nno\n</output>"
    messages = [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "Fix"},
        {"role": "assistant", "content": "THOUGHT: two\n\n```bash\na\n```\n```bash\nb\n```"},
        {"role": "user", "content": "Please always provide one"},
        {"role": "assistant", "content": "THOUGHT: look\n\n```bash\nls\n```"},
        {"role": "user", "content": failed},
    ]
    check(
        "mini-swe-agent",
        json.dumps({"instance_id": "i", "messages": messages}),
        [
            ("Fix", "THOUGHT: two", []),
            ("Please always provide one", "THOUGHT: look", [("call-4", "bash", {"command": "ls"}, failed, True, None)]),
        ],
    )


def test_swe_agent_with_and_without_function_calls() -> None:
    steps = [{"thought": "Look.\n", "action": "open a.py\n", "observation": "[File: a.py]"}]
    steps.append({"thought": "Run.", "action": "python a.py\n", "observation": ""})
    asked = {"role": "user", "content": "Fix"}
    demo = {"role": "user", "content": "an example", "is_demo": True}
    check(
        "swe-agent",
        json.dumps({"trajectory": steps, "history": [demo, asked]}),
        [
            ("Fix", "Look.", [("step-0", "open", {"command": "open a.py"}, "[File: a.py]", False, None)]),
            (None, "Run.", [("step-1", "bash", {"command": "python a.py"}, "", False, None)]),
        ],
    )
    declared = [{"id": f"k{n}", "function": {"name": "bash", "arguments": '{"command": "ls"}'}} for n in (0, 1)]
    history = [asked, *({"role": "assistant", "content": "", "tool_calls": [call]} for call in declared)]
    check(
        "swe-agent",
        json.dumps({"trajectory": steps, "history": history}),
        [
            ("Fix", "Look.", [("k0", "bash", {"command": "ls"}, "[File: a.py]", False, None)]),
            (None, "Run.", [("k1", "bash", {"command": "ls"}, "", False, None)]),
        ],
    )


def openhands_events() -> list[dict[str, Any]]:
    declared = {"id": "toolu_01", "function": {"name": "execute_bash", "arguments": '{"command": "ls"}'}}
    response = {"id": "r1", "choices": [{"message": {"content": "Look.", "tool_calls": [declared]}}]}
    made_by = {"tool_call_id": "toolu_01", "function_name": "execute_bash", "model_response": response}
    return [
        {"id": 1, "action": "message", "source": "user", "args": {"content": "Fix"}},
        {"id": 2, "action": "run", "source": "agent", "args": {}, "tool_call_metadata": made_by, "timestamp": 3},
        {
            "id": 3,
            "observation": "run",
            "cause": 2,
            "content": "no",
            "timestamp": 4,
            "extras": {"metadata": {"exit_code": 1, "prefix": "", "suffix": "\n[exit code 1.]"}},
            "tool_call_metadata": made_by,
        },
        {"id": 4, "observation": "error", "content": "bad parameter"},
    ]


OPENHANDS_TURN = ("Fix", "Look.", [("toolu_01", "execute_bash", {"command": "ls"}, "no\n[exit code 1.]", True, 4)])


def test_openhands_history_and_export() -> None:
    row = {"instance_id": "i1", "history": openhands_events()}
    check("openhands", lines(row, row), [OPENHANDS_TURN], [OPENHANDS_TURN])
    check("openhands", json.dumps(openhands_events()), [OPENHANDS_TURN])
    assert transcripts.READERS["openhands"](lines(row))[0].orphan_results == 1


def test_openhands_sdk() -> None:
    def action(call_id: str) -> dict[str, Any]:
        return {
            "kind": "ActionEvent",
            "llm_response_id": "r1",
            "thought": [],
            "tool_call_id": call_id,
            "tool_name": "terminal",
            "tool_call": {"arguments": '{"command": "ls"}'},
        }

    seen = {"content": [{"type": "text", "text": "a"}], "is_error": False, "exit_code": 0}
    check(
        "openhands",
        lines(
            action("c1"),
            action("c2"),
            {"kind": "ObservationEvent", "tool_call_id": "c1", "observation": seen, "timestamp": 5},
            {"kind": "AgentErrorEvent", "tool_call_id": "c2", "error": "denied", "timestamp": 6},
        ),
        [
            (
                None,
                None,
                [
                    ("c1", "terminal", {"command": "ls"}, "a", False, 5),
                    ("c2", "terminal", {"command": "ls"}, "denied", True, 6),
                ],
            )
        ],
    )


def test_amp() -> None:
    def result(call_id: str, run: dict[str, Any]) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "tool_result", "toolUseID": call_id, "run": run}]}

    uses = [{"type": "tool_use", "id": call_id, "name": "Read", "input": {"path": "a"}} for call_id in ("x", "y", "z")]
    thread = {
        "id": "T-1",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Plan"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Reading."}, *uses]},
            result("x", {"status": "done", "result": {"content": "1: id", "absolutePath": "/a"}}),
            result("y", {"status": "error", "error": {"message": "no such file"}}),
            result("z", {"status": "done", "result": [1]}),
        ],
    }
    check(
        "amp",
        json.dumps(thread),
        [
            (
                "Plan",
                "Reading.",
                [
                    ("x", "Read", {"path": "a"}, "1: id", False, None),
                    ("y", "Read", {"path": "a"}, "no such file", True, None),
                    ("z", "Read", {"path": "a"}, "[1]", False, None),
                ],
            )
        ],
    )


def test_aider_runs_of_quoted_lines_and_several_chats() -> None:
    text = "\n".join(
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
    check(
        "aider",
        text,
        [
            (None, None, [("run-1", "aider", {}, "Aider v1\nModels: m", False, None)]),
            (
                "Fix the printer\nplease",
                "Edit `a.py`:\n>>>>>>> REPLACE",
                [("run-2", "aider", {}, "Applied edit to a.py\n\n1 failed", False, None)],
            ),
        ],
        [(None, None, [("run-1", "aider", {}, "Aider v1", False, None)])],
    )


@pytest.mark.parametrize(
    ("stamp", "ms"),
    [
        ("2026-01-01T00:00:01.500Z", MS),
        ("2026-01-01T02:00:01.500+02:00", MS),
        ("2026-01-01T00:00:01.500000", MS),
        (MS, MS),
        (1.9, 1),
        ("yesterday", None),
        (None, None),
        (True, None),
    ],
)
def test_epoch_ms(stamp: object, ms: int | None) -> None:
    assert epoch_ms(stamp) == ms


# the real files, where they are


if FILES := transcripts.files():

    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
    def test_every_real_transcript_is_read(file: transcripts.TranscriptFile) -> None:
        sessions = transcripts.read(file)
        assert sum(len(session.turns) for session in sessions) > 0
        for session in sessions:
            stamps = [call.result_timestamp for call in session.calls if call.result_timestamp is not None]
            assert all(stamp > 1_600_000_000_000 for stamp in stamps)
            assert all(isinstance(call.tool_name, str) and call.tool_call_id is not None for call in session.calls)


def test_without_the_folder_there_is_nothing_to_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("AFTERTURN_TRANSCRIPTS", str(tmp_path / "absent"))
    assert transcripts.files() == []
