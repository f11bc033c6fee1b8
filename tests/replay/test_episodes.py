"""Episodes: where they begin and end, and what they are called."""

import pytest

from afterturn.replay import episodes
from afterturn.replay.episodes import LONGEST_RESULT, MOST_CHARS, Episodes
from afterturn.replay.stream import Call, Turn
from afterturn_protocol.capture import Episode


def asked(text: str, at: int | None = None) -> Turn:
    return Turn("s", user_text=text, user_timestamp=at, assistant_text="sure", timestamp=at or 0)


def worked(*names: str) -> Turn:
    return Turn("s", calls=[Call(name, name, {"n": 1}, "done") for name in names])


def made(*turns: Turn, depth: int = 0) -> list[Episode]:
    collecting = Episodes("s", depth)
    return [*(episode for turn in turns for episode in collecting.add(turn)), *collecting.close()]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([], []),
        ([asked("a")], ["UA"]),
        ([asked("a"), worked("x", "y"), asked("b")], ["UAATT", "UA"]),
        ([worked("x"), worked("y")], ["ATAT"]),
        ([worked("x"), asked("b")], ["AT", "UA"]),
        ([Turn("s", user_text="hello?")], []),
        ([asked("a"), Turn("s", user_text="hello?")], ["UA"]),
        ([Turn("s")], []),
    ],
    ids=[
        "none",
        "one",
        "a request ends the one before",
        "no request",
        "work before any request",
        "never answered",
        "the last one not answered",
        "empty",
    ],
)
def test_where_they_begin_and_end(turns: list[Turn], expected: list[str]) -> None:
    letters = {"user": "U", "assistant": "A", "tool": "T"}
    assert ["".join(letters[turn.role] for turn in episode.turns) for episode in made(*turns)] == expected


def test_ids_are_of_the_request_and_its_time() -> None:
    first, again = asked("do it", 1), asked("do it", 2)
    ids = [episode.id for episode in made(first, again, asked("more", 3))]
    assert len(set(ids)) == 3
    assert [episode.id for episode in made(first, worked("x"), again)] == ids[:2], "a session that has grown"
    assert [episode.id for episode in made(again)] == ids[1:2], "another place"


def test_the_same_request_without_times_is_counted() -> None:
    ids = [episode.id for episode in made(asked("go on"), asked("go on"), asked("go on"))]
    assert len(set(ids)) == 3
    assert ids == [episode.id for episode in made(asked("go on"), asked("go on"), asked("go on"))]


def test_a_very_long_one_goes_in_parts() -> None:
    big = Turn(
        "s", calls=[Call(f"c{n}", "read", None, "x" * LONGEST_RESULT) for n in range(MOST_CHARS // LONGEST_RESULT)]
    )
    parts = made(asked("read all"), big, big, worked("last"))
    assert [part.id.partition("/")[2] for part in parts] == ["", "2"]
    assert {part.turns[0].content for part in parts} == {"read all"}
    assert sum(turn.role == "tool" for part in parts for turn in part.turns) == 2 * MOST_CHARS // LONGEST_RESULT + 1


def test_a_huge_result_keeps_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episodes, "LONGEST_RESULT", 10)
    (episode,) = made(Turn("s", calls=[Call("c", "read", None, "abcde" + "." * 90 + "vwxyz")]))
    meta = episode.turns[1].meta
    assert meta is not None
    assert meta.output == "abcde\n[... 90 characters ...]\nvwxyz"


def test_what_a_tool_turn_says() -> None:
    call = Call("c1", "bash", {"command": "ls"}, "no", is_error=True, result_timestamp=9)
    (episode,) = made(Turn("s", thinking="hm", timestamp=5, calls=[call, Call("c2", "read")]))
    assistant, failed, unanswered = episode.turns
    assert assistant.meta is not None
    assert assistant.meta.agent_thinking == "hm"
    assert failed.meta is not None
    assert (failed.meta.name, failed.meta.output, failed.meta.error_code) == ("bash", "no", "error")
    assert (failed.meta.started_at, failed.meta.ended_at, failed.ts) == (5, 9, 9)
    assert unanswered.meta is not None
    assert (unanswered.meta.output, unanswered.meta.error_code) == (None, None)
    assert (episode.started_at, episode.ended_at) == (5, 9)


def test_sub_agents_say_so() -> None:
    (main,), (sub,) = made(asked("a")), made(asked("a"), depth=2)
    assert main.meta is None
    assert sub.meta is not None
    assert (sub.meta.depth, sub.meta.is_subagent) == (2, True)
