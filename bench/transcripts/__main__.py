"""Prints what each transcript was read as beside the counts in MANIFEST.tsv, and why they differ where they do."""

import csv
import sys

from . import files, folder, read

_COLUMNS = ("tool_calls", "results", "unanswered", "errors")

_WHY = {
    "claude-code/agentsessions-schema-drift.jsonl": "a call and results without ids are paired by order",
    "codex/agentsessions-codex.jsonl": "one output stands before the call of its (reused) id: an orphan",
    "mini-swe-agent/django__django-11138.traj.json": "15 replies were rejected by the harness and ran nothing",
    "mini-swe-agent/sympy__sympy-13091.traj.json": "5 replies were rejected by the harness and ran nothing",
    "openhands/multi_swe_bench_output.jsonl": "two error observations answer no call; failed edits count as errors",
    "openhands/sdk-events.jsonl": "one observation's action is not in the file: an orphan",
}


def main() -> int:
    """Exit code 1 when a count differs and no reason is known."""
    unexplained = 0
    with (folder() / "MANIFEST.tsv").open(encoding="utf-8", newline="") as handle:
        manifest = {row["file"]: row for row in csv.DictReader(handle, delimiter="\t")}
    for file in files():
        sessions = read(file)
        calls = [call for session in sessions for call in session.calls]
        answered = [call for call in calls if call.result is not None]
        got = (len(calls), len(answered), len(calls) - len(answered), sum(call.is_error for call in answered))
        said = tuple(int(manifest[file.name][column] or -1) for column in _COLUMNS)
        orphans = sum(session.orphan_results for session in sessions)
        turns = sum(len(session.turns) for session in sessions)
        differs = [f"{c} {s}" for c, g, s in zip(_COLUMNS, got, said, strict=True) if s not in (-1, g)]
        why = _WHY.get(file.name, "")
        unexplained += bool(differs and not why)
        line = f"{file.name}: {len(sessions)} sessions, {turns} turns, calls {got[0]}, results {got[1]}"
        line += f", unanswered {got[2]}, errors {got[3]}, orphans {orphans}"
        if differs:
            line += f"; manifest says {', '.join(differs)}: {why or 'UNEXPLAINED'}"
        sys.stdout.write(line + "\n")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
