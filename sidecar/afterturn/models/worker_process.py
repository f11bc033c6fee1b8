"""The model worker as the server sees it: a process, two pipes, and the calls in flight."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Mapping
from typing import IO

from msgspec import DecodeError
from msgspec.msgpack import Encoder

from afterturn.models.provider import ProviderFailure
from afterturn.models.worker.messages import (
    Alive,
    Broken,
    Call,
    Cancel,
    Ended,
    Failed,
    Frames,
    FromWorker,
    Ready,
    Reply,
    ToWorker,
    frame,
    from_worker_decoder,
)

YIELD_SECONDS = 1.0
"""So long a cancelled call may take to end before the whole worker is killed."""


class _Waiting:
    """A call that is with the worker."""

    __slots__ = ("answer", "on_alive")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.answer: asyncio.Future[Reply | Failed] = loop.create_future()
        self.on_alive: Callable[[], None] = _nothing


class WorkerProcess:
    """One run of the worker. Everything happens in the event loop; nothing here blocks it.

    Descriptors 0, 1 and 2 of the worker are the null device: what it prints can neither fill a pipe nor show a key,
    and why it fails comes over the pipe, in our words. It is in a process group of its own, so that Ctrl-C in a
    terminal reaches the server alone, which then ends it.

    ready: what the worker says first; None if it ended before. on_end: called once, when it ended by itself or had
    to be killed, and not when `stop` ended it.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, on_end: Callable[[], None]) -> None:
        self._loop = loop
        self._on_end = on_end
        self._encoder = Encoder()
        self._decoder = from_worker_decoder()
        self._frames = Frames()
        self._waiting: dict[int, _Waiting] = {}
        self._ending: dict[int, asyncio.TimerHandle] = {}
        self._next_id = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: asyncio.WriteTransport | None = None
        self._replies: asyncio.ReadTransport | None = None
        self._gone: asyncio.Future[int] | None = None
        self._stopping = False
        self._why = ""
        self.ready: asyncio.Future[Ready | Broken | None] = loop.create_future()

    @property
    def alive(self) -> bool:
        return self._process is not None and self._gone is None and not self._stopping

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def start(self, python: str, environ: Mapping[str, str]) -> None:
        """Start the process; `ready` says when it can be used. Raises OSError."""
        requests_out, requests_in = os.pipe()
        replies_out, replies_in = os.pipe()
        ours = (os.fdopen(requests_in, "wb", buffering=0), os.fdopen(replies_out, "rb", buffering=0))
        pipes = [str(requests_out), str(replies_in), str(os.getpid())]
        try:
            # Not in a thread: the kernel would end the worker with the thread that started it.
            self._process = subprocess.Popen(  # noqa: ASYNC220
                [python, "-I", "-X", "utf8", "-m", "afterturn.models.worker", *pipes],
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

    # -- calls

    def next_id(self) -> int:
        """An id for a call."""
        self._next_id += 1
        return self._next_id

    async def call(self, call: Call, idle_seconds: float, total_seconds: float) -> Reply:
        """Make a call within its limits. Raises ProviderFailure. However it ends, the call is ended in the worker."""
        waiting = self._waiting[call.id] = _Waiting(self._loop)
        self._send(call)
        end = self._loop.time() + total_seconds
        limit = asyncio.timeout_at(min(self._loop.time() + idle_seconds, end))

        def put_off() -> None:
            if not limit.expired():
                limit.reschedule(min(self._loop.time() + idle_seconds, end))

        try:
            async with limit:
                waiting.on_alive = put_off
                answer = await waiting.answer
        except TimeoutError:
            late = self._loop.time() >= end
            what = f"took longer than {total_seconds:g} s" if late else f"sent nothing for {idle_seconds:g} s"
            raise ProviderFailure("timeout", f"{call.model}: the provider {what}") from None
        finally:
            if self._waiting.pop(call.id, None) is not None:
                self._abandon(call.id)
        if isinstance(answer, Failed):
            raise ProviderFailure(
                answer.kind,
                answer.message,
                status=answer.status,
                retry_after_ms=answer.retry_after_ms,
                called=answer.called,
            )
        return answer

    def _abandon(self, id: int) -> None:
        if self.alive:
            self._send(Cancel(id))
            self._ending[id] = self._loop.call_later(
                YIELD_SECONDS, self._kill, "did not end a call when it was told to"
            )

    def _send(self, message: ToWorker) -> None:
        if self._requests is not None and not self._requests.is_closing():
            self._requests.write(frame(self._encoder, message))

    def _received(self, data: bytes) -> None:
        try:
            for body in self._frames.feed(data):
                self._take(self._decoder.decode(body))
        except DecodeError:
            self._kill("said something that is no message")

    def _take(self, message: FromWorker) -> None:
        if isinstance(message, Ready | Broken):
            if not self.ready.done():
                self.ready.set_result(message)
            return
        if isinstance(message, Alive):
            waiting = self._waiting.get(message.id)
            if waiting is not None:
                waiting.on_alive()
            return
        timer = self._ending.pop(message.id, None)
        if timer is not None:
            timer.cancel()
        elif not isinstance(message, Ended) and (waiting := self._waiting.pop(message.id, None)) is not None:
            waiting.answer.set_result(message)

    # -- the end

    def _kill(self, why: str) -> None:
        self._why = self._why or why
        if self._process is not None and self._gone is None:
            self._process.kill()

    def _ended(self) -> None:
        """The worker has closed its pipe: it is gone, or soon is."""
        if self._gone is not None or self._process is None:
            return
        self._process.kill()
        self._gone = asyncio.ensure_future(asyncio.to_thread(self._process.wait))
        self._gone.add_done_callback(self._reaped)
        if self._requests is not None:
            self._requests.abort()

    def _reaped(self, gone: asyncio.Future[int]) -> None:
        why = self._why or _exit_reason(gone.result() if not gone.cancelled() else None)
        for timer in self._ending.values():
            timer.cancel()
        self._ending.clear()
        waiting, self._waiting = self._waiting, {}
        for each in waiting.values():
            if not each.answer.done():
                each.answer.set_exception(ProviderFailure("crashed", f"the model worker {why}"))
        if not self.ready.done():
            self.ready.set_result(None)
        if not self._stopping:
            self._on_end()

    async def stop(self) -> None:
        """Kill the process and return when it is gone; calls in flight fail as crashed. It has nothing to save."""
        self._stopping = True
        self._kill("was stopped")
        if self._replies is not None:
            self._replies.close()
        self._ended()
        if self._gone is not None:
            await asyncio.wait([self._gone])


class _Replies(asyncio.Protocol):
    """The worker's pipe, read."""

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


def _nothing() -> None:
    pass
