"""The result of a call without the harness's wrapping around it.

Harnesses put the exit code, limits and hints around what a command printed (prior-art page 'transcript-formats'). Here
they are taken apart once, by shape and not by harness, so that no extractor has to know whose output it reads.
"""

import re

import msgspec

from afterturn.edges import ending, exit_code, extent_notes
from afterturn.text import ELLIPSIS, clean

# A text longer than this is read at its two ends only: enough for every fact, and a bound on the time taken.
MAX_READ_CHARS = 1_000_000

_EDGE = 800
# A longer result was not refused, whatever words it begins with.
_SHORT = 1500
# So many lines at most are the harness's own, at either end, and so much of each is looked at.
_WRAPPING_LINES = 40
_WRAPPING_CHARS = 400
# More rows than this, joined, are no line that ran over the edge.
_MAX_JOINED = 40
_PROBED = 24
_REMINDER = ("<system-reminder>", "</system-reminder>")
_BODIES = (
    ("<output>", "</output>"),
    ("<file>", "</file>"),
    ("<content>", "</content>"),
    ("<file_content>", "</file_content>"),
    ("<stdout>", "</stdout>"),
)
_WRAP_LINE = re.compile(
    r"</?(?:output|output_head|output_tail|file|content|file_content|stdout|stderr|tool_use_error"
    r"|returncode|warning|type|path"
    r"|error|result|results|retrieval_status|task_id|task_type|status|exit_code|elided_chars|bash_metadata|usage)>"
    r"|\[?(?:Showing )?lines \d+-\d+ of \d+|\[\d+ more lines|\((?:\d+ more lines|File has more|End of file"
    r"|Results are trunc|Open file:|Current directory:"
    r"|no output\))|\[(?:File: |The command completed|Command finished|Current working|Python interpreter"
    r"|Truncated at)"
    r"|(?:Chunk ID|Wall time|Original token count|Total output lines|Process Group PGID|Background PIDs"
    r"|Exit Code): |Signal: \d|Error: \(none\)"
    r"|Exit code:? \d|Command exited with|Process exited with|Here's the result of running"
    r"|--- FILE CONTENT"
    r"|IMPORTANT: The file content|Status: Showing|Action: To read|bash-\$|Only the first \d+"
    # Not what an edit says that could not choose: "Found 2 matches of the string to replace, but ...".
    r"|Found \d+ (?:match|file|result)(?!\w* of )|No (?:files|matches)(?: were)? found"
)


# How a command that runs on in the background stands.
_STANDING = re.compile(r"<((?:retrieval_)?status)>(?!success|completed)(\w{1,20})<")


class Output(msgspec.Struct, frozen=True):
    """A result, unwrapped and clean.

    `body`: what the tool itself gave, as a terminal shows it, without the wrapping. `exit_code`: its digits as the
    text has them, or None. `notes`: extents such as "lines 1-50 of 812", verbatim. `ending`: "timed out" or "denied"
    where the text says so, else "". `chars`: the length of the whole result.
    """

    body: str
    exit_code: str | None = None
    notes: tuple[str, ...] = ()
    ending: str = ""
    chars: int = 0


def unwrap(text: str) -> Output:
    """Take a result apart. Never fails; what is not recognised stays in the body."""
    chars = len(text)
    if chars > MAX_READ_CHARS:
        half = MAX_READ_CHARS // 2
        text = text[:half] + "\n" + text[-half:]
    text = _without_reminders(clean(text))
    if "tool_use_error>" in text[:_EDGE]:
        text = text.replace("<tool_use_error>", "", 1).replace("</tool_use_error>", "", 1)
    head, tail = text[:_EDGE], text[-_EDGE:]
    standing = _STANDING.findall(head) if "status>" in head else []
    return Output(
        body=_unwrap_rows(_body(text)),
        exit_code=exit_code(head, tail),
        notes=(*[f"{name} {value}" for name, value in standing], *extent_notes(head, tail)),
        ending=ending(head, tail) if chars < _SHORT or "timed out" in tail else "",
        chars=chars,
    )


def _unwrap_rows(text: str) -> str:
    """The rows of a terminal screen as lines again.

    Some harnesses give a screen dump, every row padded to the same width. A word that ran over the edge cannot be told
    from two; it is left out, so that no half of a path or number is taken for a whole one.
    """
    width = text.find("\n", first := text.find("\n") + 1) - first
    if not 60 <= width <= 300 or " \n" not in text or text.count("\n") < 3:
        return text
    first_rows = text.split("\n", _PROBED)[:_PROBED]
    if [len(row) for row in first_rows].count(width) * 10 < len(first_rows) * 7 or not any(
        row[-1:] == " " for row in first_rows
    ):
        return text
    rows = text.split("\n")
    if [len(row) for row in rows].count(width) * 10 < len(rows) * 7:
        return text
    lines: list[str] = []
    parts: list[str] = []
    for row in rows:
        full = len(row) == width and not row[-1].isspace() and len(parts) < _MAX_JOINED
        text = row.partition(" ")[2] if parts else row
        if full:
            parts += (text.rpartition(" ")[0], ELLIPSIS)
        else:
            lines.append(" ".join([*parts, text.rstrip()]))
            parts = []
    return "\n".join([*lines, " ".join(parts)])


def _without_reminders(text: str) -> str:
    """Harness messages to the agent inside results: nothing of the tool, and full of orders."""
    opener, closer = _REMINDER
    if opener not in text:
        return text
    kept: list[str] = []
    at = 0
    while (start := text.find(opener, at)) >= 0:
        kept.append(text[at:start])
        end = text.find(closer, start)
        at = len(text) if end < 0 else end + len(closer)
    kept.append(text[at:])
    rest = "".join(kept)
    # A reminder that is all of a result says why there is none.
    return rest if rest.strip() else text.replace(opener, "").replace(closer, "")


def _body(text: str) -> str:
    stripped = text.lstrip()
    if stripped.startswith(("Chunk ID:", "Exit code:", "Wall time:", "Command:")):
        for opener in ("\nOutput:", "\nStdout:"):
            start = text.find(opener, 0, 20_000)
            if start >= 0:
                return _trim(text[start + len(opener) :])
    if "<" not in text[: _EDGE * 2]:
        return _trim(text)
    start = text.find("<output_head>", 0, _EDGE * 2)
    if start >= 0:
        head = _between(text, "<output_head>", "</output_head>", start)
        return _trim(head + "\n" + _between(text, "<output_tail>", "</output_tail>", start))
    for opener, closer in _BODIES:
        start = text.find(opener, 0, _EDGE)
        if start >= 0 and all(is_wrapping(line) for line in text[:start].split("\n")):
            return _trim(_between(text, opener, closer, start))
    return _trim(text)


def _between(text: str, opener: str, closer: str, at: int) -> str:
    start = text.find(opener, at)
    if start < 0:
        return ""
    start += len(opener)
    end = text.rfind(closer, start)
    return text[start : end if end >= 0 else len(text)]


def _trim(text: str) -> str:
    """Drop wrapping lines at both ends; the inside is the tool's own."""
    start, end = 0, len(text)
    for _ in range(_WRAPPING_LINES):
        close = text.find("\n", start, end)
        if not is_wrapping(text[start : min(close if close >= 0 else end, start + _WRAPPING_CHARS)]):
            break
        if close < 0:
            return ""
        start = close + 1
    for _ in range(_WRAPPING_LINES):
        begin = text.rfind("\n", start, end)
        if not is_wrapping(text[max(begin + 1, start) : min(end, begin + 1 + _WRAPPING_CHARS)]):
            break
        if begin < 0:
            return ""
        end = begin
    return text[start:end]


def is_wrapping(line: str) -> bool:
    """Whether a line is the harness's own around the output, or blank."""
    stripped = line.strip()
    return not stripped or _WRAP_LINE.match(stripped) is not None
