"""The server inside this process, for programs that embed it and for tests: no child, no command to find.

It is the whole server, with an event loop and a thread of its own, so that it serves programs on asyncio
and without a loop alike, and neither side's loop waits for the other. What it does not do here is own the process:
no signal handlers, no logging set-up, no tuning of the garbage collector, and no hard exit when something hangs.
"""

import asyncio
import os
import threading
from collections.abc import Sequence

from anyio import BrokenResourceError, wait_readable, wait_writable

from afterturn_client.errors import Exited

READ_BYTES = 65536
SETTLE_SECONDS = 1.0


class InProcess:
    """One run of the server on a thread. Three pipes: what it reads, what it writes, and one that shows its end."""

    def __init__(self, args: Sequence[str] = ()) -> None:
        """args: as on the server's command line. Raises Exited for those that a process would end with."""
        from afterturn.app import App
        from afterturn.options import OptionError, parse_options

        try:
            options = parse_options(list(args))
        except OptionError as problem:
            raise Exited(2, f"afterturn: {problem}") from None
        self._their_input, self._input = os.pipe()
        self._output, self._their_output = os.pipe()
        self._end, self._their_end = os.pipe()
        for fd in (self._input, self._output):
            os.set_blocking(fd, False)
        self._input_open = True
        self._code = 0
        self._loop = asyncio.new_event_loop()
        self._app = App(options, self._loop, self._their_input, self._their_output, owns_process=False)
        self._thread = threading.Thread(target=self._serve, name="afterturn", daemon=True)
        self._thread.start()

    @property
    def watch_pid(self) -> int | None:
        return None

    @property
    def last_words(self) -> str:
        return ""  # its log is this process's log

    async def send(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            await wait_writable(self._input)
            try:
                left = left[os.write(self._input, left) :]
            except BlockingIOError:
                continue
            except BrokenPipeError as problem:
                raise BrokenResourceError from problem

    async def receive(self) -> bytes:
        while True:
            await wait_readable(self._output)
            try:
                return os.read(self._output, READ_BYTES)
            except BlockingIOError:
                continue

    async def end_input(self) -> None:
        if self._input_open:
            self._input_open = False
            os.close(self._input)

    async def drain(self) -> None:
        """Nothing: it shares our stderr."""

    async def wait(self) -> int:
        await wait_readable(self._end)
        # Closing that pipe was the last thing it did: it only has to return. So who waited finds no thread left.
        self._thread.join()
        return self._code

    def terminate(self) -> None:
        self._tell(143)

    def kill(self) -> None:
        """All that can be done to a thread is to ask it again; it does not keep the process from ending."""
        self._tell(137)

    async def release(self) -> None:
        await self.end_input()
        os.close(self._output)
        os.close(self._end)

    def _tell(self, code: int) -> None:
        try:
            self._loop.call_soon_threadsafe(self._app.end, code, 0.0)
        except RuntimeError:  # its loop has ended
            pass

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._code = self._loop.run_until_complete(self._app.run())
            self._loop.run_until_complete(_settle())
        finally:
            self._loop.close()
            for fd in (self._their_input, self._their_output, self._their_end):
                os.close(fd)


async def _settle() -> None:
    """End what still runs in the loop, as far as it yields."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    if rest:
        await asyncio.wait(rest, timeout=SETTLE_SECONDS)
