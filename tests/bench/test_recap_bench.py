"""The recap bench on conversations small enough to judge by hand."""

import pytest

from afterturn_protocol.base import Message
from bench.recap.made import breaks, problems
from tests.recap.talk import built, ran, said, user, wrote

ASK = user("Make the colors of the page green")
TALK = [ASK, *wrote("a.css"), *ran("npm test", "3 passed", 2), said("Look.")]


def test_gaps_of_more_than_two_minutes_and_the_end() -> None:
    stamps = [None, 1000, 121_000, 241_001, 241_002]
    assert breaks([user("a", timestamp=stamp) for stamp in stamps]) == [3, 5]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Task: Make the colors of the page green.", []),
        ("Task: Make the colors green. Since then: 2 steps, wrote a.css. Last test run: 3 passed.", []),
        ("", ["empty"]),
        ("Task: something else.", ["task not named"]),
        ("Task: colors of the page. " + "x" * 400, ["426 chars"]),
        ("Task: colors of the page. Last test run: 4 passed.", ["no such result: 4 passed."]),
        ("Task: colors of the page. Since then: 1 step, wrote b.css.", ["no such file: b.css"]),
        ("Task: colors of the page. It said: It is merged.", ["claims: It is merged."]),
    ],
)
def test_problems(text: str, wrong: list[str]) -> None:
    talk: list[Message] = TALK
    assert problems(talk, text, built(*talk).evidence) == wrong
