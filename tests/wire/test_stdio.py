"""The writer on real descriptors: whoever reads slowly gets all of it, and whoever goes is noticed."""

import asyncio
import os
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from afterturn.wire.stdio import Writer

PATIENCE_SECONDS = 20.0
LIMIT = 1 << 20


@contextmanager
def descriptors(kind: str) -> Iterator[tuple[int, int]]:
    """(the writer's end, the client's end); the client's may be closed meanwhile."""
    if kind == "pipe":
        theirs, ours = os.pipe()
    else:
        pair = socket.socketpair()
        ours, theirs = (end.detach() for end in pair)
    try:
        yield ours, theirs
    finally:
        for fd in (ours, theirs):
            try:
                os.close(fd)
            except OSError:
                assert fd == theirs


def run(kind: str, scenario: Callable[[Writer, asyncio.Event, int], object]) -> None:
    async def main(ours: int, theirs: int) -> None:
        broken = asyncio.Event()
        writer = Writer(asyncio.get_running_loop(), ours, broken.set, LIMIT)
        await asyncio.wait_for(scenario(writer, broken, theirs), PATIENCE_SECONDS)  # type: ignore[arg-type]
        asyncio.get_running_loop().remove_reader(ours)
        asyncio.get_running_loop().remove_writer(ours)

    with descriptors(kind) as (ours, theirs):
        asyncio.run(main(ours, theirs))


@pytest.mark.req("lifecycle.broken-stdout")
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_client_that_goes_is_noticed_without_a_write(kind: str) -> None:
    async def scenario(writer: Writer, broken: asyncio.Event, theirs: int) -> None:
        os.close(theirs)
        await broken.wait()
        writer.write(b"into the void")
        assert writer.pending_bytes == 0

    run(kind, scenario)


def test_a_client_that_only_says_no_more_is_still_served() -> None:
    async def scenario(writer: Writer, broken: asyncio.Event, theirs: int) -> None:
        end = socket.socket(fileno=os.dup(theirs))
        end.shutdown(socket.SHUT_WR)
        await asyncio.sleep(0)
        writer.write(b"answer")
        received = await asyncio.get_running_loop().run_in_executor(None, end.recv, 100)
        end.close()
        assert received == b"answer"
        assert not broken.is_set()

    run("socket", scenario)


def read_all(fd: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(fd, 65536)
        if not piece:
            break
        data += piece
    return data


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_slow_reader_gets_what_was_queued_before_the_end(kind: str) -> None:
    async def scenario(writer: Writer, broken: asyncio.Event, theirs: int) -> None:
        data = os.urandom(4 << 20)
        writer.write(data)
        received: list[bytes] = []
        reader = threading.Thread(target=lambda: received.append(read_all(theirs, len(data))))
        reader.start()
        writer.flush_now(PATIENCE_SECONDS)
        reader.join(PATIENCE_SECONDS)
        assert received == [data]
        assert writer.pending_bytes == 0

    run(kind, scenario)


def test_descriptors_over_1023_work() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        assert hard > 1100, "this machine cannot have such a descriptor"
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
    theirs, low = os.pipe()
    ours = os.dup2(low, 1100)
    os.close(low)

    async def main() -> bytes:
        writer = Writer(asyncio.get_running_loop(), ours, lambda: None, LIMIT)
        data = b"x" * (3 << 20)
        writer.write(data)
        received: list[bytes] = []
        reader = threading.Thread(target=lambda: received.append(read_all(theirs, len(data))))
        reader.start()
        writer.flush_now(PATIENCE_SECONDS)
        reader.join(PATIENCE_SECONDS)
        asyncio.get_running_loop().remove_reader(ours)
        return received[0]

    try:
        assert len(asyncio.run(main())) == 3 << 20
    finally:
        os.close(ours)
        os.close(theirs)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
