"""How a command that works for a while with a server ends: by itself, by a signal, or because the server is gone."""

import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Never

from afterturn.replay.server import ServerFailed
from afterturn.replay.wording import complaint

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def ended_well(work: Callable[[], int]) -> int:
    """Do the work; its exit code, 1 where its server failed, which is said in one line.

    SIGTERM and SIGHUP end the process with 143 and 129. However it ends, what the work opened is closed before: what is
    temporary goes and no child stays. Raises KeyboardInterrupt at Ctrl+C.
    """
    try:
        with _ended_by_signals():
            return work()
    except ServerFailed as problem:
        sys.stderr.write(complaint(problem))
        return 1


@contextmanager
def _ended_by_signals() -> Generator[None]:
    def end(number: int, frame: object) -> Never:
        for each in before:
            signal.signal(each, signal.SIG_IGN)  # cleaning up is not to be cut short, by a second Ctrl+C for one
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    heard = [each for each in _SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]  # nohup
    before = {number: signal.signal(number, end) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
