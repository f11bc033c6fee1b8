"""Which words of a line are refs, and which only look like some."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.editor.finding import AROUND, begun_before, find_refs, ref_at


def check(line: str, *refs: str) -> None:
    assert [span.ref for span in find_refs(line)] == list(refs)
    for span in find_refs(line):
        assert line[span.start : span.end] == span.ref


def test_refs_stand_alone() -> None:
    check("t12", "t12")
    check("see t12.", "t12")
    check("`t12`, (t13) [t14] {b1} <b2>", "t12", "t13", "t14", "b1", "b2")
    check("**t12** and 't1' \"t2\" t3's", "t12", "t1", "t2", "t3")
    check("t12: ok; t13, t14! t15?", "t12", "t13", "t14", "t15")
    check("見t12を、t13。", "t12", "t13")
    check("t1\u2026t3", "t1", "t3")


def test_refs_may_be_joined() -> None:
    check("t1..t4", "t1", "t4")
    check("t1-t3, t1\u2013t3", "t1", "t3", "t1", "t3")
    check("t1/t2/b3 + t4+t5", "t1", "t2", "b3", "t4", "t5")
    check("t1..t4.", "t1", "t4")


def test_parts_of_words_are_none() -> None:
    check("at12 t12a _t12 t12_ T12 B3 naït1 t1ß")
    check("cafe\u0301t12 t12\u0301 t1\u00b2 t1\u0662")
    check("t0 t012 t t- b")
    check("t1234567890123456789")


def test_other_peoples_numbers_are_none() -> None:
    check("#t12 $t12 @t12 %t12 &t12 ~t12 ^t12 +t12 =t12")
    check("\\t12 \\b3")
    check("/t12 src/t12 src/t12.py t12.py t12/x x.t12 t12.5")
    check("--t12 -t12 foo-t12 t12-rc foo-t1-t3")
    check("t12() t12[0] t12=3 t12% t12$ t12@host t12#L4")
    check("t12:30 tag:t12 https://host/t12?x https://host?t12 https://host/?t12&x t12?x=1")
    check("t1..t4.py", "t1")


@pytest.mark.parametrize("index", range(4, 8))
def test_a_place_in_or_right_behind_a_ref_is_its(index: int) -> None:
    span = ref_at("see t12 here", index)
    assert span is not None
    assert (span.ref, span.start, span.end) == ("t12", 4, 7)


@pytest.mark.parametrize("index", [0, 3, 8, 100])
def test_any_other_place_is_none(index: int) -> None:
    assert ref_at("see t12 here", index) is None


@given(st.text("t1b9 .-/x#\u6f22", max_size=3 * AROUND), st.integers(0, 3 * AROUND))
def test_a_part_of_a_line_is_enough_to_see_what_stands_at_a_place(line: str, index: int) -> None:
    at = ref_at(line, index)
    if at is not None and len(line) <= AROUND:
        assert at in list(find_refs(line))
    if len(line) <= AROUND and index <= len(line):
        whole = [span for span in find_refs(line) if span.start <= index <= span.end]
        assert (at in whole) if whole else at is None


def test_what_is_typed_of_a_ref() -> None:
    def begun(line: str) -> str | None:
        return begun_before(line, len(line))

    assert begun("t") == "t"
    assert begun("see (b1") == "b1"
    assert begun("`t12") == "t12"
    assert begun_before("t123", 2) == "t1"
    assert [begun(line) for line in ("", "12", "at1", "-t1", "t0", "\\t", "t1 ")] == [None] * 7
