"""What stands in place of a result (condense.md, 'Replacements' and 'Big results')."""

import pytest

from afterturn.condense.gates import empty_reason, is_oversized, is_trivial
from afterturn.condense.replacements import (
    digest_replacement,
    duplicate_replacement,
    preview,
    shorter,
    spill_replacement,
)


@pytest.mark.parametrize(
    ("bullets", "expected"),
    [
        (["- a"], "- `t3` a\n[full output: recall t3]"),
        (["- a", "- b\n  more"], "- `t3` a\n- b\n  more\n[full output: recall t3]"),
        (["* a"], "* `t3` a\n[full output: recall t3]"),
        (["a"], "`t3` a\n[full output: recall t3]"),
        (["  - a"], "  - `t3` a\n[full output: recall t3]"),
    ],
)
def test_digest(bullets: list[str], expected: str) -> None:
    assert digest_replacement(bullets, "t3", "recall") == expected


def test_a_duplicate_points_to_the_first_and_names_its_own_ref() -> None:
    text = duplicate_replacement("t9", "t3", "recall")
    assert text == "- `t9` same output as `t3`\n[full output: recall t9]"


def test_a_spill_shows_head_size_and_ref() -> None:
    text = spill_replacement("one\ntwo\nthree", 70_000, "t4", 9, "recall")
    assert text == "- `t4` 70000 chars of output, of which this is the head\n[full output: recall t4]\none\ntwo"


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("abc", 10, "abc"),
        ("ab\ncd", 4, "ab"),
        ("ab\ncd", 3, "ab"),
        ("abcdef", 4, "abcd"),
        ("\u6f22\u6f22\u6f22", 4, "\u6f22"),
        ("\u6f22\u6f22", 6, "\u6f22\u6f22"),
        ("\n\n\nabc", 4, ""),
        ("abc", 0, ""),
        ("", 5, ""),
    ],
)
def test_preview(text: str, limit: int, expected: str) -> None:
    assert preview(text, limit) == expected


@pytest.mark.parametrize(("chars", "expected"), [(4, "abc"), (3, None), (0, None)])
def test_only_what_is_shorter_replaces(chars: int, expected: str | None) -> None:
    assert shorter("abc", chars) == expected


@pytest.mark.parametrize(
    ("chars", "minimum", "expected"), [(999, 1000, True), (1000, 1000, False), (0, 0, False), (0, 1, True)]
)
def test_trivial(chars: int, minimum: int, expected: bool) -> None:
    assert is_trivial(chars, minimum) is expected


@pytest.mark.parametrize(
    ("summary", "kept", "expected"),
    [
        (100, [(100, 50)], False),
        (101, [(100, 50)], True),
        (10, [(100, 100)], True),
        (10, [(100, None)], True),
        (10, [(100, None), (50, 49)], False),
        (10, [(100, None), (50, None)], True),
        (0, [], True),
    ],
)
def test_oversized(summary: int, kept: list[tuple[int, int | None]], expected: bool) -> None:
    assert is_oversized(summary, kept) is expected


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], "empty"),
        (["incomplete"], "empty"),
        (["incomplete", "protected"], "protected"),
        (["recovered"], "protected"),
        (["protected", "duplicate"], "deduplicated"),
    ],
)
def test_why_nothing_is_left(states: list[str], expected: str) -> None:
    assert empty_reason(states) == expected
