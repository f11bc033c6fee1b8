"""The chart for terminals: which sizes fall into which column, and what is drawn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.replay.chart import bars, buckets, column_of
from afterturn.replay.figures import Point

Sizes = list[tuple[int, int]]


def laid_out(sizes: Sizes, columns: int) -> Sizes:
    points = [Point(turn, 0, before, after) for turn, (before, after) in enumerate(sizes)]
    return buckets(points, len(points), columns)


@pytest.mark.parametrize(
    ("sizes", "columns", "expected"),
    [
        ([], 10, []),
        ([(5, 1)], 0, []),
        ([(5, 1), (6, 2)], 2, [(5, 1), (6, 2)]),
        ([(5, 1), (6, 2)], 3, [(5, 1), (6, 2)]),
        ([(5, 1), (6, 2)], 4, [(5, 1), (5, 1), (6, 2), (6, 2)]),
        ([(5, 1)], 100, [(5, 1)] * 4),
        ([(5, 1), (6, 2), (1, 1), (9, 3)], 2, [(6, 2), (9, 3)]),
        ([(5, 1), (6, 2), (1, 1)], 2, [(6, 2), (1, 1)]),
    ],
    ids=["none", "no room", "one each", "a rest is left", "two each", "at most four each", "peaks", "three in two"],
)
def test_buckets(sizes: Sizes, columns: int, expected: Sizes) -> None:
    assert laid_out(sizes, columns) == expected


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), min_size=1, max_size=300), st.integers(1, 120))
def test_buckets_fit_and_keep_the_peak(sizes: Sizes, columns: int) -> None:
    found = laid_out(sizes, columns)
    assert 1 <= len(found) <= columns
    assert max(before for before, _ in found) == max(before for before, _ in sizes)
    assert max(after for _, after in found) == max(after for _, after in sizes)


@given(st.integers(1, 500), st.integers(1, 120))
def test_a_turn_stands_above_its_own_mark(count: int, columns: int) -> None:
    for place in {0, count // 2, count - 1}:
        sizes = [(9, 9) if each == place else (1, 1) for each in range(count)]
        assert laid_out(sizes, columns)[column_of(place, count, columns)] == (9, 9)


@pytest.mark.parametrize(
    ("peaks", "rows", "expected"),
    [
        ([], 4, []),
        ([(0, 0)], 4, []),
        ([(4, 4)], 2, ["█", "█"]),
        ([(4, 2)], 2, ["░", "█"]),
        ([(4, 2), (2, 2)], 2, ["░ ", "██"]),
        ([(4, 3)], 2, ["▄", "█"]),
        ([(100, 1)], 2, ["░", "▁"]),
        ([(4, 0)], 2, ["░", "░"]),
        ([(100, 100), (1, 0)], 2, ["█ ", "█ "]),
    ],
    ids=["none", "nothing", "same", "half", "two", "a half row", "a little is seen", "all gone", "too little"],
)
def test_bars(peaks: Sizes, rows: int, expected: list[str]) -> None:
    assert bars(peaks, rows) == expected


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=80), st.integers(1, 12))
def test_bars_are_a_rectangle(peaks: Sizes, rows: int) -> None:
    lines = bars(peaks, rows)
    assert len(lines) in (0, rows)
    assert {len(line) for line in lines} <= {len(peaks)}
