"""Numbers as people read them."""

import pytest

from afterturn.replay.numbers import lasted, percent, plural, short, tokens


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (1_249, "1.2k"),
        (9_940, "9.9k"),
        (9_960, "10k"),
        (34_499, "34k"),
        (999_400, "999k"),
        (999_600, "1M"),
        (5_610_000, "5.6M"),
        (2_000_000_000, "2G"),
        (1_234_000_000_000, "1234G"),
    ],
)
def test_short(number: int, said: str) -> None:
    assert short(number) == said


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [(0, 0, "-"), (0, 9, "0 %"), (1, 1000, "<1 %"), (1, 100, "1 %"), (199, 1000, "20 %"), (9, 9, "100 %")],
)
def test_percent(part: int, whole: int, said: str) -> None:
    assert percent(part, whole) == said


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (0, "0 ms"),
        (499, "499 ms"),
        (1_000, "1 s"),
        (59_400, "59 s"),
        (60_000, "1 min"),
        (271_000, "4 min 31 s"),
        (3_600_000, "1 h"),
        (3_661_000, "1 h 1 min"),
        (3_605_000, "1 h"),
        (90_000_000, "1 d 1 h"),
    ],
)
def test_lasted(ms: int, said: str) -> None:
    assert lasted(ms) == said


@pytest.mark.parametrize(("chars", "about"), [(0, 0), (1, 0), (400, 100), (36_955, 9_239)])
def test_tokens(chars: int, about: int) -> None:
    assert tokens(chars) == about


@pytest.mark.parametrize(("count", "said"), [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (1_234, "1,234 turns")])
def test_plural(count: int, said: str) -> None:
    assert plural(count, "turn") == said


def test_plural_of_another_kind() -> None:
    assert plural(2, "summary", "summaries") == "2 summaries"
