"""`afterturn wipe`: erase everything that afterturn has stored. Settings stay."""

import argparse
import os
import sys

from afterturn.cli.place import store_settings, user_store
from afterturn.storage import place_of, store_status
from afterturn.store import wipe_store
from afterturn.store_error import StoreError


def run(options: argparse.Namespace) -> int:
    """Ask, unless `--yes`; then erase the store's files."""
    settings = store_settings(os.environ)
    try:
        status = store_status(user_store(os.environ))
    except StoreError as problem:
        sys.stderr.write(f"afterturn: {problem}\n")
        return 1
    if status.bytes is None:
        sys.stdout.write(f"There is nothing at {status.path}.\n")
        return 0
    if not options.yes:
        if not sys.stdin.isatty():
            sys.stderr.write("afterturn: wipe asks before it erases; say --yes where nobody can answer\n")
            return 2
        sys.stdout.write(f"Erase {status.path} ({status.bytes:,} bytes)? Every ref stops resolving. [y/N] ")
        sys.stdout.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            sys.stdout.write("Nothing was erased.\n")
            return 1
    try:
        wipe_store(place_of(settings, os.environ))
    except StoreError as problem:
        sys.stderr.write(f"afterturn: {problem}\n")
        return 1
    sys.stdout.write(f"Erased {status.path}.\n")
    return 0
