"""What leaves when: turns in order, late results paired, and never much held."""

from typing import Any

import pytest

from afterturn.replay.importers import assembly
from afterturn.replay.importers.assembly import LATE_TURNS, Assembly, SessionAssembly
from afterturn.replay.stream import Call, Event, SessionEnd, SessionStart, Turn
from tests.replay.importers.made import MS, answer, claude, events_of, lines, use


def turns(events: list[Event]) -> list[tuple[str | None, list[str | None]]]:
    return [
        (event.assistant_text, [call.result if isinstance(call.result, str) else None for call in event.calls])
        for event in events
        if isinstance(event, Turn)
    ]


def ended(events: list[Event]) -> SessionEnd:
    (end,) = [event for event in events if isinstance(event, SessionEnd)]
    return end


def called(session: SessionAssembly, name: str) -> None:
    turn = session.turn()
    turn.assistant_text = name
    session.call(turn, Call(name, "bash"))


def answered(session: SessionAssembly, name: str) -> None:
    session.result(name, name.upper(), is_error=False, timestamp=None)


def test_a_turn_leaves_when_it_is_answered_and_a_few_have_begun_since() -> None:
    made = Assembly("pi")
    session = made.session("s")
    for number in range(LATE_TURNS):
        called(session, f"t{number}")
        answered(session, f"t{number}")
        assert list(made.ready()) == []
    called(session, "last")
    assert turns(list(made.ready())) == [("t0", ["T0"])]


def test_an_open_turn_holds_those_behind_it_and_its_late_result_is_paired() -> None:
    made = Assembly("pi")
    session = made.session("s")
    called(session, "slow")
    for number in range(100):
        called(session, f"t{number}")
        answered(session, f"t{number}")
    assert list(made.ready()) == []
    answered(session, "slow")
    events = list(made.finish())
    assert turns(events)[:2] == [("slow", ["SLOW"]), ("t0", ["T0"])]
    assert len(turns(events)) == 101
    assert ended(events).orphan_results == 0


@pytest.mark.parametrize("limit", ["turns", "bytes"])
def test_no_answer_is_awaited_for_ever_and_one_that_comes_later_is_counted(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembly, "MAX_HELD_TURNS" if limit == "turns" else "MAX_HELD_BYTES", 20)
    position = 0
    made = Assembly("pi", lambda: position)
    session = made.session("s")
    called(session, "never")
    events: list[Event] = []
    for number in range(50):
        position += 1
        called(session, f"t{number}")
        answered(session, f"t{number}")
        events += made.ready()
    assert turns(events)[0] == ("never", [None])
    answered(session, "never")
    events += made.finish()
    assert [text for text, _ in turns(events)] == ["never", *(f"t{number}" for number in range(50))]
    assert ended(events).orphan_results == 1


def test_a_reused_id_answers_its_oldest_open_call_and_a_stray_result_is_an_orphan() -> None:
    events = events_of(
        lines(
            claude("assistant", [use("a")], "m1"),
            claude("assistant", [use("a")], "m2"),
            claude("user", [answer("a", "first"), answer("a", "second"), answer("a", "third")]),
        )
    )
    assert [results for _, results in turns(events)] == [["first"], ["second"]]
    assert ended(events).orphan_results == 1


def test_an_id_is_free_again_when_its_call_has_left_unanswered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "MAX_HELD_TURNS", LATE_TURNS)
    made = Assembly("pi")
    session = made.session("s")
    called(session, "a")
    for _ in range(LATE_TURNS):
        session.turn()
    called(session, "a")
    answered(session, "a")
    assert [results for _, results in turns(list(made.finish())) if results] == [[None], ["A"]]


def test_an_unanswered_call_has_no_result() -> None:
    assert turns(events_of(lines(claude("assistant", [use("a")])))) == [(None, [None])]


def test_words_without_a_reply_are_a_last_turn_of_their_own() -> None:
    last = events_of(lines(claude("assistant", [use("a")]), claude("user", "And?"), claude("user", "Well?")))[-2]
    assert isinstance(last, Turn)
    assert (last.user_text, last.assistant_text, last.timestamp) == ("And?\n\nWell?", None, MS)


def test_words_without_a_reply_are_not_gathered_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "MAX_SAID_CHARS", 20)
    made = Assembly("pi")
    session = made.session("s")
    for number in range(9):
        session.user(f"word number {number}")
    said = [event.user_text for event in made.finish() if isinstance(event, Turn)]
    assert said == [*(f"word number {n}\n\nword number {n + 1}" for n in (0, 2, 4, 6)), "word number 8"]


def test_sessions_that_interleave_each_begin_and_end_once() -> None:
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a"}
    many: list[Any] = []
    for number in range(20):
        many += [claude("assistant", [use(f"{number}")], f"m{number}"), claude("user", [answer(f"{number}", "x")])]
        many += [claude("assistant", [use("b")], f"n{number}", **side), claude("user", [answer("b", "y")], **side)]
    events = events_of(lines(*many))
    assert sorted(event.session_id for event in events if isinstance(event, SessionStart)) == ["s", "s/a"]
    assert sorted(event.session_id for event in events if isinstance(event, SessionEnd)) == ["s", "s/a"]
    begun: set[str] = set()
    for event in events:
        if isinstance(event, SessionStart):
            begun.add(event.session_id)
        assert event.session_id in begun
