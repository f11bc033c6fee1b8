"""When a person was away."""

import pytest

from afterturn.replay.gaps import absence, asked_at, last_sign
from afterturn.replay.stream import Call, Turn

S = 1000


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (0, 90 * S, None),
        (0, 90 * S + 1, 90 * S + 1),
        (10, 5, None),
        (None, 500 * S, None),
        (5, None, None),
    ],
    ids=["just there", "a moment longer", "times out of order", "no time before", "no time after"],
)
def test_absence(before: int | None, after: int | None, expected: int | None) -> None:
    assert absence(before, after, 90 * S) == expected


@pytest.mark.parametrize(
    ("turn", "asked", "over"),
    [
        (Turn("s"), None, None),
        (Turn("s", timestamp=5), 5, 5),
        (Turn("s", user_timestamp=3, timestamp=5), 3, 5),
        (Turn("s", timestamp=5, calls=[Call("c", "t", result="", result_timestamp=9)]), 5, 9),
        (Turn("s", timestamp=5, calls=[Call("c", "t")]), 5, 5),
    ],
    ids=["no time", "reply only", "user first", "a result is later", "an unanswered call"],
)
def test_times_of_a_turn(turn: Turn, asked: int | None, over: int | None) -> None:
    assert (asked_at(turn), last_sign(turn)) == (asked, over)
