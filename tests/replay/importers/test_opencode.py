"""opencode's objects, events and exported documents."""

import json

import pytest

from afterturn.replay.source import Source
from tests.replay.importers.made import (
    EXAMPLES,
    MS,
    check,
    lines,
    message,
    opencode_event,
    part,
    pretty,
    sessions_of,
    tool,
)

CALL = ("c", "bash", {"command": "ls"}, "a", False, 4)


def test_objects_of_several_sessions_in_any_order_pretty_printed() -> None:
    broken = {"status": "error", "input": {}, "error": "no such file", "time": {"end": 6}}
    check(
        "opencode",
        pretty(
            {"id": "p", "worktree": "/w"},
            tool("p2", "a"),
            part("p1", "text", "m1", text="Go"),
            part("p3", "text", text="There."),
            message("m2", "assistant", 2),
            message("m1", "user", 1),
            [{"file": "a", "additions": 1}],
            part("q1", "tool", "n1", "ses_2", state=broken, callID="c", tool="bash"),
            message("n1", "assistant", 5, "ses_2"),
        ),
        [("Go", "There.", [CALL])],
        [(None, None, [("c", "bash", {}, "no such file", True, 6)])],
    )


def test_of_events_the_last_write_wins_and_deltas_add_up() -> None:
    running = {"status": "running", "input": {}}
    check(
        "opencode",
        lines(
            opencode_event("message.updated", info=message("m2", "assistant", 2)),
            opencode_event("message.part.updated", part=part("p1", "text", text="")),
            opencode_event("message.part.delta", partID="p1", field="text", delta="Hel"),
            opencode_event("message.part.delta", partID="p1", field="text", delta="lo"),
            opencode_event("message.part.delta", partID="none", field="text", delta="!"),
            opencode_event("message.part.updated", part=part("p2", "tool", state=running, callID="c", tool="bash")),
            opencode_event("message.part.updated", part=tool("p2", "a")),
            opencode_event("session.idle", sessionID="ses_1"),
        ),
        [(None, "Hello", [CALL])],
    )


def test_a_text_sent_again_drops_the_deltas_before_it() -> None:
    text = lines(
        opencode_event("message.updated", info=message("m2", "assistant", 2)),
        opencode_event("message.part.updated", part=part("p1", "text", text="")),
        opencode_event("message.part.delta", partID="p1", field="text", delta="Hel"),
        opencode_event("message.part.updated", part=part("p1", "text", text="Hello")),
    )
    check("opencode", text, [(None, "Hello", [])])


def test_all_in_one_list_on_a_line() -> None:
    made = [
        message("m2", "assistant", 2),
        part("p1", "text", text="Hel"),
        *(opencode_event("message.part.delta", partID="p1", field="text", delta=delta) for delta in ("lo", ".")),
        tool("p2", "a"),
    ]
    check("opencode", json.dumps(made), [(None, "Hello.", [CALL])])


def test_parts_of_one_list_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[int] = []

    def at(source: Source, begin: int, size: int) -> bytes:
        places.append(begin)
        return source.path.read_bytes()[begin : begin + size]

    monkeypatch.setattr(Source, "at", at)
    made = [message("m2", "assistant", 2), *(tool(f"p{number}", "a") for number in range(9))]
    check("opencode", json.dumps(made), [(None, None, [CALL] * 9)])
    assert places == [0]


def test_an_exported_document() -> None:
    check("opencode", EXAMPLES["opencode document"][1], [("Go", None, [CALL])])
    (session,) = sessions_of(EXAMPLES["opencode document"][1])
    assert session.start is not None
    assert (session.start.title, session.start.cwd, session.start.started) == ("T", "/w", MS)


def test_a_session_says_its_parent_wherever_it_stands() -> None:
    child = {"id": "ses_1", "directory": "/w", "title": "Sub", "parentID": "ses_0", "time": {"created": MS}}
    (session,) = sessions_of(lines(message("m2", "assistant", 2), tool("p", "a"), child))
    start = session.start
    assert start is not None
    assert (start.parent_id, start.title, start.cwd, start.started) == ("ses_0", "Sub", "/w", MS)


def test_an_own_summary_is_a_compaction_and_an_aborted_reply_failed() -> None:
    aborted = message("m3", "assistant", 3, error={"name": "MessageAbortedError"})
    (session,) = sessions_of(lines(message("m2", "assistant", 2, summary=True), aborted))
    assert [compaction.timestamp for compaction in session.compactions] == [2]
    assert [turn.failed for turn in session.turns] == [True]


def test_a_part_without_its_message_is_counted() -> None:
    (session,) = sessions_of(lines(message("m1", "assistant", 1), tool("p", "a", message="gone")))
    assert session.skipped == {"a part of a message that is not in the file": 1}


@pytest.mark.parametrize("indent", [None, 2])
def test_several_objects_on_one_line(indent: int | None) -> None:
    made = [message("m2", "assistant", 2), tool("p2", "a")]
    check("opencode", "".join(json.dumps(each, indent=indent) for each in made), [(None, None, [CALL])])
