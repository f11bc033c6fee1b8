"""Which lines of a text are fenced code (condense.md, 'Inline refs').

A fence is a line that begins, trimmed, with three backticks or three tildes; it is closed by the next line that
begins with its own kind. An opener without a later closer is no fence.
"""

from collections.abc import Sequence

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
