"""Time for tests: it moves when it is told to."""

import asyncio

START = 1_700_000_000_000
ROUNDS = 60
"""Turns of the event loop after which nothing moves that waits for no thread and no file."""


class ManualClock:
    """Wall and monotonic time; `leap` moves the wall alone, as a machine that sleeps does, or somebody who sets it."""

    def __init__(self) -> None:
        self.ms = START
        self.ticks = 0
        self._sleepers: list[tuple[int, asyncio.Future[None]]] = []

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ticks / 1000

    async def sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.ticks + max(1, round(seconds * 1000)), woken))
        await woken

    @property
    def sleeping(self) -> int:
        return sum(not woken.done() for _, woken in self._sleepers)

    def leap(self, seconds: float) -> None:
        self.ms += round(seconds * 1000)

    async def wait(self, seconds: float) -> None:
        """Let time pass, and everybody wake who is to wake on the way."""
        until = self.ticks + round(seconds * 1000)
        while True:
            await settle()
            self._sleepers = [each for each in self._sleepers if not each[1].done()]
            due, woken = min(self._sleepers, default=(until + 1, None), key=lambda each: each[0])
            moved = min(due, until)
            self.ms += moved - self.ticks
            self.ticks = moved
            if woken is None or due > until:
                return
            woken.set_result(None)


async def settle() -> None:
    for _ in range(ROUNDS):
        await asyncio.sleep(0)


class SteppedClock:
    """Time that moves in steps; sleepers wake then. slept: what was slept for, in order."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.slept: list[float] = []
        self._changed = asyncio.Event()

    def now_ms(self) -> int:
        return int(self.seconds * 1000)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        end = self.seconds + seconds
        while self.seconds < end:
            await self._changed.wait()

    def advance(self, seconds: float) -> None:
        self.seconds += seconds
        self._changed.set()
        self._changed = asyncio.Event()
