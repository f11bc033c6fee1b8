"""Every scripted conversation of spec/conversations, played against the real process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conversation import run_conversation

SCRIPTS = sorted((Path(__file__).parents[2] / "spec" / "conversations").glob("*.jsonl"))


@pytest.mark.req("spec.conversations")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_conversation(script: Path, tmp_path: Path) -> None:
    logs = (tmp_path / "stderr").open("wb")
    home = tmp_path / "home"

    def start(args: list[str]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-I", "-m", "afterturn", "--stdio", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=logs,
            env={**os.environ, "AFTERTURN_HOME": str(home)},
        )

    with logs:
        run_conversation(script.read_text("utf-8").splitlines(), start)
    assert "Traceback" not in (tmp_path / "stderr").read_text("utf-8")


def test_there_are_conversations() -> None:
    assert len(SCRIPTS) >= 20
