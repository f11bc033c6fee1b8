"""Several processes capture on one store, some of them killed (case M10; evaluation.md, 'Faults')."""

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from afterturn.capture.ports import Scope, TraceFilter
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from tests.store.capture_crowd import POINTS, step_rows
from tests.store.capture_sample import found, vector

ROOT = Path(__file__).parents[2]

Process = subprocess.Popen[str]


@contextmanager
def processes(file: Path, crowd: Sequence[tuple[str, int, str]]) -> Iterator[list[Process]]:
    """Start one process for each (name, episodes, where it dies), and let them begin together."""
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "tests.store.capture_crowd", str(file), name, str(count), point],
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for name, count, point in crowd
        ]
        for process in started:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        try:
            yield started
        finally:
            for process in started:
                process.kill()


def told(process: Process, *, killed: bool = False) -> list[tuple[str, str]]:
    """(what, job) for everything that a process acknowledged."""
    out, err = process.communicate(timeout=100)
    assert (err, process.returncode) == ("", -9 if killed else 0)
    lines = out.splitlines()
    if not killed:
        assert lines.pop() == "done"
    return [(what, job) for what, _, job in (line.partition(" ") for line in lines)]


def check(place: StorePlace, lines: Sequence[tuple[str, str]], *, killed: int = 0) -> None:
    """Every accepted job has ended once, every step is there once and was paid for once."""
    accepted = [job for what, job in lines if what == "accepted"]
    assert len(set(accepted)) == len(accepted)
    finished = Counter(job for what, job in lines if what == "finished")
    paid = Counter(job for what, job in lines if what == "paid")
    assert not [job for job, times in finished.items() if times != 1]
    # Between paying and keeping the score lies the only moment in which a kill costs something.
    assert sum(paid.values()) - len(paid) <= killed

    async def look() -> None:
        store = SqliteStore(place)
        capture = store.capture
        try:
            while await capture.text_index.catch_up():
                pass
            events = (await capture.outbox.since(0, scope=Scope(project="*"), limit=10_000)).events
            ended = [event.params.job_id for event in events]
            assert len(set(ended)) == len(ended)
            assert set(accepted) <= set(ended)
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            assert {event.method for event in events} == {"capture.done"}
            page, _ = await capture.traces.page(TraceFilter(scope=Scope(project="*")), cursor=None, limit=10_000)
            expected = [
                each.trace
                for event in events
                for each in step_rows(event.params.result.episode_id, event.params.result.session_id)
            ]
            assert sorted(page, key=lambda trace: trace.trace_id) == sorted(expected, key=lambda t: t.trace_id)
            assert [event.params.result.traces for event in events] == [
                expected[index : index + 3] for index in range(0, len(expected), 3)
            ]
            some = events[0].params.result.episode_id
            assert set(await found(store, f'"{some}"', limit=3)) == {f"{some}/{n}" for n in range(3)}
            assert len(await found(store, vector=vector(1), limit=50)) == min(50, len(expected))
            assert await store.integrity_check() == []
        finally:
            assert await store.close(timeout_ms=10_000)

    asyncio.run(look())


def test_six_processes_capture_twelve_hundred_episodes_once(place: StorePlace) -> None:
    crowd = [(f"p{number}", 200, "nowhere") for number in range(6)]
    with processes(place.file, crowd) as started:
        lines = [line for process in started for line in told(process)]
    sent = Counter(what for what, _ in lines if what in ("accepted", "duplicate", "done"))
    assert sum(sent.values()) == 1200
    assert sent["accepted"] == 6 * 180 + 20  # twenty episodes were sent by all six
    assert sum(what == "finished" for what, _ in lines) == 1100
    check(place, lines)


@pytest.mark.parametrize("times", [1, 3, 7])
@pytest.mark.parametrize("point", POINTS)
def test_killed_anywhere_and_started_again(place: StorePlace, point: str, times: int) -> None:
    with processes(place.file, [("one", 30, f"{point} {times}")]) as (process,):
        lines = told(process, killed=True)
    with processes(place.file, [("again", 30, "nowhere")]) as (process,):
        lines += told(process)
    ended = [job for what, job in lines if what == "finished"]
    accepted = [job for what, job in lines if what == "accepted"]
    assert set(ended) <= {*accepted, f"one:one-{times - 1}", "one:shared-0"}
    check(place, lines, killed=1)


def test_some_killed_while_others_go_on(place: StorePlace) -> None:
    crowd = [("p0", 40, "nowhere"), ("p1", 40, "claimed 5"), ("p2", 40, "finish 9"), ("p3", 40, "taken 21")]
    with processes(place.file, crowd) as started:
        lines = [line for process in started[1:] for line in told(process, killed=True)]
        lines += told(started[0])
    check(place, lines, killed=3)
