"""The byte pump: one reader and one writer over the claimed descriptors, both driven by the event loop.

Where the loop cannot watch a descriptor (a file, the null device, Windows) a daemon thread does the blocking
call instead (architecture.md, 'Why this use of the libraries').
"""

import asyncio
import os
import select
import stat
import threading
from collections.abc import Callable

# Below the size from which the allocator maps fresh pages for every read (128 KiB): that cost 15 µs a read.
READ_BYTES = 120 * 1024
PIPE_BYTES = 1024 * 1024
# Answers of one burst leave in pieces of so many, so that the client works on the first while we work on the rest.
BURST_FRAMES = 32


class Reader:
    """Hands what arrives on `fd` to `on_data`, and calls `on_end` once at end of file or on a read error."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, fd: int, on_data: Callable[[bytes], None], on_end: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._fd = fd
        self._on_data = on_data
        self._on_end = on_end
        self._open = True
        self._paused = False
        self._resume = threading.Event()
        self._resume.set()
        self._watched = _watchable(fd)

    def start(self) -> None:
        """Begin to read."""
        if self._watched:
            os.set_blocking(self._fd, False)
            _widen(self._fd)
            self._loop.add_reader(self._fd, self._readable)
        else:
            threading.Thread(target=self._read_in_thread, name="afterturn-stdin", daemon=True).start()

    def pause(self) -> None:
        """Leave further bytes in the pipe, so that a client that does not read is held back."""
        if self._open and not self._paused:
            self._paused = True
            self._resume.clear()
            if self._watched:
                self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        """Go on after `pause`."""
        if self._open and self._paused:
            self._paused = False
            self._resume.set()
            if self._watched:
                self._loop.add_reader(self._fd, self._readable)

    def close(self) -> None:
        """Stop reading; `on_end` is not called any more."""
        if self._open:
            self._open = False
            self._resume.set()
            if self._watched and not self._paused:
                self._loop.remove_reader(self._fd)

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        self._deliver(data)

    def _deliver(self, data: bytes) -> None:
        if not self._open:
            return
        if data:
            self._on_data(data)
        else:
            self.close()
            self._on_end()

    def _read_in_thread(self) -> None:
        data = b"-"
        while data and self._open:
            self._resume.wait()
            try:
                data = os.read(self._fd, READ_BYTES)
            except OSError:
                data = b""
            try:
                self._loop.call_soon_threadsafe(self._deliver, data)
            except RuntimeError:  # the loop has ended: nobody is left to tell
                return


class Writer:
    """The one way out. Whole messages are queued in order and leave as the client reads them.

    `on_broken` is called once when the other end is gone. `pending_bytes` is what still waits; `full` says that it
    is more than `limit_bytes`. Nothing is refused for that: whoever writes has to look.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, fd: int, on_broken: Callable[[], None], limit_bytes: int
    ) -> None:
        self._loop = loop
        self._fd = fd
        self._on_broken = on_broken
        self._on_drained: Callable[[], None] | None = None
        self._leaving = memoryview(b"")  # what is being written; cut without copying
        self._queue: list[bytes] = []  # what leaves next
        self._corked = False
        self._scheduled = False
        self._waiting = False  # for the descriptor to become writable
        self._watched = _watchable(fd)
        self.broken = False
        self.limit_bytes = limit_bytes
        self.pending_bytes = 0
        self.full = False
        if self._watched:
            os.set_blocking(fd, False)
            _widen(fd)
            # A pipe's write end becomes "readable" exactly when its reader is gone; a socket for other reasons too.
            loop.add_reader(fd, self._break if stat.S_ISFIFO(os.fstat(fd).st_mode) else self._break_if_closed)

    def write(self, data: bytes) -> None:
        """Queue one whole frame. Never blocks; all that one turn of the loop queues leaves together."""
        if self.broken:
            return
        self._queue.append(data)
        self.pending_bytes += len(data)
        if self.pending_bytes > self.limit_bytes:
            self.full = True
        if self._corked:
            if len(self._queue) >= BURST_FRAMES and not self._waiting:
                self._flush()
        elif not (self._scheduled or self._waiting):
            self._scheduled = True
            self._loop.call_soon(self._flush)

    def cork(self) -> None:
        """Let what is written from now on wait for `uncork`, so that a burst of answers leaves in one piece."""
        self._corked = True

    def uncork(self) -> None:
        """Write what was held back, at once rather than in the loop's next turn."""
        self._corked = False
        if self._queue and not self._waiting and not self._scheduled:
            self._flush()

    def raise_limit(self, limit_bytes: int) -> None:
        """Let more wait than before, until the queue has drained once."""
        self.limit_bytes = limit_bytes
        self.full = self.pending_bytes > limit_bytes

    def when_drained(self, callback: Callable[[], None]) -> None:
        """Call `callback` once when nothing is pending any more."""
        self._on_drained = callback

    def flush_now(self, seconds: float) -> None:
        """Before the process ends: write what is queued, for at most `seconds`, without the loop."""
        deadline = self._loop.time() + seconds
        while self.pending_bytes and self._write_some():
            left = deadline - self._loop.time()
            if left <= 0:
                return
            if self.pending_bytes:
                writable(self._fd, left)

    def _flush(self) -> None:
        self._scheduled = False
        self._write_some()
        if self.pending_bytes:
            if not self._waiting:
                self._waiting = True
                self._loop.add_writer(self._fd, self._flush)
            return
        if self._waiting:
            self._waiting = False
            self._loop.remove_writer(self._fd)
        self.full = False
        if self._on_drained:
            callback, self._on_drained = self._on_drained, None
            callback()

    def _write_some(self) -> bool:
        """Write until nothing is left or the pipe is full; False when the other end is gone."""
        while self.pending_bytes:
            if not self._leaving:
                self._leaving = memoryview(b"".join(self._queue) if len(self._queue) > 1 else self._queue[0])
                self._queue.clear()
            try:
                written = os.write(self._fd, self._leaving)
            except (BlockingIOError, InterruptedError):
                return True
            except OSError:
                self._break()
                return False
            self._leaving = self._leaving[written:]
            self.pending_bytes -= written
        return True

    def _break_if_closed(self) -> None:
        poll = select.poll()
        poll.register(self._fd, 0)
        if poll.poll(0):  # hung up: the peer is gone altogether
            self._break()
        else:
            # It only says no more, or says something here, which is the reader's business. The next write will show.
            self._loop.remove_reader(self._fd)

    def _break(self) -> None:
        if self.broken:
            return
        self.broken = True
        self._queue.clear()
        self._leaving = memoryview(b"")
        self.pending_bytes = 0
        self.full = False
        if self._watched:
            self._loop.remove_reader(self._fd)
        self._on_broken()


def writable(fd: int, seconds: float) -> bool:
    """Whether `fd` takes bytes without blocking, at once or within `seconds`."""
    if hasattr(select, "poll"):  # unlike select(), at home with descriptors over 1023
        poll = select.poll()
        poll.register(fd, select.POLLOUT)
        return bool(poll.poll(seconds * 1000))
    return bool(select.select([], [fd], [], seconds)[1])


def _widen(fd: int) -> None:
    """Let a pipe hold 1 MiB where the system allows it: fewer changes of process for a large message."""
    try:
        import fcntl

        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    except (ImportError, AttributeError, OSError):
        pass  # another system, a socket, or no more to be had: the pipe works as it is


def _watchable(fd: int) -> bool:
    """Whether the event loop can wait for this descriptor. Terminals stay blocking: they are shared."""
    if os.name == "nt":
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
