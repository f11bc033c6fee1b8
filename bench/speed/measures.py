"""What is measured of a peer. Each function takes a command and gives one figure of one run."""

import statistics
import time
from typing import Any

from bench.speed.client import Process, frame

INITIALIZE = frame(
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"processId": None, "capabilities": {}}}
)


def request(id: int, method: str, **params: Any) -> bytes:
    return frame({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def opening(id: int, size: int) -> bytes:
    """A `session/open` of about `size` bytes: small ones are padded in the project, large ones carry pushed context."""
    if size <= 1000:
        return request(id, "session/open", sessionId="s", project="p" * max(1, size - 110))
    context = {"messages": [{"role": "user", "content": "word " * (size // 5)}]}
    return request(id, "session/open", sessionId="s", project="p", context=context)


def archiving(id: int, text: str) -> bytes:
    call = {"toolCallId": "c1", "toolName": "bash", "args": {"command": "ls"}, "resultText": text}
    batch = {"turnIndex": 0, "timestamp": 1, "toolCalls": [call]}
    return request(id, "condense/summarize", sessionId="s", batch=batch)


def ready(process: Process) -> None:
    process.ask(INITIALIZE)
    process.write(frame({"jsonrpc": "2.0", "method": "initialized", "params": {}}))
    process.ask(opening(1, 200))


def initialize_ms(command: list[str]) -> float:
    """Spawn to `initialize` answered."""
    start = time.perf_counter()
    with Process(command) as process:
        process.ask(INITIALIZE)
        return (time.perf_counter() - start) * 1000


def first_reply_ms(command: list[str]) -> float:
    """Spawn to the first real answer: `initialize`, then a ref resolved on an empty store."""
    start = time.perf_counter()
    with Process(command) as process:
        process.ask(INITIALIZE)
        process.ask(request(1, "condense/resolveRef", sessionId="s", refs=["t1"]))
        return (time.perf_counter() - start) * 1000


def bare_ms(command: list[str]) -> float:
    """A process that only starts and ends."""
    import subprocess

    start = time.perf_counter()
    subprocess.run(command, check=True)
    return (time.perf_counter() - start) * 1000


def ready_mib(command: list[str]) -> float:
    """Memory once it has answered a request."""
    with Process(command) as process:
        ready(process)
        return process.rss_mib()


def fresh_pipelined(command: list[str], requests: list[bytes]) -> float:
    """Requests per second of a process that has just begun, 64 in flight: about what a session of some hours asks."""
    with Process(command) as process:
        ready(process)
        return process.pipeline(requests, 64)


class Warm:
    """A process that stays up over the runs, so that every peer is as warm as the others."""

    def __init__(self, command: list[str]) -> None:
        self.process = Process(command)
        ready(self.process)
        self.small = [opening(id, 200) for id in range(8000)]
        self.medium = [opening(id, 20_000) for id in range(400)]
        self.up = {size: opening(7, size) for size in (200, 20_000, 2_000_000)}
        self.down: dict[int, bytes] = {}
        self.process.pipeline(self.small, 64)
        for _ in range(200):
            self.process.ask(self.up[200])

    def round_trip_us(self, size: int, count: int) -> float:
        """Median of one request at a time, its params of `size` bytes, its answer small."""
        data = self.up[size]
        times: list[float] = []
        for _ in range(count):
            start = time.perf_counter()
            self.process.ask(data)
            times.append(time.perf_counter() - start)
        return statistics.median(times) * 1e6

    def pipelined(self, requests: list[bytes]) -> float:
        return self.process.pipeline(requests, 64)

    def close(self) -> None:
        self.process.__exit__()


class Resolving:
    """A process that holds one archived result of `size` characters and resolves it again and again."""

    def __init__(self, command: list[str], size: int) -> None:
        self.process = Process(command)
        ready(self.process)
        line = "a line of output that is quite ordinary, with numbers 12345\n"
        self.process.ask(archiving(2, (line * (size // len(line) + 1))[:size]))
        self._ask = request(3, "condense/resolveRef", sessionId="s", refs=["t1"], limit=size)
        for _ in range(20):
            self.process.ask(self._ask)

    def round_trip_us(self, count: int) -> float:
        times: list[float] = []
        for _ in range(count):
            start = time.perf_counter()
            self.process.ask(self._ask)
            times.append(time.perf_counter() - start)
        return statistics.median(times) * 1e6

    def close(self) -> None:
        self.process.__exit__()
