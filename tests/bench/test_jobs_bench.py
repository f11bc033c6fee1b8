"""The bench of recap, alpha and search judges rightly, and its queries mean episodes that there are."""

import pytest

from bench.quality.alpha import KINDS, Graded, situations
from bench.quality.batches import sessions
from bench.quality.search import episodes_of, queries

USABLE = (True, True, True, False)


@pytest.mark.parametrize(
    ("alphas", "usable", "calls", "ordered", "valid"),
    [
        ((0.7, 0.4, 0.1, 0.0), USABLE, 3, True, True),
        ((0.7, 0.0, 0.0, 0.0), (True, False, False, False), 3, True, True),
        ((0.7, 0.4, 0.4, 0.0), USABLE, 3, False, True),
        ((0.4, 0.7, 0.1, 0.0), USABLE, 3, False, True),
        ((0.0, 0.0, 0.0, 0.0), (False,) * 4, 3, False, True),
        ((0.7, 0.4, 0.1, 0.0), (True, True, False, False), 3, True, False),
        ((1.7, 0.4, 0.1, 0.0), USABLE, 3, True, False),
        ((0.7, 0.4, 0.1, 0.0), USABLE, 4, True, False),
    ],
)
def test_grades(alphas: tuple[float, ...], usable: tuple[bool, ...], calls: int, ordered: bool, valid: bool) -> None:
    graded = Graded(alphas, usable, calls)
    assert (graded.ordered, graded.valid) == (ordered, valid)


def test_situations_are_whole() -> None:
    for each in situations():
        assert list(each["reflections"]) == list(KINDS)
        assert list(each["replies"]) == list(KINDS[:3])


def test_queries_mean_episodes_that_there_are() -> None:
    asked = queries()
    assert len({each[:3] for each in asked}) == len(asked) == 100
    counts = {(each.file, each.number): len(episodes_of(each.session_id, each.session)) for each in sessions()}
    if counts:  # the transcripts are beside the checkout
        assert [each for each in asked if each.episode >= counts[each.file, each.session]] == []
