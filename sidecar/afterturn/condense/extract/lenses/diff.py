"""Diffs and patches: which files, where, what they touch."""

import re
from functools import partial

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.names import names_of
from afterturn.condense.extract.sight import Sight
from afterturn.text import cut_words

_FILE = re.compile(
    r"diff --git a/(\S+) b/(\S+)|(?:\+\+\+|---) (?:[ab]/)?(\S+)|\*\*\* (?:Add|Update|Delete) File: (.+)"
    r"|\*\*\* Move to: (.+)|rename (?:from|to) (.+)"
    r"|Index: (\S+)"
)
_HUNK = re.compile(r"@@ (-\d+(?:,\d+)? \+\d+(?:,\d+)?) @@ ?(.*)")
_COMMIT = re.compile(r"commit ([0-9a-f]{7,40})\b")
_STARTS = ("diff --git", "+++ ", "--- ", "*** ", "rename ", "Index: ")


def read(view: Sight, digest: Digest) -> None:
    """Add commits, changed files and hunks as facts, then what the changed lines name."""
    files: dict[str, list[str]] = {}
    commits: dict[str, None] = {}
    changed: list[str] = []
    current = ""
    lines = view.lines.all
    for at, line in enumerate(lines):
        if line.startswith(_STARTS):
            match = _FILE.match(line[:400])
            name = next((part for part in match.groups()[::-1] if part), "") if match is not None else ""
            if name and name != "/dev/null":
                current = name.strip()
                files.setdefault(current, [])
            continue
        first = line[:1]
        if first == "@":
            match = _HUNK.match(line[:300])
            if match is not None and current:
                files[current].append(f"@@ {match[1]} @@ {match[2]}".strip())
                changed.append(match[2])
        elif first in ("+", "-") and len(line) > 1:
            changed.append(line[1:400])
        elif first == "c" and (match := _COMMIT.match(line)) is not None:
            commits.setdefault(cut_words(f"{match[1]} {_subject(lines, at)}".strip(), 160))
    if commits:
        digest.facts.append(Group("commits", list(commits), " | ", share=50, cut=True))
    if files:
        digest.facts.append(Group("changed", list(files), share=60))
        hunks = [f"{path} {hunk}" if len(files) > 1 else hunk for path, found in files.items() for hunk in found]
        if hunks:
            digest.names.append(Group("hunks", [cut_words(hunk, 140) for hunk in hunks], " | ", share=45))
    names = partial(names_of, "\n".join(changed), view.wanted, view.known)
    digest.names.append(Group("names", names, " ", bare=True))


def _subject(lines: list[str], at: int) -> str:
    """The first line of a commit's message, which git indents by four."""
    for line in lines[at + 1 : at + 8]:
        if line.startswith("    ") and line.strip():
            return line.strip()
    return ""
