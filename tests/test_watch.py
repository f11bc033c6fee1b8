"""Noticing that the client's process is gone, also where the system has no descriptor for a process (case L01)."""

import asyncio
import os
import subprocess
import sys

import pytest

from afterturn import watch

PATIENCE_SECONDS = 20.0


def waiting() -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)


@pytest.mark.req("lifecycle.process-watch")
@pytest.mark.parametrize("way", ["descriptor", "poll"])
@pytest.mark.parametrize("reaped", [True, False], ids=["reaped", "zombie"])
def test_a_process_that_ends_is_noticed(monkeypatch: pytest.MonkeyPatch, way: str, reaped: bool) -> None:
    if way == "poll":
        monkeypatch.delattr(os, "pidfd_open")
    monkeypatch.setattr(watch, "POLL_SECONDS", 0.01)
    client = waiting()
    assert client.stdin

    async def main() -> None:
        gone = asyncio.Event()
        watch.ClientWatch(asyncio.get_running_loop(), client.pid, gone.set)
        client.kill()
        if reaped:
            client.wait()
        await asyncio.wait_for(gone.wait(), PATIENCE_SECONDS)

    try:
        asyncio.run(main())
    finally:
        client.wait()
        client.stdin.close()


def test_a_process_that_is_there_is_not_reported() -> None:
    client = waiting()
    assert client.stdin
    try:
        assert watch._exists(client.pid)
        assert watch._exists(os.getppid())
    finally:
        client.kill()
        client.wait()
        client.stdin.close()
    assert not watch._exists(client.pid)
    assert not watch._exists(2**40)
