"""20,000 frames and more: one answer each, no crash, no hang, a clean end."""

import json
import random
from pathlib import Path

import pytest

from tests.e2e.framefuzz.driver import MAX_BYTES, fuzz
from tests.e2e.framefuzz.shots import Shots
from tests.e2e.server import Server


@pytest.mark.req("invariant.answered-once")
@pytest.mark.req("framing.goes-on")
@pytest.mark.parametrize("seed", range(5))
def test_frames(seed: int, tmp_path: Path) -> None:
    assert fuzz(tmp_path, 4_000, seed) >= 4_000


@pytest.mark.req("lifecycle.before-initialize")
@pytest.mark.req("lifecycle.after-shutdown")
@pytest.mark.parametrize(("seed", "code"), [(11, -32002), (12, -32600)])
def test_too_early_and_too_late(seed: int, code: int, tmp_path: Path) -> None:
    shots = Shots(seed, MAX_BYTES)
    with Server(tmp_path) as server:
        if code == -32600:
            server.initialize()
            server.call("shutdown")
        wanted = []
        for _ in range(500):
            shot = random.Random(seed).choice(
                [shots.request, shots.mutated, shots.unknown_method, shots.notification]
            )()
            server.send(shot.body)
            wanted += [json.loads(key) for key in shot.answers]
        for id in wanted:
            assert server.answer(id)["error"]["code"] == code
        assert server.inbox == []
        server.notify("exit")
        assert server.wait_exit() == (0 if code == -32600 else 1)


def test_lines(tmp_path: Path) -> None:
    """The other framing, with everything that is one line."""
    import os
    import subprocess
    import sys

    shots = Shots(21, MAX_BYTES)
    made = [shots.one() for _ in range(1000)]
    made = [shot for shot in made if b"\n" not in shot.body and b"\r" not in shot.body and shot.body.strip()]
    lines = b"".join(shot.body + b"\n" for shot in made)
    first = b'{"jsonrpc":"2.0","id":"first","method":"initialize","params":{}}\n'
    done = subprocess.run(
        [sys.executable, "-I", "-m", "afterturn", "--framing=ndjson", f"--max-message-bytes={MAX_BYTES}"],
        input=first + lines,
        capture_output=True,
        timeout=60,
        env={**os.environ, "AFTERTURN_HOME": str(tmp_path)},
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    answers = [message for message in map(json.loads, done.stdout.splitlines()) if "method" not in message]
    expected = ["first", *(json.loads(key) for shot in made for key in shot.answers)]
    assert sorted(map(json.dumps, (m["id"] for m in answers if m["id"] is not None))) == sorted(
        map(json.dumps, expected)
    )
    assert sum(m["id"] is None for m in answers) == sum(len(shot.faults) for shot in made if shot.body.strip())
