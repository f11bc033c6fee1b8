"""Budget triggers (condense.md, 'When to condense'; prior art cases 41 and 42)."""

import pytest

from afterturn.condense.budget import fraction_used, next_baseline, trigger


@pytest.mark.parametrize(
    ("tokens", "window", "threshold", "expected"),
    [
        (100_000, 200_000, 0.5, "budget"),
        (99_999, 200_000, 0.5, None),
        (300_000, 1_000_000, 0.8, "budget"),
        (299_999, 1_000_000, 0.8, None),
        (300_000, 300_000, 1.0, "budget"),
        (299_999, 300_000, 1.0, None),
        (200_000, 200_000, 1.0, "budget"),
        (None, 200_000, 0.1, None),
        (100_000, None, 0.1, None),
        (100_000, 0, 0.1, None),
        (0, 200_000, 0.1, None),
        (199_000, 200_000, None, None),
    ],
)
def test_level(tokens: int | None, window: int | None, threshold: float | None, expected: str | None) -> None:
    assert trigger(tokens, window, None, threshold, None) == expected


@pytest.mark.parametrize(
    ("tokens", "window", "baseline", "delta", "expected"),
    [
        (100_000, 200_000, 0.25, 0.25, "delta"),
        (99_000, 200_000, 0.25, 0.25, None),
        (70_000, 200_000, 0.1, 0.25, "delta"),
        (100_000, 200_000, None, 0.25, None),
        (None, 200_000, 0.1, 0.25, None),
        (150_000, 1_000_000, 0.25, 0.25, "delta"),
        (450_000, 1_000_000, 1.25, 0.25, "delta"),
        (100_000, 200_000, 0.25, None, None),
    ],
)
def test_growth(
    tokens: int | None, window: int | None, baseline: float | None, delta: float | None, expected: str | None
) -> None:
    assert trigger(tokens, window, baseline, None, delta) == expected


def test_the_level_is_told_before_the_growth() -> None:
    assert trigger(150_000, 200_000, 0.0, 0.5, 0.1) == "budget"


@pytest.mark.parametrize(("fraction", "baseline", "expected"), [(0.4, 0.1, 0.4), (0.1, 0.4, 0.1), (None, 0.4, 0.4)])
def test_unknown_tokens_do_not_move_the_baseline(fraction: float | None, baseline: float, expected: float) -> None:
    assert next_baseline(fraction, baseline) == expected


def test_the_fraction_is_not_clamped() -> None:
    assert fraction_used(450_000, 1_000_000) == 1.5
