"""Durable capture over the wire, in one run with its floor.

    python -m bench.capture [--quick] [--crowd]

Each figure is a median over rounds in which all take turns. --crowd: six processes with 1,200 episodes on one store.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

from bench.capture.floor import STEPS, Floor, episode

COMMAND = [sys.executable, "-I", "-m", "afterturn", "--stdio"]
SMALL_STEPS = 3
SETTLE_SECONDS = 0.25
"""What follows the rows (the full-text index) is not to stand in the next round's way."""


class Host:
    """A server and the client's side of its pipes."""

    def __init__(self, provider: str, home: str | None = None) -> None:
        self._own = tempfile.TemporaryDirectory(prefix="afterturn-bench-") if home is None else None
        self.process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "AFTERTURN_HOME": home or (self._own.name if self._own else "")},
        )
        self._next_id = 0
        options = {"embeddings": {"provider": provider}}
        self.ask("initialize", {"processId": None, "capabilities": {}, "initializationOptions": options})
        self.ask("session/open", {"sessionId": "s", "project": "/p"})

    def send(self, method: str, params: Any) -> int:
        """Send a request; its id."""
        self._next_id += 1
        message = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}
        self.write(json.dumps(message).encode())
        return self._next_id

    def write(self, body: bytes) -> None:
        """Send a body."""
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def read(self) -> bytes:
        """The next body."""
        assert self.process.stdout
        length = 0
        while (line := self.process.stdout.readline()).strip():
            length = int(line.split(b":")[1])
        return self.process.stdout.read(length)

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request; what comes before it is dropped."""
        wanted = self.send(method, params)
        while True:
            message = json.loads(self.read())
            if message.get("id") == wanted:
                return message["result"]

    def capture_ms(self, number: int) -> tuple[float, float]:
        """From sending an episode to its answer, and to its capture.done."""
        self._next_id += 1
        params = {"episode": episode(number)}
        message = {"jsonrpc": "2.0", "id": self._next_id, "method": "capture/episodeFinalized", "params": params}
        body = json.dumps(message).encode()
        start = time.perf_counter()
        self.write(body)
        self.read()
        answered = time.perf_counter()
        while b'"capture.done"' not in self.read()[:80]:
            pass
        return (answered - start) * 1000, (time.perf_counter() - start) * 1000

    def rss_mib(self) -> float:
        """Resident memory."""
        with open(f"/proc/{self.process.pid}/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.communicate()
        if self._own is not None:
            self._own.cleanup()


def speed(rounds: int) -> None:
    """The ratio to the floor, without and with vectors."""
    floor, plain, local = Floor(), Host("none"), Host("local")
    seen: dict[str, list[float]] = {"floor": [], "answer": [], "done": [], "with vectors": []}
    for number in range(rounds + 3):
        figures = {"floor": floor.run_ms(number)}
        figures["answer"], figures["done"] = plain.capture_ms(number)
        figures["with vectors"] = local.capture_ms(number)[1]
        if number >= 3:
            for name, figure in figures.items():
                seen[name].append(figure)
        time.sleep(SETTLE_SECONDS)
    medians = {name: statistics.median(figures) for name, figures in seen.items()}
    size = len(json.dumps(episode(0)))
    print(f"{STEPS} steps, {size / 1000:.0f} KB, median of {rounds} rounds")
    for name, figure in medians.items():
        print(f"  {name:<14} {figure:8.2f} ms  {figure / medians['floor']:6.2f} x floor")
    for host in (plain, local):
        host.close()
    floor.close()


def memory(count: int) -> None:
    """Resident memory when ready and after so many captures."""
    for provider in ("none", "local"):
        host = Host(provider)
        before = host.rss_mib()
        for number in range(count):
            host.ask("capture/episodeFinalized", {"episode": episode(number, SMALL_STEPS)})
        while host.ask("capture/drain", {"timeoutMs": 60_000})["remaining"]:
            pass
        print(f"memory, embeddings {provider}: ready {before:.1f} MiB, after {count} captures {host.rss_mib():.1f} MiB")
        host.close()


def crowd(processes: int, each: int) -> None:
    """Several processes on one store: how long until every episode is captured, and whether all are there once."""
    with tempfile.TemporaryDirectory(prefix="afterturn-bench-") as home:
        hosts = [Host("none", home) for _ in range(processes)]

        def work(name: int, host: Host) -> None:
            for number in range(each):
                session = "common" if number % 2 else f"own {name}"
                host.ask("capture/episodeFinalized", {"episode": episode(name * each + number, SMALL_STEPS, session)})
            while host.ask("capture/drain", {"timeoutMs": 60_000})["remaining"]:
                pass

        start = time.perf_counter()
        threads = [threading.Thread(target=work, args=pair) for pair in enumerate(hosts)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - start
        jobs: list[str] = []
        seq = 0
        while events := (page := hosts[0].ask("events/since", {"seq": seq, "project": "*"}))["events"]:
            jobs += [event["params"]["jobId"] for event in events]
            seq = page["next"]
        assert len(jobs) == len(set(jobs)) == processes * each, len(jobs)
        print(f"{processes} processes, {processes * each} episodes, one store: {seconds:.1f} s, each captured once")
        for host in hosts:
            host.close()


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--crowd", action="store_true", help="six processes with 1,200 episodes")
    options = parser.parse_args()
    if options.crowd:
        crowd(6, 20 if options.quick else 200)
        return
    speed(15 if options.quick else 60)
    memory(100 if options.quick else 1000)


if __name__ == "__main__":
    main()
