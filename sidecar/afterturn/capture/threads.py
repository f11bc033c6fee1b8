"""Work beside the event loop, and work on several things at once."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, ParamSpec, TypeVar

import anyio
import anyio.to_thread

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")

HEAVY_CHARS = 24_000
"""Reading and cutting more than this takes more than a millisecond or two."""


async def beside(chars: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do `work` over `chars` chars: at once when that is quick, in a worker thread when it is not."""
    if chars < HEAVY_CHARS:
        return work(*args, **kwargs)
    call: Callable[[], Any] = partial(work, *args, **kwargs)
    return await anyio.to_thread.run_sync(call)


async def for_each(items: Sequence[Item], work: Callable[[Item], Awaitable[None]], *, at_once: int) -> None:
    """Do `work` with every item, in order, on at most `at_once` of them at a time.

    The first exception ends all and is raised as it is, not in a group.
    """
    waiting = iter(items)
    failed: list[Exception] = []

    async def worker() -> None:
        for item in waiting:
            try:
                await work(item)
            except Exception as problem:
                failed.append(problem)
                group.cancel_scope.cancel()
                return

    async with anyio.create_task_group() as group:
        for _ in range(min(at_once, len(items))):
            group.start_soon(worker)
    if failed:
        raise failed[0]
