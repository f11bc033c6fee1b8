"""The real server over pipes: what other requests wait while the worker starts, and what memory the server takes."""

import json
import os
import sys
import time
from typing import Any

import psutil

from bench.speed.client import READ_BYTES, Process, frame

PING_SECONDS = 0.003
LINE = "building a module of the project, nothing to see here\n"


class RealServer(Process):
    """`afterturn --stdio` whose model is the scripted provider's."""

    def __init__(self, url: str) -> None:
        super().__init__([sys.executable, "-I", "-m", "afterturn", "--stdio"])
        self._buffer = b""
        self._arrived: dict[int, Any] = {}
        self._last_id = 0
        models = {"model": "openai/any", "apiBase": f"{url}/v1"}
        self.call("initialize", processId=None, capabilities={}, initializationOptions={"models": models})
        self.call("session/open", sessionId="pinged")

    def post(self, method: str, **params: Any) -> int:
        """Send a request; returns its id."""
        self._last_id += 1
        self.write(frame({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}))
        return self._last_id

    def answer(self, id: int) -> Any:
        """The result of a request."""
        while id not in self._arrived:
            self._read()
        return self._arrived.pop(id)["result"]

    def call(self, method: str, **params: Any) -> Any:
        """A request and its result."""
        return self.answer(self.post(method, **params))

    def condense(self, word: str) -> int:
        """Post a batch that the model is asked about."""
        text = f"{word}\n" + LINE * 40
        call = {"toolCallId": word, "toolName": "bash", "args": {"command": "make"}, "resultText": text}
        batch = {"turnIndex": 0, "timestamp": 1, "toolCalls": [call]}
        return self.post("condense/summarize", sessionId="s", batch=batch)

    def pinged(self, seconds: float) -> list[float]:
        """What a small request waits, in ms, again and again for so long."""
        until = time.monotonic() + seconds
        waits: list[float] = []
        while time.monotonic() < until:
            waits.append(self._ping())
        return waits

    def started(self) -> tuple[float, list[float]]:
        """The first model call, with the worker's start, in s; and what small requests waited meanwhile, in ms."""
        began = time.monotonic()
        id = self.condense("first")
        waits: list[float] = []
        while id not in self._arrived:
            waits.append(self._ping())
        assert self.answer(id)["source"] == "model"
        return time.monotonic() - began, waits

    def memory(self) -> tuple[float, float]:
        """Resident memory of the server and of its worker, in MiB."""
        (worker,) = psutil.Process(self.process.pid).children(recursive=True)
        return self.rss_mib(), worker.memory_info().rss / 2**20

    def _ping(self) -> float:
        time.sleep(PING_SECONDS)
        began = time.perf_counter()
        self.call("session/open", sessionId="pinged")
        return (time.perf_counter() - began) * 1000

    def _read(self) -> None:
        data = os.read(self.stdout, READ_BYTES)
        if not data:
            raise EOFError("the server ended")
        self._buffer += data
        while True:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            length = int(head.rpartition(b" ")[2]) if found else 0
            if not found or len(rest) < length:
                return
            message, self._buffer = json.loads(rest[:length]), rest[length:]
            if "id" in message and "method" not in message:
                self._arrived[message["id"]] = message
