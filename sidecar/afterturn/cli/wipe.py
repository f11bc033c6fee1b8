"""`afterturn wipe`: erase everything that afterturn has stored. Settings stay."""

import argparse
import os
import sys

from afterturn.cli.place import store_settings, user_store
from afterturn.storage import place_of, store_status
from afterturn.store import wipe_store
from afterturn.store.files import real_file
from afterturn.store.wiping import stored_at
from afterturn.store_error import StoreError


def run(options: argparse.Namespace) -> int:
    """Ask, unless `--yes`; then erase the store's files."""
    settings = store_settings(os.environ)
    try:
        status = store_status(user_store(os.environ))
        place = place_of(settings, os.environ)
        if not stored_at(place):
            sys.stdout.write(f"There is nothing at {status.path}.\n")
            return 0
        if place.file.is_symlink():
            shown = f"{status.path} and {real_file(place.file)}, to which it leads"
        else:
            shown = f"{status.path}"
        if not options.yes:
            if not sys.stdin.isatty():
                sys.stderr.write("afterturn: wipe asks before it erases; say --yes where nobody can answer\n")
                return 2
            sys.stdout.write(f"Erase {shown} ({status.bytes or 0:,} bytes)? Every ref stops resolving. [y/N] ")
            sys.stdout.flush()
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                sys.stdout.write("Nothing was erased.\n")
                return 1
        wipe_store(place)
    except StoreError as problem:
        sys.stderr.write(f"afterturn: {problem}\n")
        return 1
    sys.stdout.write(f"Erased {shown}.\n")
    return 0
