"""What the extension costs pi: time per turn, and time to end. `make e2e-pi` first, then `python -m bench.pi`.

Both sides of a comparison run in turns in one run, since the machine's speed drifts. A turn is measured at the
provider: from one request to the next, which is a tool call, all of pi's own work, and what the extension adds. An end
is measured from the last answer to the exit of `pi -p`.
"""

import itertools
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.hosts.pi.host import COMMANDS, Home
from tests.hosts.pi.rpc import Rpc
from tests.hosts.pi.script import helpful
from tests.provider.answers import Answer
from tests.provider.server import ProviderRequest, ScriptedProvider

ROUNDS = 5
TURNS = 12
THINKING_SECONDS = 1.0
"""How long the model takes to answer `pi -p`; a real one takes longer."""


class Clock:
    """A model that notes when each request came, in ms."""

    def __init__(self, thinking_seconds: float) -> None:
        self.thinking_seconds = thinking_seconds
        self.arrivals: list[float] = []
        self.answered = 0.0

    def __call__(self, request: ProviderRequest) -> Answer:
        self.arrivals.append(time.perf_counter() * 1000)
        time.sleep(self.thinking_seconds)
        self.answered = time.perf_counter() * 1000
        return helpful(request)


@contextmanager
def world(line: str, thinking_seconds: float) -> Iterator[tuple[Home, Clock]]:
    with ScriptedProvider() as provider, tempfile.TemporaryDirectory() as folder:
        provider.otherwise = clock = Clock(thinking_seconds)
        home = Home(Path(folder), line, provider.openai_base)
        for number in range(TURNS):
            home.notes(number)
        yield home, clock


def turn_times(line: str, extension: bool) -> tuple[list[float], float]:
    """In two prompts of one session, after a first that warms both processes up: ms from request to request; and pi's
    own processor time for a turn, in ms, which others on the machine do not change.
    """
    with world(line, 0) as (home, clock), Rpc(home, extension=extension) as pi:
        times: list[float] = []
        process = psutil.Process(pi.process.pid)
        busy = 0.0
        for warm in (False, True, True):
            clock.arrivals.clear()
            pi.prompt("read " + " ".join(map(str, range(TURNS))))
            if extension:
                pi.status("captured")
            if warm:
                times += [after - before for before, after in itertools.pairwise(clock.arrivals)]
            else:
                busy = cpu_seconds(process)
        return times, (cpu_seconds(process) - busy) * 1000 / (2 * TURNS)


def cpu_seconds(process: psutil.Process) -> float:
    used = process.cpu_times()
    return used.user + used.system


def end_time(line: str, extension: bool, thinking_seconds: float) -> float:
    """ms from the last answer of the model to the exit of `pi -p`."""
    with world(line, thinking_seconds) as (home, clock):
        subprocess.run(
            home.command("-p", "hello", extension=extension),
            env=home.environment,
            cwd=home.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=60,
        )
        return time.perf_counter() * 1000 - clock.answered


def report(what: str, without: list[float], with_it: list[float]) -> None:
    before, after = statistics.median(without), statistics.median(with_it)
    spread = statistics.quantiles(without, n=4)
    figures = f"{before:8.1f} {after:8.1f} {after - before:+8.1f}   ({spread[0]:.1f} to {spread[2]:.1f})"
    print(f"{what:38} {figures}, {len(with_it)} each", flush=True)


def main() -> None:
    print(f"{'median, ms':38} {'without':>8} {'with':>8} {'added':>8}   (middle half without)")
    for line in sys.argv[1:] or COMMANDS:
        turns: dict[bool, list[float]] = {False: [], True: []}
        busy: dict[bool, list[float]] = {False: [], True: []}
        ends: dict[tuple[bool, float], list[float]] = {}
        for _ in range(ROUNDS):
            for extension in (False, True):
                times, cpu = turn_times(line, extension)
                turns[extension] += times
                busy[extension].append(cpu)
                for thinking in (THINKING_SECONDS, 0.0):
                    ends.setdefault((extension, thinking), []).append(end_time(line, extension, thinking))
        report(f"{line} pi, a turn", turns[False], turns[True])
        report(f"{line} pi, its processor time a turn", busy[False], busy[True])
        for thinking in (THINKING_SECONDS, 0.0):
            model = f"model answers in {thinking:g} s"
            report(f"{line} pi -p, {model}", ends[False, thinking], ends[True, thinking])


if __name__ == "__main__":
    main()
