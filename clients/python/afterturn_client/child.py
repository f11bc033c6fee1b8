"""The server as a child process.

It has a process group of its own: Ctrl-C in a terminal reaches the program alone, which then ends the child in
order, and what a launcher such as `uvx` started ends with the launcher.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from anyio import BrokenResourceError, ClosedResourceError, EndOfStream, open_process
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from afterturn_client.errors import ServerNotFound

READ_BYTES = 65536
LAST_WORDS_BYTES = 8192


class Child:
    """One child process. Its stderr is drained into a ring that keeps the last 8 KiB."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._parent = os.getpid()
        self._stdin, self._stdout, self._stderr = _pipes(process)
        self._said = bytearray()

    @classmethod
    async def spawn(cls, command: Sequence[str], environ: Mapping[str, str], cwd: str | Path | None) -> "Child":
        """Start it. Raises ServerNotFound where that is impossible."""
        try:
            process = await open_process(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=dict(environ),
                start_new_session=True,
            )
        except OSError as problem:
            raise ServerNotFound(f"cannot start {command[0]!r}: {problem}") from problem
        return cls(process)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def watch_pid(self) -> int | None:
        return self._parent

    @property
    def last_words(self) -> str:
        return self._said.decode("utf-8", "replace").strip()

    async def send(self, data: bytes) -> None:
        await self._stdin.send(data)

    async def receive(self) -> bytes:
        return await _next(self._stdout)

    async def end_input(self) -> None:
        await self._stdin.aclose()

    async def drain(self) -> None:
        while data := await _next(self._stderr):
            self._said += data
            del self._said[:-LAST_WORDS_BYTES]

    async def wait(self) -> int:
        return await self._process.wait()

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    async def release(self) -> None:
        if self._process.returncode is not None:  # else not even SIGKILL has helped yet, and this would wait
            await self._process.aclose()

    def _signal(self, number: int) -> None:
        # Once it was waited for, its number may be another's; in a fork of its parent it is not ours to end.
        if self._process.returncode is None and self._parent == os.getpid():
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:
                pass


def _pipes(process: Process) -> tuple[ByteSendStream, ByteReceiveStream, ByteReceiveStream]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr


async def _next(stream: ByteReceiveStream) -> bytes:
    try:
        return await stream.receive(READ_BYTES)
    except (EndOfStream, BrokenResourceError, ClosedResourceError):
        return b""
