"""The model worker as the server sees it: a process, two pipes, and the calls in flight."""

import asyncio
from collections.abc import Callable, Mapping

from msgspec import DecodeError
from msgspec.msgpack import Encoder

from afterturn.child.process import Child
from afterturn.models.provider import ProviderFailure
from afterturn.models.worker.messages import (
    Alive,
    Broken,
    Call,
    Cancel,
    Embed,
    Embedded,
    Ended,
    Failed,
    FromWorker,
    Ready,
    Reply,
    from_worker_decoder,
)

YIELD_SECONDS = 1.0
"""So long a cancelled call may take to end before the whole worker is killed."""


class _Waiting:
    """A call that is with the worker."""

    __slots__ = ("answer", "on_alive")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.answer: asyncio.Future[Reply | Embedded | Failed] = loop.create_future()
        self.on_alive: Callable[[], None] = _nothing


class WorkerProcess:
    """One run of the worker. Everything happens in the event loop; nothing here blocks it.

    ready: what the worker says first; None if it ended before. on_end: called once, when it ended by itself or had
    to be killed, and not when `stop` ended it.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, on_end: Callable[[], None]) -> None:
        self._loop = loop
        self._on_end = on_end
        self._child = Child(loop, self._received, self._ended)
        self._encoder = Encoder()
        self._decoder = from_worker_decoder()
        self._waiting: dict[int, _Waiting] = {}
        self._ending: dict[int, asyncio.TimerHandle] = {}
        self._next_id = 0
        self.ready: asyncio.Future[Ready | Broken | None] = loop.create_future()

    @property
    def alive(self) -> bool:
        return self._child.alive

    @property
    def pid(self) -> int | None:
        return self._child.pid

    async def start(self, python: str, environ: Mapping[str, str]) -> None:
        """Start the process; `ready` says when it can be used. Raises OSError."""
        await self._child.start([python, "-I", "-X", "utf8", "-m", "afterturn.models.worker"], environ)

    # -- calls

    def next_id(self) -> int:
        """An id for a call."""
        self._next_id += 1
        return self._next_id

    async def call(self, call: Call, idle_seconds: float, total_seconds: float) -> Reply:
        """Make a call within its limits. Raises ProviderFailure. However it ends, the call is ended in the worker."""
        answer = await self._answer(call, idle_seconds, total_seconds)
        assert isinstance(answer, Reply)
        return answer

    async def embed(self, call: Embed, seconds: float) -> Embedded:
        """Embed within the limit, as `call`."""
        answer = await self._answer(call, seconds, seconds)
        assert isinstance(answer, Embedded)
        return answer

    async def _answer(self, call: Call | Embed, idle_seconds: float, total_seconds: float) -> Reply | Embedded:
        try:
            body = self._encoder.encode(call)
        except UnicodeEncodeError:
            detail = "the settings of this model hold characters that nothing can be sent with"
            raise ProviderFailure("unavailable", detail, called=False) from None
        waiting = self._waiting[call.id] = _Waiting(self._loop)
        self._child.send(body)
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
            self._child.send(self._encoder.encode(Cancel(id)))
            self._ending[id] = self._loop.call_later(
                YIELD_SECONDS, self._child.kill, "did not end a call when it was told to"
            )

    def _received(self, body: bytes) -> None:
        try:
            self._take(self._decoder.decode(body))
        except DecodeError:
            self._child.kill("said something that is no message")

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
            return
        if isinstance(message, Ended) or (waiting := self._waiting.pop(message.id, None)) is None:
            return
        if not waiting.answer.done():  # it is where the caller was cancelled in this very turn of the loop
            waiting.answer.set_result(message)

    # -- the end

    def _ended(self, why: str) -> None:
        for timer in self._ending.values():
            timer.cancel()
        self._ending.clear()
        waiting, self._waiting = self._waiting, {}
        for each in waiting.values():
            if not each.answer.done():
                each.answer.set_exception(ProviderFailure("crashed", f"the model worker {why}"))
        if not self.ready.done():
            self.ready.set_result(None)
        if not self._child.stopping:
            self._on_end()

    async def stop(self) -> None:
        """Kill the process and return when it is gone; calls in flight fail as crashed."""
        await self._child.stop()


def _nothing() -> None:
    pass
