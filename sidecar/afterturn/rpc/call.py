"""What a handler is given beside its params: one request or notification while it is being worked on."""

from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from afterturn.rpc.order import Ticket

if TYPE_CHECKING:
    from anyio import CancelScope


class Outbound(Struct):
    """How a call reaches the client: events, progress and what has to follow its answer."""

    notify: Callable[[str, Any], None]
    defer: Callable[[Callable[[], None]], None]


class Call(Struct, eq=False):
    """One request (or notification, whose `id` is None) from arrival to answer."""

    out: Outbound
    id: int | str | None
    method: str
    token: int | str | None = None
    ticket: Ticket | None = None
    scope: "CancelScope | None" = None
    answered: bool = False
    _after: list[Callable[[], None]] | None = None

    def arrived(self) -> None:
        """Say that the request's effect stands, so that the session's next message may take effect."""
        if self.ticket is not None:
            self.ticket.done()

    def report(self, message: str, percentage: int | None = None) -> None:
        """Tell how far the request is, where the client asked for it with a `workDoneToken`."""
        if self.token is not None and not self.answered:
            value: dict[str, Any] = {"kind": "report", "message": message}
            if percentage is not None:
                value["percentage"] = percentage
            self.out.notify("$/progress", {"token": self.token, "value": value})

    def after_reply(self, effect: Callable[[], None]) -> None:
        """Run `effect` once the answer is on its way: an event follows the answer of what caused it."""
        if self.answered:
            self.out.defer(effect)
        elif self._after is None:
            self._after = [effect]
        else:
            self._after.append(effect)

    def replied(self) -> None:
        """The answer is on its way (or there will be none): run what has to follow it."""
        self.answered = True
        if self._after is not None:
            effects, self._after = self._after, None
            for effect in effects:
                self.out.defer(effect)


current_call: ContextVar[Call | None] = ContextVar("current_call", default=None)
"""The call that a task works for; None for one that no message asked for. For what has to follow its answer."""

Handler = Callable[[Any, Call], "Any | Coroutine[Any, Any, Any]"]
"""Takes the method's params; returns the result, or a coroutine that is then run as a task of its own."""
