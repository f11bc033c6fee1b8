"""One timer for all sessions of the process: a heap of deadlines, and one task that waits for the first."""

from collections.abc import Callable, Coroutine
from heapq import heapify, heappop, heappush
from typing import Any

from anyio import CancelScope

from afterturn.clock import Clock

LONGEST_WAIT_SECONDS = 30.0
"""A machine that slept does not count the time; so the wall clock is looked at again after this long at most."""

_SPARE = 64


class Timers:
    """Calls `fire(name)` once `now_ms` has reached the deadline of a name. No deadline, no task.

    A deadline may be noticed late, never early: who is called looks at the clock itself.
    """

    def __init__(
        self, clock: Clock, spawn: Callable[[Coroutine[Any, Any, None]], None], fire: Callable[[str], None]
    ) -> None:
        self._clock = clock
        self._spawn = spawn
        self._fire = fire
        self._deadlines: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []
        self._running = False
        self._waiting: CancelScope | None = None
        self._waits_until = 0

    def set(self, name: str, deadline_ms: int | None) -> None:
        """Replace the deadline of a name; None takes it away."""
        if deadline_ms is None:
            self._deadlines.pop(name, None)
            return
        if self._deadlines.get(name) == deadline_ms:
            return
        self._deadlines[name] = deadline_ms
        heappush(self._heap, (deadline_ms, name))
        if len(self._heap) > 2 * len(self._deadlines) + _SPARE:
            self._heap = [(at, each) for each, at in self._deadlines.items()]
            heapify(self._heap)
        if not self._running:
            self._running = True
            self._spawn(self._run())
        elif deadline_ms < self._waits_until:
            self._look_again()

    def check(self) -> None:
        """Somebody is awake: whatever is due is not to wait for the task's own turn."""
        if self._heap and self._heap[0][0] <= self._clock.now_ms():
            self._look_again()

    def _look_again(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()

    async def _run(self) -> None:
        looked_at = self._clock.now_ms()
        try:
            while (first := self._first()) is not None:
                now = self._clock.now_ms()
                if now < looked_at:
                    self._fire_all()
                    looked_at = now
                    continue
                looked_at, wait_ms = now, first - now
                if wait_ms <= 0:
                    self._fire_due()
                    continue
                self._waits_until = first
                with CancelScope() as self._waiting:
                    await self._clock.sleep(min(wait_ms / 1000, LONGEST_WAIT_SECONDS))
                self._waiting = None
        finally:
            self._running = False
            self._waiting = None

    def _first(self) -> int | None:
        """The earliest deadline that still holds."""
        heap = self._heap
        while heap and self._deadlines.get(heap[0][1]) != heap[0][0]:
            heappop(heap)
        return heap[0][0] if heap else None

    def _fire_all(self) -> None:
        """The clock was set back, and every deadline with it; whoever has one says anew when it is."""
        for name in list(self._deadlines):
            self._fire(name)

    def _fire_due(self) -> None:
        now = self._clock.now_ms()
        while (first := self._first()) is not None and first <= now:
            _, name = heappop(self._heap)
            del self._deadlines[name]
            self._fire(name)
