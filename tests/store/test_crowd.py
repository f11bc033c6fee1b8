"""Several processes on one store, some of them killed (cases M10, L16; evaluation.md, 'Faults')."""

import asyncio
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from tests.store.crowd import text_of
from tests.store.sample import call, frozen, take, texts

ROOT = Path(__file__).parents[2]

Process = subprocess.Popen[str]


@contextmanager
def processes(file: Path, names: Sequence[str], count: int, what: str) -> Iterator[list[Process]]:
    """Start one process for each name, and let them begin together."""
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "tests.store.crowd", str(file), name, str(count), what],
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for name in names
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


def finished(process: Process) -> list[list[str]]:
    """What a process acknowledged, once it has ended well."""
    out, err = process.communicate(timeout=100)
    assert (err, out.splitlines()[-1:]) == ("", ["done"])
    return [line.split() for line in out.splitlines()[:-1]]


def refs_of(lines: list[list[str]]) -> list[tuple[str, int, list[int]]]:
    """(session, batch, refs) of each intake that was acknowledged."""
    found: list[tuple[str, int, list[int]]] = []
    for line in lines:
        if line[0] == "taken":
            *session, number, one, two, three = line[1:]
            found.append((" ".join(session), int(number), [int(one), int(two), int(three)]))
    return found


def look(place: StorePlace, work) -> None:
    """Run `work(store)` on the store when the crowd is gone."""

    async def run() -> None:
        store = SqliteStore(place)
        try:
            await work(store)
            assert await store.integrity_check() == []
        finally:
            assert await store.close(timeout_ms=10_000)

    asyncio.run(run())


def test_six_processes_lose_nothing_and_give_no_ref_twice(place: StorePlace) -> None:
    names = [f"p{number}" for number in range(6)]
    with processes(place.file, names, 200, "batches") as crowd:
        told = {name: refs_of(finished(process)) for name, process in zip(names, crowd, strict=True)}
    given: dict[str, list[int]] = {}
    for taken in told.values():
        assert len(taken) == 200
        for session, _, refs in taken:
            given.setdefault(session, []).extend(refs)
    assert sorted(given["shared"]) == list(range(1, 6 * 100 * 3 + 1))
    for name in names:
        assert sorted(given[f"own {name}"]) == list(range(1, 301))

    async def everything_is_there(store: SqliteStore) -> None:
        for name, taken in told.items():
            for session, number, refs in taken:
                assert await texts(store, session, *refs) == [text_of(name, number, index) for index in range(3)]
                batch = frozen(f"{name} {number}", refs=refs, summary="sum")
                assert await store.batches.find(session, batch.batch_key) == batch

    look(place, everything_is_there)


def test_six_first_starts_at_once(place: StorePlace) -> None:
    names = [f"p{number}" for number in range(6)]
    with processes(place.file, names, 1, "open") as crowd:
        refs = [int(finished(process)[0][-1]) for process in crowd]
    assert sorted(refs) == [1, 2, 3, 4, 5, 6]


def test_deleting_while_others_write(place: StorePlace) -> None:
    with (
        processes(place.file, ["a", "b"], 40, "batches") as writing,
        processes(place.file, ["c"], 20, "churn") as churn,
    ):
        told = {name: refs_of(finished(process)) for name, process in zip("ab", writing, strict=True)}
        assert [line for line in finished(churn[0]) if line[0] == "deleted"] == [
            ["deleted", str(n)] for n in (4, 9, 14, 19)
        ]

    async def the_others_are_there(store: SqliteStore) -> None:
        for name, taken in told.items():
            for session, number, refs in taken:
                assert await texts(store, session, *refs) == [text_of(name, number, index) for index in range(3)]
        assert await texts(store, "churn c", 1, 20, 21) == ["expired", "expired", None]

    look(place, the_others_are_there)


@pytest.mark.parametrize("seed", range(6))
def test_what_was_acknowledged_survives_kill_9(place: StorePlace, seed: int) -> None:
    lines: list[list[str]] = []
    with processes(place.file, ["p", "q"], 100_000, "batches") as (killed, other):
        assert killed.stdout is not None
        # So many acknowledgements, then wherever it happens to be.
        for _ in range(random.Random(seed).randrange(1, 60)):
            lines.append(killed.stdout.readline().split())
        killed.kill()
        other.kill()
        lines += [line.split() for line in killed.stdout.read().split("\n")[:-1]]

    async def all_of_it_is_there(store: SqliteStore) -> None:
        refs: dict[tuple[str, int], list[int]] = {}
        for session, number, given in refs_of(lines):
            refs[session, number] = given
            assert await texts(store, session, *given) == [text_of("p", number, index) for index in range(3)]
        for line in lines:
            if line[0] == "frozen":
                session, number = " ".join(line[1:-1]), int(line[-1])
                batch = frozen(f"p {number}", refs=refs[session, number], summary="sum")
                assert await store.batches.find(session, batch.batch_key) == batch
        for session in {session for session, _ in refs}:
            last = max(max(given) for (owner, _), given in refs.items() if owner == session)
            assert (await take(store, session, call("after", id="after")))[0] > last

    look(place, all_of_it_is_there)
