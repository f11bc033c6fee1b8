"""Fires bursts of shots at a real process and holds it to what they call for."""

import collections
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from tests.e2e.framefuzz.shots import Shot, Shots, bad_header, framed, lying
from tests.e2e.server import Server, frame

MAX_BYTES = 100_000
BURST = 40
MAX_RSS = 400 * 1024 * 1024
SENTINEL = "test/sentinel"
"""A method that nobody knows is answered at once, in the order of arrival."""

SENTINELS = 24
_ID = re.compile(rb'"id": ?("(?:[^"\\]|\\.)*"|-?\d+)')


class FuzzError(AssertionError):
    """The server did not keep a promise; the text holds the seed and the burst."""


def fuzz(home: Path, frames: int, seed: int, progress: Callable[[int], None] = lambda fired: None) -> int:
    """Fire at least so many frames; returns how many. Raises FuzzError."""
    shots = Shots(seed, MAX_BYTES)
    rng = random.Random(seed + 1)
    fired = 0
    unsure: set[str] = set()  # ids of damaged bursts, whose answers may still come
    with Server(home, f"--max-message-bytes={MAX_BYTES}") as server:
        server.initialize()
        while fired < frames:
            burst = [shots.one() for _ in range(BURST)]
            try:
                if rng.random() < 0.1:
                    _damaged(server, burst, rng)
                    unsure.update(id for shot in burst for id in _ids(shot.body))
                else:
                    _intact(server, burst, rng, unsure)
            except AssertionError as problem:
                shown = "\n".join(repr(shot.body[:300]) for shot in burst)
                raise FuzzError(
                    f"seed {seed}, after {fired} frames: {problem}\n{shown}\n{server.stderr[-2000:]}"
                ) from None
            fired += BURST
            progress(fired)
        _quiet_end(server)
    return fired


def _quiet_end(server: Server) -> None:
    if psutil.Process(server.process.pid).memory_info().rss > MAX_RSS:
        raise FuzzError("the server has grown too large")
    server.call("shutdown")
    server.notify("exit")
    if server.wait_exit() != 0 or "Traceback" in server.stderr or "failed:" in server.stderr:
        raise FuzzError(f"the end was not clean: {server.process.returncode}, {server.stderr[-2000:]}")


def _intact(server: Server, burst: list[Shot], rng: random.Random, unsure: set[str]) -> None:
    """Frames whose ends are where they say, with bad headers between them: every answer is known beforehand."""
    data = bytearray()
    answers: collections.Counter[str] = collections.Counter()
    faults: collections.Counter[int] = collections.Counter()
    for shot in burst:
        if rng.random() < 0.05:
            data += bad_header(rng)
            faults[-32600] += 1
        data += framed(shot, rng)
        answers.update(shot.answers)
        faults.update(shot.faults)
    _send(server, bytes(data), rng)
    _sentinel(server)
    _collect(server, answers, faults, unsure)


def _damaged(server: Server, burst: list[Shot], rng: random.Random) -> None:
    """Lengths that lie: some good frames later the stream is found again, and nothing else is promised."""
    data = bytearray()
    for shot in burst:
        data += lying(shot, rng) if rng.random() < 0.2 else framed(shot, rng)
    _send(server, bytes(data), rng)
    # A lying length may have announced up to the limit: spaces fill that, and every sentinel is a new try.
    server.send_bytes(b" " * MAX_BYTES)
    for number in range(SENTINELS):
        server.send({"jsonrpc": "2.0", "id": f"again-{number}", "method": SENTINEL})
    server.answer(f"again-{SENTINELS - 1}")
    _sentinel(server)
    server.inbox.clear()


def _ids(body: bytes) -> list[str]:
    """Whatever in a body may be an id: a lying length can complete what was broken on purpose."""
    return [json.dumps(json.loads(found)) for found in _ID.findall(body)]


def _send(server: Server, data: bytes, rng: random.Random) -> None:
    """In pieces of any size, also within headers and characters."""
    at = 0
    while at < len(data):
        step = rng.choice([1, 2, 3, 17, 200, 5000, 70_000])
        server.send_bytes(data[at : at + step])
        at += step


def _sentinel(server: Server) -> None:
    server.send_bytes(frame({"jsonrpc": "2.0", "id": "sentinel", "method": SENTINEL}))
    server.answer("sentinel")


def _collect(
    server: Server, answers: "collections.Counter[str]", faults: "collections.Counter[int]", unsure: set[str]
) -> None:
    for key, count in answers.items():
        for _ in range(count):
            _well_formed(server.answer(json.loads(key)))
    seen: collections.Counter[int] = collections.Counter()
    for _ in range(faults.total()):
        seen[server.answer(None)["error"]["code"]] += 1
    assert seen == faults, f"answers with a null id: {dict(seen)}, expected {dict(faults)}"
    extra = [each for each in server.inbox if "method" not in each and json.dumps(each["id"]) not in unsure]
    assert extra == [], f"answers nobody asked for: {extra[:3]}"
    assert all(message["jsonrpc"] == "2.0" for message in server.inbox)
    server.inbox.clear()


def _well_formed(answer: dict[str, Any]) -> None:
    assert answer["jsonrpc"] == "2.0"
    assert ("result" in answer) != ("error" in answer), answer
    if "error" in answer:
        assert isinstance(answer["error"]["code"], int)
        assert answer["error"]["code"] != -32603, f"a bug in the server: {answer}"
        assert "Traceback" not in answer["error"]["message"]
