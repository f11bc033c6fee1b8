"""The episode of the bench, and the floor: one redaction pass and two bare SQLite transactions of the same bytes."""

import json
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

from afterturn.redact import Redactor

STEPS = 50
LINE = "src/module_{n}/part.py:{n}: def handler_{n}(request): return render(request, 'page_{n}.html')\n"


def episode(number: int, steps: int = STEPS, session: str = "s") -> dict[str, Any]:
    """An episode of so many steps, about 2.5 KB each, unlike that of any other number."""
    turns: list[dict[str, Any]] = []
    for step in range(steps):
        ts = number * 1_000_000 + step * 10
        output = "".join(LINE.format(n=n + number + step) for n in range(16))
        meta = {"name": "bash", "input": {"command": f"grep -rn handler_{step} src"}, "output": output}
        asked = f"Look for the handler {step} of job {number} and say where it is rendered. " * 3
        said = f"The handler {step} of {number} is rendered in src/module_{step}/part.py, line {step}. " * 4
        turns += [
            {"role": "user", "ts": ts, "content": asked},
            {"role": "assistant", "ts": ts + 1, "content": said, "meta": {"reflection": f"I looked at {step} first."}},
            {"role": "tool", "ts": ts + 2, "content": None, "meta": meta},
        ]
    return {"id": f"e{number}", "sessionId": session, "startedAt": 1, "turns": turns}


class Floor:
    """A database of its own, with the store's settings for writing."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="afterturn-bench-")
        self._connection = sqlite3.connect(Path(self._folder.name) / "floor.db", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA wal_autocheckpoint=0")
        self._connection.execute("CREATE TABLE jobs (id TEXT PRIMARY KEY, snapshot BLOB)")
        self._connection.execute("CREATE TABLE rows (id TEXT PRIMARY KEY, body BLOB)")
        self._redact = Redactor().redact

    def run_ms(self, number: int) -> float:
        """One episode taken in durably and its rows written, in ms."""
        given = episode(number)
        body = json.dumps(given).encode()
        rows = [
            (f"{number}-{step}", json.dumps(given["turns"][3 * step : 3 * step + 3]).encode()) for step in range(STEPS)
        ]
        start = time.perf_counter()
        self._redact(body.decode())
        self._write("FULL", "INSERT INTO jobs VALUES (?, ?)", [(str(number), body)])
        self._write("NORMAL", "INSERT INTO rows VALUES (?, ?)", rows)
        return (time.perf_counter() - start) * 1000

    def _write(self, synchronous: str, statement: str, rows: list[tuple[str, bytes]]) -> None:
        self._connection.execute(f"PRAGMA synchronous={synchronous}")
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(statement, rows)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Forget it."""
        self._connection.close()
        self._folder.cleanup()
