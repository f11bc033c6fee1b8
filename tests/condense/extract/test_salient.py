"""Cutting one long result to a budget (condense.md, 'What the summariser is given')."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.condense.extract import salient
from afterturn.text import clean

_MARKER = re.compile(r"\n?\[\u2026 (\d+) chars left out \u2026\]\n")
_FILLER = [f"step {number} of the build went as it should" for number in range(400)]


def _with(line: str, at: int = 200) -> str:
    return "\n".join([*_FILLER[:at], line, *_FILLER[at:]]) + "\n"


@pytest.mark.parametrize(
    "line",
    [
        "error: cannot find value `total` in this scope",
        "src/billing/invoice.py:88: AssertionError: 3 != 4",
        "FAILED tests/test_invoice.py::test_sum - AssertionError",
        "=== 2 failed, 31 passed, 1 skipped in 4.10s ===",
        "Traceback (most recent call last):",
        "ValueError: bad literal",
        "fatal: not a git repository",
        "panic: runtime error: index out of range",
    ],
)
def test_a_line_that_matters_is_kept_where_it_stood(line: str) -> None:
    kept = salient(_with(line), 1500)
    assert line in kept.split("\n")
    assert kept.startswith(_FILLER[0] + "\n")
    assert kept.endswith(_FILLER[-1] + "\n")


def test_the_same_line_is_kept_once() -> None:
    often = [line for filler in _FILLER[100:300] for line in (filler, "error: disk is full")]
    text = "\n".join([*_FILLER[:100], *often, *_FILLER[300:]]) + "\n"
    assert salient(text, 1500).count("error: disk is full") == 1


def test_a_text_in_budget_is_only_cleaned() -> None:
    assert salient("\x1b[31mred\x1b[0m\r\n", 100) == "red\n"


@pytest.mark.parametrize(
    ("text", "budget", "expected"),
    [("abcdef", 0, ""), ("abcdef", -3, ""), ("abcdef", 3, "ab\u2026"), ("\u4e2d" * 50, 10, "\u4e2d" * 9 + "\u2026")],
)
def test_a_budget_without_room_for_a_marker(text: str, budget: int, expected: str) -> None:
    assert salient(text, budget) == expected


_LINES = st.lists(
    st.sampled_from(["", "x", "error: no", "a.py:3: bad", "3 passed", "\u9519\u8bef\uff1a\u5931\u8d25", "w " * 200])
    | st.text(st.characters(), max_size=60),
    max_size=60,
).map("\n".join)


@given(_LINES, st.integers(0, 2000))
def test_it_fits_and_adds_up(text: str, budget: int) -> None:
    kept = salient(text, budget)
    assert len(kept) <= budget
    whole = clean(text)
    if "chars left out" in whole:
        return
    # What is kept is pieces of the text, and each marker says exactly how much lies between two of them. The line end
    # before a marker may be the text's own or the marker's.
    reached = {0}
    end = 0
    for marker in _MARKER.finditer(kept):
        piece = kept[end : marker.start()]
        taken = [(at, own) for at in reached for own in (piece, piece + "\n") if whole.startswith(own, at)]
        reached = {at + len(own) + int(marker[1]) for at, own in taken}
        end = marker.end()
    assert any(kept[end:] == whole[at:] for at in reached) or (end == 0 and budget < len(whole))


@pytest.mark.parametrize("unit", ["a", "[", " ", "x\n", "error: \n", '{"a":', "a/b:1 ", "\u4e2d", "(", "0"])
def test_a_million_of_anything_fits(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert len(salient(text, 4000)) <= 4000
