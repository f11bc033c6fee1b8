"""Telling the client of jobs that ended, here or in another sidecar (protocol.md, 'Events').

A terminal event is in the store's outbox before it is sent. What ends here is sent at once; what ends elsewhere, in a
session that this client has used, is found by looking at the outbox. A client that is far behind gets both later.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace

from afterturn.capture.bell import Bell
from afterturn.capture.needs import CaptureNeeds
from afterturn.capture.ports import Scope
from afterturn.store_error import StoreError
from afterturn_protocol.capture import CaptureDone, CaptureFailed, CaptureStarted

LOOK_SECONDS = 1.0
PAGE = 50
REMEMBERED = 10_000
LATE_MS = 5_000
"""An event may be committed so long after the time it bears, while other sidecars hold the store."""
MOST_OWED = 256
"""Events kept for a client that does not read; further ones are read from the outbox again once it does."""

Ended = CaptureDone | CaptureFailed


class Relay:
    """Sends each terminal event once. It looks at the outbox from the first `start` on, which is well after the client
    first used a session: start-up is not to wait for it. It begins with what ended since then.

    dropped: called with the id of each job that ended because what it was to capture was deleted.
    others_ended: awaited soon after jobs have ended elsewhere: some here may have waited for them. Raises StoreError.
    """

    def __init__(
        self,
        needs: CaptureNeeds,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        dropped: Callable[[str], None],
        others_ended: Callable[[], Awaitable[None]],
    ) -> None:
        self._needs = needs
        self._spawn = spawn
        self._dropped = dropped
        self._others_ended = others_ended
        self._bell = Bell()
        self._started = False
        self._cursor: int | None = None
        self._newest = 0
        self._ended_elsewhere = False
        self._held = 0
        self._owed: deque[tuple[str, Any]] = deque()
        self._behind: int | None = None  # the first event that was not kept for a client that does not read
        self._seen: dict[int, None] = {}
        self._followed: dict[str, None] = {}

    def start(self) -> None:
        """Look out for what other sidecars do."""
        if not self._started:
            self._started = True
            self._spawn(self._look())

    async def ready(self) -> None:
        """From when the client first used a session on, no event of its sessions is missed. Raises StoreError.

        A few of just before then may be sent too.
        """
        if self._cursor is None:
            needs = self._needs
            used_ms = min(needs.used().values(), default=needs.clock.now_ms())
            cursor = await needs.store.outbox.before(used_ms - LATE_MS)
            self._cursor = cursor if self._cursor is None else min(cursor, self._cursor)

    @contextmanager
    def held(self) -> Generator[None]:
        """Find nothing in the outbox meanwhile: what a request ends is told after its answer."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self._bell.ring()

    def begun(self, event: CaptureStarted) -> None:
        """Tell that a job begins, unless the client does not read; such an event is not kept."""
        if len(self._owed) < MOST_OWED:
            self._owe("capture.started", event)

    def send(self, event: Ended) -> None:
        """Send the event of a job that ended, unless it was sent already."""
        seq = event.seq
        if seq is not None:
            if seq in self._seen:
                return
            if len(self._owed) >= MOST_OWED:
                self._behind = seq if self._behind is None else min(seq, self._behind)
                self.follow(session_of(event))
                return
            self.sent(seq)
        self.tell(event)

    def tell(self, event: Ended) -> None:
        """Send an event whatever was sent before."""
        if isinstance(event, CaptureFailed) and event.error.code == "deleted":
            self._dropped(event.job_id)
        self._owe(method_of(event), event)

    def replay(self, event: CaptureDone) -> None:
        """Send the event of a finished job to who asked again."""
        self.sent(event.seq)
        self._owe("capture.done", replace(event, replayed=True))

    def sent(self, seq: int) -> None:
        """The event with this place in the order was sent in another way."""
        self._seen[seq] = None
        if len(self._seen) > REMEMBERED:
            del self._seen[next(iter(self._seen))]

    def follow(self, session_id: str) -> None:
        """The client is to hear how jobs of this session end, though it has not used it: one was begun here."""
        self._followed[session_id] = None

    def _owe(self, method: str, params: Any) -> None:
        self._owed.append((method, params))
        self._pay()

    def _pay(self) -> None:
        while self._owed and not self._needs.congested():
            self._needs.emit(*self._owed.popleft())

    async def _look(self) -> None:
        needs = self._needs
        failing = False
        while True:
            mark = self._bell.mark()
            try:
                await self.ready()
                self._pay()
                newest = await needs.store.outbox.last()
                self._ended_elsewhere |= any(seq not in self._seen for seq in range(self._newest + 1, newest + 1))
                self._newest = newest
                await self._catch_up(newest)
                if self._ended_elsewhere:
                    await self._others_ended()
                    self._ended_elsewhere = False
                failing = False
            except StoreError as problem:
                if not failing:
                    needs.report(f"the outbox cannot be read for now: {problem}")
                failing = True
            except Exception as problem:  # a bug costs one look, not all that would follow
                needs.report(f"looking at the outbox failed: {type(problem).__name__}")
            await self._bell.wait(mark, needs.clock, LOOK_SECONDS)

    async def _catch_up(self, newest: int) -> None:
        outbox = self._needs.store.outbox
        if self._behind is not None and not self._owed:
            self._cursor, self._behind = min(self._cursor or 0, self._behind - 1), None
        while (cursor := self._cursor or 0) < newest and not self._owed and not self._held:
            sessions = dict.fromkeys([*self._needs.used(), *self._followed])
            page = await outbox.since(cursor, scope=Scope(session_ids=list(sessions)), limit=PAGE)
            if self._held:
                return  # what was read may be the doing of a request that has no answer yet
            # A session that comes into use meanwhile is not in this page: what is newer is left to the next look.
            for event in page.events:
                if event.seq <= newest:
                    self.send(event.params)
            if self._cursor == cursor:
                self._cursor = min(page.next, newest)


def method_of(event: Ended) -> str:
    """The name that an event is sent under."""
    return "capture.done" if isinstance(event, CaptureDone) else "capture.failed"


def session_of(event: Ended) -> str:
    """The session that an event is about."""
    return event.result.session_id if isinstance(event, CaptureDone) else event.session_id
