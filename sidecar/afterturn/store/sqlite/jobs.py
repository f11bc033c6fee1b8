"""Work on its way to a database thread and back: the job, and the wake-up of the event loop that waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlite3 import Connection

WRITE, READ, ALONE, STOP = "write", "read", "alone", "stop"


class Job:
    """One function to be run with a connection, and the future that gets what it returns.

    kind: WRITE runs in a transaction, with others; READ in a snapshot, on a reader; ALONE on the writer, outside of
        any transaction; STOP ends the thread that takes it.
    durable: the answer means that it is on disk.
    """

    __slots__ = ("durable", "error", "function", "future", "kind", "loop", "result")

    def __init__(self, kind: str, function: Callable[[Connection], Any], *, durable: bool = False) -> None:
        self.kind = kind
        self.function = function
        self.durable = durable
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.result: Any = None
        self.error: BaseException | None = None


class Wakeups:
    """Hands finished jobs to their event loops; what finishes before a loop has woken goes with the same wake-up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._finished: dict[asyncio.AbstractEventLoop, list[Job]] = {}

    def settle(self, jobs: Sequence[Job]) -> None:
        """Have the futures of `jobs` resolved, each in its own loop. From any thread."""
        for job in jobs:
            with self._lock:
                waiting = self._finished.get(job.loop)
                if waiting is not None:
                    waiting.append(job)
                    continue
                self._finished[job.loop] = [job]
            try:
                job.loop.call_soon_threadsafe(self._resolve, job.loop)
            except RuntimeError:  # the loop is closed: nobody waits any more
                with self._lock:
                    self._finished.pop(job.loop, None)

    def _resolve(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            jobs = self._finished.pop(loop, [])
        for job in jobs:
            if job.future.done():
                continue
            if job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.result)
