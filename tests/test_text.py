"""Cutting, cleaning and measuring text."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.text import clean, count_lines, cut, cut_at_line, cut_width, cut_words, lines_of, one_line, width

_LONE = "\ud83d"
_TEXTS = st.text(st.characters(), max_size=200)
# What terminals and screens make something of.
_SCREENS = st.text(st.sampled_from("ab \r\n\b\t\x1b\x07[];0m1?\\\x9b\u200b\ufeff\u4e2d"), max_size=60)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab\u2026"),
        ("abcd", 1, "a"),
        ("abcd", 0, ""),
        ("abcd", -1, ""),
        ("", 5, ""),
        ("\u4e2d\u6587\u5b57\u7b26", 3, "\u4e2d\u6587\u2026"),
        ("\U0001f600\U0001f600\U0001f600", 2, "\U0001f600\u2026"),
        (_LONE * 3, 2, _LONE + "\u2026"),
    ],
)
def test_cut(text: str, limit: int, expected: str) -> None:
    assert cut(text, limit) == expected


@pytest.mark.parametrize(
    ("text", "limit", "marker", "expected"),
    [
        ("abcdefgh", 6, "...", "abc..."),
        ("abcdefgh", 3, "...", "abc"),
        ("abcdefgh", 2, "...", "ab"),
        ("abcdefgh", 4, "", "abcd"),
    ],
)
def test_cut_with_another_marker(text: str, limit: int, marker: str, expected: str) -> None:
    assert cut(text, limit, marker) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 9, "one two\u2026"),
        ("one two three", 8, "one two\u2026"),
        ("one twothreefour", 14, "one twothreef\u2026"),
        ("abcdefghij", 5, "abcd\u2026"),
        ("a b", 1, "a"),
    ],
)
def test_cut_words(text: str, limit: int, expected: str) -> None:
    assert cut_words(text, limit) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("a\nbc\ndef", 20, "a\nbc\ndef"),
        ("a\nbc\ndef", 6, "a\nbc\n"),
        ("a\nbc\ndef", 5, "a\nbc\n"),
        ("a\nbc\ndef", 4, "a\n"),
        ("abcdef\n", 3, "abc"),
        ("abc", 0, ""),
        ("abc", -4, ""),
    ],
)
def test_cut_at_line(text: str, limit: int, expected: str) -> None:
    assert cut_at_line(text, limit) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\x0cc\u2028d", ["a\r", "b\x0cc\u2028d"]),
    ],
)
def test_lines(text: str, expected: list[str]) -> None:
    assert lines_of(text) == expected
    assert count_lines(text) == len(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", ""), (" a \n\t b ", "a b"), ("a\u3000b\u00a0c", "a b c"), (f"{_LONE} x", f"{_LONE} x")],
)
def test_one_line(text: str, expected: str) -> None:
    assert one_line(text) == expected


_CLEANED = {
    "nothing to do": ("a\tb\nc", "a\tb\nc"),
    "colours": ("\x1b[1;31mred\x1b[0m and \x1b[38;5;12mblue\x1b[m", "red and blue"),
    "eight-bit control sequence": ("\x9b31mred\x9b0m", "red"),
    "cursor and screen": ("\x1b[2J\x1b[1;1Htop\x1b[K\x1b[?25l", "top"),
    "title, ended by a bell": ("\x1b]0;title\x07text", "text"),
    "title, ended by a terminator": ("\x1b]0;title\x1b\\text", "text"),
    "link": ("\x1b]8;;https://a.b/c\x1b\\name\x1b]8;;\x1b\\", "name"),
    "character set": ("\x1b(Btext\x1b=", "text"),
    "device control": ("\x1bPq#0\x1b\\text", "text"),
    "escape at the end": ("text\x1b", "text"),
    "escape before a line end": ("a\x1b\nb", "a\nb"),
    "sequence that never ends": ("a\x1b]0;title\nb", "a\nb"),
    "windows line ends": ("a\r\nb\r\n", "a\nb\n"),
    "old mac line ends": ("a\rb\rc", "a\nb\nc"),
    "progress bar": ("start\n 10%\r 50%\r100%\ndone", "start\n100%\ndone"),
    "progress bar that ends in a return": ("go\n 10%\r100%\r\r\ndone", "go\n100%\ndone"),
    "overstrike": ("N\bNA\bAM\bME\bE", "NAME"),
    "backspace at the start of a line": ("a\n\bb", "a\nb"),
    "bell, null and delete": ("a\x07b\x00c\x7fd", "abcd"),
    "zero width and direction": ("a\u200bb\u202ec\u2066d\ufeffe", "abcde"),
    "joiners stay": ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),
    "chinese": ("\u4e2d\u6587\uff1a\u9519\u8bef\r\n", "\u4e2d\u6587\uff1a\u9519\u8bef\n"),
    "lone surrogate": (f"a{_LONE}\x1b[0mb", f"a{_LONE}b"),
    "no-break space": ("a\u00a0b", "a\u00a0b"),
}


@pytest.mark.parametrize(("text", "expected"), _CLEANED.values(), ids=_CLEANED)
def test_clean(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", 0),
        ("abc", 3),
        ("\u4e2d\u6587", 4),
        ("\uff21", 2),
        ("\uff71", 1),  # half-width katakana
        ("\ud55c\uae00 a", 6),
        ("e\u0301", 1),
        ("\U0001f600", 2),
        ("\u2764\ufe0f", 1),
        (_LONE, 1),
    ],
)
def test_width(text: str, columns: int) -> None:
    assert width(text) == columns


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("\u4e2d\u6587\u5b57", 6, "\u4e2d\u6587\u5b57"),
        ("\u4e2d\u6587\u5b57", 5, "\u4e2d\u6587\u2026"),
        ("\u4e2d\u6587\u5b57", 4, "\u4e2d\u2026"),
        ("a\u4e2d\u6587", 4, "a\u4e2d\u2026"),
        ("abc", 2, "a\u2026"),
        ("abc", 0, ""),
    ],
)
def test_cut_width(text: str, columns: int, expected: str) -> None:
    assert cut_width(text, columns) == expected


@pytest.mark.parametrize("shorten", [cut, cut_words], ids=["cut", "cut_words"])
@given(text=_TEXTS, limit=st.integers(-2, 220), marker=st.sampled_from(["\u2026", "...", "", " [cut]"]))
def test_a_cut_fits_and_begins_as_its_text(
    shorten: Callable[[str, int, str], str], text: str, limit: int, marker: str
) -> None:
    short = shorten(text, limit, marker)
    assert len(short) <= max(limit, 0)
    assert short == text if len(text) <= limit else text.startswith(short.removesuffix(marker))


@given(_TEXTS, st.integers(-2, 220))
def test_a_cut_at_a_line_is_a_head(text: str, limit: int) -> None:
    head = cut_at_line(text, limit)
    assert text.startswith(head)
    assert len(head) <= max(limit, 0) or head == text
    assert head or not text or limit < 1


@given(_TEXTS, st.integers(0, 60))
def test_a_cut_fits_its_columns(text: str, columns: int) -> None:
    assert width(cut_width(text, columns)) <= columns


@given(st.text(st.sampled_from("ab\n\r\x0c\u2028"), max_size=30))
def test_lines_put_together_are_the_text(text: str) -> None:
    lines = lines_of(text)
    assert "\n".join(lines) + ("\n" if text.endswith("\n") else "") == text
    assert count_lines(text) == len(lines)


@given(_SCREENS | _TEXTS)
def test_a_clean_text_holds_nothing_that_acts(text: str) -> None:
    assert not set(clean(text)) & set("\x1b\x9b\r\b\x07\x00\u200b\u202e\ufeff")


@given(_TEXTS)
def test_cleaning_leaves_printable_text_alone(text: str) -> None:
    printable = "".join(char for char in text if char.isprintable() or char in "\n\t")
    assert clean(printable) == printable


@given(_TEXTS)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize("unit", ["\x1b", "\x1b[", "\x1b]", "\x1bP", "\x9b", "\r", "\b", "a\b", "\x1b[1", "\x00", " "])
def test_a_million_of_anything_is_cleaned(unit: str) -> None:
    left = clean("x\n" + unit * (1_000_000 // len(unit)) + "\ny")
    assert left.startswith("x\n")
    assert left.endswith("\ny")
