"""Columns in the three encodings against what the encodings themselves say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.editor.units import UTF8, UTF16, UTF32, column_of, index_of

ENCODINGS = {UTF8: ("utf-8", 1), UTF16: ("utf-16-le", 2), UTF32: ("utf-32-le", 4)}
LINE = "a\u00e9\u6f22\U0001f680z"


@pytest.mark.parametrize(
    ("encoding", "columns"),
    [(UTF8, [0, 1, 3, 6, 10, 11]), (UTF16, [0, 1, 2, 3, 5, 6]), (UTF32, [0, 1, 2, 3, 4, 5])],
)
def test_columns_of_a_line(encoding: str, columns: list[int]) -> None:
    assert [column_of(LINE, index, encoding) for index in range(6)] == columns
    assert [index_of(LINE, column, encoding) for column in columns] == list(range(6))


def test_a_column_inside_a_char_is_its_start() -> None:
    assert [index_of(LINE, column, UTF8) for column in (2, 4, 5, 7, 8, 9)] == [1, 2, 2, 3, 3, 3]
    assert index_of(LINE, 4, UTF16) == 3


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_column_past_the_end_is_the_end(encoding: str) -> None:
    assert index_of(LINE, 1000, encoding) == len(LINE)
    assert index_of("abc", 2**31 - 1, encoding) == 3


@given(st.text(), st.sampled_from(sorted(ENCODINGS)), st.data())
def test_both_ways_agree_with_the_codecs(line: str, encoding: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(line)))
    codec, size = ENCODINGS[encoding]
    column = len(line[:index].encode(codec)) // size
    assert column_of(line, index, encoding) == column
    assert index_of(line, column, encoding) == index


def test_lone_surrogates_are_a_unit_each() -> None:
    assert column_of("\ud83dx", 2, UTF16) == 2
    assert index_of("\ud83dx", 1, UTF16) == 1
