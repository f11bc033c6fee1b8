"""One worker at a time for each key within a process."""

from collections.abc import AsyncGenerator, Hashable
from contextlib import asynccontextmanager

import anyio


class KeyedLocks:
    """Locks by key; a key that nobody holds or waits for takes no memory."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, tuple[anyio.Lock, int]] = {}

    @asynccontextmanager
    async def hold(self, key: Hashable) -> AsyncGenerator[bool, None]:
        """Hold the lock of `key`; gives whether somebody else held it before. Can be cancelled while waiting."""
        lock, users = self._locks.get(key) or (anyio.Lock(fast_acquire=True), 0)
        self._locks[key] = (lock, users + 1)
        try:
            async with lock:
                yield users > 0
        finally:
            lock, users = self._locks.pop(key)
            if users > 1:
                self._locks[key] = (lock, users - 1)
