"""A process of the crowd in test_crowd: works on one store until it is done or killed, and tells what was acknowledged.

Arguments: the file, the process's name, how many batches, what to do ("batches", "open", "churn"). It waits for a
line on stdin before it begins, and prints one line for each thing that was acknowledged.
"""

import asyncio
import sys
from pathlib import Path

from afterturn.condense.ports import Intake
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from tests.store.sample import call, frozen, take


def say(*words: object) -> None:
    print(*words, flush=True)


def text_of(name: str, number: int, index: int) -> str:
    """What call `index` of a batch holds: small ones and ones that are compressed."""
    return f"{name} {number} {index} " * (1 if index else 400)


async def batches(store: SqliteStore, name: str, count: int) -> None:
    """Archive and freeze batches in a session that all share and in one of its own."""
    for number in range(count):
        session = "shared" if number % 2 else f"own {name}"
        calls = [call(text_of(name, number, index), id=f"{name}-{number}-{index}") for index in range(3)]
        taken = await store.archive.take_in(session, Intake(calls=calls), now_ms=number)
        refs = [place.ref for place in taken.placed]
        say("taken", session, number, *refs)
        batch = frozen(f"{name} {number}", refs=refs, summary="sum")
        await store.batches.freeze(session, taken.epoch, batch, {refs[0]: f"short {number}"}, refs)
        say("frozen", session, number)


async def open_only(store: SqliteStore, name: str, count: int) -> None:
    """Use the store once, as the first thing ever done with it."""
    say("taken", "shared", 0, *await take(store, "shared", call(name, id=name)))


async def churn(store: SqliteStore, name: str, count: int) -> None:
    """Fill sessions and delete them."""
    for number in range(count):
        await take(store, f"churn {name}", call(f"{name} {number} " * 300, id=f"{name}-{number}"))
        if number % 5 == 4:
            await store.sessions.delete(f"churn {name}", now_ms=number)
            say("deleted", number)


async def main() -> None:
    file, name, count, what = sys.argv[1:]
    store = SqliteStore(StorePlace(file=Path(file), own_folder=True))
    sys.stdin.readline()
    await {"batches": batches, "open": open_only, "churn": churn}[what](store, name, int(count))
    await store.close(timeout_ms=30_000)
    say("done")


if __name__ == "__main__":
    asyncio.run(main())
