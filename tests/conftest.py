"""What all tests stand on: the same examples, and signals that arrive.

`make test` tries the same examples on every machine; `make fuzz` tries new ones, and many more.
"""

import os
import signal

from hypothesis import settings

settings.register_profile("fuzz", max_examples=5_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))  # "ci" is hypothesis' own: derandomized, no database

# Run in the background, or under nohup, a process has these ignored, and so have all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
