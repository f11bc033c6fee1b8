"""Log lines for people, on stderr: when, how bad, which part, what. Never the body of a message."""

import logging
import os

from afterturn.wire.stdio import writable

_STDERR = 2
# What POSIX lets a pipe take in one piece: it says it is writable only when this much is free.
_PIECE_BYTES = 4096


class StderrHandler(logging.Handler):
    """Writes a line only where that cannot block; lines that nobody reads are dropped and counted.

    The event loop logs too: a client that never reads stderr must not be able to stop it (case L01).
    """

    def __init__(self) -> None:
        super().__init__()
        self._dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        if not writable(_STDERR, 0):
            self._dropped += 1
            return
        line = self.format(record).replace("\n", " ")
        if self._dropped:
            line, self._dropped = f"{line} ({self._dropped} lines before this one were dropped)", 0
        data = line.encode("utf-8", "backslashreplace")[: _PIECE_BYTES - 1] + b"\n"
        try:
            os.write(_STDERR, data)
        except OSError:
            self._dropped += 1  # stderr is gone or full


def set_up_logs(level: str) -> None:
    """Send the log of this process to stderr from `level` on ("debug" to "error")."""
    logging.raiseExceptions = False
    handler = StderrHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level.upper())
