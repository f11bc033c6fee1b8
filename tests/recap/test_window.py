"""recap.md, 'Input': the last 30 messages, well-formed (the cases are those of the page on prior recaps, 31 to 42)."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.recap.window import EARLIER, WINDOW, window
from afterturn_protocol.base import Message
from tests.recap.talk import call, result, said, user


def shape(messages: list[Message]) -> str:
    """One letter a message: u(ser), a(ssistant), C(alls, with their number), r(esult), e(arlier left out)."""
    letters = []
    for message in messages:
        if message.content == EARLIER:
            letters.append("e")
        elif message.tool_calls:
            letters.append(f"C{len(message.tool_calls)}")
        else:
            letters.append({"user": "u", "assistant": "a", "tool": "r"}[message.role])
    return "".join(letters)


def many(count: int) -> list[Message]:
    return [user(f"question {at}") if at % 2 == 0 else said(f"answer {at}") for at in range(count)]


def calls(count: int) -> Message:
    return said("", *(call("bash", at) for at in range(count)))


def results(count: int, start: int = 0) -> list[Message]:
    return [result(f"out {at}", at) for at in range(start, start + count)]


IMAGE = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
THINKING = {"type": "thinking", "text": "hm"}


def failed(count: int) -> list[Message]:
    return [said(f"try {at}", stop_reason="aborted") for at in range(count)]


CASES: dict[str, tuple[list[Message], str]] = {
    "nothing": ([], ""),
    "short": ([user("a"), said("b")], "ua"),
    "32 short messages are 30": (many(32), "ua" * 15),
    "led by the assistant": ([said("b"), user("c")], "eau"),
    "31 led by the assistant stay 30": ([said("x"), *many(30)], "ua" * 15),
    "30 that begin with the assistant": ([user("a"), *many(31)[1:], said("z")], "ua" * 14 + "ua"),
    "75 results in a row": ([user("a"), calls(75), *results(75)], "eC28" + "r" * 28),
    "90 results of one call": ([user("a"), calls(1), *(result("x", 0) for _ in range(90))], "uC1r"),
    "an orphan": ([user("a"), result("x", 7), said("b")], "ua"),
    "a result before its call": ([user("a"), result("x", 1), said("", call("bash", 1))], "uC1"),
    "a result whose call is outside goes": ([calls(1), user("a"), *results(1), *many(29)[1:]], "u" + "au" * 14),
    "a single leading result goes": ([calls(1), *results(1), *many(29)], "u" + "au" * 14),
    "a call without result": ([user("a"), calls(1)], "uC1"),
    "an id used twice": ([user("a"), calls(1), *results(1), calls(1), *results(1)], "uC1rC1r"),
    "omitted": ([user("a"), said("b", omitted=True), user("c")], "uu"),
    "an omitted call takes its result along": ([user("a"), said("", call("bash"), omitted=True), result("x")], "u"),
    "system and summaries": ([Message(role="system", content="s"), user("s", kind="compaction"), user("a")], "u"),
    "branch summary": ([user("s", kind="branchSummary"), user("a"), said("b")], "ua"),
    "injected messages stay": ([user("a"), user("note", kind="custom"), said("b")], "uua"),
    "empty ones go": ([user(""), user("a"), said(""), said("  \n"), user([])], "u"),
    "null content": ([user(None), said(None), user("a")], "u"),
    "only an image": ([user([IMAGE]), said("b")], "ua"),
    "only thinking": ([user("a"), said([THINKING]), said("b")], "ua"),
    "an empty failed turn stays": ([user("a"), said("", stop_reason="error")], "ua"),
    "31 failed turns after real work": ([user("a"), calls(1), *results(1), said("b"), *failed(31)], "uC1raa"),
}


@pytest.mark.parametrize("name", CASES)
def test_window(name: str) -> None:
    messages, expected = CASES[name]
    assert shape(window(messages)) == expected


def assert_well_formed(messages: list[Message], limit: int) -> None:
    assert len(messages) <= limit
    assert not messages or messages[0].role not in ("assistant", "tool")
    waiting: Counter[str] = Counter()
    for message in messages:
        assert not message.omitted
        assert message.role != "system"
        for each in message.tool_calls or ():
            waiting[each.id] += 1
        if message.role == "tool":
            assert waiting[message.tool_call_id or ""] > 0, "a result without its call, or a second one"
            waiting[message.tool_call_id or ""] -= 1


IDS = st.integers(0, 3)
MESSAGES = st.one_of(
    st.builds(
        user, st.sampled_from(["", "a", None, [IMAGE], "\ud83d"]), kind=st.sampled_from([None, "custom", "compaction"])
    ),
    st.builds(said, st.sampled_from(["", "b"]), stop_reason=st.sampled_from([None, "aborted"])),
    st.builds(lambda ids: said("", *(call("bash", each) for each in ids)), st.lists(IDS, min_size=1, max_size=4)),
    st.builds(lambda each, omitted: result("x", each, omitted=omitted), IDS, st.sampled_from([None, None, True])),
    st.just(Message(role="system", content="s")),
)


@given(st.lists(MESSAGES, max_size=60), st.integers(1, 8) | st.just(WINDOW))
def test_a_window_is_always_well_formed(messages: list[Message], limit: int) -> None:
    assert_well_formed(window(messages, limit), limit)


@given(st.lists(MESSAGES, max_size=60))
def test_a_window_of_a_window_is_the_same(messages: list[Message]) -> None:
    once = window(messages)
    assert window(once) == once


def test_the_call_that_is_pulled_in_lists_only_what_is_kept() -> None:
    shown: list[Any] = window([user("a"), calls(75), *results(75)])
    kept = [message.tool_call_id for message in shown if message.role == "tool"]
    assert [each.id for each in shown[1].tool_calls] == kept == [f"c{at}" for at in range(47, 75)]
