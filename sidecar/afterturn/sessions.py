"""The sessions of one client, as far as the process has to remember them (protocol.md, 'session')."""

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Protocol

from msgspec import Struct

from afterturn.clock import Clock
from afterturn_protocol.session import (
    DeletedCounts,
    SessionChangedParams,
    SessionDeleteResult,
    SessionOpenParams,
    SessionOpenResult,
)

AfterReply = Callable[[Callable[[], None]], None]
"""Runs what it is given once the answer is on its way."""


class Erased(Protocol):
    """How much went with a session."""

    @property
    def results(self) -> int: ...
    @property
    def traces(self) -> int: ...
    @property
    def recaps(self) -> int: ...


class SessionStore(Protocol):
    """What is needed of the store: see `afterturn.condense.ports.Sessions`."""

    async def open(self, session_id: str, *, project: str | None, parent_session_id: str | None, now_ms: int) -> bool:
        """Make the session known; whether it was known before."""
        ...

    async def erase(self, session_id: str, *, now_ms: int) -> Erased:
        """Erase all of the session; how much that was."""
        ...


class Recaps(Protocol):
    """What is told of a session: see `afterturn.recap.service.RecapService`."""

    def opened(self, params: SessionOpenParams, after_reply: AfterReply) -> None:
        """It is opened, or opened again. Raises InvalidInputError for a context that is none."""
        ...

    def changed(self, params: SessionChangedParams, after_reply: AfterReply) -> None:
        """Something happened in it."""
        ...

    def closed(self, session_id: str) -> None:
        """It is closed, or about to be erased."""
        ...


TRUSTED_SECONDS = 1.0
"""For so long what the store said of a session is repeated: another process may have erased the session since."""


class _Opened(Struct, frozen=True):
    """With what a session was opened last, what opening it so again is answered, and until when (monotonic s)."""

    project: str | None
    parent_session_id: str | None
    again: SessionOpenResult
    until: float


class Sessions:
    """Opens and forgets sessions. What was opened on this connection a moment ago is answered from memory.

    `resume` takes up what an earlier process had begun in a session and not finished. `recaps`: who is to hear of a
    session, if anybody is; it is called with whether the message at hand is for recaps. `erasing`: entered while a
    session is erased, which may end jobs.
    """

    def __init__(
        self,
        store: Callable[[], SessionStore],
        resume: Callable[[str, AfterReply], Awaitable[None]],
        clock: Clock,
        recaps: Callable[[bool], Recaps | None] = lambda wanted: None,
        erasing: Callable[[], AbstractAsyncContextManager[object]] = nullcontext,
    ) -> None:
        self._store = store
        self._resume = resume
        self._clock = clock
        self._recaps = recaps
        self._erasing = erasing
        self._opened: dict[str, _Opened] = {}

    def open(
        self, params: SessionOpenParams, after_reply: AfterReply
    ) -> SessionOpenResult | Coroutine[Any, Any, SessionOpenResult]:
        """Open a session, or open it again. Raises InvalidInputError for a context that is none, StoreError."""
        for_recaps = params.model is not None or params.context is not None or params.saved_recap is not None
        recaps = self._recaps(for_recaps)
        if recaps is not None:
            recaps.opened(params, after_reply)
        opened = self._opened.get(params.session_id)
        if (
            opened
            and opened.project == params.project
            and opened.parent_session_id == params.parent_session_id
            and self._clock.monotonic() < opened.until
        ):
            return opened.again
        return self._open_in_store(params, after_reply)

    async def _open_in_store(self, params: SessionOpenParams, after_reply: AfterReply) -> SessionOpenResult:
        session_id = params.session_id
        known = await self._store().open(
            session_id,
            project=params.project,
            parent_session_id=params.parent_session_id,
            now_ms=self._clock.now_ms(),
        )
        if known and session_id not in self._opened:
            await self._resume(session_id, after_reply)
        again = SessionOpenResult(session_id=session_id, known=True)
        until = self._clock.monotonic() + TRUSTED_SECONDS
        self._opened[session_id] = _Opened(params.project, params.parent_session_id, again, until)
        return SessionOpenResult(session_id=session_id, known=known)

    def changed(self, params: SessionChangedParams, after_reply: AfterReply) -> None:
        """Something happened in the session. The archive does not depend on it; recaps do."""
        recaps = self._recaps(params.model is not None)
        if recaps is not None:
            recaps.changed(params, after_reply)

    def close(self, session_id: str) -> None:
        """The host is done with the session; nothing is erased."""
        self._opened.pop(session_id, None)
        recaps = self._recaps(False)
        if recaps is not None:
            recaps.closed(session_id)

    async def delete(self, session_id: str) -> SessionDeleteResult:
        """Erase the session, archive included. Raises StoreError."""
        self.close(session_id)
        async with self._erasing():
            erased = await self._store().erase(session_id, now_ms=self._clock.now_ms())
        return SessionDeleteResult(
            deleted=DeletedCounts(results=erased.results, traces=erased.traces, recaps=erased.recaps)
        )
