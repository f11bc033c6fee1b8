"""When the calls of a host have episodes taken up that wait (capture.md, 'Durability')."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from afterturn.parts import MOST_USED, TAKE_UP_AFTER_SECONDS, Parts
from afterturn.store.errors import StoreUnavailable
from afterturn_protocol.lifecycle import AfterturnClientCapabilities
from afterturn_protocol.settings import CaptureSettings, Settings
from tests.clocks import ManualClock

pytestmark = pytest.mark.anyio


class Process:
    """What the parts need of their process and of its connection, and the capture service among them.

    looks: the sessions used by the time of each look for episodes.
    """

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.started = 0.0
        self.settings = Settings()
        self.settings_problems: list[Any] = []
        self.client_capabilities = AfterturnClientCapabilities()
        self.connection = self
        self.problem: Exception | None = None
        self.looks: list[list[str]] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.parts = Parts(self)  # type: ignore[arg-type]
        self.parts.capture = self  # type: ignore[assignment]

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    async def go_on(self) -> None:
        self.looks.append(list(self.parts.used))
        if self.problem is not None:
            raise self.problem

    async def pass_time(self) -> None:
        """Let the time pass after which episodes are taken up, and what was begun come to its end."""
        await self.clock.wait(TAKE_UP_AFTER_SECONDS)
        await asyncio.gather(*self.tasks)


async def test_many_calls_have_one_look_after_them() -> None:
    process = Process()
    for number in range(100):
        process.parts.at_work(f"s{number % 3}")
    await process.clock.wait(TAKE_UP_AFTER_SECONDS / 2)
    process.parts.at_work("s3")
    assert (len(process.tasks), process.looks) == (1, [])
    await process.pass_time()
    assert process.looks == [["s0", "s1", "s2", "s3"]]


async def test_every_call_has_a_look_after_it() -> None:
    """The first one of a process, and one of a session that has been used before."""
    process = Process()
    for count in range(1, 4):
        process.parts.at_work("s")
        await process.pass_time()
        assert process.looks == [["s"]] * count
    await process.pass_time()
    assert len(process.looks) == 3, "without a call there is none"


async def test_capture_that_is_off_is_looked_for_once_it_is_on() -> None:
    process = Process()
    process.settings = Settings(capture=CaptureSettings(enabled=False))
    process.parts.at_work("s")
    await process.pass_time()
    assert process.looks == []
    process.settings = Settings()
    process.parts.at_work("s")
    await process.pass_time()
    assert process.looks == [["s"]]


async def test_a_store_that_fails_ends_no_look_but_one() -> None:
    process = Process()
    process.problem = StoreUnavailable("The disk is full", retryable=True)
    for _ in range(2):
        process.parts.at_work("s")
        await process.pass_time()
    assert process.looks == [["s"]] * 2


async def test_the_session_that_was_used_first_is_forgotten_first() -> None:
    process = Process()
    for number in range(MOST_USED + 1):
        process.parts.at_work(f"s{number}")
    process.parts.at_work("s1")
    assert (len(process.parts.used), next(iter(process.parts.used))) == (MOST_USED, "s1")
    await process.pass_time()
