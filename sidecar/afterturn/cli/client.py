"""A small client: one real server process over real pipes, one request at a time."""

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import msgspec


class ServerFailed(Exception):
    """The server answered with an error, or ended."""


class Client:
    """Spawns `afterturn --stdio` with this interpreter. Use as a context manager."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-m", "afterturn", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout
        self._last_id = 0

    def __enter__(self) -> "Client":
        self.ask("initialize", {"processId": os.getpid(), "clientInfo": {"name": "afterturn"}, "capabilities": {}})
        return self

    def __exit__(self, *problem: object) -> None:
        self._stdin.close()  # end of file: the server saves and goes
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stdout.close()

    def ask(self, method: str, params: Any) -> Any:
        """The result of one request. Events that come meanwhile are passed over. Raises ServerFailed."""
        self._last_id += 1
        body = msgspec.json.encode({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        self._stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._stdin.flush()
        while (message := self._read()).get("id") != self._last_id:
            if "error" in message and message.get("id") is None:  # it could not tell which request it refuses
                raise ServerFailed(f"{method}: {message['error']['message']}")
        if "error" in message:
            raise ServerFailed(f"{method}: {message['error']['message']}")
        return message["result"]

    def _read(self) -> dict[str, Any]:
        header = self._stdout.readline()
        if not header:
            raise ServerFailed("the server ended")
        self._stdout.readline()
        return msgspec.json.decode(self._stdout.read(int(header.partition(b":")[2])), type=dict[str, Any])
