"""What exists while a client is open: one link, its pump, its connection, the tasks that work for them."""

import logging
from collections.abc import Callable
from typing import Any

import anyio
from anyio.abc import TaskGroup

from afterturn_client.answering import Answering, Handlers
from afterturn_client.connection import Connection, Id, Receiver, log_stray
from afterturn_client.errors import Broken, NotOpen
from afterturn_client.link import Link
from afterturn_client.listening import Listening
from afterturn_client.pump import Pump

log = logging.getLogger("afterturn_client")


class Run:
    """tasks: entered already; left by `finish`."""

    def __init__(
        self,
        link: Link,
        tasks: TaskGroup,
        handlers: Handlers,
        on_event: Callable[[str, Any], None],
        listening: Listening,
    ) -> None:
        self.link = link
        self._tasks = tasks
        self._pump = Pump(link)
        self._serving = anyio.CancelScope(shield=True)
        self._served = anyio.Event()
        self._listening = listening
        receiver = Receiver(event=on_event, question=self._asked, withdrawn=self._withdrawn, stray=log_stray)
        self.connection = Connection(self._pump.send, receiver, self._pump.congested)
        self._answering = Answering(tasks, self.connection, handlers)

    async def serve(self) -> None:
        """Carry messages until the server has ended. A bug here ends the connection, not the program around it.

        Shielded: where the program is cancelled, `finish` still needs the pump to end the server in order.
        """
        try:
            with self._serving:
                await self._pump.run(self.connection)
        except Exception as problem:
            log.exception("the connection to afterturn failed")
            self.connection.end(Broken(f"the connection failed: {problem!r}"))
        finally:
            self._listening.end(self.connection.ended or NotOpen("the client is closed"))
            self._served.set()

    async def finish(self) -> None:
        """End the server in order; also where whoever uses the client is being cancelled."""
        with anyio.CancelScope(shield=True):
            self._listening.end(NotOpen("the client is closed"))
            await self._pump.close(self.connection)
            self._serving.cancel()
            await self._served.wait()  # only then does nobody watch the descriptors any more
            await self.link.release()
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)

    def _asked(self, id: Id, method: str, params: Any) -> None:
        self._answering.asked(id, method, params)

    def _withdrawn(self, id: Id) -> None:
        self._answering.withdrawn(id)
