"""Noticing that the client's process is gone, even while somebody else still holds its pipe open (case L01)."""

import asyncio
import logging
import os
from collections.abc import Callable

log = logging.getLogger("afterturn.watch")

POLL_SECONDS = 3.0


class ClientWatch:
    """Calls `on_gone` once when the process `pid` ends. A zombie counts as gone.

    A pid that is not visible now, as in containers, is warned of and not watched, which `watched` says: the pipe's
    end is then the only sign. The parent's pid is no guide, because launchers sit in between.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, pid: int, on_gone: Callable[[], None]) -> None:
        self._loop = loop
        self._pid = pid
        self._on_gone = on_gone
        self._fd: int | None = None
        self.watched = True
        if pid <= 0 or pid == os.getpid():
            self.watched = False
            log.warning("the client's process id %d cannot be watched", pid)
        elif hasattr(os, "pidfd_open"):
            self._watch_by_descriptor()
        else:
            self._poll_if_there()

    def _watch_by_descriptor(self) -> None:
        """Linux: a descriptor that becomes readable when the process ends, and that no reused pid can fool."""
        try:
            self._fd = os.pidfd_open(self._pid)
        except (ProcessLookupError, OverflowError):  # a number no process can have is as invisible as a process gone
            self._not_visible()
        except OSError:
            self._poll_if_there()  # an old kernel, or a sandbox that forbids it
        else:
            self._loop.add_reader(self._fd, self._gone)

    def _poll_if_there(self) -> None:
        if _exists(self._pid):
            self._loop.call_later(POLL_SECONDS, self._poll)
        else:
            self._not_visible()

    def _poll(self) -> None:
        if _exists(self._pid):
            self._loop.call_later(POLL_SECONDS, self._poll)
        else:
            self._on_gone()

    def _not_visible(self) -> None:
        self.watched = False
        log.warning("the client's process %d is not visible from here and is not watched", self._pid)

    def _gone(self) -> None:
        if self._fd is not None:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = None
        self._on_gone()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Whether it has ended and only its parent has not looked. Where there is no /proc, this cannot be seen."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 (pathlib is not worth its import here)
            return file.read().rpartition(b")")[2].split()[:1] == [b"Z"]
    except OSError:
        return False
