"""Which process holds something, and whether it is still there (capture.md, 'Durability'; condense/ports.py).

A process is a place, a pid and its start time. The place is the kernel's boot and the pid namespace: only in the
same place does a pid that cannot be found mean that the process is gone. Where there is no /proc the place is the
host's name and the start time is unknown.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct


class Process(Struct, frozen=True):
    """One process, unlike any other that ever ran."""

    place: str
    pid: int
    start: str


def this_process(proc: Path = Path("/proc")) -> Process:
    """The process that asks."""
    pid = os.getpid()
    try:
        boot = (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        place = f"{boot} {(proc / 'self/ns/pid').readlink()}"
    except OSError:
        place = f"host {os.uname().nodename}"
    return Process(place, pid, _start_of(pid, proc) or "")


def is_gone(process: Process, here: Process, proc: Path = Path("/proc")) -> bool:
    """Whether the process has surely ended. A zombie has; one in another place may be alive."""
    if process.place != here.place:
        return False
    if process.pid == here.pid:
        return process.start != here.start
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it is there, and somebody else's
    return bool(process.start) and _start_of(process.pid, proc) != process.start


def _start_of(pid: int, proc: Path) -> str | None:
    """The start time of a process in clock ticks since boot; None where there is none, or for a zombie."""
    try:
        line = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = line[line.rindex(")") + 2 :].split()  # the name in parentheses may hold anything
    return None if fields[0] in "ZX" else fields[19]
