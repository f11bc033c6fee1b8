"""What a child does before it loads anything: it keeps out of the server's way, and cannot outlive it."""

import os
import sys

PR_SET_PDEATHSIG = 1
LESS_URGENT = 3
"""Steps of niceness. Loading what a child is for fills a core for seconds, in which the server and its host must not
wait. With more of them a start would miss its limit on a busy machine."""


def take_pipes(argv: list[str]) -> tuple[int, int, int]:
    """(requests, replies, the server's process id) from the command line; the pipes are not inherited further.

    The pipes have numbers of their own, and descriptors 0, 1 and 2 are the null device from the start, so that
    not even what the interpreter loads by itself can write into the protocol.
    """
    requests, replies, parent = (int(each) for each in argv)
    os.set_inheritable(requests, False)
    os.set_inheritable(replies, False)
    return requests, replies, parent


def give_way() -> None:
    """Leave the processor to the server and its host where they want it."""
    os.nice(LESS_URGENT)


def die_with(parent: int) -> None:
    """Have the kernel end this process with its parent, even while native code is stuck. Elsewhere than on Linux
    the end of the pipe has to do.
    """
    if sys.platform != "linux":
        return
    import ctypes
    import signal

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it went before the kernel was told
        os._exit(0)
