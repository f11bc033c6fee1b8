"""A child as its parent sees it: a process and two pipes of its own with frames on them."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from afterturn.child.frames import Frames, framed


class Child:
    """One run of a child. Everything happens in the event loop; nothing here blocks it.

    Descriptors 0, 1 and 2 of the child are the null device: what it prints can neither fill a pipe nor show a secret.
    It is in a process group of its own, so that Ctrl-C in a terminal reaches the parent alone, which then ends it.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, on_body: Callable[[bytes], None], on_gone: Callable[[str], None]
    ) -> None:
        """on_body: gets every message of the child. on_gone: called once, with what became of it."""
        self._loop = loop
        self._on_body = on_body
        self._on_gone = on_gone
        self._frames = Frames()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: asyncio.WriteTransport | None = None
        self._replies: asyncio.ReadTransport | None = None
        self._gone: asyncio.Future[int] | None = None
        self.why = ""
        """Why it was killed; empty if it was not."""
        self.stopping = False
        """Whether `stop` ends it."""

    @property
    def alive(self) -> bool:
        """Whether it can be asked something: it runs, and nobody has killed it."""
        return self._process is not None and self._gone is None and not self.why

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def start(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        """Start it. The command gets three more words: its pipes for reading and writing, and our process id.

        Raises OSError.
        """
        requests_out, requests_in = os.pipe()
        replies_out, replies_in = os.pipe()
        ours = (os.fdopen(requests_in, "wb", buffering=0), os.fdopen(replies_out, "rb", buffering=0))
        try:
            # Not in a thread: the kernel would end the child with the thread that started it.
            self._process = subprocess.Popen(  # noqa: ASYNC220
                [*command, str(requests_out), str(replies_in), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(requests_out, replies_in),
                process_group=0,
                env=dict(environ),
            )
        except BaseException:
            for each in ours:
                each.close()
            raise
        finally:
            os.close(requests_out)
            os.close(replies_in)
        await self._connect(*ours)

    async def _connect(self, requests: IO[bytes], replies: IO[bytes]) -> None:
        try:
            self._requests, _ = await self._loop.connect_write_pipe(asyncio.BaseProtocol, requests)
        except BaseException:
            replies.close()
            raise
        self._replies, _ = await self._loop.connect_read_pipe(lambda: _Replies(self._received, self._ended), replies)

    def send(self, body: bytes) -> None:
        """Send a message; nothing happens where the child is gone."""
        if self._requests is not None and not self._requests.is_closing():
            self._requests.write(framed(body))

    def _received(self, data: bytes) -> None:
        for body in self._frames.feed(data):
            self._on_body(body)

    # -- the end

    def kill(self, why: str) -> None:
        """End it. why: what `on_gone` will be told."""
        self.why = self.why or why
        if self._process is not None and self._gone is None:
            self._process.kill()

    def _ended(self) -> None:
        """The child has closed its pipe: it is gone, or soon is."""
        if self._gone is not None or self._process is None:
            return
        self._process.kill()
        self._gone = asyncio.ensure_future(asyncio.to_thread(self._process.wait))
        self._gone.add_done_callback(self._reaped)
        if self._requests is not None and not self._requests.is_closing():
            self._requests.abort()

    def _reaped(self, gone: asyncio.Future[int]) -> None:
        self._on_gone(self.why or _exit_reason(gone.result() if not gone.cancelled() else None))

    async def stop(self) -> None:
        """Kill it and return when it is gone: a child has nothing to save."""
        self.stopping = True
        self.kill("was stopped")
        if self._replies is not None:
            self._replies.close()
        self._ended()
        if self._gone is not None:
            await asyncio.wait([self._gone])


class _Replies(asyncio.Protocol):
    """The child's pipe, read."""

    def __init__(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_data = on_data
        self._on_end = on_end

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()


def _exit_reason(code: int | None) -> str:
    if code is None:
        return "ended"
    return f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
