"""The real server as a child process, over stdio."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PAGE = 1_000_000
_REFS_AT_ONCE = 50


class ServerError(Exception):
    """The server answered with an error, or went away."""


class Server:
    """`python -m afterturn --stdio` with a home folder of its own; a `Condenser`."""

    def __init__(
        self, home: Path, settings: dict[str, Any] | None = None, capabilities: dict[str, Any] | None = None
    ) -> None:
        """home: folder of the store, which may hold some data already. settings, capabilities: for `initialize`."""
        self._home = home
        self._settings = settings or {}
        self._capabilities = capabilities or {}
        self.sample: Callable[[dict[str, Any]], dict[str, Any]] | None = None
        """Answers `sampling/createMessage` for a client that offers it."""
        self._start()

    def condense_batch(self, session_id: str, batch: dict[str, Any]) -> dict[str, Any]:
        return self.request("condense/summarize", {"sessionId": session_id, "batch": batch})

    def resolve(self, session_id: str, refs: list[str]) -> dict[str, str]:
        texts: dict[str, str] = {}
        for start in range(0, len(refs), _REFS_AT_ONCE):
            wanted, offset = refs[start : start + _REFS_AT_ONCE], 0
            while wanted:
                params = {"sessionId": session_id, "refs": wanted, "offset": offset, "limit": _PAGE}
                records = self.request("condense/resolveRef", params)["records"]
                for record in records:
                    texts[record["ref"]] = texts.get(record["ref"], "") + record["text"]
                wanted = [record["ref"] for record in records if record["nextOffset"] is not None]
                offset += _PAGE
        return texts

    def kill_and_restart(self) -> None:
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.communicate()
        self._start()

    def close(self) -> None:
        self.request("shutdown", None)
        self._send({"jsonrpc": "2.0", "method": "exit"})
        self._process.communicate(timeout=10)

    def request(self, method: str, params: Any) -> Any:
        """The result of a request. Raises ServerError for an error reply and for the end of the stream."""
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method}
        self._send(message if params is None else message | {"params": params})
        while True:
            reply = self._receive()
            if reply.get("method") == "sampling/createMessage" and self.sample is not None:
                self._send({"jsonrpc": "2.0", "id": reply["id"], "result": self.sample(reply["params"])})
            elif reply.get("id") == self._last_id and "method" not in reply:
                if "error" in reply:
                    raise ServerError(f"{method}: {reply['error']}")
                return reply["result"]

    def _start(self) -> None:
        self._last_id = 0
        env = os.environ | {"AFTERTURN_HOME": str(self._home)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "afterturn", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )
        params = {"processId": os.getpid(), "capabilities": self._capabilities}
        params["initializationOptions"] = self._settings
        self.request("initialize", params)
        self._send({"jsonrpc": "2.0", "method": "initialized", "params": {}})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = None
        while line := self._process.stdout.readline():
            if line in (b"\r\n", b"\n"):
                if length is not None:
                    return json.loads(self._process.stdout.read(length))
            elif line.lower().startswith(b"content-length:"):
                length = int(line.split(b":", 1)[1])
        raise ServerError(f"the server ended with code {self._process.wait()}")
