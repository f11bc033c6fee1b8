"""Open documents: changes against a plain string, fences against the rule of condense.md, session lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.editor.lines import LONGEST_LINE, Lines, named_session, split_lines
from afterturn.fences import OUTSIDE, fence_kind, mark_fences

PIECES = st.lists(
    st.sampled_from(["```", "~~~", "\n", "text", " ", "session: s1", "t1", "```sh", "\u2028", "\f", "# Session: s2"])
)


def text_of(lines: Lines) -> str:
    return "\n".join(lines.line(number) for number in range(len(lines)))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a", ""]),
        ("a\r\nb\rc\nd", ["a", "b", "c", "d"]),
        ("a\u2028b\x0bc\x0cd\x85e", ["a\u2028b\x0bc\x0cd\x85e"]),
    ],
)
def test_lines_end_where_lsp_says(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@given(PIECES.map("".join), PIECES.map("".join), st.data())
def test_a_change_is_what_it_is_in_a_plain_text(text: str, new: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    lines = Lines(text)
    lines.change(place(text, start), place(text, end), new)
    expected = Lines(text[:start] + new + text[end:])
    assert text_of(lines) == text_of(expected)
    assert lines.sessions() == expected.sessions()
    assert [lines.fenced(n) for n in range(len(lines))] == [expected.fenced(n) for n in range(len(expected))]


ENDS = st.lists(st.sampled_from(["\r", "\n", "\r\n", "a", "```"])).map("".join)


@given(ENDS, ENDS, st.data())
def test_ends_of_lines_are_made_and_torn_by_changes(text: str, new: str, data: st.DataObject) -> None:
    places = [n for n in range(len(text) + 1) if text[max(n - 1, 0) : n + 1] != "\r\n"]
    start, end = sorted((data.draw(st.sampled_from(places)), data.draw(st.sampled_from(places))))
    lines = Lines(text)
    lines.change(place(text, start), place(text, end), new)
    changed = text[:start] + new + text[end:]
    assert text_of(lines) == text_of(Lines(changed))
    last = (len(lines), 0)
    lines.change(last, last, "\n!")
    assert text_of(lines) == text_of(Lines(f"{changed}\n!"))


def place(text: str, index: int) -> tuple[int, int]:
    before = split_lines(text[:index])
    return len(before) - 1, len(before[-1])


def test_places_past_the_end_are_the_end() -> None:
    lines = Lines("ab\ncd")
    lines.change((0, 99), (0, 99), "!")
    lines.change((77, 0), (99, 5), "?")
    assert text_of(lines) == "ab!\ncd?"


def test_an_end_before_its_start_counts_as_the_start() -> None:
    lines = Lines("abcd")
    lines.change((0, 3), (0, 1), "x")
    assert text_of(lines) == "abcxd"


@given(PIECES.map("".join))
def test_fences_are_those_of_the_summaries(text: str) -> None:
    lines = Lines(text)
    marks = mark_fences([fence_kind(line) for line in text.split("\n")])
    assert [lines.fenced(number) for number in range(len(lines))] == [mark != OUTSIDE for mark in marks]
    window = lines.window(0, len(lines), 10**6)
    assert [number for number, _ in window] == [number for number, mark in enumerate(marks) if mark == OUTSIDE]


def test_an_opener_without_a_closer_is_no_fence() -> None:
    assert not Lines("```\nt1").fenced(1)


@pytest.mark.parametrize(
    "line",
    [
        "session: s-1",
        "Session:   s-1  ",
        "- session: `s-1`",
        "**Session:** s-1",
        "> session: 's-1'",
        "<!-- session: s-1 -->",
        "/* session: s-1 */",
        "// session: s-1",
        '# session: "s-1"',
    ],
)
def test_a_session_line_says_nothing_else(line: str) -> None:
    assert named_session(line) == "s-1"


@pytest.mark.parametrize("line", ['session: "my s 1"', "- Session: `my s 1` ", "<!-- session: 'my s 1' -->"])
def test_an_id_with_blanks_stands_in_quotes(line: str) -> None:
    assert named_session(line) == "my s 1"


@pytest.mark.parametrize(
    ("line", "session_id"),
    [
        ("session: bob's-login", "bob's-login"),
        ('session: "bob\'s login"', "bob's login"),
        ("- session: 'the \"old\" one'", 'the "old" one'),
        ("session: `'x'`", "'x'"),
    ],
)
def test_an_id_may_have_quotes_inside(line: str, session_id: str) -> None:
    assert named_session(line) == session_id


@pytest.mark.parametrize(
    "line",
    [
        "session:",
        "session: ",
        "session: two words",
        "session: 'two' words",
        'session: " a"',
        "session: ''",
        "my session: s1",
        "sessions: s1",
        "the session: s1 ended",
        '"session: s1"',
        "session: 'one' 'two'",
    ],
)
def test_prose_is_no_session_line(line: str) -> None:
    assert named_session(line) is None


def test_a_line_belongs_to_the_session_above_it_else_to_the_first_below() -> None:
    lines = Lines("t1\nsession: a\nt2\n```\nsession: no\n```\nt3\nsession: b\nt4")
    assert [lines.session(number) for number in (0, 1, 2, 6, 7, 8)] == ["a", "a", "a", "a", "b", "b"]
    assert Lines("t1").session(0) is None


def test_a_window_ends_by_lines_and_by_chars() -> None:
    lines = Lines("one\ntwo\nthree four")
    assert lines.window(1, 1, 100) == [(1, "two")]
    assert lines.window(0, 10, 4) == [(0, "one"), (1, "")]
    assert lines.window(2, 10, 8) == [(2, "three ")]
    long = Lines("word " * LONGEST_LINE)
    assert long.window(0, 1, 10**9) == [(0, "word " * (LONGEST_LINE // 5))]
