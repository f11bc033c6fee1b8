"""Prints what each transcript was read as beside the counts in MANIFEST.tsv, and why they differ where they do."""

import sys

from . import files, read
from .manifest import CORRECTIONS, counted, right, said


def main() -> int:
    """Exit code 1 when a count differs from the right one."""
    wrong = 0
    figures = said() if files() else {}
    for file in files():
        sessions = read(file)
        got = counted(sessions)
        turns = sum(len(session.turns) for session in sessions)
        orphans = sum(session.orphan_results for session in sessions)
        counts = ", ".join(f"{column} {count}" for column, count in got.items())
        print(f"{file.name}: {len(sessions)} sessions, {turns} turns, {counts}, orphans {orphans}")
        for reason, count in {key: n for session in sessions for key, n in session.skipped.items()}.items():
            print(f"    skipped: {count} x {reason}")
        manifest = figures.get(file.name, {})
        differs = {column: count for column, count in manifest.items() if count != got[column]}
        if differs:
            why = CORRECTIONS[file.name].why if file.name in CORRECTIONS else "UNEXPLAINED"
            print(f"    the manifest says {differs}: {why}")
        wrong += any(got[column] != count for column, count in right(file.name, manifest).items())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
