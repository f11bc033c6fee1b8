"""What the server tells of its own accord, typed: listeners that are read, and callbacks that are called."""

import logging
from collections import deque
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any, Generic, TypeVar
from weakref import WeakSet

import anyio
from msgspec import UNSET, Struct

from afterturn_client.connection import decoded
from afterturn_client.errors import AfterturnError, Broken, NotOpen, TimedOut
from afterturn_protocol.table import EVENTS, load

log = logging.getLogger("afterturn_client")

E = TypeVar("E")

KEPT_EVENTS = 10_000
"""How many a listener keeps that is not read; the oldest go first. Captures can be read again (`events.since`)."""


class UnknownEvent(Struct, frozen=True):
    """An event of a newer server. name: as it was sent. params: as JSON gives them."""

    name: str
    params: Any


class Listener(Generic[E]):
    """Events from the moment it was made on, in order. `async for` ends when the client is closed.

    It listens for as long as somebody holds it.
    """

    def __init__(self, kinds: tuple[type[E], ...]) -> None:
        """kinds: the types it wants; none are all."""
        self._kinds = kinds
        self._kept: deque[E] = deque(maxlen=KEPT_EVENTS)
        self._changed = anyio.Event()
        self._ended: AfterturnError | None = None

    def __aiter__(self) -> "Listener[E]":
        return self

    async def __anext__(self) -> E:
        try:
            return await self.soonest()
        except NotOpen:
            raise StopAsyncIteration from None

    async def next(self, timeout_ms: int = 60_000) -> E:
        """The next event. Raises TimedOut, and what ended the connection."""
        with anyio.move_on_after(timeout_ms / 1000):
            return await self.soonest()
        raise TimedOut(" or ".join(kind.__name__ for kind in self._kinds) or "an event", timeout_ms)

    async def soonest(self) -> E:
        """The next event, however long it takes. Raises what ended the connection."""
        while not self._kept:
            if self._ended is not None:
                raise self._ended.again()
            if self._changed.is_set():  # one that others wait for stays
                self._changed = anyio.Event()
            await self._changed.wait()
        return self._kept.popleft()

    def at_hand(self) -> E:
        """The next event without waiting, on any thread. Raises IndexError where there is none."""
        return self._kept.popleft()

    def wants(self, event: Any) -> bool:
        """Whether it is one of its kinds."""
        return not self._kinds or isinstance(event, self._kinds)

    def put(self, event: E) -> None:
        """Keep one for the reader."""
        self._kept.append(event)
        self._changed.set()

    def end(self, problem: AfterturnError) -> None:
        """No more will come. What ended it first is what is told."""
        self._ended = self._ended or problem
        self._changed.set()


class Listening:
    """All listeners and callbacks of one client."""

    def __init__(self) -> None:
        self._listeners: WeakSet[Listener[Any]] = WeakSet()
        self._callbacks: list[tuple[type[Any], Callable[[Any], None]]] = []
        self._ended: AfterturnError | None = None

    def listen(self, kinds: tuple[type[E], ...]) -> Listener[E]:
        """A new listener. Raises TypeError for a type that no event has."""
        for kind in kinds:
            _check_event(kind)
        listener = Listener[E](kinds)
        if self._ended is not None:
            listener.end(self._ended)
        else:
            self._listeners.add(listener)
        return listener

    def on(self, kind: type[E], callback: Callable[[E], None]) -> Callable[[], None]:
        """Call `callback` with every event of a kind; returns what stops it.

        Raises TypeError for a type that no event has, and for a coroutine function, which nobody would await.
        """
        _check_event(kind)
        if iscoroutinefunction(callback):
            raise TypeError("a callback must be a plain function; with a coroutine, read a listener: client.listen(..)")
        entry = (kind, callback)
        self._callbacks.append(entry)

        def off() -> None:
            if entry in self._callbacks:
                self._callbacks.remove(entry)

        return off

    def deliver(self, name: str, params: Any) -> None:
        """An event arrived. One that does not fit its type is logged and passed over."""
        try:
            event = typed_event(name, params)
        except Broken as problem:
            log.warning("%s", problem)
            return
        for kind, callback in list(self._callbacks):
            if isinstance(event, kind):
                try:
                    callback(event)
                except Exception:
                    log.exception("a callback for %s failed", name)
        for listener in list(self._listeners):
            if listener.wants(event):
                listener.put(event)

    def end(self, problem: AfterturnError) -> None:
        """The connection has ended."""
        self._ended = self._ended or problem
        for listener in list(self._listeners):
            listener.end(problem)


def _check_event(kind: type[Any]) -> None:
    """A listener for something that is no event would wait for ever."""
    names = {event.params.partition(":")[2] for event in EVENTS.values()} | {UnknownEvent.__name__}
    if kind.__name__ not in names:
        raise TypeError(f"{kind.__name__} is no event; there are {', '.join(sorted(names))}")


def typed_event(name: str, params: Any) -> Any:
    """An event as the Struct of its name, or as UnknownEvent. Raises Broken."""
    known = EVENTS.get(name)
    if known is None:
        return UnknownEvent(name, None if params is UNSET else decoded(name, params, object))
    return decoded(name, params, load(known.params))
