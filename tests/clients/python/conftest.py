from pathlib import Path

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder for every server of a test, also for those inside of this process."""
    monkeypatch.setenv("AFTERTURN_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("AFTERTURN_PATH", raising=False)
    return tmp_path / "home"
