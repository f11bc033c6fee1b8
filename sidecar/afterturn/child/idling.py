"""Ending a child that nobody has asked anything for a while."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

from afterturn.clock import Clock


class Idling:
    """Counts who uses the child.

    idle_seconds: asked for each time. stop: ends the child, if there is one. started: waits for a start under way,
    which is no idle time.
    """

    def __init__(
        self,
        clock: Clock,
        idle_seconds: Callable[[], float],
        stop: Callable[[], Awaitable[None]],
        started: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._stop = stop
        self._started = started
        self._busy = 0
        self._closed = False
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def in_use(self) -> Generator[None, None, None]:
        """For as long as this holds, the child stays; after the last one it has the idle time left."""
        self._busy += 1
        self._cancel()
        try:
            yield
        finally:
            self._busy -= 1
            if self._busy == 0 and not self._closed:
                self._task = asyncio.create_task(self._wait())

    def close(self) -> None:
        """Stop no child any more."""
        self._closed = True
        self._cancel()

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _wait(self) -> None:
        if self._started is not None:
            await self._started()
        await self._clock.sleep(self._idle_seconds())
        await self._stop()
