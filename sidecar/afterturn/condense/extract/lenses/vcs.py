"""What git and its like print besides diffs: status, log, commit, push, branch."""

import re

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.safe import is_instruction
from afterturn.condense.extract.sight import Sight
from afterturn.text import cut_words

_COMMITTED = r"\[[\w./ ()-]{1,120} [0-9a-f]{6,40}\] .+|\s*\d+ files? changed\b.*"
_PUSHED = r"\s*(?:[+*=!-] )?(?:[0-9a-f]{6,40}\.{2,3}[0-9a-f]{6,40}|\[[a-z ]+\])\s+\S+\s+->\s+\S+.*|To \S+"
_LOG = re.compile(r"[*|\\/ ]{0,12}(?:commit )?([0-9a-f]{7,40})\b(?: |$)(?:\([^)]{1,200}\) )?(.*)")
_CHANGE = re.compile(
    r"(?:[MADRCUT?!]{1,2}| [MADRCUT])\s+(\S.*)|\s*(?:modified|new file|deleted|renamed|both modified"
    r"|typechange):\s+(\S.*)"
    r"|\s(?:create|delete) mode \d+ (.+)|\s(?:rename|copy) (.+?) \(\d+%\)"
)
_STAT = re.compile(r"\d+ [+-]*|Bin .*")
_BRANCH = (
    r"(?:On branch|HEAD detached at|Your branch is|Switched to|Already|Saved working|Dropped|HEAD is now"
    r"|Merge|Automatic|Deleted branch|CONFLICT|Auto-merging|nothing to commit|no changes added"
    r"|Everything up-to-date|Successfully rebased|Fast-forward|Updating |Untracked files|# On branch"
    r"|Updated \d+ paths?).*"
)
_COMMIT = re.compile(_COMMITTED)
_STATE = re.compile(f"{_COMMITTED}|{_PUSHED}|{_BRANCH}")


def read(view: Sight, digest: Digest) -> None:
    """Add commits, pushes, branch state and changed paths, all facts."""
    state: dict[str, None] = {}
    changed: dict[str, None] = {}
    log: dict[str, None] = {}
    for line in view.lines.all[:5000]:
        if _sort(line[:400], state, changed, log) or not line.strip():
            continue
    if state:
        digest.facts.append(Group("git", [cut_words(line, 200) for line in state], " | ", share=40, cut=True))
    if log:
        many = len(log) > len(state) + len(changed)
        shown = [cut_words(entry, 80 if many else 120) for entry in log]
        digest.facts.append(Group("commits", shown, " | ", share=90 if many else 40, cut=True))
    if changed:
        digest.problems += len(changed) // 2
        digest.facts.append(Group("changed", list(changed), share=70))


def _sort(line: str, state: dict[str, None], changed: dict[str, None], log: dict[str, None]) -> bool:
    text = line.strip()
    if _STATE.fullmatch(line) is not None:
        if not is_instruction(text):
            state.setdefault(text)
        return True
    match = _CHANGE.fullmatch(line.rstrip())
    if match is not None:
        changed.setdefault(next(part for part in match.groups() if part))
        return True
    path, bar, counts = text.partition(" | ")
    if bar and _STAT.fullmatch(counts.strip()) is not None:
        changed.setdefault(path.rstrip())
        return True
    match = _LOG.fullmatch(line.rstrip())
    if match is not None:
        log.setdefault(f"{match[1]} {match[2]}".strip())
        return True
    return False


def finds(view: Sight) -> bool:
    """Whether the output has a line of git's own."""
    return any(_COMMIT.fullmatch(line[:400]) for line in view.lines.all[-200:])
