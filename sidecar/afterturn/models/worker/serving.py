"""The worker's main loop: calls come in, answers go out, each call in a task of its own."""

import asyncio
import os
import threading
import time
from functools import partial
from typing import Any

from msgspec.msgpack import Encoder

from afterturn.child.frames import Frames
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
    ToWorker,
    frame,
    to_worker_decoder,
)

ALIVE_SECONDS = 0.05
READ_BYTES = 1 << 16


class Outbox:
    """The pipe to the server. Any thread may send."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._encoder = Encoder()
        self._lock = threading.Lock()

    def send(self, message: FromWorker) -> None:
        """Write one message whole. A server that is gone ends the process."""
        with self._lock:
            left = memoryview(frame(self._encoder, message))
            try:
                while left:
                    left = left[os.write(self._fd, left) :]
            except OSError:
                os._exit(0)


class Pulse:
    """Tells the server that a call's provider is not silent, at most every ALIVE_SECONDS."""

    __slots__ = ("_id", "_next", "_outbox")

    def __init__(self, id: int, outbox: Outbox) -> None:
        self._id = id
        self._outbox = outbox
        self._next = 0.0

    def __call__(self) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + ALIVE_SECONDS
            self._outbox.send(Alive(self._id))


class Serving:
    """Answers the server's messages until its pipe ends, and then ends the process at once."""

    def __init__(self, requests_fd: int, replies_fd: int) -> None:
        self._requests_fd = requests_fd
        self._outbox = Outbox(replies_fd)
        self._loop = asyncio.new_event_loop()
        self._tasks: dict[int, asyncio.Task[Reply | Embedded | Failed]] = {}
        self._litellm: Any = None

    def run(self) -> None:
        """Load litellm, say so, and serve."""
        from afterturn.models.worker.loading import Unusable, load_litellm

        # A thread of its own sees the server's end while litellm loads, and whatever blocks the loop.
        threading.Thread(target=self._read, daemon=True).start()
        try:
            self._litellm, version = load_litellm()
        except Unusable as problem:
            self._outbox.send(Broken(str(problem)))
            return
        self._outbox.send(Ready(version))
        asyncio.set_event_loop(self._loop)
        self._loop.set_exception_handler(lambda loop, context: None)  # nobody reads it, and it may hold keys
        self._loop.run_forever()

    def _read(self) -> None:
        frames = Frames()
        decoder = to_worker_decoder()
        while data := os.read(self._requests_fd, READ_BYTES):
            for body in frames.feed(data):
                self._loop.call_soon_threadsafe(self._take, decoder.decode(body))
        os._exit(0)

    def _take(self, message: ToWorker) -> None:
        if isinstance(message, Cancel):
            task = self._tasks.get(message.id)
            if task is not None:
                task.cancel()
            return
        task = self._loop.create_task(self._answer(message))
        self._tasks[message.id] = task
        task.add_done_callback(partial(self._done, message.id))

    async def _answer(self, call: Call | Embed) -> Reply | Embedded | Failed:
        from afterturn.models.worker.completing import completed
        from afterturn.models.worker.embedding import embedded

        os.environ.update(call.credentials)
        pulse = Pulse(call.id, self._outbox)
        if isinstance(call, Embed):
            return await embedded(self._litellm, call, pulse)
        return await completed(self._litellm, call, pulse)

    def _done(self, id: int, task: asyncio.Task[Reply | Embedded | Failed]) -> None:
        del self._tasks[id]
        if task.cancelled():
            self._outbox.send(Ended(id))
        elif task.exception() is not None:
            self._outbox.send(Failed(id=id, kind="malformed", message="the model worker could not read the answer"))
        else:
            self._outbox.send(task.result())
