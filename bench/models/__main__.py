"""What the model worker costs: memory and delay in the server, and time on top of litellm's own.

    python -m bench.models [--calls N]

Against a scripted provider: the real server with its worker, and small requests to it while the worker starts; then
litellm called directly and through pool, store and worker, which take turns, call by call, with the same arguments.
Exits with 1 where a figure misses its target.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.models.real import RealServer

ROOT = Path(__file__).parents[2]
OVERHEAD_MS = 6.0
MEMORY_MIB = 64.0
DELAY_MS = 5.0
WARM_CALLS = 15
"""Not counted: litellm loads some of its parts late."""


class Peer:
    """One of the other processes; a line of JSON in, a line of JSON out."""

    def __init__(self, name: str, *args: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"bench.models.{name}", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, at: TracebackType | None) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait(10)

    def hear(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args} ended")
        return json.loads(line)

    def ask(self, **what: Any) -> Any:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return self.hear()


def percentile(values: list[float], part: float) -> float:
    """The smallest value that `part` of all do not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def main() -> int:
    """Measure, print, and say whether all targets are met."""
    parser = argparse.ArgumentParser(prog="python -m bench.models")
    parser.add_argument("--calls", type=int, default=300, help="calls of each model by each way")
    options = parser.parse_args()
    with Peer("provider") as provider:
        url = provider.hear()["url"]
        figures = [*_starting(url), *_overheads(url, options.calls)]
    missed = [name for name, value, target in figures if value > target]
    print("missed: " + ", ".join(missed) if missed else "all targets met")
    return 1 if missed else 0


Figure = tuple[str, float, float]
"""Name, value, and the most that it may be."""


def _starting(url: str) -> list[Figure]:
    with RealServer(url) as server:
        before, idle = server.rss_mib(), server.pinged(3)
        seconds, starting = server.started()
        for number in range(50):
            server.answer(server.condense(f"batch {number}"))
        after, worker = server.memory()
    print(
        f"server memory, MiB        before {before:.1f}  with the worker, after its calls {after:.1f}  "
        f"(worker {worker:.0f})"
    )
    print(f"first call, s             {seconds:.2f}")
    for name, waits in (("idle", idle), ("worker starts", starting)):
        print(
            f"other requests, ms        {name:<16} p50 {percentile(waits, 0.5):.2f}  p99 {percentile(waits, 0.99):.2f}"
            f"  max {max(waits):.2f}  (n {len(waits)})"
        )
    return [
        ("server memory, MiB", after, MEMORY_MIB),
        ("p99 of other requests while the worker starts, ms", percentile(starting, 0.99), DELAY_MS),
    ]


def _overheads(url: str, count: int) -> list[Figure]:
    figures: list[Figure] = []
    with Peer("direct", url) as direct, Peer("pool", url) as pool:
        direct.hear()
        pool.hear()
        for model in ("openai/any", "anthropic/any"):
            own, ours = _calls(direct, pool, model, count)
            more = statistics.median(mine - theirs for mine, theirs in zip(ours, own, strict=True))
            print(
                f"a call, ms                {model:<16} litellm {statistics.median(own):.2f}  through pool and worker "
                f"{statistics.median(ours):.2f}  overhead {more:.2f}"
            )
            figures.append((f"overhead of a call of {model}, ms", more, OVERHEAD_MS))
    return figures


def _calls(direct: Peer, pool: Peer, model: str, count: int) -> tuple[list[float], list[float]]:
    """What each call took in ms: of litellm alone, and through pool and worker. They take turns call by call."""
    own: list[float] = []
    ours: list[float] = []
    for n in range(WARM_CALLS + count):
        pair = [(own, direct), (ours, pool)]
        for kept, peer in pair if n % 2 else reversed(pair):
            took = peer.ask(model=model)["ms"]
            if n >= WARM_CALLS:
                kept.append(took)
    return own, ours


if __name__ == "__main__":
    sys.exit(main())
