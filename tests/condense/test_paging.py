"""Pages and grep of an original (condense.md, 'resolveRef'; prior art A8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.condense.paging import grep, page


@pytest.mark.parametrize(
    ("text", "offset", "limit", "piece", "following"),
    [
        ("abc", 0, 10, "abc", None),
        ("abc", 0, 3, "abc", None),
        ("a\nb\nc", 0, 4, "a\nb\n", 4),
        ("a\nb\nc", 4, 4, "c", None),
        ("a\nbcdef", 0, 4, "a\n", 2),
        ("abcdef", 0, 4, "abcd", 4),
        ("abcdef", 4, 4, "ef", None),
        ("\nabcdef", 0, 4, "\n", 1),
        ("abcd\nef", 0, 4, "abcd", 4),
        ("abcd\nef", 0, 5, "abcd\n", 5),
        ("abc", 3, 4, "", None),
        ("abc", 9, 4, "", None),
        ("abc", -2, 2, "ab", 2),
        ("abc", 0, 0, "a", 1),
        ("", 0, 4, "", None),
    ],
)
def test_page(text: str, offset: int, limit: int, piece: str, following: int | None) -> None:
    found = page(text, offset, limit)
    assert (found.text, found.next_offset, found.total_chars) == (piece, following, len(text))


@given(st.text(alphabet="ab\n\ud83d\u6f22", max_size=60), st.integers(1, 12))
def test_pages_joined_are_the_text(text: str, limit: int) -> None:
    pieces, offset = [], 0
    while offset is not None:
        found = page(text, offset, limit)
        assert len(found.text) <= limit
        assert found.text or not text
        pieces.append(found.text)
        offset = found.next_offset
    assert "".join(pieces) == text


@pytest.mark.parametrize(
    ("text", "needle", "expected"),
    [
        ("a\nb\nc\nd\ne\nf", "d", "2-b\n3-c\n4:d\n5-e\n6-f"),
        ("x\n1\n2\n3\n4\n5\nx", "x", "1:x\n2-1\n3-2\n--\n5-4\n6-5\n7:x"),
        ("x\n1\n2\n3\nx", "x", "1:x\n2-1\n3-2\n4-3\n5:x"),
        ("x\nx", "x", "1:x\n2:x"),
        ("a.b\naxb", "a.b", "1:a.b\n2-axb"),
        ("Ab", "ab", ""),
        ("a\nb", "a\nb", ""),
        ("a\r\nb", "b", "1-a\r\n2:b"),
        ("", "a", ""),
    ],
)
def test_grep(text: str, needle: str, expected: str) -> None:
    assert grep(text, needle) == expected
