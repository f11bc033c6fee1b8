"""What the domain's own work is compared with: the same bytes decoded, redacted, committed, read - and nothing else."""

import json
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from afterturn.redact import Redactor
from bench.speed.client import Process
from bench.speed.measures import ready, request

LINE = "src/module_{n}/part.py:{n}: def handler_{n}(request): return render(request, 'page_{n}.html')\n"


def batch(number: int, calls: int = 20, chars: int = 100_000) -> dict[str, Any]:
    """One batch of so many calls and characters, different for every number."""
    each = chars // calls
    return {
        "turnIndex": number,
        "timestamp": number,
        "toolCalls": [
            {
                "toolCallId": f"c{number}-{call}",
                "toolName": ("bash", "read", "grep", "edit")[call % 4],
                "args": {"path": f"src/file_{call}.py"},
                "resultText": "".join(LINE.format(n=n + number + call) for n in range(each // 60))[:each],
            }
            for call in range(calls)
        ],
    }


class CommitFloor:
    """One JSON decode, one redaction pass, one durable SQLite commit of the same bytes."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="afterturn-bench-")
        self._connection = sqlite3.connect(Path(self._folder.name) / "floor.db", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute("CREATE TABLE results (id TEXT PRIMARY KEY, text BLOB)")
        self._redact = Redactor().redact

    def run_ms(self, number: int) -> float:
        body = json.dumps({"batch": batch(number)}).encode()
        start = time.perf_counter()
        calls = msgspec.json.decode(body)["batch"]["toolCalls"]
        for call in calls:
            self._redact(call["resultText"])
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(
            "INSERT INTO results VALUES (?, ?)", [(call["toolCallId"], call["resultText"].encode()) for call in calls]
        )
        self._connection.execute("COMMIT")
        return (time.perf_counter() - start) * 1000

    def close(self) -> None:
        self._connection.close()
        self._folder.cleanup()


class Summarizing:
    """The server doing it: `condense/summarize`, extractive, over the wire."""

    def __init__(self, command: list[str]) -> None:
        self.process = Process(command)
        ready(self.process)
        self.run_ms(10_000)

    def run_ms(self, number: int) -> float:
        data = request(number, "condense/summarize", sessionId="s", batch=batch(number))
        start = time.perf_counter()
        self.process.ask(data)
        return (time.perf_counter() - start) * 1000

    def close(self) -> None:
        self.process.__exit__()


class ManyRefs:
    """A session of `count` refs, one of them of 50 KB: resolved over the wire, and its row read by bare SQLite."""

    def __init__(self, command: list[str], count: int) -> None:
        self.process = Process(command)
        ready(self.process)
        large = "x y z 0123456789 " * 3000
        text = large[:50_000]
        per_batch = 500
        for start in range(0, count, per_batch):
            calls = [
                {
                    "toolCallId": f"c{start + n}",
                    "toolName": "bash",
                    "resultText": text if start + n == count // 2 else f"ok {start + n}",
                }
                for n in range(per_batch)
            ]
            data = {"turnIndex": start, "timestamp": start, "toolCalls": calls}
            self.process.ask(request(start, "condense/summarize", sessionId="many", batch=data))
        self._ask = request(1, "condense/resolveRef", sessionId="many", refs=[f"t{count // 2 + 1}"])

        self._folder = tempfile.TemporaryDirectory(prefix="afterturn-bench-")
        self._floor = sqlite3.connect(Path(self._folder.name) / "floor.db", isolation_level=None)
        self._floor.execute("CREATE TABLE results (id INTEGER PRIMARY KEY, text BLOB)")
        self._floor.executemany(
            "INSERT INTO results VALUES (?, ?)",
            [(n, text.encode() if n == count // 2 else b"ok") for n in range(count)],
        )
        self._wanted = count // 2

    def resolve_us(self, count: int) -> tuple[float, float]:
        """p50 and p99 over the wire."""
        times: list[float] = []
        for _ in range(count):
            start = time.perf_counter()
            self.process.ask(self._ask)
            times.append((time.perf_counter() - start) * 1e6)
        return statistics.median(times), sorted(times)[int(len(times) * 0.99)]

    def bare_us(self, count: int) -> float:
        times: list[float] = []
        for _ in range(count):
            start = time.perf_counter()
            self._floor.execute("SELECT text FROM results WHERE id = ?", (self._wanted,)).fetchone()
            times.append((time.perf_counter() - start) * 1e6)
        return statistics.median(times)

    def close(self) -> None:
        self.process.__exit__()
        self._floor.close()
        self._folder.cleanup()
