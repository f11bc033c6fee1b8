"""The client side of the bench: raw pipes, as little work per message as Python allows, the same for every peer."""

import json
import os
import select
import subprocess
import tempfile
import time
from typing import Any

PATIENCE_SECONDS = 60.0
HEADER = b"Content-Length: "
# More would make the allocator map fresh pages for every read.
READ_BYTES = 120 * 1024


def frame(message: dict[str, Any]) -> bytes:
    body = json.dumps(message, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Process:
    """One server process and the frames that come out of it."""

    def __init__(self, command: list[str]) -> None:
        self.home = tempfile.TemporaryDirectory(prefix="afterturn-bench-")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={**os.environ, "AFTERTURN_HOME": self.home.name},
        )
        assert self.process.stdin
        assert self.process.stdout
        self.stdin = self.process.stdin.fileno()
        self.stdout = self.process.stdout.fileno()
        self._rest = b""
        self._missing = 0  # bytes of a frame that is only partly here

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *problem: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            pipe.close()
        self.home.cleanup()

    def write(self, data: bytes) -> None:
        """Write all of it; reads nothing, so what is in flight must fit the pipes."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.stdin, view) :]

    def frames(self) -> int:
        """Read once; how many frames were completed by that."""
        ready, _, _ = select.select([self.stdout], [], [], PATIENCE_SECONDS)
        if not ready:
            raise TimeoutError("the server does not answer")
        data = os.read(self.stdout, READ_BYTES)
        if not data:
            raise EOFError("the server ended")
        whole = 0
        if self._missing:
            if len(data) < self._missing:
                self._missing -= len(data)
                return 0
            data, self._missing, whole = data[self._missing :], 0, 1
        data = self._rest + data
        self._rest = b""
        # Counted, not parsed, so that the instrument takes no part of the figure: no body here holds these words.
        whole += data.count(HEADER)
        last = data.rfind(HEADER)
        close = data.find(b"\r\n\r\n", last)
        if last < 0 or close < 0:
            self._rest = data if last < 0 else data[last:]
            return whole - (last >= 0)
        end = close + 4 + int(data[last + len(HEADER) : close].split(b"\r\n")[0])
        if end <= len(data):
            self._rest = data[end:]
            return whole
        self._missing = end - len(data)
        return whole - 1

    def ask(self, data: bytes) -> None:
        """One request, one frame back."""
        self.write(data)
        while not self.frames():
            pass

    def pipeline(self, requests: list[bytes], in_flight: int) -> float:
        """Requests per second with so many in flight."""
        start = time.perf_counter()
        self.write(b"".join(requests[:in_flight]))
        sent, done = in_flight, 0
        while done < len(requests):
            count = self.frames()
            done += count
            if sent < len(requests) and count:
                self.write(b"".join(requests[sent : sent + count]))
                sent += count
        return len(requests) / (time.perf_counter() - start)

    def rss_mib(self) -> float:
        """Resident memory."""
        with open(f"/proc/{self.process.pid}/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
