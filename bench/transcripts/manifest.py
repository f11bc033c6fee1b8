"""What MANIFEST.tsv says each transcript holds, and where the file itself says otherwise."""

import csv
from typing import NamedTuple

from afterturn.replay.sessions import Session

from . import folder

COLUMNS = ("tool_calls", "results", "unanswered", "errors", "compactions")


class Correction(NamedTuple):
    """The right figures of some columns, counted by hand, and why the manifest's are wrong."""

    why: str
    right: dict[str, int]


CORRECTIONS = {
    "claude-code/agentsessions-schema-drift.jsonl": Correction(
        "It has three results, the last of which (a rejection, the only error) has no id and no call left to answer: "
        "an orphan. The call and the result before it have no ids either and belong together. Two lines are "
        "compact_boundary.",
        {"results": 2, "unanswered": 1, "errors": 0, "compactions": 2},
    ),
    "codex/agentsessions-codex.jsonl": Correction(
        "Five outputs, of which the third stands before the only call of its (made-up) id: an orphan.",
        {"results": 4},
    ),
    "mini-swe-agent/django__django-11138.traj.json": Correction(
        "15 of the 115 replies have two to five bash blocks; the harness refused each ('EXACTLY ONE action') and ran "
        "nothing. 99 results begin with <returncode>, one is the diff that was submitted.",
        {"tool_calls": 100, "results": 100},
    ),
    "mini-swe-agent/sympy__sympy-13091.traj.json": Correction(
        "5 of the 129 replies have two bash blocks and were refused; 123 results begin with <returncode>, one is the "
        "diff that was submitted.",
        {"tool_calls": 124, "results": 124},
    ),
    "openhands/multi_swe_bench_output.jsonl": Correction(
        "103 observations name the action that caused them. The two error observations (a call that could not be "
        "parsed) have no cause: orphans. 19 commands ended with an exit code, 24 edits and reads say ERROR.",
        {"results": 103, "errors": 43},
    ),
    "openhands/sdk-events.jsonl": Correction(
        "Two actions, three observations: the action of the second observation is not in the file.", {"results": 2}
    ),
    "pi/pi-large-session.v3-branched.jsonl": Correction(
        "It has no compaction entry; the one summary in it is a branch_summary.", {"compactions": 0}
    ),
}


def said() -> dict[str, dict[str, int]]:
    """The manifest's figures of each file, those that it has."""
    with (folder() / "MANIFEST.tsv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    return {row["file"]: {column: int(row[column]) for column in COLUMNS if row[column]} for row in rows}


def right(name: str, figures: dict[str, int]) -> dict[str, int]:
    """The manifest's figures of a file, corrected."""
    return figures | (CORRECTIONS[name].right if name in CORRECTIONS else {})


def counted(sessions: list[Session]) -> dict[str, int]:
    """The same figures of what was read."""
    calls = [call for session in sessions for call in session.calls]
    answered = [call for call in calls if call.result is not None]
    return {
        "tool_calls": len(calls),
        "results": len(answered),
        "unanswered": len(calls) - len(answered),
        "errors": sum(call.is_error for call in answered),
        "compactions": sum(len(session.compactions) for session in sessions),
    }
