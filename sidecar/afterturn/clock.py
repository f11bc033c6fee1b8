"""Time, as it is handed to everything that needs it, so that tests can decide what time it is."""

import time
from typing import Protocol


class Clock(Protocol):
    """Wall and monotonic time, and waiting."""

    def now_ms(self) -> int:
        """Epoch milliseconds. May jump; fit for what is stored or sent."""
        ...

    def monotonic(self) -> float:
        """Seconds that only grow, from an arbitrary start; fit for measuring durations."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return once `seconds` have passed. Can be cancelled."""
        ...


class SystemClock:
    """The real time."""

    __slots__ = ()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        import anyio

        await anyio.sleep(seconds)
