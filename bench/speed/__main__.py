"""One interleaved run of everything that can be compared today, printed as ratios.

    python -m bench.speed [--quick] [--json]

Each figure is a median over rounds in which all peers take turns, so that a machine that drifts drifts for all. What
each row does is said under the table.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from bench.speed import floors, measures

ROOT = Path(__file__).parents[2]
OURS = "afterturn"
NODE = "node"
PYGLS = "pygls"
SCRIPT = "script"
BARE = "bare python"
COMMANDS = {
    OURS: [sys.executable, "-I", "-m", "afterturn", "--stdio"],
    SCRIPT: [str(Path(sys.executable).parent / "afterturn"), "--stdio"],
    NODE: ["node", str(ROOT / "bench" / "node" / "peer.js")],
    PYGLS: [sys.executable, "-I", str(ROOT / "bench" / "speed" / "pygls_peer.py")],
}
FRESH_REQUESTS = 20_000
NOTES = """
start rows: from spawning the process to the frame that answers; the first real reply is condense/resolveRef on an
  empty store, which makes afterturn load its services and open SQLite, while the peers look into an empty map.
memory: resident set after initialize and one session/open.
round trips: one session/open at a time, its params of that size, a small answer. "down" is condense/resolveRef with an
  answer of that size, which afterturn reads from SQLite and the peers from memory.
pipelined: 64 session/open in flight from one client that only counts frames; "first" in a process that has just begun,
  "warm" after tens of thousands, when the JIT of a Node server has done what it can.
script: the console script instead of `python -I -m afterturn`.
floor of summarize: one JSON decode, one redaction pass and one durable SQLite commit of the same bytes.
floor of resolve: a bare SELECT by key in a table of as many rows.
"""


class Table:
    """Medians by row and peer, and the ratio that counts."""

    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []

    def add(self, name: str, unit: str, figures: dict[str, float], ratio: tuple[str, str] | None, target: str) -> None:
        value = figures[ratio[0]] / figures[ratio[1]] if ratio else None
        row = {"name": name, "unit": unit, "figures": figures, "of": ratio, "ratio": value, "target": target}
        self.rows.append(row)
        shown = "  ".join(f"{peer} {figure:,.4g}" for peer, figure in figures.items())
        against = f"{value:.2f} x {ratio[1]}" if ratio and value is not None else ""
        sys.stderr.write(f"{name:<38} {against:<18} {target:<10} {unit:<6} {shown}\n")
        sys.stderr.flush()


def rounds(count: int, jobs: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The median of each job over rounds in which they take turns; the first round warms the disk cache."""
    seen: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(count + 1):
        for name, job in jobs.items():
            figure = job()
            if number:
                seen[name].append(figure)
    return {name: statistics.median(figures) for name, figures in seen.items()}


def starts(table: Table, count: int) -> None:
    bare = [sys.executable, "-I", "-c", "pass"]
    jobs = {name: lambda command=command: measures.initialize_ms(command) for name, command in COMMANDS.items()}
    jobs[BARE] = lambda: measures.bare_ms(bare)
    figures = rounds(count, jobs)
    table.add("spawn to initialize", "ms", figures, (OURS, NODE), "<= 1.2")
    table.add("spawn to initialize", "ms", figures, (OURS, PYGLS), "<= 0.25")
    table.add("spawn to initialize, script", "ms", figures, (SCRIPT, NODE), "<= 1.2")
    figures = rounds(
        count, {name: lambda command=command: measures.first_reply_ms(command) for name, command in COMMANDS.items()}
    )
    table.add("spawn to first real reply", "ms", figures, (OURS, NODE), "<= 1.5")
    figures = rounds(
        3, {name: lambda command=command: measures.ready_mib(command) for name, command in COMMANDS.items()}
    )
    table.add("memory when ready (<= 32 MiB)", "MiB", figures, (OURS, NODE), "")


def traffic(table: Table, count: int, scale: int) -> None:
    # Small ones first: the large ones push context, and a client that does has recaps drafted from then on.
    peers = {name: measures.Warm(COMMANDS[name]) for name in (OURS, NODE, PYGLS)}
    quick = {name: peer for name, peer in peers.items() if name != PYGLS}
    small = [measures.opening(id, 200) for id in range(FRESH_REQUESTS)]
    figures = rounds(
        count, {name: lambda name=name: measures.fresh_pipelined(COMMANDS[name], small) for name in (OURS, NODE)}
    )
    table.add(f"pipelined 64, 200 B, first {FRESH_REQUESTS:,}", "req/s", figures, (OURS, NODE), ">= 5")
    figures = rounds(count, {name: lambda peer=peer: peer.pipelined(peer.small) for name, peer in quick.items()})
    table.add("pipelined 64, 200 B, warm", "req/s", figures, (OURS, NODE), ">= 5")
    for size, times, target, who in (
        (200, 400 * scale, "<= 1.1", peers),
        (20_000, 200 * scale, "<= 0.8", peers),
        (2_000_000, 8 * scale, "<= 0.6", quick),
    ):
        figures = rounds(
            count,
            {name: lambda peer=peer, n=times, s=size: peer.round_trip_us(s, n) for name, peer in who.items()},
        )
        table.add(f"round trip, {size:,} B up, p50", "us", figures, (OURS, NODE), target)
    figures = rounds(count, {name: lambda peer=peer: peer.pipelined(peer.medium) for name, peer in quick.items()})
    table.add("pipelined 64, 20 KB", "req/s", figures, (OURS, NODE), ">= 2.5")
    figures = rounds(1, {PYGLS: lambda: peers[PYGLS].pipelined(peers[PYGLS].small[:2000])})
    table.add("pipelined 64, 200 B, stock pygls", "req/s", figures, None, "")
    for peer in peers.values():
        peer.close()
    for size, times, target in ((20_000, 100 * scale, "<= 0.8"), (2_000_000, 8 * scale, "<= 0.6")):
        down = {name: measures.Resolving(COMMANDS[name], size) for name in (OURS, NODE)}
        figures = rounds(count, {name: lambda peer=peer, n=times: peer.round_trip_us(n) for name, peer in down.items()})
        table.add(f"round trip, {size:,} B down, p50", "us", figures, (OURS, NODE), target)
        for peer in down.values():
            peer.close()


def work(table: Table, count: int, refs: int) -> None:
    numbers = iter(range(1, 1_000_000))
    ours, floor = floors.Summarizing(COMMANDS[OURS]), floors.CommitFloor()
    figures = rounds(
        count * 6, {OURS: lambda: ours.run_ms(next(numbers)), "floor": lambda: floor.run_ms(next(numbers))}
    )
    table.add("summarize 20 calls, 100 KB", "ms", figures, (OURS, "floor"), "<= 4")
    ours.close()
    floor.close()
    many = floors.ManyRefs(COMMANDS[OURS], refs)
    p50, p99 = many.resolve_us(1000)
    table.add(
        f"resolve 50 KB among {refs:,}",
        "us",
        {OURS: p50, "p99": p99, "floor": many.bare_us(1000)},
        (OURS, "floor"),
        "<= 5",
    )
    many.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds; for a first look")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON on stdout")
    options = parser.parse_args()
    table = Table()
    starts(table, 5 if options.quick else 15)
    traffic(table, 2 if options.quick else 5, 1 if options.quick else 3)
    work(table, 2 if options.quick else 5, 5_000 if options.quick else 100_000)
    if options.json:
        sys.stdout.write(json.dumps(table.rows, indent=2) + "\n")
    else:
        sys.stderr.write(NOTES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
