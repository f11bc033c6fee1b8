"""A small client: one real server process over real pipes, one request at a time."""

import os
import select
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from afterturn.replay.server import RequestRefused
from afterturn.replay.server import ServerFailed as ServerFailed
from afterturn.wire.codec import encode, loads
from afterturn.wire.framing import ContentLengthFraming, Fault

_LARGEST = 2**30
_CHUNK = 1 << 18


class Client:
    """Spawns `afterturn --stdio` with this interpreter. Use as a context manager.

    environment: over the process's own. Events wait until `event` takes them.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-m", "afterturn", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
            process_group=0,  # Ctrl+C is for the command, which then ends the server
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout
        self._framing = ContentLengthFraming(_LARGEST)
        self._events: deque[tuple[str, Any]] = deque()
        self._answers: deque[dict[str, Any]] = deque()
        self._last_id = 0

    def __enter__(self) -> "Client":
        self.ask("initialize", {"processId": os.getpid(), "clientInfo": {"name": "afterturn"}, "capabilities": {}})
        return self

    def __exit__(self, *problem: object) -> None:
        try:
            self._stdin.close()  # end of file: the server saves and goes
        except BrokenPipeError:
            pass
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stdout.close()

    @property
    def pid(self) -> int:
        """Of the server's process."""
        return self._process.pid

    def ask(self, method: str, params: Any) -> Any:
        """The result of one request. Raises RequestRefused, ServerFailed."""
        self._last_id += 1
        self._send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        while (answer := self._answer()).get("id") != self._last_id:
            if answer.get("id") is None:  # it could not tell which request it refuses
                raise _refusal(method, answer["error"])
        if "error" in answer:
            raise _refusal(method, answer["error"])
        return answer["result"]

    def notify(self, method: str, params: Any) -> None:
        """Send a notification. Raises ServerFailed where the server has ended."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def event(self, seconds: float) -> tuple[str, Any] | None:
        """The oldest event that was not taken, as method and params; None where none comes in so many seconds.

        Raises ServerFailed where the server has ended.
        """
        until = time.monotonic() + seconds
        while not self._events:
            left = until - time.monotonic()
            if not self._read(max(left, 0.0)) and left <= 0:
                return None
        return self._events.popleft()

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._stdin.write(self._framing.wrap(encode(message)))
            self._stdin.flush()
        except BrokenPipeError:
            raise ServerFailed("the server ended") from None

    def _answer(self) -> dict[str, Any]:
        while not self._answers:
            self._read(None)
        return self._answers.popleft()

    def _read(self, seconds: float | None) -> bool:
        """Take in what has come; whether anything came in time."""
        if not select.select([self._stdout], [], [], seconds)[0]:
            return False
        data = os.read(self._stdout.fileno(), _CHUNK)
        if not data:
            raise ServerFailed("the server ended")
        for frame in self._framing.feed(data):
            if isinstance(frame, Fault):
                raise ServerFailed(frame.message)
            message: dict[str, Any] = loads(frame)
            if "method" in message:
                self._events.append((message["method"], message.get("params")))
            else:
                self._answers.append(message)
        return True


def _refusal(method: str, error: dict[str, Any]) -> RequestRefused:
    data: dict[str, Any] = error.get("data") or {}
    return RequestRefused(f"{method}: {error['message']}", data.get("kind"))
