"""Leases with a fencing token, and whose process is gone (store.md; capture.md, 'Durability')."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from afterturn.store import StorePlace
from afterturn.store.sqlite.engine import Engine
from afterturn.store.sqlite.leases import Claim, Leases, holds
from afterturn.store.sqlite.processes import Process, is_gone, this_process

pytestmark = pytest.mark.anyio


@pytest.fixture
async def engine(place: StorePlace):
    engine = Engine(place)
    yield engine
    assert await engine.close(timeout_ms=10_000)


async def claim(leases: Leases, owner: str, now_ms: int, key: bytes = b"k") -> Claim:
    return await leases.claim("job", key, owner=owner, ttl_ms=100, now_ms=now_ms)


async def test_a_token_grows_with_every_owner_and_is_never_given_again(engine: Engine) -> None:
    leases = Leases(engine)
    assert await claim(leases, "a", 0) == Claim(1, 0)
    assert await claim(leases, "a", 50) == Claim(1, 0)
    assert await claim(leases, "b", 60) == Claim(0, 90)
    assert await claim(leases, "b", 60, b"other") == Claim(2, 0)
    assert await claim(leases, "b", 150) == Claim(3, 0)
    await leases.release("job", b"k", owner="b")
    assert await claim(leases, "a", 151) == Claim(4, 0)


async def test_a_write_is_guarded_by_the_token(engine: Engine) -> None:
    leases = Leases(engine)
    first = await claim(leases, "a", 0)
    second = await claim(leases, "b", 100)
    assert not await engine.write(lambda connection: holds(connection, "job", b"k", first.token), key="k")
    assert await engine.write(lambda connection: holds(connection, "job", b"k", second.token), key="k")
    assert not await leases.renew("job", b"k", token=first.token, ttl_ms=100, now_ms=150)
    assert await leases.renew("job", b"k", token=second.token, ttl_ms=100, now_ms=150)
    assert await claim(leases, "a", 249) == Claim(0, 1)


async def test_a_clock_that_was_set_back_makes_no_lease_longer(engine: Engine) -> None:
    leases = Leases(engine)
    await claim(leases, "a", 1_000_000)
    assert await claim(leases, "b", 0) == Claim(0, 100)


CLAIM_AND_STAY = """
import asyncio, sys
from pathlib import Path
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore

async def main():
    store = SqliteStore(StorePlace(file=Path(sys.argv[1]), own_folder=True))
    await store.leases.claim("job", b"k", owner="child", ttl_ms=10**9, now_ms=0)
    print("claimed", flush=True)
    sys.stdin.read()

asyncio.run(main())
"""


async def test_the_lease_of_a_process_that_is_gone_is_free_at_once(engine: Engine, place: StorePlace) -> None:
    leases = Leases(engine)
    with subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", CLAIM_AND_STAY, str(place.file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"claimed\n"
        assert await claim(leases, "me", 1) == Claim(0, 100)
        child.kill()
        # Ended, and not collected: a zombie has its pid still, and is gone.
        await asyncio.to_thread(os.waitid, os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert await claim(leases, "me", 1) == Claim(2, 0)


HERE = Process("place", 100, "5000")


def write_stat(proc: Path, pid: int, state: str, start: str) -> None:
    (proc / str(pid)).mkdir(parents=True)
    (proc / str(pid) / "stat").write_text(f"{pid} (a) b) {state} {' '.join('0' * 18)} {start} 0 0\n")


@pytest.mark.parametrize(
    ("process", "state", "gone"),
    [
        pytest.param(Process("place", os.getpid(), "77"), "S", False, id="there"),
        pytest.param(Process("place", os.getpid(), "78"), "S", True, id="another process has its pid now"),
        pytest.param(Process("place", os.getpid(), "77"), "Z", True, id="a zombie"),
        pytest.param(Process("place", 2**22 + 1, "77"), "S", True, id="no such pid"),
        pytest.param(Process("elsewhere", 2**22 + 1, "77"), "S", False, id="in another place"),
        pytest.param(Process("place", os.getpid(), ""), "S", False, id="a start that is not known"),
        pytest.param(Process("place", 100, "5000"), "S", False, id="this very process"),
        pytest.param(Process("place", 100, "4000"), "S", True, id="an earlier process with this pid"),
        pytest.param(Process("elsewhere", 100, "4000"), "S", False, id="the same pid in another place"),
    ],
)
def test_is_gone(tmp_path: Path, process: Process, state: str, gone: bool) -> None:
    write_stat(tmp_path, os.getpid(), state, "77")
    assert is_gone(process, HERE, tmp_path) is gone


def test_this_process_is_told_apart() -> None:
    me = this_process()
    assert (me.pid, me.start.isdigit(), bool(me.place)) == (os.getpid(), True, True)
    assert this_process() == me


def test_without_proc_the_host_is_the_place(tmp_path: Path) -> None:
    assert this_process(tmp_path) == Process(f"host {os.uname().nodename}", os.getpid(), "")
