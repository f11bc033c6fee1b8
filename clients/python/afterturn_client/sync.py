"""The blocking twin of `afterturn_client`: the same client in an event loop on a thread of its own.

    from afterturn_client.sync import Afterturn

    with Afterturn.start() as client:
        result = client.condense.summarize(SummarizeParams(...))

Any number of threads may use one client. Callbacks (`on`, `on_progress`) are called on the client's own thread: they
must not block, and must not call the client; a listener may be read wherever blocking is allowed.
"""

import atexit
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

from anyio.from_thread import BlockingPortal, start_blocking_portal

from afterturn_client.client import Afterturn as AsyncAfterturn
from afterturn_client.errors import NotOpen
from afterturn_client.listening import Listener as AsyncListener
from afterturn_client.noun import OnProgress
from afterturn_client.sync_nouns import SyncNouns
from afterturn_protocol.lifecycle import InitializeResult

E = TypeVar("E")
P = ParamSpec("P")
T = TypeVar("T")


class Listener(Generic[E]):
    """As the asynchronous one; iterating blocks, and ends when the client is closed."""

    def __init__(self, listener: AsyncListener[E], wait: Callable[[Callable[[], Awaitable[E]]], E]) -> None:
        self._listener = listener
        self._wait = wait

    def __iter__(self) -> Iterator[E]:
        return self

    def __next__(self) -> E:
        try:
            return self._wait(self._listener.soonest)
        except NotOpen:
            raise StopIteration from None

    def next(self, timeout_ms: int = 60_000) -> E:
        """The next event. Raises TimedOut, and what ended the connection."""
        return self._wait(lambda: self._listener.next(timeout_ms))


def _twin(make: Callable[P, AsyncAfterturn]) -> "Callable[P, Afterturn]":
    def started(*args: P.args, **kwargs: P.kwargs) -> "Afterturn":
        return Afterturn(make(*args, **kwargs))

    started.__doc__ = make.__doc__
    return started


class Afterturn(SyncNouns):
    """A running afterturn, for code without an event loop. Made with `start` or `in_process`, as its twin."""

    def __init__(self, client: AsyncAfterturn) -> None:
        super().__init__(self)
        self._client = client
        self._portal: BlockingPortal | None = None
        self._stack = ExitStack()

    start = staticmethod(_twin(AsyncAfterturn.start))
    in_process = staticmethod(_twin(AsyncAfterturn.in_process))

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal())
            running: AbstractContextManager[AsyncAfterturn] = portal.wrap_async_context_manager(self._client)
            stack.enter_context(running)
            self._portal = portal
            self._stack = stack.pop_all()
        # One that is never left would wait for its thread for ever when the interpreter ends.
        atexit.register(self.__exit__)
        return self

    def __exit__(self, *problem: object) -> None:
        atexit.unregister(self.__exit__)
        self._stack.close()

    def call(
        self, method: str, params: Any = None, *, timeout_ms: int | None = None, on_progress: OnProgress | None = None
    ) -> Any:
        """Send any request; see the asynchronous client."""
        return self._wait(lambda: self._client.call(method, params, timeout_ms=timeout_ms, on_progress=on_progress))

    def notify(self, method: str, params: Any = None) -> None:
        """Send any notification. Raises AfterturnError where it cannot be sent."""
        self._wait(lambda: self._client.notify(method, params))

    @overload
    def listen(self) -> Listener[Any]: ...

    @overload
    def listen(self, *kinds: type[E]) -> Listener[E]: ...

    def listen(self, *kinds: type[Any]) -> Listener[Any]:
        """Events of these types from now on: `for event in client.listen(CondenseReady)`, or `.next()`."""
        return Listener(self._wait(_soon(lambda: self._client.listen(*kinds))), self._wait)

    def on(self, kind: type[E], callback: Callable[[E], None]) -> Callable[[], None]:
        """Call `callback` with every event of this type, on the client's own thread. Returns what ends it."""
        return self._client.on(kind, callback)

    @property
    def server(self) -> InitializeResult:
        """What the server said of itself when it started."""
        return self._client.server

    @property
    def last_words(self) -> str:
        """The end of what the server wrote to stderr so far."""
        return self._client.last_words

    def _wait(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run `work` in the client's loop. An interrupt here, such as Ctrl-C, cancels it there."""
        if self._portal is None:
            raise NotOpen("use the client inside of `with`")
        try:
            future = self._portal.start_task_soon(work)
        except RuntimeError as problem:
            raise NotOpen(f"the client cannot be used here: {problem}") from problem
        try:
            return future.result()
        except CancelledError:
            raise NotOpen("the client was closed meanwhile") from None
        except BaseException:
            future.cancel()
            raise


def _soon(work: Callable[[], T]) -> Callable[[], Awaitable[T]]:
    async def run() -> T:
        return work()

    return run
