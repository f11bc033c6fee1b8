"""Events of a server, given to whoever waits for them."""

from collections.abc import Callable
from typing import Any

from afterturn.replay.server import Server

QUIET_SECONDS = 2.0
"""After so long without an event the server is asked whether there is anything to wait for."""


class Arrivals:
    """One connection and the handlers of its events. What nobody handles is passed over."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._handlers: dict[str, Callable[[Any], None]] = {}

    def handle(self, method: str, handler: Callable[[Any], None]) -> None:
        """Who is to be given the params of an event."""
        self._handlers[method] = handler

    def take(self, seconds: float = 0.0) -> bool:
        """Handle the oldest event; whether one came in time."""
        event = self.server.event(seconds)
        if event is None:
            return False
        handler = self._handlers.get(event[0])
        if handler is not None:
            handler(event[1])
        return True

    def until(self, done: Callable[[], bool], queue: str) -> bool:
        """Wait until `done`; False where the server has nothing left in that queue of its status and it is not."""
        while not done():
            if self.take(QUIET_SECONDS):
                continue
            idle = self.server.ask("afterturn/status", {})["queue"][queue] == 0
            while self.take():
                pass
            if idle:
                return done()
        return True
