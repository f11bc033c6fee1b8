"""A real server process over real pipes, driven from a test. Every wait has a bound."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 20.0


def frame(message: Any) -> bytes:
    """One message as a well-behaved client sends it."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Server:
    """Spawns `python -I -m afterturn --stdio` (or `command`) and speaks Content-Length frames with it.

    Answers are taken by id, notifications by method, both in any order; `close()` checks that nothing came that
    no test took.
    """

    def __init__(
        self,
        home: Path | str,
        *args: str,
        env: Mapping[str, str] | None = None,
        command: list[str] | None = None,
        cwd: Path | str | None = None,
    ) -> None:
        full_env = {**os.environ, "AFTERTURN_HOME": str(home), **(env or {})}
        self.process = subprocess.Popen(
            [*(command or [sys.executable, "-I", "-m", "afterturn", "--stdio"]), *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=full_env,
            cwd=cwd,
        )
        self.inbox: list[dict[str, Any]] = []
        self.raw = bytearray()
        self._arrivals: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._stderr: list[bytes] = []
        self._next_id = 0
        self._threads = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass

    # -- out

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        self.send_bytes(frame(message))

    def post(self, method: str, params: Any = None, id: int | str | None = None) -> int | str:
        """Send a request without waiting; returns its id."""
        if id is None:
            self._next_id += 1
            id = self._next_id
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return id

    def notify(self, method: str, params: Any = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send a request and return its whole answer."""
        return self.answer(self.post(method, params))

    def call(self, method: str, params: Any = None) -> Any:
        """Send a request that must succeed and return its result."""
        answer = self.ask(method, params)
        assert "result" in answer, answer
        return answer["result"]

    def initialize(self, **params: Any) -> dict[str, Any]:
        result = self.call("initialize", {"processId": None, "capabilities": {}, **params})
        self.notify("initialized", {})
        return result

    # -- in

    def take(self, wanted: Any, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """The first message for which `wanted(message)` holds, whenever it came."""
        import time

        deadline = time.monotonic() + seconds
        while True:
            for message in self.inbox:
                if wanted(message):
                    self.inbox.remove(message)
                    return message
            try:
                arrived = self._arrivals.get(timeout=max(0.001, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"nothing fitting came in {seconds} s; got {self.inbox}, {self.stderr}") from None
            if arrived is None:
                raise AssertionError(f"the server ended; got {self.inbox}, stderr {self.stderr}")
            self.inbox.append(arrived)

    def answer(self, id: int | str | None, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        return self.take(lambda m: "method" not in m and "id" in m and m["id"] == id, seconds)

    def event(self, method: str, seconds: float = PATIENCE_SECONDS) -> Any:
        return self.take(lambda m: m.get("method") == method, seconds)["params"]

    def wait_exit(self, seconds: float = PATIENCE_SECONDS) -> int:
        """The exit code; afterwards `inbox` holds all that was not taken."""
        code = self.process.wait(seconds)
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        while not self._arrivals.empty():
            arrived = self._arrivals.get()
            if arrived is not None:
                self.inbox.append(arrived)
        return code

    def close_stdin(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    @property
    def stderr(self) -> str:
        return b"".join(self._stderr).decode("utf-8", "replace")

    def _read_stdout(self) -> None:
        assert self.process.stdout
        fd = self.process.stdout.fileno()
        buffer = b""
        while data := os.read(fd, 1 << 20):
            self.raw += data
            buffer += data
            while True:
                head, found, rest = buffer.partition(b"\r\n\r\n")
                if not found:
                    break
                name, _, length = head.partition(b": ")
                assert name == b"Content-Length", f"stray bytes on stdout: {buffer[:200]!r}"
                if len(rest) < int(length):
                    break
                body, buffer = rest[: int(length)], rest[int(length) :]
                self._arrivals.put(json.loads(body))
        self._arrivals.put(None)

    def _read_stderr(self) -> None:
        assert self.process.stderr
        fd = self.process.stderr.fileno()
        while data := os.read(fd, 1 << 16):
            self._stderr.append(data)
