"""From turns to steps (seed core-capture, section 4; prior-art/capture.md, section 5, cases 1 to 12)."""

import json
from pathlib import Path
from typing import Any

import pytest

from afterturn.capture.injected import HOST_TAGS, NO_ANSWERS, RECALL_TAG
from afterturn.capture.notes import Notes
from afterturn.capture.steps import Step, steps_of
from afterturn.capture.turns import read_turns
from afterturn.condense.footer import footer
from afterturn_protocol.capture import Episode
from tests.capture.harness import episode, hide, says, system, tool, user

CALL = {"name": "bash", "input": "ls"}


def extracted(given: Episode, granularity: str = "turn") -> tuple[list[Step], dict[str, int]]:
    notes = Notes()
    steps = steps_of(read_turns(given, hide, notes), given.meta, granularity, notes)
    return steps, {str(warning.code): warning.detail["count"] for warning in notes.warnings()}


def shape(steps: list[Step]) -> list[Any]:
    return [(step.user_text, step.agent_text, [call.name for call in step.calls]) for step in steps]


def check(turns: list[dict[str, Any]], *expected: Any, warns: dict[str, int] | None = None) -> None:
    steps, warnings = extracted(episode(*turns))
    assert shape(steps) == list(expected)
    assert warnings == (warns or {})


def test_one_exchange_is_a_step() -> None:
    check([user("q"), says("a")], ("q", "a", []))


def test_a_user_turn_ends_a_segment_that_has_an_answer() -> None:
    check([user("q"), says("a"), user("r"), says("b")], ("q", "a", []), ("r", "b", []))


def test_user_turns_in_a_row_join_and_keep_their_text() -> None:
    """Cases 1 and D4."""
    check([user("q"), user("r"), says("a")], ("q\n---\nr", "a", []))


def test_tools_go_to_the_assistant_before_them_and_all_words_stay_in_order() -> None:
    """Case 2."""
    turns = [user("q"), says("running ls"), tool("bash", "x"), says("two files"), tool("read", "y"), says("done")]
    check(turns, ("q", "running ls\n\ntwo files\n\ndone", ["bash", "read"]))


def test_a_tool_keeps_input_output_error_and_times() -> None:
    told = tool(
        "bash",
        "out",
        input={"c": 1},
        errorCode="E1",
        toolCallId="t1",
        startedAt=5,
        endedAt=9,
        thinkingBefore="th",
        assistantTextBefore="tx",
    )
    steps, _ = extracted(episode(user("q"), says("a"), told))
    call = steps[0].calls[0]
    assert (call.input, call.output, call.error_code, call.tool_call_id) == ({"c": 1}, "out", "E1", "t1")
    assert (call.started_at, call.ended_at, call.thinking_before, call.assistant_text_before) == (5, 9, "th", "tx")
    assert call.before_assistant is None


def test_other_names_of_a_tools_fields() -> None:
    steps, _ = extracted(episode(user("q"), says("a"), tool(None, tool="grep", args=["x"], result={"n": 1})))
    call = steps[0].calls[0]
    assert (call.name, call.input, call.output) == ("grep", ["x"], {"n": 1})


def test_a_tool_before_any_assistant_goes_to_the_first_one_and_is_marked() -> None:
    steps, _ = extracted(episode(user("q"), tool("bash"), says("a"), tool("read")))
    assert [(call.name, call.before_assistant) for call in steps[0].calls] == [("bash", True), ("read", None)]


def test_a_user_who_got_no_answer_at_all_leaves_one_step_with_the_calls() -> None:
    """Case 3."""
    check([user("q"), tool("bash", "boom", errorCode="E")], ("q", "", ["bash"]))
    check([user("q"), user("r")], ("q\n---\nr", "", []))


def test_a_user_turn_without_an_answer_at_the_end_is_named() -> None:
    """Case 5."""
    check([user("q"), says("a"), user("r")], ("q", "a", []), warns={"unanswered_turn": 1})


def test_calls_without_an_answer_at_the_end_are_no_mere_user_turn() -> None:
    check([user("q"), says("a"), user("r"), tool("bash")], ("q", "a", []), ("r", "", ["bash"]))


@pytest.mark.parametrize("turns", [[], [system("s")], [{"role": "narrator", "content": "x"}]])
def test_nothing_makes_no_step(turns: list[dict[str, Any]]) -> None:
    """Case 6."""
    assert extracted(episode(*turns))[0] == []


def test_system_turns_are_ignored_and_unknown_roles_are_counted() -> None:
    odd = [system("s"), user("q"), {"role": "critic", "content": "no"}, says("a")]
    check(odd, ("q", "a", []), warns={"role_unknown": 1})


def test_times_neither_order_nor_identify_steps() -> None:
    """Cases 7 and 8."""
    turns = [user("q", ts=9), says("a") | {"ts": 5}, tool("late", startedAt=9), tool("early", startedAt=1)]
    steps, _ = extracted(episode(*turns, user("r", ts=5), says("b") | {"ts": 5}))
    assert shape(steps) == [("q", "a", ["late", "early"]), ("r", "b", [])]
    assert [(step.turn_id, step.kind, step.occurrence, step.ts) for step in steps] == [
        ("#1", "step", 0, 5),
        ("#5", "step", 0, 5),
    ]


def test_missing_times_and_contents_are_tolerated_and_counted() -> None:
    """Case 9."""
    turns = [{"role": "user", "content": None, "ts": None}, {"role": "assistant", "content": "a", "ts": None}]
    steps, warnings = extracted(episode(*turns, startedAt=77))
    assert (shape(steps), steps[0].ts) == ([("", "a", [])], 77)
    assert warnings == {"content_null": 1, "time_missing": 2}


def test_a_step_is_known_by_its_first_assistant_turn() -> None:
    steps, _ = extracted(episode(user("q", id="u"), says("a", id="x"), says("b", id="y"), user("r"), says("c", id="x")))
    assert [(step.turn_id, step.occurrence) for step in steps] == [("x", 0), ("x", 1)]


def test_blocks_give_text_and_thinking() -> None:
    content = [
        {"type": "text", "text": "one"},
        {"type": "thinking", "text": "hm"},
        {"type": "image", "mimeType": "image/png"},
        {"type": "text", "text": "two"},
    ]
    steps, _ = extracted(episode(user([{"type": "text", "text": "q"}]), says(content, agentThinking="first")))
    assert (steps[0].user_text, steps[0].agent_text, steps[0].thinking) == ("q", "one\ntwo", "first\n\nhm")


def test_a_reflection_is_kept_word_for_word_even_on_an_empty_turn() -> None:
    """Case 4."""
    steps, _ = extracted(episode(user("q"), says("a"), says("", reflection=" because \n of it ")))
    assert (steps[0].agent_text, steps[0].given) == ("a", " because \n of it ")


@pytest.mark.parametrize(
    ("turn", "whole", "expected"),
    [
        ({}, {}, (0, False)),
        ({"depth": 2, "isSubagent": True}, {}, (2, True)),
        ({}, {"depth": 1, "isSubagent": True}, (1, True)),
        ({"depth": 0, "isSubagent": False}, {"depth": 1, "isSubagent": True}, (0, False)),
        ({"depth": 3}, {"isSubagent": True}, (3, True)),
    ],
)
def test_depth_comes_from_the_turn_else_the_episode(
    turn: dict[str, Any], whole: dict[str, Any], expected: tuple[int, bool]
) -> None:
    """Case 11."""
    steps, _ = extracted(episode(user("q"), says("a", **turn), meta=whole))
    assert (steps[0].depth, steps[0].is_subagent) == expected


def test_sub_agents_stay_in_the_episode() -> None:
    turns = [user("q"), says("a"), user("sub"), says("b", isSubagent=True, depth=1)]
    steps, _ = extracted(episode(*turns))
    assert [step.is_subagent for step in steps] == [False, True]


# --- calls ---


def calls(*turns: dict[str, Any]) -> list[tuple[Any, ...]]:
    steps, _ = extracted(episode(user("q"), *turns))
    return [(call.name, call.input, call.output) for step in steps for call in step.calls]


NAMED = '{"name": "bash", "input": {"c": "ls"}, "output": "x"}'


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([says("a", toolCalls=[CALL, {"name": "read"}])], [("bash", "ls", None), ("read", None, None)]),
        # listed and told of is one call, by id or by name and input, in the order in which they were made
        (
            [says("a", toolCalls=[CALL | {"toolCallId": "1"}]), tool(None, "out", toolCallId="1")],
            [("bash", "ls", "out")],
        ),
        ([says("a", toolCalls=[CALL]), tool("bash", "out")], [("bash", "ls", "out")]),
        (
            [
                says("a", toolCalls=[CALL | {"toolCallId": "1"}, CALL | {"toolCallId": "2"}]),
                tool("bash", "two", toolCallId="2"),
                tool("bash", "one", toolCallId="1"),
            ],
            [("bash", "ls", "one"), ("bash", "ls", "two")],
        ),
        (
            [says("a", toolCalls=[CALL]), tool("bash", "out", input="pwd")],
            [("bash", "ls", None), ("bash", "pwd", "out")],
        ),
        (
            [says("a", toolCalls=[CALL, CALL]), tool("bash", "one"), tool("bash", "two")],
            [("bash", "ls", "one"), ("bash", "ls", "two")],
        ),
        # told of twice is two calls, whatever the id
        (
            [says("a", toolCalls=[CALL | {"toolCallId": "1"}]), *[tool("bash", out, toolCallId="1") for out in "xy"]],
            [("bash", "ls", "x"), ("bash", None, "y")],
        ),
        # case 10: shells
        ([says("a"), tool("unknown_tool", NAMED)], [("bash", {"c": "ls"}, "x")]),
        ([says("a"), tool(None, NAMED)], [("bash", {"c": "ls"}, "x")]),
        ([says("a"), tool(None, f"[{NAMED}, {NAMED}]")], [("bash", {"c": "ls"}, "x")] * 2),
        ([says("a"), tool(None, "out", toolCalls=[CALL])], [("bash", "ls", "out")]),
        ([says("a", toolCalls=[{"name": "unknown_tool", "output": NAMED}])], [("bash", {"c": "ls"}, "x")]),
        ([says("a", toolCalls=[{"name": "unknown_tool", "output": {"name": "b", "args": 1}}])], [("b", 1, None)]),
        (
            [says("a"), tool(None, '{"function": {"name": "f", "arguments": "{\\"p\\": 1}"}}')],
            [("f", {"p": 1}, None)],
        ),
        # a name alone is no call, and a tool that has a name keeps its output, JSON or not
        ([says("a"), tool(None, '{"name": "left-pad", "version": "1"}')], [
            ("unknown_tool", None, '{"name": "left-pad", "version": "1"}')
        ]),
        ([says("a"), tool("read", NAMED)], [("read", None, NAMED)]),
        ([says("a"), tool(None, "plain")], [("unknown_tool", None, "plain")]),
        ([says("a"), tool(None, "{broken")], [("unknown_tool", None, "{broken")]),
        ([says("a"), tool("bash", "said", output="meta")], [("bash", None, "said")]),
        ([says("a"), tool("bash", "", output="meta")], [("bash", None, "meta")]),
        ([says("a"), tool("bash", [{"type": "text", "text": "b1"}, {"type": "text", "text": "b2"}])], [
            ("bash", None, "b1\nb2")
        ]),
    ],
)  # fmt: skip
def test_calls(turns: list[dict[str, Any]], expected: list[tuple[Any, ...]]) -> None:
    assert calls(*turns) == expected


def test_calls_without_a_name_are_counted() -> None:
    assert extracted(episode(user("q"), says("a"), tool(None, "x")))[1] == {"tool_name_missing": 1}


def test_what_was_text_is_redacted_again_when_it_becomes_a_call() -> None:
    told = tool(None, '{"name": "login", "input": {"note": "SECR\\u0045T1"}}')
    assert calls(says("a"), told) == [("login", {"note": "[REDACTED:x]"}, None)]


# --- granularity "tool" ---


def sub_steps(*turns: dict[str, Any]) -> list[Any]:
    steps, _ = extracted(episode(user("q"), *turns), "tool")
    assert len({step.turn_id for step in steps}) == 1
    return [
        (step.kind, step.occurrence, step.user_text, step.agent_text, [call.name for call in step.calls], step.given)
        for step in steps
    ]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([says("a", reflection="r")], [("reply", 0, "q", "a", [], "r")]),
        (
            [says("look"), tool("ls"), says("read"), tool("cat"), says("done", reflection="r")],
            [
                ("tool", 0, "q", "look", ["ls"], None),
                ("tool", 1, "", "read", ["cat"], None),
                ("reply", 0, "", "done", [], "r"),
            ],
        ),
        # one turn that lists its calls and closes: its words are the reply
        (
            [says("done", toolCalls=[{"name": "a"}, {"name": "b"}])],
            [("tool", 0, "q", "", ["a"], None), ("tool", 1, "", "", ["b"], None), ("reply", 0, "", "done", [], None)],
        ),
        # case 4: no words at the end, but a reflection
        ([says("look"), tool("ls"), says("", reflection="r")], [("tool", 0, "q", "look", ["ls"], "r")]),
        ([says("look"), tool("ls")], [("tool", 0, "q", "look", ["ls"], None)]),
        ([tool("ls"), says("done")], [("tool", 0, "q", "", ["ls"], None), ("reply", 0, "", "done", [], None)]),
    ],
)
def test_sub_steps(turns: list[dict[str, Any]], expected: list[Any]) -> None:
    assert sub_steps(*turns) == expected


# --- what nobody said (cases 12, M01, M02) ---

RECALL = '<afterturn-recall query="x">\nold words\n</afterturn-recall>'


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (RECALL, ""),
        (f"{RECALL}\n\nfix it", "fix it"),
        (f"fix it\n{RECALL}", "fix it"),
        ("a <afterturn-recall> in a sentence </afterturn-recall>", None),
        ("<afterturn-recall>\nnever closed", None),
        ("```\n<afterturn-recall>\nx\n</afterturn-recall>\n```", None),
        ("<system-reminder>be good</system-reminder>\nfix it", "fix it"),
        ("<system-reminder>\n<afterturn-recall>\nx\n</afterturn-recall>\n</system-reminder>fix it", "fix it"),
        ("<afterturn-recall>a</afterturn-recall>\nfix\n<afterturn-recall>b</afterturn-recall>", "fix"),
        ("<environment_context>\n<cwd>/x</cwd>\n</environment_context>\nfix it", "fix it"),
        ("<other-tag>\nx\n</other-tag>", None),
        ("</afterturn-recall>\nfix it", None),
        ([{"type": "text", "text": "fix it"}, {"type": "text", "text": "x", "injected": True}], "fix it"),
        ([{"type": "text", "text": "fix it"}, {"type": "text", "text": "x", "origin": "memory"}], "fix it"),
        ([{"type": "text", "text": "fix it", "origin": "user"}], "fix it"),
    ],
)
def test_what_was_put_into_a_user_turn(given: Any, left: str | None) -> None:
    steps, _ = extracted(episode(user("q"), user(given), says("a")))
    expected = "\n---\n".join(["q", *([given] if left is None else [left] if left else [])])
    assert steps[0].user_text == expected


def test_recalled_text_is_stripped_from_every_turn_and_host_tags_only_from_the_users() -> None:
    turns = [user("q"), says(f"{RECALL}\na"), tool("search", f"{RECALL}\nhit")]
    check(turns, ("q", "a", ["search"]), warns={"injected": 2})
    assert calls(*turns[1:]) == [("search", None, "hit")]
    reminder = "<system-reminder>\nx\n</system-reminder>"
    assert calls(says("a"), tool("cat", reminder)) == [("cat", None, reminder)]


def test_recalled_text_is_stripped_wherever_it_stands() -> None:
    deep: Any = f"{RECALL}\nmine"
    for _ in range(60):
        deep = {"k": [deep]}
    call = {"name": "t", "input": {"q": [RECALL, "x"]}, "output": {"text": f"{RECALL}\nhit", "n": 1}}
    turns = [
        user("q"),
        says([{"type": "thinking", "thinking": f"{RECALL}\nhm"}, {"type": "text", "text": "a"}],
             agentThinking=f"before\n{RECALL}\nafter", reflection=f"{RECALL}\nsince the thing", toolCalls=[call]),
        tool("s", "o", input=deep, thinkingBefore=f"{RECALL}\nA", assistantTextBefore=f"{RECALL}\nB"),
        tool("s", None, output={"list": [f"{RECALL}\nmine"]}, input=RECALL),
        tool(None, json.dumps({"name": "mem", "input": {"q": RECALL}, "output": f"{RECALL}\nmine"})),
    ]  # fmt: skip
    (step,), warnings = extracted(episode(*turns))
    assert "old words" not in repr(step)
    assert (step.thinking, step.given) == ("before\n\nafter\n\nhm", "since the thing")
    listed, told, structured, unwrapped = step.calls
    assert (listed.input, listed.output) == ({"q": ["", "x"]}, {"text": "hit", "n": 1})
    assert (told.thinking_before, told.assistant_text_before) == ("A", "B")
    assert (structured.input, structured.output) == ("", {"list": ["mine"]})
    assert (unwrapped.name, unwrapped.input, unwrapped.output) == ("mem", {"q": ""}, "mine")
    assert warnings == {"injected": 12}
    assert extracted(episode(user("q"), says("a", reflection=RECALL)))[0][0].given is None


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder> tags break my page.\n```html\n<p></system-reminder></p>\n```\nThanks",
        "<afterturn-recall> is the tag I mean.\nStop at `</afterturn-recall>` only.",
    ],
    ids=["closed in code", "closed in a quote"],
)
def test_a_tag_that_is_closed_in_code_is_not_closed(text: str) -> None:
    (step,), _ = extracted(episode(user(text), says("a")))
    assert step.user_text == text


def test_marks_that_are_none_leave_a_value_as_it_is() -> None:
    html = {"html": "<p>a</p>", "list": ["</afterturn-recall>", 1, None]}
    assert calls(says("a"), tool("t", None, input=html, output=html)) == [("t", html, html)]


SUMMARY = "- `t1` make failed\n- two\n  more" + footer(["t1", "t2"], "context_tree_query")


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (SUMMARY, ""),
        (SUMMARY.replace("\n", "\r\n"), ""),
        (f"go on\n\n{SUMMARY}", "go on"),
        (f"go on\n\n{SUMMARY}\n\nand quickly", "go on\n\nand quickly"),
        (f"{SUMMARY}\n{SUMMARY}", ""),
        # a block of bullets with empty lines, and code with one
        (f"go on\n\n- `t1` a\n\n- `t2` b\n\n{SUMMARY}", "go on"),
        (f"go on\n\n- `t1` a\n```\nb\n\nc\n```{footer(['t1'], 'find')}", "go on"),
        # somebody's own words and lists above it stay
        (f"Fix the login.{footer(['t1'], 'find')}\n\nWhat is this?", "Fix the login.\n\nWhat is this?"),
        (f"I want:\n\n- no loss\n- the API\n\n{SUMMARY}\n\nWhy?", "I want:\n\n- no loss\n- the API\n\nWhy?"),
        (f"<afterturn-recall>\n{SUMMARY}\n</afterturn-recall>\ngo on", "go on"),
        ([{"type": "text", "text": "go on"}, {"type": "text", "text": SUMMARY}], "go on"),
        # who asks about one keeps the words
        (f"what is this?\n```\n{SUMMARY}\n```", None),
        ("what are **Summarized tool refs**: `t1`?", None),
        (SUMMARY.replace("Use ", "Take "), None),
    ],
)
def test_summaries_of_condense_are_known_by_their_footer(given: Any, left: str | None) -> None:
    expected = given if left is None else left
    (step,), _ = extracted(episode(user("q"), user(given), says("a")))
    assert step.user_text == "\n---\n".join(["q", *([expected] if expected else [])])
    (step,), _ = extracted(episode(user("q"), says(given)))
    assert step.agent_text.strip() == expected
    assert calls(says("a"), tool("t", SUMMARY)) == [("t", None, SUMMARY)]


def test_the_page_names_every_mark() -> None:
    page = (Path(__file__).parents[2] / "spec" / "capture.md").read_text()
    for mark in (f"<{RECALL_TAG}>", f"</{RECALL_TAG}>", *HOST_TAGS, *NO_ANSWERS):
        assert f"`{mark}`" in page
    for other in ("spec/traces.md", "docs/harness-guide.md"):
        assert f"`<{RECALL_TAG}>`" in (Path(__file__).parents[2] / other).read_text()


def test_an_episode_of_nothing_but_injected_turns_makes_no_step() -> None:
    check([user("<heartbeat>tick</heartbeat>"), says("HEARTBEAT_OK")], warns={"injected": 2})
    check([user(RECALL)], warns={"injected": 1})


def test_junk_leaves_no_trace() -> None:
    """Case M01: system prompts, heartbeats, thanks, and one real fix."""
    beats = [turn for _ in range(20) for turn in (user("<heartbeat>tick</heartbeat>"), says("HEARTBEAT_OK"))]
    turns = [system("s"), system("s"), system("s"), *beats, user("fix it"), says("fixed"), user("thanks"), says("ok")]
    check(turns, ("fix it", "fixed", []), ("thanks", "ok", []), warns={"injected": 40})


def test_an_agent_that_says_it_has_nothing_to_say() -> None:
    beat = [user("Look at the list. If nothing is to do, reply HEARTBEAT_OK."), says("**HEARTBEAT_OK**")]
    check([*beat, *beat], warns={"injected": 2})
    check([*beat, user("q"), says("a")], ("q", "a", []), warns={"injected": 1})
    check([says("NO_REPLY"), user("q"), says("a")], ("q", "a", []), warns={"injected": 1})
    # but what a person asked stays, whatever the answer
    check([user("is the port taken?"), says("HEARTBEAT_OK")], ("is the port taken?", "HEARTBEAT_OK", []))
    check([*beat[:1], says("The port is taken.")], (beat[0]["content"], "The port is taken.", []))


def test_what_an_injected_turn_was_answered_with_stays() -> None:
    wake = user("<task-notification>\nagent 7 ended\n</task-notification>")
    answer = "The build failed because port 8080 was taken; I moved it."
    turns = [wake, says(answer, reflection="I moved it since 8080 was taken."), user("thanks"), says("welcome")]
    check(turns, ("", answer, []), ("thanks", "welcome", []), warns={"injected": 1})
    assert extracted(episode(*turns))[0][0].given == "I moved it since 8080 was taken."
    check(
        [user([{"type": "text", "text": "x", "injected": True}]), says(answer)], ("", answer, []), warns={"injected": 1}
    )
    check([wake, says("HEARTBEAT_OK"), says(answer)], ("", f"HEARTBEAT_OK\n\n{answer}", []), warns={"injected": 1})
    check([wake, says("NO_REPLY", agentThinking="nothing to do")], warns={"injected": 2})
    check([wake, says("")], warns={"injected": 2})


def test_a_reminder_in_the_middle_of_the_work_does_not_end_it() -> None:
    reminder = user("<system-reminder>todo</system-reminder>")
    turns = [user("q"), says("look"), tool("ls"), reminder, says("done")]
    check(turns, ("q", "look\n\ndone", ["ls"]), warns={"injected": 1})


def test_work_that_an_injected_turn_started_is_a_step_without_its_words() -> None:
    wake = user("<task-notification>done</task-notification>")
    check([user("q"), says("a"), wake, says("b"), tool("ls")], ("q", "a", []), ("", "b", ["ls"]), warns={"injected": 1})
