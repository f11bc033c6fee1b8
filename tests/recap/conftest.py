"""Recap services that are ended with their test."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.recap.harness import Harness

Make = Callable[..., Harness]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    """Makes a service, by the arguments of `Harness`."""
    made: list[Harness] = []

    def one(**given: Any) -> Harness:
        made.append(Harness(**given))
        return made[-1]

    yield one
    for harness in made:
        await harness.stop()
