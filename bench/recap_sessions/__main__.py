"""`python -m bench.recap_sessions`: 1,000 sessions with timers in one server: its idle CPU, and memory a session."""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from typing import Any

import psutil

MOST_KB = 20.0
MOST_CPU_PERCENT = 1.0
SETTLE_SECONDS = 3.0
"""The store has work left after a thousand openings; that is not the timers' cost."""


def main() -> int:
    """Print the figures; 1 where one is over its limit."""
    parser = argparse.ArgumentParser(prog="python -m bench.recap_sessions", description=__doc__)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, Server(home) as server:
        server.ask(
            "initialize", processId=None, capabilities={"experimental": {"afterturn": {"recap": {"canShow": True}}}}
        )
        touch(server, "first")
        before = server.memory()
        for number in range(given.sessions):
            touch(server, f"session {number}")
        after = server.memory()
        time.sleep(SETTLE_SECONDS)
        cpu_before = server.cpu_seconds()
        time.sleep(given.seconds)
        cpu = server.cpu_seconds() - cpu_before
    kb = (after - before) / 1024 / given.sessions
    percent = 100 * cpu / given.seconds
    print(f"{given.sessions} sessions, each opened, blurred, with its timers set")
    print(f"  memory    {kb:6.1f} KB a session   (at most {MOST_KB:.0f})")
    print(f"  idle CPU  {percent:6.2f} %  over {given.seconds:.0f} s   (at most {MOST_CPU_PERCENT:.0f})")
    return int(kb > MOST_KB or percent > MOST_CPU_PERCENT)


def touch(server: "Server", session: str) -> None:
    """A session that a person has just left, its agent too."""
    server.ask("session/open", sessionId=session, hasHistory=False, interactive=True)
    server.ask("recap/onTurnStart", sessionId=session)
    server.ask("recap/onFocus", sessionId=session, focused=False)
    server.ask("recap/onTurnEnd", sessionId=session, phase="turn")


class Server:
    """A server process, asked one thing at a time."""

    def __init__(self, home: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-m", "afterturn", "--stdio", "--framing=ndjson"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"AFTERTURN_HOME": home},
        )
        self._id = 0
        self._watched = psutil.Process(self._process.pid)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.wait()

    def ask(self, method: str, **params: Any) -> Any:
        """The answer; events that come before it are thrown away."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        while line := self._process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self._id:
                if "result" not in answer:
                    raise SystemExit(f"{method} failed: {answer['error']}")
                return answer["result"]
        raise SystemExit(f"the server ended while it was asked {method}")

    def memory(self) -> int:
        """Resident memory, in bytes."""
        return self._watched.memory_info().rss

    def cpu_seconds(self) -> float:
        """CPU time so far."""
        times = self._watched.cpu_times()
        return times.user + times.system


if __name__ == "__main__":
    sys.exit(main())
