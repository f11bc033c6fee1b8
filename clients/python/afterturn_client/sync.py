"""The blocking twin of `afterturn_client`: the same client in an event loop on a thread of its own.

    from afterturn_client.sync import Afterturn

    with Afterturn.start() as client:
        result = client.condense.summarize(SummarizeParams(...))

Any number of threads may use one client. Callbacks (`on`, `on_progress`) are called on the client's own thread: they
must not block, and must not call the client; a listener may be read wherever blocking is allowed.
"""

import atexit
import os
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, ExitStack
from threading import Thread
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

import anyio
from anyio.from_thread import BlockingPortal

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
            return self._next(self._listener.soonest)
        except NotOpen:
            raise StopIteration from None

    def next(self, timeout_ms: int = 60_000) -> E:
        """The next event. Raises TimedOut, and what ended the connection."""
        return self._next(lambda: self._listener.next(timeout_ms))

    def _next(self, wait: Callable[[], Awaitable[E]]) -> E:
        """What had come is still given when the client's loop has ended."""
        try:
            return self._wait(wait)
        except NotOpen as ended:
            try:
                return self._listener.at_hand()
            except IndexError:
                raise ended from None


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
        self._pid = os.getpid()

    start = staticmethod(_twin(AsyncAfterturn.start))
    in_process = staticmethod(_twin(AsyncAfterturn.in_process))

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            portal = _portal(stack)
            running: AbstractContextManager[AsyncAfterturn] = portal.wrap_async_context_manager(self._client)
            stack.enter_context(running)
            self._portal = portal
            self._pid = os.getpid()
            self._stack = stack.pop_all()
        # One that is never left ends in order all the same: its thread would just stop with the interpreter.
        atexit.register(self.__exit__)
        return self

    def __exit__(self, *problem: object) -> None:
        atexit.unregister(self.__exit__)
        if not self._in_a_fork():
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
        if self._in_a_fork():
            raise NotOpen("the client belongs to the process that this one was forked from: make another one")
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

    def _in_a_fork(self) -> bool:
        """Only the thread that forked lives on there: whoever waits for the client's own would do so for ever."""
        return os.getpid() != self._pid


def _portal(stack: ExitStack) -> BlockingPortal:
    """An event loop on a thread of its own, ended by `stack`.

    Not anyio's `start_blocking_portal`: a generator, which also ends the thread where it is thrown away, in a process
    forked from this one too, which has no such thread.
    """

    async def serve() -> None:
        async with BlockingPortal() as portal:
            opened.set_result(portal)
            await portal.sleep_until_stopped()

    def stop(problem: type[BaseException] | None, *more: object) -> None:
        portal.call(portal.stop, problem is not None)

    def run() -> None:
        try:
            anyio.run(serve)
        except BaseException as problem:
            if opened.done():
                raise
            opened.set_exception(problem)  # no loop could be made; who waits for it would do so for ever

    opened: Future[BlockingPortal] = Future()
    thread = Thread(target=run, name="afterturn client", daemon=True)
    thread.start()
    portal = opened.result()
    stack.callback(thread.join)
    stack.push(stop)
    return portal


def _soon(work: Callable[[], T]) -> Callable[[], Awaitable[T]]:
    async def run() -> T:
        return work()

    return run
