"""Claiming stdin and stdout for the protocol alone (architecture.md, 'Only `wire` holds the protocol's descriptors').

Imports nothing that is not loaded at interpreter start, because it must run before everything else.
"""

import io
import os
import sys


def claim_stdio() -> tuple[int, int]:
    """Take fd 0 and fd 1 for the protocol and return private, non-inheritable duplicates `(stdin, stdout)`.

    Afterwards fd 0 is the null device and fd 1 is stderr, so that a `print`, a C library or a child process
    reaches neither stream. A descriptor that was closed at start is replaced by the null device: a closed
    stdin then reads as end of file, a closed stdout swallows.
    """
    for fd in (0, 1, 2):
        _ensure_open(fd)
    stdin_fd = os.dup(0)
    stdout_fd = os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    stderr: object = sys.stderr  # None where fd 2 was closed at start
    if isinstance(stderr, io.TextIOWrapper):
        # Whatever the locale: a log line must never fail on an emoji.
        stderr.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    elif stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stderr
    return stdin_fd, stdout_fd


def _ensure_open(fd: int) -> None:
    try:
        os.fstat(fd)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        if null != fd:
            os.dup2(null, fd)
            os.close(null)
