"""Looking for words: what is quicker finds the same."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.condense.extract.numbering import split_numbers
from afterturn.condense.extract.words import by_first_char, holds_any

_PATTERNS = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=6)


@given(_PATTERNS, st.text("abc ", max_size=40))
def test_grouped_patterns_match_what_they_match_in_a_row(patterns: list[str], text: str) -> None:
    in_a_row = re.compile("|".join(patterns))
    grouped = re.compile(by_first_char(*patterns))
    assert [match.span() for match in grouped.finditer(text)] == [match.span() for match in in_a_row.finditer(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2 errors", ["errors"]),
        ("an error, then failures", ["error", "failures"]),
        # Of two that fit, the first one written.
        ("failed", ["fail"]),
        ("exit code 12 and 0", ["exit code 12"]),
    ],
)
def test_patterns_by_their_first_char(text: str, found: list[str]) -> None:
    pattern = re.compile(by_first_char("errors?", "fail(?:ures)?", "failed", r"exit code \d+"))
    assert pattern.findall(text) == found


@pytest.mark.parametrize(
    ("text", "parts", "holds"),
    [("no tests ran", ("ran", "x"), True), ("no tests ran", ("run",), False), ("", ("a",), False), ("a", (), False)],
)
def test_any_of_some_parts(text: str, parts: tuple[str, ...], holds: bool) -> None:
    assert holds_any(text, parts) is holds


@pytest.mark.parametrize(
    ("lines", "texts", "numbers"),
    [
        # `cat -n`, with a note of the tool at the end.
        (["     1\ta", "     2\t b", "     3\t", "", "end"], ["a", " b", "", "", "end"], ["1", "2", "3", "", ""]),
        # `12: text`: the blank belongs to the number, unless a line has none there.
        (["9: a", "10:  b", "11:"], ["a", " b", ""], ["9", "10", "11"]),
        (["9: a", "10:b"], [" a", "b"], ["9", "10"]),
        # A number without a mark is a text.
        (["1|a", "2|b", "3|c", "44"], ["a", "b", "c", "44"], ["1", "2", "3", ""]),
        # They do not rise; too few lines have one; one of eight has none.
        (["2|a", "1|b"], ["2|a", "1|b"], None),
        (["1|a", "b", "c", "4|d"], ["1|a", "b", "c", "4|d"], None),
        (["1|a", "x", *[f"{n}|" for n in range(2, 8)]], ["a", "x", *[""] * 6], ["1", "", *"234567"]),
    ],
)
def test_numbers_before_lines(lines: list[str], texts: list[str], numbers: list[str] | None) -> None:
    found = split_numbers(lines)
    assert (found.texts, found.numbers) == (texts, numbers)
