"""A process of the crowd in test_capture_crowd: takes episodes in and captures whatever it may, until nothing is left.

Arguments: the file, the process's name, how many episodes, and where it dies ("nowhere", or "POINT N": the Nth time it
comes there). It waits for a line on stdin before it begins, and prints one line for each thing that was acknowledged.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from afterturn.capture.ports import Work
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from tests.store.capture_sample import LEASE_MS, episode, put, row, vector

POINTS = ("take", "taken", "claimed", "scored", "finish", "finished", "index")


class Dying:
    """Kills the process at a point of its work."""

    def __init__(self, point: str) -> None:
        self._point, _, times = point.partition(" ")
        self._left = int(times or 1)

    def at(self, point: str) -> None:
        if point == self._point:
            self._left -= 1
            if not self._left:
                os.kill(os.getpid(), signal.SIGKILL)


def say(*words: object) -> None:
    print(*words, flush=True)


def step_rows(episode_id: str, session: str) -> list:
    """What capturing an episode gives, whoever does it."""
    return [
        row(f"{episode_id}/{n}", f"words of {episode_id}", f"step {n}", episode=episode_id, session=session, step=n,
            summary=vector(1, n))
        for n in range(3)
    ]  # fmt: skip


async def do(store: SqliteStore, work: Work, dying: Dying) -> None:
    """One job, with one score that is paid for: "paid" is said before it is kept."""
    dying.at("claimed")
    memo = store.capture.score_memos.of(work)
    if await memo.get(b"score") is None:
        say("paid", work.job_id)
        await memo.put(b"score", b"1")
    dying.at("scored")
    finishing = asyncio.ensure_future(
        store.capture.jobs.finish(work, put(*step_rows(work.episode_id, work.session_id)), now_ms=1)
    )
    await asyncio.sleep(0)
    dying.at("finish")
    if await finishing is not None:
        say("finished", work.job_id)
    dying.at("finished")
    await store.capture.text_index.catch_up()
    dying.at("index")


async def main() -> None:
    file, name, count, point = sys.argv[1:]
    dying = Dying(point)
    store = SqliteStore(StorePlace(file=Path(file), own_folder=True))
    jobs = store.capture.jobs
    sys.stdin.readline()
    for number in range(int(count)):
        # Every tenth episode is sent by all of them at once.
        own = "shared" if number % 10 == 0 else name
        new = episode(f"{own}-{number}", session=own, job=f"{name}:{own}-{number}")
        taking = asyncio.ensure_future(jobs.take_in(new, owner=name, max_queued=10_000, now_ms=1))
        await asyncio.sleep(0)
        dying.at("take")
        taken = await taking
        say(taken.status, taken.job_id)
        dying.at("taken")
        if number % 3 == 0:
            work = (await jobs.claim(owner=name, has_completer=False, lease_ms=LEASE_MS, now_ms=1)).work
            if work is not None:
                await do(store, work, dying)
    while True:
        claimed = await jobs.claim(owner=name, has_completer=False, lease_ms=LEASE_MS, now_ms=1)
        if claimed.work is not None:
            await do(store, claimed.work, dying)
        elif claimed.wait_ms is None:
            break
        else:
            await asyncio.sleep(0.01)
    while await store.capture.text_index.catch_up():
        pass
    await store.close(timeout_ms=30_000)
    say("done")


if __name__ == "__main__":
    asyncio.run(main())
