"""What the model worker costs: memory and delay in the server, and time on top of litellm's own.

    python -m bench.models [--calls N] [--rounds N]

One run, four processes: a scripted provider, litellm called directly, a process with the server's modules that has
the worker, and the worker. The two callers take turns, round by round, with the same arguments to the same provider.
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

ROOT = Path(__file__).parents[2]
OVERHEAD_MS = 6.0
MEMORY_MIB = 64.0
DELAY_MS = 5.0


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
    parser.add_argument("--calls", type=int, default=25, help="calls a round")
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    with Peer("provider") as provider:
        url = provider.hear()["url"]
        with Peer("direct", url) as direct, Peer("server", url) as server:
            direct.hear()
            server.hear()
            memory_before, calm = server.ask(do="memory"), server.ask(do="delays", seconds=3)
            start = server.ask(do="start")
            figures = {model: _calls(direct, server, model, options) for model in ("openai/any", "anthropic/any")}
            memory_after = server.ask(do="memory")
    print(
        f"server memory, MiB        before {memory_before['rss']:.1f}  with the worker, after its calls "
        f"{memory_after['rss']:.1f}  (worker {memory_after['worker']:.0f})"
    )
    print(f"worker start, s           {start['seconds']:.2f}")
    for name, late in (("idle", calm["delays"]), ("while it starts", start["delays"])):
        print(
            f"loop delay, ms            {name:<16} p50 {percentile(late, 0.5):.2f}  p99 {percentile(late, 0.99):.2f}"
            f"  max {max(late):.2f}  (n {len(late)})"
        )
    worst = 0.0
    for model, (own, ours) in figures.items():
        more = statistics.median(mine - theirs for mine, theirs in zip(ours, own, strict=True))
        worst = max(worst, more)
        print(
            f"a call, ms                {model:<16} litellm {statistics.median(own):.2f}  through the worker "
            f"{statistics.median(ours):.2f}  overhead {more:.2f}"
        )
    missed = [
        text
        for text, value, target in (
            ("overhead of a call, ms", worst, OVERHEAD_MS),
            ("server memory, MiB", memory_after["rss"], MEMORY_MIB),
            ("p99 delay while the worker starts, ms", percentile(start["delays"], 0.99), DELAY_MS),
        )
        if value > target
    ]
    print("missed: " + ", ".join(missed) if missed else "all targets met")
    return 1 if missed else 0


def _calls(direct: Peer, server: Peer, model: str, options: argparse.Namespace) -> tuple[list[float], list[float]]:
    """The median of each round in ms: of litellm alone, and through the worker."""
    own: list[float] = []
    ours: list[float] = []
    for n in range(options.rounds + 1):
        pair = [(own, direct), (ours, server)]
        for kept, peer in pair if n % 2 else reversed(pair):
            took = peer.ask(do="calls", model=model, count=options.calls)["ms"]
            if n:  # the first round loads what litellm loads late
                kept.append(statistics.median(took))
    return own, ours


if __name__ == "__main__":
    sys.exit(main())
