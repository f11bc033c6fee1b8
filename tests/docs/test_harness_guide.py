"""The guide for authors of harnesses is played: every frame to the real server, its script by Bash alone."""

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.docs.guide import FILLER, blocks, conversations, filled, misfit
from tests.e2e.server import Server

PATIENCE_SECONDS = 30
AFTERTURN = [sys.executable, "-I", "-m", "afterturn"]


class Lines:
    """A server that speaks one object a line."""

    def __init__(self, home: Path, args: list[str]) -> None:
        env = {**os.environ, "AFTERTURN_HOME": str(home)}
        self.process = subprocess.Popen([*AFTERTURN, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self._came: queue.Queue[Any] = queue.Queue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def send(self, message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def take(self) -> Any:
        return self._came.get(timeout=PATIENCE_SECONDS)

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(PATIENCE_SECONDS)
        self._thread.join(PATIENCE_SECONDS)
        assert self.process.stdout
        self.process.stdout.close()
        assert self._came.empty(), f"a frame that the guide does not show: {self._came.get()}"

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._came.put(json.loads(line))


@pytest.mark.parametrize("number", range(len(conversations())))
def test_every_frame(number: int, tmp_path: Path) -> None:
    start, *lines = conversations()[number]
    name, *args = start.removeprefix("$ ").split()
    assert name == "afterturn"
    server = Lines(tmp_path, args)
    try:
        for line in lines:
            arrow, frame = line[0], line[2:]
            if arrow == "→":
                server.send(filled(frame))
            else:
                assert arrow == "←"
                assert misfit(json.loads(frame), server.take()) is None, frame
    finally:
        server.end()


def test_there_is_something_to_play() -> None:
    sent = [line for lines in conversations() for line in lines if line.startswith("→")]
    text = "\n".join(sent)
    assert len(sent) >= 15
    for method in ("condense/onTurnEnd", "condense/resolveRef", "recap/onFocus", "recap/onTurnEnd"):
        assert f'"{method}"' in text
    assert '"capture/episodeFinalized"' in text
    assert len(FILLER) == 1500


def test_the_header(tmp_path: Path) -> None:
    (block,) = blocks("bytes")
    with Server(tmp_path) as server:
        server.send_bytes(block.rstrip("\n").replace("\\r\\n", "\r\n").encode())
        assert server.answer(1)["result"]["serverInfo"]["name"] == "afterturn"
        server.close_stdin()
        assert server.wait_exit() == 0


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    """A PATH with afterturn and what the command of the test needs, and nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "afterturn").write_text(f'#!/bin/sh\nexec {" ".join(AFTERTURN)} "$@"\n')
    (folder / "afterturn").chmod(0o755)
    for name in ("cat", "seq"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    return str(folder)


def run_script(tmp_path: Path, path: str, *command: str) -> "subprocess.CompletedProcess[str]":
    (script,) = blocks("bash")
    (tmp_path / "turn.sh").write_text(script, encoding="utf-8")
    bash = shutil.which("bash")
    assert bash
    env = {"PATH": path, "AFTERTURN_HOME": str(tmp_path / "home"), "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [bash, str(tmp_path / "turn.sh"), *command], env=env, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_bash_harness(tmp_path: Path, bare_path: str) -> None:
    log = tmp_path / "log"
    text = (
        FILLER
        + 'tab\there, "quoted", back\\slash \\n, é 漢字 🚀 {"text":"x"}\nsrc/cart.py:31: AssertionError: total is 0\n'
    )
    log.write_text(text, encoding="utf-8")
    done = run_script(tmp_path, bare_path, "cat", str(log))
    assert done.stderr == ""
    assert "- `t1` bash cat" in done.stdout
    assert "[full output: context_tree_query t1]\n" in done.stdout
    assert done.stdout.endswith(f"the original came back: {len(text) - 1} characters\n")


def test_the_bash_harness_without_a_server(tmp_path: Path, bare_path: str) -> None:
    (tmp_path / "bin" / "afterturn").write_text("#!/bin/sh\nexit 1\n")
    done = run_script(tmp_path, bare_path, "seq", "3")
    assert (done.stdout, done.stderr) == ("1\n2\n3\n", "afterturn has no answer; going on without it\n")
