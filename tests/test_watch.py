"""Noticing that the client's process is gone, also where the system has no descriptor for a process (case L01)."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from afterturn import app, watch
from afterturn.options import ServeOptions

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


@pytest.mark.req("lifecycle.process-watch")
@pytest.mark.req("lifecycle.process-invisible")
@pytest.mark.parametrize("greets", [False, True])
def test_a_client_that_nobody_can_see_has_to_say_hello(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, greets: bool
) -> None:
    """One that died while the server started looks like one outside of the container that the server is in."""
    monkeypatch.setenv("AFTERTURN_HOME", str(tmp_path))
    monkeypatch.setattr(app, "GREETING_SECONDS", 0.01)
    stdin, to_server = os.pipe()
    stdout = os.open(os.devnull, os.O_WRONLY)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = app.App(ServeOptions(client_process_id=2**40), loop, stdin, stdout, owns_process=False)
        asked = loop.create_future()
        ended_if_need_be = server._end_unless_greeted

        def ask() -> None:
            ended_if_need_be()
            asked.set_result(None)

        server._end_unless_greeted = ask
        if greets:
            body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
            server.connection.feed(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        running = loop.create_task(server.run())
        await asyncio.wait_for(asked, PATIENCE_SECONDS)
        assert server._ending.done() is not greets
        server.end(1, 0.0)
        assert await running == int(greets)

    try:
        asyncio.run(main())
    finally:
        for descriptor in (stdin, to_server, stdout):
            os.close(descriptor)
