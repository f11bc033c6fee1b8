"""What exists while a client is open: one link, its pump, its connection, the tasks that work for them."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import Any

import anyio

from afterturn_client.answering import Answering, Handlers
from afterturn_client.connection import Connection, Id, Receiver, log_stray
from afterturn_client.errors import Broken, NotOpen
from afterturn_client.link import Link
from afterturn_client.listening import Listening
from afterturn_client.pump import GRACE_SECONDS, Pump

log = logging.getLogger("afterturn_client")


class Run:
    """Made in an event loop, where it works until `finish`.

    A task of its own enters and leaves all there is to leave. So whoever uses the client may open it in one task and
    close it in another, many of them in any order, and may be cancelled wherever they are.
    """

    def __init__(
        self, link: Link, handlers: Handlers, on_event: Callable[[str, Any], None], listening: Listening
    ) -> None:
        self.link = link
        self._tasks = anyio.create_task_group()
        self._pump = Pump(link)
        self._listening = listening
        receiver = Receiver(event=on_event, question=self._asked, withdrawn=self._withdrawn, stray=log_stray)
        self.connection = Connection(self._pump.send, receiver, self._pump.congested)
        self._answering = Answering(self._tasks, self.connection, handlers)
        self._served, self._finished = anyio.Event(), anyio.Event()
        self._serving = _spawned(self._serve)
        self._finishing: Any = None

    async def finish(self) -> None:
        """End the server in order. Who is cancelled while waiting for that is so when it has ended."""
        if self._finishing is None:
            self._finishing = _spawned(self._finish)
        await _to_its_end(self._finished)

    async def _finish(self) -> None:
        try:
            self._listening.end(NotOpen("the client is closed"))
            await self._pump.close(self.connection)
            self._tasks.cancel_scope.cancel()
            await self._served.wait()  # only then does nobody watch the descriptors any more
            await self.link.release()
        finally:
            self._finished.set()

    async def _serve(self) -> None:
        """Carry messages until the server has ended. A bug here ends the connection, not the program around it."""
        try:
            await self._carry()
        finally:
            self._served.set()

    async def _carry(self) -> None:
        async with self._tasks:
            try:
                await self._pump.run(self.connection)
            except anyio.get_cancelled_exc_class():
                await self._end_alone()
                raise
            except Exception as problem:
                log.exception("the connection to afterturn failed")
                self.connection.end(Broken(f"the connection failed: {problem!r}"))
            finally:
                ended = self.connection.ended or NotOpen("the client's tasks were cancelled")
                self.connection.end(ended)
                self._listening.end(ended)
                self._tasks.cancel_scope.cancel()

    async def _end_alone(self) -> None:
        """The program cancels every task it has, and so nobody carries messages any more."""
        for end in (self.link.terminate, self.link.kill):
            end()
            with anyio.move_on_after(GRACE_SECONDS):
                await self.link.wait()
                return

    def _asked(self, id: Id, method: str, params: Any) -> None:
        self._answering.asked(id, method, params)

    def _withdrawn(self, id: Id) -> None:
        self._answering.withdrawn(id)


def _spawned(work: Callable[[], Coroutine[Any, Any, None]]) -> Any:
    """A task of nobody's, begun; what is returned is to be kept for as long as it runs."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # the other loop that anyio knows
        return import_module("trio.lowlevel").spawn_system_task(work)
    return loop.create_task(work(), name="afterturn")


async def _to_its_end(finished: anyio.Event) -> None:
    cancelled: BaseException | None = None
    with anyio.CancelScope(shield=True):
        while not finished.is_set():
            try:
                await finished.wait()
            except anyio.get_cancelled_exc_class() as problem:
                cancelled = problem
    if cancelled is not None:
        raise cancelled
