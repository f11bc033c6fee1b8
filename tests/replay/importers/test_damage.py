"""Whatever became of a file: what is read is a whole stream, or one clear error."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from afterturn.replay.reading import UnreadableError
from afterturn.replay.stream import Call, Compaction, Event, SessionEnd, SessionStart, Turn
from tests.replay.importers.made import EXAMPLES, events_of, lines

NAMES = st.sampled_from(sorted(EXAMPLES))
WRONG: list[Any] = [None, True, 0, -1, 1e300, 10**30, "", "x", "\ud83d", [], [None], [[]], {}, {"type": 5}, [{"id": 1}]]


def check_whole(events: list[Event]) -> None:
    """Each session begins once before anything else of it, and ends once behind it; every field has its type."""
    open_sessions: set[str] = set()
    closed: set[str] = set()
    for event in events:
        assert isinstance(event.session_id, str)
        assert event.session_id not in closed
        if isinstance(event, SessionStart):
            assert event.session_id not in open_sessions
            open_sessions.add(event.session_id)
            for text in (event.title, event.cwd, event.model, event.parent_id):
                assert text is None or isinstance(text, str)
            assert event.started is None or isinstance(event.started, int)
            continue
        assert event.session_id in open_sessions
        if isinstance(event, SessionEnd):
            closed.add(event.session_id)
        elif isinstance(event, Turn):
            check_turn(event)
        else:
            assert isinstance(event, Compaction)
            assert event.tokens_before is None or isinstance(event.tokens_before, int)
    assert closed == open_sessions
    assert closed


def check_turn(turn: Turn) -> None:
    for text in (turn.user_text, turn.assistant_text, turn.thinking):
        assert text is None or isinstance(text, str)
    assert isinstance(turn.timestamp, int)
    assert isinstance(turn.failed, bool)
    for call in turn.calls:
        check_call(call)


def check_call(call: Call) -> None:
    assert isinstance(call.tool_call_id, str)
    assert isinstance(call.tool_name, str)
    assert call.result_timestamp is None or isinstance(call.result_timestamp, int)
    assert isinstance(call.is_error, bool)
    assert call.result is None or isinstance(call.result, str | list)
    assert isinstance(call.result_text, str | None)


def check(content: str | bytes) -> None:
    try:
        events = events_of(content)
    except UnreadableError as problem:
        assert problem.reason
    else:
        check_whole(events)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_truncation(name: str) -> None:
    raw = EXAMPLES[name][1].encode("utf-8", "surrogatepass")
    for end in range(len(raw)):
        check(raw[:end])


@given(NAMES, st.data())
def test_lines_in_any_order_some_twice_some_gone_some_broken(name: str, data: st.DataObject) -> None:
    raw = EXAMPLES[name][1].split("\n")
    noise = st.sampled_from([*raw, "{", "}", "[", "null", "5", '{"type": "assistant"', "\x00", "> ", "#### "])
    check("\n".join(data.draw(st.lists(noise, max_size=2 * len(raw)))))


@given(NAMES, st.integers(0, 10_000), st.binary(max_size=6), st.integers(0, 6))
@example("amp", 0, b"\x00", 0)
def test_bytes_changed_anywhere(name: str, at: int, new: bytes, removed: int) -> None:
    raw = EXAMPLES[name][1].encode("utf-8", "surrogatepass")
    at %= len(raw)
    check(raw[:at] + new + raw[at + removed :])


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place in a value, as what holds it and its name or index there."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield value, key
            yield from places(inner)


def decoded(text: str) -> list[Any]:
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        found.append(value)
    return found


STRUCTURED = [name for name in sorted(EXAMPLES) if name != "aider"]


@pytest.mark.parametrize("name", STRUCTURED)
def test_every_field_with_every_kind_of_wrong_value(name: str) -> None:
    original = decoded(EXAMPLES[name][1])
    for number in range(len(list(places(original)))):
        for wrong in WRONG:
            changed = copy.deepcopy(original)
            holder, key = list(places(changed))[number]
            holder[key] = copy.deepcopy(wrong)
            check(lines(*changed))


@given(st.sampled_from(STRUCTURED), st.data())
def test_several_fields_wrong_or_gone(name: str, data: st.DataObject) -> None:
    changed = decoded(EXAMPLES[name][1])
    for _ in range(data.draw(st.integers(1, 6))):
        found = list(places(changed))
        if not found:
            break
        holder, key = data.draw(st.sampled_from(found))
        if data.draw(st.booleans()):
            holder[key] = copy.deepcopy(data.draw(st.sampled_from(WRONG)))
        else:
            del holder[key]
    check(lines(*changed))


@given(st.binary(max_size=300))
def test_any_bytes(raw: bytes) -> None:
    check(raw)
