"""Waiting for time to pass or for somebody to ring."""

import anyio

from afterturn.clock import Clock


class Bell:
    """Wakes everybody who waits. `mark` before looking for work: a ring since then is heard by `wait`."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event = anyio.Event()

    def ring(self) -> None:
        """There may be something to do."""
        self._event.set()

    def mark(self) -> anyio.Event:
        """What `wait` is given: from now on no ring is missed."""
        if self._event.is_set():
            self._event = anyio.Event()
        return self._event

    async def wait(self, mark: anyio.Event, clock: Clock, seconds: float) -> None:
        """Return at the first ring since `mark`, at the latest after `seconds`."""
        async with anyio.create_task_group() as waiting:
            waiting.start_soon(_ring, mark, waiting.cancel_scope)
            await clock.sleep(seconds)
            waiting.cancel_scope.cancel()


async def _ring(mark: anyio.Event, scope: anyio.CancelScope) -> None:
    await mark.wait()
    scope.cancel()
