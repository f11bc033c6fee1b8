"""Which replies are summaries (condense.md, 'Checking a reply'; case C02; prior art case 43)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.condense.reply import UnusableReplyError, usable_reply


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [[1:read]] a", "- [[1:read]] a"),
        ("\n\n- a\n- b\n\n", "- a\n- b"),
        ("<think>hm\n- no</think>\n- a", "- a"),
        ("<think>hm</think> - a", " - a"),
        ("<thinking>x</thinking>\n<think>y</think>\n- a", "- a"),
        ("hm hm</think>\n- a", "- a"),
        ("- the tag `<think>` is parsed", "- the tag `<think>` is parsed"),
        ("- reads `</think>` too", "- reads `</think>` too"),
        ("```\n- a\n- b\n```", "- a\n- b"),
        ("```markdown\n- a\n```\n", "- a"),
        ("```md\n- a\n```sh\nx\n```\n- b\n```", "- a\n```sh\nx\n```\n- b"),
        ("~~~\n- a\n~~~", "- a"),
        ("- a\n```\nx\n```", "- a\n```\nx\n```"),
        ("```\na\n```\n- b\n```\nc\n```", "```\na\n```\n- b\n```\nc\n```"),
        ("- a\n- " + "b" * 5000, "- a\n- " + "b" * 3997 + "\u2026"),
        ("- [[1:bash]] Error: no such file", "- [[1:bash]] Error: no such file"),
        ("- Error handling is in a.py", "- Error handling is in a.py"),
        ("- I can't tell from [[1:read]] alone", "- I can't tell from [[1:read]] alone"),
    ],
)
def test_usable(text: str, expected: str) -> None:
    assert usable_reply(text, "stop") == expected


@pytest.mark.parametrize(
    ("text", "stop_reason", "reason"),
    [
        ("", "stop", "empty"),
        (" \n\t", "stop", "empty"),
        ("<think>only this</think>", "stop", "empty"),
        ("<think>never closed\n- a", "stop", "empty"),
        ("```\n```", "stop", "empty"),
        ("- a", "length", "cut"),
        ("- a", "error", "error"),
        ("- a", "aborted", "error"),
        ("Error: 503 from upstream", "stop", "error"),
        ("API error (429)", "stop", "error"),
        ('{"error": {"message": "x"}}', "stop", "error"),
        ("Internal Server Error", "stop", "error"),
        ("Rate limit reached", "stop", "error"),
        ("I'm sorry, but I can't help with that.", "stop", "refusal"),
        ("I cannot assist with this request.", "stop", "refusal"),
        ("Sorry, no.", "stop", "refusal"),
        ("As an AI I do not do that", "stop", "refusal"),
        ("I can\u2019t do that", "stop", "refusal"),
    ],
)
def test_failures(text: str, stop_reason: str, reason: str) -> None:
    with pytest.raises(UnusableReplyError) as failure:
        usable_reply(text, stop_reason)
    assert failure.value.reason == reason


@given(st.lists(st.sampled_from(["<think>", "</think>", "```", "~~~", "\n", "- a", " ", "[[1:x]]"]), max_size=30))
def test_what_is_usable_stays_usable_as_it_is(pieces: list[str]) -> None:
    try:
        body = usable_reply("".join(pieces), "stop")
    except UnusableReplyError:
        return
    assert body.strip()
