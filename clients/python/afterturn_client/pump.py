"""Carries messages between a link and a connection, and ends both in order.

One task writes, so that a caller that is cancelled never tears a message apart; one reads; one waits for the end.
"""

from collections import deque

import anyio

from afterturn.wire.framing import ContentLengthFraming, Fault
from afterturn_client.connection import Connection
from afterturn_client.errors import AfterturnError, Broken, Exited
from afterturn_client.link import Link

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
MAX_WAITING_BYTES = 64 * 1024 * 1024
GRACE_SECONDS = 2.0
"""How long each step of the end may take before the next, harder one."""
LAST_BYTES_SECONDS = 0.5
SHOWN_BYTES = 80


class Pump:
    """One link's traffic. `send` queues a message body, `run` works until the server has ended, `close` ends it."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._framing = ContentLengthFraming(MAX_MESSAGE_BYTES)
        self._queue: deque[bytes] = deque()
        self._queued = anyio.Event()
        self._waiting_bytes = 0
        self._sealed = False
        self._closing = False
        self._heard = False
        self._ended = anyio.Event()

    def send(self, body: bytes) -> None:
        """Queue one message."""
        self.send_bytes(self._framing.wrap(body))

    def send_bytes(self, data: bytes) -> None:
        """Queue bytes as they are."""
        self._queue.append(data)
        self._waiting_bytes += len(data)
        self._queued.set()

    def congested(self) -> bool:
        """Whether more waits than should be kept for a server that does not read."""
        return self._waiting_bytes > MAX_WAITING_BYTES

    def seal(self) -> None:
        """Let the server read an end of file behind what is queued."""
        self._sealed = True
        self._queued.set()

    async def run(self, connection: Connection) -> None:
        """Work until the server has ended, and tell `connection` how. Raises nothing of its own."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write)
                stderr_done = anyio.Event()
                tasks.start_soon(self._drain, stderr_done)
                problem = await self._read_to_the_end(connection)
                code = await self._exit_code()
                with anyio.move_on_after(LAST_BYTES_SECONDS):
                    await stderr_done.wait()
                if self._closing:
                    connection.close()
                else:
                    connection.end(problem or Exited(code, self._link.last_words))
                tasks.cancel_scope.cancel()
        finally:
            self._ended.set()

    async def close(self, connection: Connection) -> None:
        """shutdown, exit, end of input; then SIGTERM, then SIGKILL, with two seconds in between."""
        self._closing = True
        connection.farewell()
        self.seal()
        for harder in (lambda: None, self._link.terminate, self._link.kill):
            harder()
            with anyio.move_on_after(GRACE_SECONDS):
                await self._ended.wait()
                break
        connection.close()

    async def _write(self) -> None:
        try:
            while True:
                if self._queue:
                    data = b"".join(self._queue)
                    self._queue.clear()
                    await self._link.send(data)
                    self._waiting_bytes -= len(data)
                elif self._sealed:
                    await self._link.end_input()
                    return
                else:
                    self._queued = anyio.Event()
                    await self._queued.wait()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # it reads no more; its end is the reader's to see

    async def _drain(self, done: anyio.Event) -> None:
        await self._link.drain()
        done.set()

    async def _read_to_the_end(self, connection: Connection) -> AfterturnError | None:
        """Until its output ends, or it does: something it started may hold the pipe open for ever."""
        problem: AfterturnError | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._stop_reading_after_exit, tasks.cancel_scope)
            try:
                await self._read(connection)
            except AfterturnError as broken:
                problem = broken
                self._link.kill()
            tasks.cancel_scope.cancel()
        return problem

    async def _read(self, connection: Connection) -> None:
        while data := await self._link.receive():
            for frame in self._framing.feed(data):
                if isinstance(frame, Fault):
                    # Before the first message it is the wrong program that speaks; later it may be a session's text.
                    begin = "" if self._heard else f"; it begins with {data[:SHOWN_BYTES]!r}"
                    raise Broken(f"the server wrote what is no message: {frame.message}{begin}")
                connection.receive(frame)
                self._heard = True

    async def _stop_reading_after_exit(self, reading: anyio.CancelScope) -> None:
        await self._link.wait()
        await anyio.sleep(LAST_BYTES_SECONDS)
        reading.cancel()

    async def _exit_code(self) -> int | None:
        """It is about to end: its output has. One that lives on without it is of no use."""
        for harder in (lambda: None, self._link.kill):
            harder()
            with anyio.move_on_after(GRACE_SECONDS):
                return await self._link.wait()
        return None
