"""The wheel alone, in an environment with the locked dependencies and nothing else: `make e2e-wheel` sets it up."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ENVIRONMENT = ROOT / ".hosts" / "wheel" / "venv"
LIMIT_SECONDS = 120


class Installed:
    """The environment with the wheel in it. wheel: the file that was installed."""

    def __init__(self, wheel: Path, home: Path, folder: Path) -> None:
        self.wheel = wheel
        self.python = str(ENVIRONMENT / "bin" / "python")
        self.program = str(ENVIRONMENT / "bin" / "afterturn")
        self.packages = next((ENVIRONMENT / "lib").glob("python3.*/site-packages"))
        self.folder = folder
        """Some folder that is not the checkout, where everything is run."""
        self.environ: Mapping[str, str] = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))},
            "AFTERTURN_HOME": str(home),
        }

    def run(self, *command: str) -> str:
        """What a command prints. It has to succeed."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as a release builds it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=LIMIT_SECONDS)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The environment after `pip install` of that one file."""
    environment = Installed(built, tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("elsewhere"))
    # Without an index: whatever the lock did not bring would be missing, and `pip check` would say so.
    environment.run(
        environment.python, "-m", "pip", "install", "--no-index", "--force-reinstall", "--no-deps", str(built)
    )
    environment.run(environment.python, "-m", "pip", "check")
    return environment
