"""The places in which model calls run: a few at once, the most urgent first (models.md, 'Completers'; case P06)."""

from bisect import insort
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import asynccontextmanager

import anyio

from afterturn.completion import Purpose

Rank = tuple[int, bool]
"""Lower goes first."""

_JOBS = {"condense": 0, "recap": 1, "reflection": 2}


def rank_of(purpose: Purpose, background: bool) -> Rank:
    """condense before recap before capture; within a job, what somebody waits for first."""
    return _JOBS[purpose.partition(".")[0]], background


class _Waiter:
    __slots__ = ("granted", "key", "order", "ready")

    def __init__(self, order: tuple[Rank, int], key: Hashable) -> None:
        self.order = order
        self.key = key
        self.granted = False
        self.ready = anyio.Event()


class Slots:
    """Gives out places in order of rank, then of arrival.

    concurrency: how many calls may be in flight now. most_of: how many of one key; None for no limit of its own.
    """

    def __init__(self, concurrency: Callable[[], int], most_of: Callable[[Hashable], int | None]) -> None:
        self._concurrency = concurrency
        self._most_of = most_of
        self._waiting: list[_Waiter] = []
        self._running: dict[Hashable, int] = {}
        self._count = 0

    @property
    def running(self) -> int:
        """Calls that have a place."""
        return sum(self._running.values())

    @property
    def waiting(self) -> int:
        """Calls that wait for one."""
        return len(self._waiting)

    @asynccontextmanager
    async def hold(self, rank: Rank, key: Hashable) -> AsyncGenerator[None, None]:
        """Hold a place. Waits as long as it takes; a wait that is cancelled leaves nothing behind."""
        self._count += 1
        waiter = _Waiter((rank, self._count), key)
        insort(self._waiting, waiter, key=lambda each: each.order)
        self.grant()
        try:
            await waiter.ready.wait()
            yield
        finally:
            if waiter.granted:
                self._leave(key)
            else:
                self._waiting.remove(waiter)
            self.grant()

    def grant(self) -> None:
        """Give out what is free. Also to be called when a limit has changed."""
        free = self._concurrency() - self.running
        blocked: set[Hashable] = set()
        for waiter in list(self._waiting):
            if free <= 0:
                return
            if waiter.key in blocked:
                continue
            running, most = self._running.get(waiter.key, 0), self._most_of(waiter.key)
            if most is not None and running >= most:
                blocked.add(waiter.key)
                continue
            self._waiting.remove(waiter)
            self._running[waiter.key] = running + 1
            waiter.granted = True
            waiter.ready.set()
            free -= 1

    def _leave(self, key: Hashable) -> None:
        left = self._running.pop(key) - 1
        if left:
            self._running[key] = left
