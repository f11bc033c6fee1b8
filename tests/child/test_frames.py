"""Frames of a child's pipe, in whatever pieces they arrive."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.child.frames import Frames, framed


@pytest.mark.parametrize(
    ("body", "expected"),
    [(b"", b"\0\0\0\0"), (b"ab", b"\0\0\0\2ab"), (b"x" * 258, b"\0\0\1\2" + b"x" * 258)],
    ids=["empty", "two bytes", "the highest byte first"],
)
def test_a_frame(body: bytes, expected: bytes) -> None:
    assert framed(body) == expected


@given(st.lists(st.binary(max_size=40), max_size=6), st.lists(st.integers(0, 300), max_size=8))
def test_bodies_come_back_whole_and_in_order(bodies: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(map(framed, bodies))
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    frames = Frames()
    found = [body for start, end in pairwise(places) for body in frames.feed(stream[start:end])]
    assert found == bodies
