"""Which lines of a text are fenced code (condense.md, 'Inline refs').

A fence is a line that begins, trimmed, with three backticks or three tildes; it is closed by the next line that
begins with its own kind. An opener without a later closer is no fence. `in_code` reads fences as Markdown does.
"""

import re
from collections.abc import Sequence

_OPENER = re.compile(r"^\s*(?:(`{3,})[^`]*|(~{3,}).*)$")

INSIDE = 2
FENCE = 1
OUTSIDE = 0


def fence_kind(line: str) -> str:
    """What fence a line could open or close: "`", "~", or "" for none."""
    start = line.lstrip()
    if start.startswith("```"):
        return "`"
    return "~" if start.startswith("~~~") else ""


def mark_fences(kinds: Sequence[str]) -> list[int]:
    """For each line, given its `fence_kind`: OUTSIDE, FENCE (opens or closes one) or INSIDE. Linear."""
    last = {kind: index for index, kind in enumerate(kinds) if kind}
    marks: list[int] = []
    open_kind = ""
    for index, kind in enumerate(kinds):
        if open_kind:
            marks.append(FENCE if kind == open_kind else INSIDE)
            if kind == open_kind:
                open_kind = ""
        elif kind and last[kind] > index:
            marks.append(FENCE)
            open_kind = kind
        else:
            marks.append(OUTSIDE)
    return marks


def in_code(lines: Sequence[str]) -> list[bool]:
    """For each line whether it is of fenced code, its fences among them, to one who reads it as Markdown.

    There a fence ends at a line of at least as many of its own marks and nothing else, or never. Linear.
    """
    found: list[bool] = []
    marks = ""
    for line in lines:
        if marks:
            found.append(True)
            closing = line.strip()
            if closing.startswith(marks) and not closing.strip(marks[0]):
                marks = ""
        else:
            opener = _OPENER.match(line)
            found.append(opener is not None)
            if opener is not None:
                marks = opener[1] or opener[2]
    return found
