"""Log lines for people, on stderr: when, how bad, which part, what. Never the body of a message."""

import logging
import sys


def set_up_logs(level: str) -> None:
    """Send the log of this process to stderr from `level` on ("debug" to "error")."""
    # A stderr that nobody reads any more must not become an exception inside a handler.
    logging.raiseExceptions = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level.upper())
