from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.pi.host import COMMANDS, Home
from tests.hosts.pi.script import helpful
from tests.provider.server import ScriptedProvider


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as server:
        server.otherwise = helpful
        yield server


@pytest.fixture(params=COMMANDS)
def line(request: pytest.FixtureRequest) -> str:
    """Both lines of pi; a test that is about one of them does without."""
    return request.param


@pytest.fixture
def home(tmp_path: Path, line: str, provider: ScriptedProvider) -> Home:
    return Home(tmp_path, line, provider.openai_base)
