"""Claude Code's lines."""

import json

import pytest

from afterturn.replay.stream import Compaction
from tests.replay.importers.made import MS, answer, check, claude, events_of, lines, sessions_of, use


def test_parallel_calls_on_several_lines_of_one_message_are_one_turn() -> None:
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
                [("a", "Bash", {"n": "a"}, "one", False, MS), ("b", "Read", {"n": "b"}, "", True, MS)],
            ),
            (None, "Done.", []),
        ],
    )


def test_a_line_of_one_message_after_a_line_of_the_next_one() -> None:
    check(
        "claude-code",
        lines(
            claude("assistant", [{"type": "text", "text": "One."}], "m1"),
            claude("assistant", [{"type": "text", "text": "Two."}], "m2"),
            claude("assistant", [use("a")], "m1"),
            claude("user", [answer("a", "one")]),
        ),
        [(None, "One.", [("a", "Bash", {"n": "a"}, "one", False, MS)]), (None, "Two.", [])],
    )


def test_noise_is_left_out_and_results_in_meta_lines_are_kept() -> None:
    check(
        "claude-code",
        lines(
            {"type": "summary", "summary": "a title", "leafUuid": "x"},
            {"type": "progress", "sessionId": "s", "data": {"type": "agent_progress"}},
            claude("user", "a caveat", isMeta=True),
            claude("user", "what was said so far", isCompactSummary=True),
            claude("assistant", [use("a")]),
            claude("user", [answer("a", "one")], isMeta=True),
        )
        + '{"type":"assistant","message":{"id":"m9","conte',
        [(None, None, [("a", "Bash", {"n": "a"}, "one", False, MS)])],
    )


def test_blocks_and_an_unescaped_line_separator() -> None:
    blocks = [
        {"type": "text", "text": "before\u2028after"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
    ]
    text = json.dumps(claude("assistant", [use("a")])) + "\n"
    text += json.dumps(claude("user", [answer("a", blocks)]), ensure_ascii=False)
    kept = [blocks[0], {"type": "image", "mimeType": "image/png", "data": "iVBO"}]
    check("claude-code", text, [(None, None, [("a", "Bash", {"n": "a"}, kept, False, MS)])])
    assert sessions_of(text)[0].calls[0].result_text == "before\u2028after"


def test_blocks_that_are_none_are_made_ones_that_the_protocol_takes() -> None:
    odd = [{"text": 5}, {"type": "text"}, {"type": "image"}, {"type": "tool_reference", "tool_name": "Grep"}]
    kept = [
        {"type": "", "text": 5},
        {"type": "text", "text": ""},
        {"type": "image", "mimeType": "", "data": ""},
        odd[3],
    ]
    text = lines(claude("assistant", [use("a")]), claude("user", [answer("a", odd)]))
    (call,) = sessions_of(text)[0].calls
    assert call.result == kept
    assert call.result_text == '\n{"text":5,"type":""}\n{"type":"tool_reference","tool_name":"Grep"}'


def test_subagents_are_sessions_of_their_own() -> None:
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
    starts = [session.start for session in sessions_of(text) if session.start]
    assert [(start.session_id, start.parent_id) for start in starts] == [("s", None), ("s/a7", "s")]


def test_a_subagents_own_file_names_its_parent() -> None:
    (session,) = sessions_of(lines(claude("user", "Sub", isSidechain=True, agentId="a7")))
    assert session.start is not None
    assert (session.session_id, session.start.parent_id) == ("s/a7", "s")


def test_a_compact_boundary() -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "sessionId": "s", "timestamp": "2026-01-01T00:00:02Z"}
    found = events_of(lines(claude("user", "Go"), boundary | {"compactMetadata": {"preTokens": 167731}}))
    assert [each for each in found if isinstance(each, Compaction)] == [Compaction("s", MS + 500, 167731)]


@pytest.mark.parametrize(
    "title",
    [
        {"type": "summary", "summary": "A title", "leafUuid": "x"},
        {"type": "ai-title", "sessionId": "s", "aiTitle": "A title"},
        {"type": "custom-title", "sessionId": "s", "customTitle": "A title"},
    ],
    ids=lambda title: str(title["type"]),
)
def test_what_the_first_lines_say_of_the_session(title: dict[str, str]) -> None:
    (session,) = sessions_of(
        lines(
            title,
            claude("user", "Go", cwd="/w"),
            claude("assistant", [{"type": "thinking", "thinking": "Hm."}]) | {"isApiErrorMessage": True},
        )
    )
    start = session.start
    assert start is not None
    assert (start.title, start.cwd, start.started) == ("A title", "/w", MS)
    assert [(turn.thinking, turn.failed, turn.user_timestamp) for turn in session.turns] == [("Hm.", True, MS)]
