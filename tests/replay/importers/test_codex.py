"""Codex's rollouts."""

from typing import Any

import pytest

from afterturn.replay.stream import Compaction
from tests.replay.importers.made import MS, STAMP, check, codex, codex_meta, events_of, lines, pretty, sessions_of

EXITED = "Wall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno\n"
TIMED = "Wall time: 0.1 seconds\nOutput:\n"
SAID = [{"type": "input_text", "text": "Fix"}]


def test_calls_outputs_and_searches_pretty_printed() -> None:
    check(
        "codex",
        pretty(
            codex_meta(),
            {"timestamp": "t", "type": "event_msg", "payload": {"type": "user_message", "message": "Fix"}},
            codex("message", role="developer", content=SAID),
            codex("message", role="user", content=SAID),
            codex("function_call", call_id="c1", name="exec", arguments='{"cmd": "x"}'),
            codex("custom_tool_call", call_id="c2", name="apply_patch", input="*** Begin Patch"),
            codex("function_call_output", call_id="c1", output=EXITED),
            codex("custom_tool_call_output", call_id="c2", output='{"output": "ok", "metadata": {"exit_code": 0}}'),
            codex("web_search_call", id="w1", action={"query": "q"}),
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
        (f"Exit code: 2\n{TIMED}", f"Exit code: 2\n{TIMED}", True),
        (f"Exit code: 0\n{TIMED}Exit code: 2\n", f"Exit code: 0\n{TIMED}Exit code: 2\n", False),
        ("a file\nExit code: 2\n", "a file\nExit code: 2\n", False),
        ({"type": "input_text", "text": "a.txt"}, "a.txt", False),
        ({"content": [{"type": "text", "text": "a"}]}, "a", False),
        ({"content": "no", "success": False}, "no", True),
        ({"content": "yes", "success": True}, "yes", False),
        ({"output": "no", "metadata": {"exit_code": 1}}, "no", True),
        ([{"type": "input_text", "text": "a"}], [{"type": "text", "text": "a"}], False),
    ],
)
def test_output_forms(output: Any, result: Any, failed: bool) -> None:
    check(
        "codex",
        lines(
            codex("function_call", call_id="c", name="x", arguments="not json"),
            codex("function_call_output", call_id="c", output=output),
        ),
        [(None, None, [("c", "x", "not json", result, failed, MS)])],
    )


def test_the_oldest_form_has_no_envelope() -> None:
    check(
        "codex",
        lines(
            {"id": "s", "timestamp": STAMP, "instructions": None},
            {"type": "message", "role": "user", "content": SAID},
            {"type": "function_call", "call_id": "c", "name": "shell", "arguments": '{"command": ["ls"]}'},
            {"type": "function_call_output", "call_id": "c", "output": "a"},
        ),
        [("Fix", None, [("c", "shell", {"command": ["ls"]}, "a", False, None)])],
    )


def test_a_subagents_parent_and_what_later_headers_do_not_change() -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}
    text = lines(
        codex_meta(source=spawned, cwd="/w", timestamp=STAMP),
        {"timestamp": STAMP, "type": "session_meta", "payload": {"id": "p", "source": "cli", "cwd": "/other"}},
        {"timestamp": STAMP, "type": "turn_context", "payload": {"model": "m"}},
        codex("message", role="user", content=SAID),
    )
    (session,) = sessions_of(text)
    start = session.start
    assert start is not None
    assert (start.session_id, start.parent_id, start.cwd, start.model, start.started) == ("s", "p", "/w", "m", MS)


def test_a_compaction_ends_a_turn_and_thoughts_are_kept() -> None:
    thought = codex("reasoning", summary=[{"type": "summary_text", "text": "Hm."}])
    compacted = {"timestamp": STAMP, "type": "compacted", "payload": {"message": ""}}
    text = lines(codex_meta(), thought, compacted, thought)
    (session,) = sessions_of(text)
    assert [turn.thinking for turn in session.turns] == ["Hm.", "Hm."]
    assert [type(each).__name__ for each in events_of(text)][1:4] == ["Turn", "Compaction", "Turn"]
    assert session.compactions == [Compaction("s", MS, None)]
