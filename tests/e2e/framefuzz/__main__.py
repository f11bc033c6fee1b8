"""`python -m tests.e2e.framefuzz --frames N --seed S`: the long run."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.e2e.framefuzz.driver import FuzzError, fuzz

SLICE = 50_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.framefuzz", description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    fired, seed, started = 0, options.seed, time.monotonic()
    while fired < options.frames:
        with tempfile.TemporaryDirectory(prefix="afterturn-fuzz-") as home:
            try:
                fired += fuzz(Path(home), min(SLICE, options.frames - fired), seed)
            except FuzzError as problem:
                sys.stderr.write(f"{problem}\n")
                return 1
        sys.stderr.write(f"{fired:,} frames, seed {seed}, {time.monotonic() - started:.0f} s\n")
        seed += 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
