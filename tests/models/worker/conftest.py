"""One worker with the real litellm for all tests of this folder that leave it alive: it takes seconds to load."""

from collections.abc import Iterator

import pytest

from tests.models.worker.rig import Rig
from tests.provider.server import ScriptedProvider


@pytest.fixture(scope="session")
def shared_rig() -> Iterator[Rig]:
    with ScriptedProvider() as server, Rig(server) as rig:
        yield rig


@pytest.fixture
def rig(shared_rig: Rig) -> Rig:
    """The shared rig, its server fresh."""
    shared_rig.server.forget()
    return shared_rig
