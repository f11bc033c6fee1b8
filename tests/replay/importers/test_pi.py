"""pi's entries, linear and as a tree."""

from typing import Any

import pytest

from afterturn.replay.stream import Compaction
from tests.replay.importers.made import EXAMPLES, STAMP, check, events_of, lines, pi, pi_call, sessions_of, shape

HEADER = {"type": "session", "id": "s3", "version": 3, "cwd": "/w"}


def result(entry: str, parent: str, call_id: str, text: str) -> dict[str, Any]:
    return pi("toolResult", [{"type": "text", "text": text}], entry, parent, toolCallId=call_id)


def read(text: str) -> tuple[Any, ...]:
    return ("Reading.", [("c1", "read", {"p": 1}, text, False, 7)])


def test_linear_with_a_command_of_the_user() -> None:
    bash = {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 1, "timestamp": 9}
    check(
        "pi",
        lines(
            {"type": "session", "id": "s1", "cwd": "/w"},
            pi("user", [{"type": "text", "text": "Read it"}]),
            pi("assistant", pi_call("c1")),
            pi("toolResult", [{"type": "text", "text": "body"}], toolCallId="c1", isError=True),
            {"type": "message", "message": bash},
        ),
        [
            ("Read it", "Reading.", [("c1", "read", {"p": 1}, "body", True, 7)]),
            (None, None, [("bash-9", "bashExecution", {"command": "ls"}, "a", True, 9)]),
        ],
    )


def test_a_command_that_the_user_stopped() -> None:
    bash = {"role": "bashExecution", "command": "ls", "output": "a", "cancelled": True, "timestamp": 9}
    text = lines({"type": "session", "id": "s1", "cwd": "/w"}, {"type": "message", "message": bash})
    check("pi", text, [(None, None, [("bash-9", "bashExecution", {"command": "ls"}, "a", True, 9)])])


def test_the_path_from_the_leaf_is_the_session_and_what_was_left_a_session_each() -> None:
    text = lines(
        HEADER,
        pi("user", "Go", "e1"),
        pi("assistant", pi_call("c1"), "e2", "e1"),
        result("e3", "e2", "c1", "left"),
        pi("user", "Other way", "e4", "e1"),
        pi("assistant", [{"type": "text", "text": "No."}], "e5", "e4"),
        pi("assistant", pi_call("c1"), "e6", "e1"),
        result("e7", "e6", "c1", "kept"),
        {"type": "label", "id": "e8", "parentId": "e7", "targetId": "e1", "label": "x"},
    )
    check("pi", text, [("Go", *read("kept"))], [(None, *read("left"))], [("Other way", "No.", [])])
    starts = [session.start for session in sessions_of(text) if session.start]
    assert [(start.session_id, start.parent_id) for start in starts] == [
        ("s3", None),
        ("s3/e2", "s3"),
        ("s3/e4", "s3"),
    ]


def test_an_entry_that_is_no_message_does_not_part_a_branch() -> None:
    text = lines(
        HEADER,
        pi("user", "Go", "e1"),
        pi("assistant", pi_call("c1"), "e2", "e1"),
        {"type": "thinking_level_change", "id": "e3", "parentId": "e2", "thinkingLevel": "high"},
        result("e4", "e3", "c1", "left"),
        pi("assistant", [{"type": "text", "text": "Yes."}], "e5", "e1"),
    )
    check("pi", text, [("Go", "Yes.", [])], [(None, *read("left"))])


@pytest.mark.parametrize("torn", ['{"type":"message","id":"e2', '{"type":"message","id":"e2","parentId":"e1"'])
def test_an_entry_that_cannot_be_read_does_not_cut_the_path(torn: str) -> None:
    text = lines(HEADER, pi("user", "Go", "e1")) + torn + "\n"
    text += lines(pi("assistant", [{"type": "text", "text": "On."}], "e3", "e2"))
    (session,) = sessions_of(text)
    assert shape([session]) == [[("Go", "On.", [])]]
    assert session.skipped == {"a line that is no JSON": 1}


def test_a_lone_surrogate_does_not_cut_the_path() -> None:
    text = lines(HEADER, pi("user", "\ud83d", "e1"), pi("assistant", [{"type": "text", "text": "On."}], "e2", "e1"))
    assert shape(sessions_of(text)) == [[("\ud83d", "On.", [])]]


@pytest.mark.parametrize(("reason", "failed"), [("error", True), ("aborted", True), ("stop", False), ("length", False)])
def test_failed_attempts(reason: str, failed: bool) -> None:
    (session,) = sessions_of(lines(HEADER, pi("assistant", [], "e1", None, stopReason=reason)))
    assert [turn.failed for turn in session.turns] == [failed]


def test_an_edit_that_omits_a_reply_makes_it_a_failed_one_and_other_edits_change_nothing() -> None:
    edited = {"type": "context_edit", "id": "e6", "parentId": "e5", "targetId": "e5", "replacement": {"content": "-"}}
    (session,) = sessions_of(EXAMPLES["pi v3"][1] + lines(edited | {"parentId": "e6", "id": "e7"}))[:1]
    assert [(turn.failed, turn.calls[0].result) for turn in session.turns] == [(True, "two")]


def test_images_stay_blocks() -> None:
    picture = [{"type": "image", "mimeType": "image/png", "data": "x"}]
    text = lines(HEADER, pi("assistant", pi_call("c1"), "e1"), pi("toolResult", picture, "e2", "e1", toolCallId="c1"))
    assert sessions_of(text)[0].calls[0].result == picture


def test_compactions_with_what_they_replaced() -> None:
    found = events_of(EXAMPLES["pi v1"][1])
    assert [each for each in found if isinstance(each, Compaction)] == [Compaction("s1", 1767225601500, 9)]


def test_what_the_header_says() -> None:
    change = {"type": "model_change", "id": "e1", "parentId": None, "modelId": "later"}
    named = {"type": "session_info", "id": "e2", "parentId": "e1", "name": "Title"}
    header = HEADER | {"timestamp": STAMP}
    start = sessions_of(lines(header, change, named, pi("user", "Go", "e3", "e2")))[0].start
    assert start is not None
    assert (start.cwd, start.model, start.title, start.started) == ("/w", "later", "Title", 1767225601500)
