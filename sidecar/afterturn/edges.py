"""What the two ends of a result say about it: exit code, refusal, time-out, extent.

Plain searches for a few words come first: the patterns are slow, and most results need none of them.
"""

import re

_EXIT_WORDS = (
    r"(?:exited with(?: exit)?(?: code| status)?|exit[ _-](?:code|status)|return[ _]?code)"
    r"(?: of| is| was)?\s*[:=]?\s*"
)
_EXIT_HEAD = re.compile(
    r"(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?"
    r"(?:<returncode>|<exit_code>|(?:Error: )?(?:Process |Command )?" + _EXIT_WORDS + r")(-?\d{1,10})\b",
    re.IGNORECASE,
)
# A whole line that says no more than that.
_EXIT_TAIL = re.compile(
    r"(?:\[[^\]\n]{0,80}\] ?){0,3}[\[(<]?(?:error: ?)?"
    r"(?:(?:the )?(?:command|process|program|script|shell|container|job|task|child)\b.{0,80}? )?"
    r"(?:exit(?:ed)? with(?: exit)?(?: code| status)?|exit[ _-](?:code|status)|return[ _]?code)"
    r"(?: of| is| was)?\s*[:=]?\s*(-?\d{1,10})[\])>.,;]*",
    re.IGNORECASE,
)
_EXIT_HINTS = ("exit", "return code", "return_code", "returncode")
_EXIT_TAG = re.compile(r"^<exit_code>(-?\d{1,10})</exit_code>$", re.MULTILINE)
_TIMEOUT = re.compile(r"(?:command|process|tool|execution)?[^\n]{0,30}timed out(?: after [\d.]+ ?\w+)?", re.IGNORECASE)
# Looked for in lower case: a pattern that has to try both cases takes six times as long.
_DENIED = re.compile(
    r"(?:tool use was rejected|user (?:doesn't|does not|did not) want|rejected by (?:the )?user"
    r"|denied by (?:the )?user"
    r"|user (?:rejected|denied|declined|cancelled|canceled)|(?:request|command"
    r"|operation) (?:was )?interrupted by (?:the )?user"
    r"|\[request interrupted|permission to use \S+ has been denied|requires approval|approval (?:was )?denied"
    r"|haven't granted it yet|command aborted|aborted by (?:the )?user|not allowed by (?:the )?(?:user|policy))"
)
# What a tool says about the extent of what it shows. The numbers are what a later call needs.
_NOTE = re.compile(
    r"File: [^\s(]+ \(\d+ lines total\)|(?:Showing )?lines \d+ ?(?:-|to) ?\d+ of \d+(?: total)?(?: lines)?"
    r"|\d+ more lines?(?: in file| above| below)?|total \d+ lines"
    r"|\d+ lines total|beyond line \d+|offset[=:] ?\d+|response clipped|\b(?:agentId|agent_id|sessionId"
    r"|session_id): [\w-]{4,60}|(?:saved|written) to:? [/~.][^\s)]+|Found \d+ (?:total )?(?:match|file"
    r"|result|line|item|entr)\w*(?:\(s\))?|\d+ matches across \d+ files"
    r"|No (?:files|matches|results?) (?:were )?found|first \d+ (?:matches|results|lines|files)|\d+ characters elided"
    r"|Total output lines: \d+|exceeds maximum allowed|results are truncated",
    re.IGNORECASE,
)
# Words that such a phrase has; with the first ones a number comes too.
_NUMBERED_NOTES = ("lines ", " lines", "more line", "beyond line", "offset", "found ", "elided", "matches", "results")
_OTHER_NOTES = (
    *("clipped", "agentid:", "agent_id:", "sessionid:", "session_id:", "saved to", "written to", "exceeds max"),
    *("are truncated", "no files", "no match", "no result"),
)
_DENIED_WORDS = ("user", "denied", "interrupted", "approval", "granted", "aborted", "allowed", "permission")
_A_DIGIT = re.compile(r"[0-9]")
_NOTE_EDGE = 500
_MAX_NOTES = 5


def exit_code(head: str, tail: str) -> str | None:
    """The digits of the exit code a result reports, from its head or else its tail."""
    found = _EXIT_HEAD.match(head.lstrip())
    if found is None and "<exit_code>" in head:
        found = _EXIT_TAG.search(head)
    if found is not None:
        return found[1]
    low = tail.lower()
    if not any(word in low for word in _EXIT_HINTS):
        return None
    matches = (_EXIT_TAIL.fullmatch(line[:200].strip()) for line in reversed(tail.split("\n")))
    return next((match[1] for match in matches if match is not None), None)


def extent_notes(head: str, tail: str) -> tuple[str, ...]:
    """Phrases about how much of something is shown, and handles to get at more of it, verbatim."""
    text = head[:_NOTE_EDGE] + "\n" + tail[-_NOTE_EDGE:]
    low = text.lower()
    starts: set[int] = set()
    for word in (*_NUMBERED_NOTES, *_OTHER_NOTES):
        at = low.find(word)
        while at >= 0:
            starts.add(low.rfind("\n", 0, at) + 1)
            at = low.find(word, at + 200)
    notes: dict[str, None] = {}
    for start in sorted(starts):
        end = low.find("\n", start)
        line = low[start : end if end >= 0 else len(low)]
        if _A_DIGIT.search(line) is None and not any(word in line for word in _OTHER_NOTES):
            continue
        for note in _NOTE.finditer(text[start : start + min(len(line), 400)]):
            notes.setdefault(note[0].rstrip("."))
    return tuple(notes)[:_MAX_NOTES]


def ending(head: str, tail: str) -> str:
    """ "denied", the words of a time-out, or ""."""
    start = head[:400].lower()
    if any(word in start for word in _DENIED_WORDS) and _DENIED.search(start) is not None:
        return "denied"
    for edge in (head[:200], tail[-200:]):
        if "timed out" in edge and (found := _TIMEOUT.search(edge)) is not None:
            return found[0].strip()
    return ""
