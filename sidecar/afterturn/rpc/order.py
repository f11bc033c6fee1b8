"""Messages of one session take effect in the order of arrival (protocol.md, 'Lifecycle').

Each request of a session takes a ticket when it arrives, waits until the ticket before it is done, and gives
its own back as soon as its effect stands - which may be long before its answer, when a model is called.
"""

import asyncio


class Ticket:
    """One place in a session's line."""

    __slots__ = ("_before", "_line", "_mine", "_session_id")

    def __init__(self, line: "SessionOrder", session_id: str, before: "asyncio.Future[None] | None") -> None:
        self._line = line
        self._session_id = session_id
        self._before = before
        self._mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def future(self) -> "asyncio.Future[None]":
        """Done when this place is given back."""
        return self._mine

    async def turn(self) -> None:
        """Wait until every earlier ticket of the session is done."""
        if self._before is not None and not self._before.done():
            # Shielded: cancelling one who waits must not cancel the one it waits for.
            await asyncio.shield(self._before)
        self._before = None

    def done(self) -> None:
        """Let the next one go. A ticket may be given back more than once, and before its turn came."""
        if self._mine.done():
            return
        if self._before is not None and not self._before.done():
            # It left the line while waiting: the next one still has to wait for those before.
            self._before.add_done_callback(lambda _: self._finish())
        else:
            self._finish()

    def _finish(self) -> None:
        if not self._mine.done():
            self._mine.set_result(None)
            self._line.left(self._session_id, self)


class SessionOrder:
    """The lines of all sessions. A session in which nothing waits takes no memory.

    `lines` has the last ticket of each session in which somebody waits, so that the next one has to wait too.
    """

    def __init__(self) -> None:
        self.lines: dict[str, Ticket] = {}

    def enter(self, session_id: str) -> Ticket:
        """Take the next place."""
        last = self.lines.get(session_id)
        ticket = Ticket(self, session_id, last.future if last else None)
        self.lines[session_id] = ticket
        return ticket

    def left(self, session_id: str, ticket: Ticket) -> None:
        """Forget the session when its last ticket is done."""
        if self.lines.get(session_id) is ticket:
            del self.lines[session_id]
