"""Opening sessions: what reaches the store, and what is answered from memory."""

import asyncio
from typing import Any

import pytest

from afterturn.misfits import InvalidInputError
from afterturn.sessions import TRUSTED_SECONDS, Sessions
from afterturn_protocol.session import DeletedCounts, SessionOpenParams, SessionOpenResult
from tests.clocks import ManualClock


class RecordingStore:
    def __init__(self) -> None:
        self.opened: list[tuple[str, str | None, str | None]] = []

    async def open(self, session_id: str, *, project: str | None, parent_session_id: str | None, now_ms: int) -> bool:
        known = any(session_id == each[0] for each in self.opened)
        self.opened.append((session_id, project, parent_session_id))
        return known

    async def erase(self, session_id: str, *, now_ms: int) -> DeletedCounts:
        return DeletedCounts(results=3, traces=2, recaps=1)


class Refusing:
    def opened(self, params: SessionOpenParams, after_reply: Any) -> None:
        raise InvalidInputError("$.context.messages[0].content[0]", "type")


class Opening:
    def __init__(self, recaps: Any = None) -> None:
        self.store = RecordingStore()
        self.resumed: list[str] = []
        self.clock = ManualClock()
        self.sessions = Sessions(lambda: self.store, self._resume, self.clock, lambda wanted: recaps)

    async def _resume(self, session_id: str, after_reply: Any) -> None:
        self.resumed.append(session_id)

    def open(self, session_id: str, **params: Any) -> SessionOpenResult:
        result = self.sessions.open(SessionOpenParams(session_id=session_id, **params), lambda effect: None)
        return result if isinstance(result, SessionOpenResult) else asyncio.run(self._finish(result))

    @staticmethod
    async def _finish(work: Any) -> SessionOpenResult:
        return await work


@pytest.mark.req("session.project")
def test_the_project_is_the_clients_word_or_none_at_all() -> None:
    opening = Opening()
    opening.open("a")
    opening.open("b", project="/some/where", parent_session_id="a")
    assert opening.store.opened == [("a", None, None), ("b", "/some/where", "a")]


def test_opening_again_asks_the_store_only_for_something_new() -> None:
    opening = Opening()
    assert opening.open("a", project="p").known is False
    assert opening.open("a", project="p").known is True
    assert len(opening.store.opened) == 1
    assert opening.open("a", project="q").known is True
    assert opening.store.opened[1:] == [("a", "q", None)]


def test_a_session_that_recaps_refuse_is_not_opened() -> None:
    opening = Opening(Refusing())
    with pytest.raises(InvalidInputError):
        opening.open("a")
    assert opening.store.opened == []


def test_what_the_store_said_is_not_trusted_for_long() -> None:
    opening = Opening()
    opening.open("a", project="p")
    opening.store.opened.clear()  # another process erased it
    assert opening.open("a", project="p").known is True
    asyncio.run(opening.clock.wait(TRUSTED_SECONDS))
    assert opening.open("a", project="p").known is False
    assert opening.store.opened == [("a", "p", None)]


def test_what_an_earlier_process_began_is_taken_up_once() -> None:
    opening = Opening()
    opening.open("a")
    opening.sessions.close("a")
    opening.open("a")
    opening.open("a")
    assert opening.resumed == ["a"]


def test_deleting_forgets_and_counts() -> None:
    opening = Opening()
    opening.open("a")
    deleted = asyncio.run(opening.sessions.delete("a")).deleted
    assert (deleted.results, deleted.traces, deleted.recaps) == (3, 2, 1)
    opening.open("a")
    assert len(opening.store.opened) == 2
