"""Labels `[[N:tool]]` and what becomes of them (seed per-bullet-summary-refs; condense.md, 'Inline refs').

The summariser copies a label from its input to the first bullet of each call; here it turns into that call's ref,
or disappears. It never leaks, and never becomes the ref of a call with another name.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from afterturn.fences import INSIDE, fence_kind, mark_fences

_LEADING = re.compile(r"^(\s*(?:[-*]\s+)?)\[\[([0-9]+):([^\]\n]+)\]\]\s*")
_OPENING = re.compile(r"\[\[[0-9]+:")
_BLANKS = re.compile(r"\s*")
_UNFIT = re.compile("[\\]\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_MAX_DIGITS = 9


class Label(Struct, frozen=True):
    """A label that leads a line: the text before it, the call's position from 0, the text after it.

    position is None for a label that names no call of the batch, or another tool than that call's.
    """

    prefix: str
    position: int | None
    rest: str


def label_name(tool_name: str) -> str:
    """A tool name as a label holds it: `]` and line breaks written `_`; a blank one is `_`."""
    name = _UNFIT.sub("_", tool_name)
    return name if name.strip() else "_"


def label(number: int, tool_name: str) -> str:
    """The label of the call with this number, counted from 1."""
    return f"[[{number}:{label_name(tool_name)}]]"


def read_label(line: str, tool_names: Sequence[str]) -> Label | None:
    """The label that leads `line`, or None if none does. Names are compared trimmed and without regard to case."""
    found = _LEADING.match(line)
    if found is None:
        return None
    prefix, digits, name = found.groups()
    position = int(digits) - 1 if len(digits) <= _MAX_DIGITS else -1
    if not (0 <= position < len(tool_names) and _same_name(name, tool_names[position])):
        return Label(prefix, None, line[found.end() :])
    return Label(prefix, position, line[found.end() :])


def strip_labels(line: str) -> str:
    """`line` without any label; again and again, because deleting one can join another."""
    while "]]" in line and "[[" in line:
        shorter = _without_labels(line)
        if shorter == line:
            break
        line = shorter
    return line


def _without_labels(line: str) -> str:
    """Delete every label with the blanks after it, leftmost first.

    By hand, from one `]` to the next: a regex reads on to the next `]` from each `[[1:`, which takes seconds on a
    long line of them.
    """
    kept: list[str] = []
    at = start = 0
    while (close := line.find("]", start)) >= 0:
        opening = _OPENING.search(line, start, close) if line.startswith("]]", close) else None
        start = close + 1
        if opening is not None and opening.end() < close:
            kept.append(line[at : opening.start()])
            blanks = _BLANKS.match(line, close + 2)
            at = start = blanks.end() if blanks is not None else close + 2
    kept.append(line[at:])
    return "".join(kept)


def substitute_inline_refs(text: str, refs: Sequence[str], tool_names: Sequence[str]) -> str:
    """Turn each label that leads a line into its call's ref in backticks; delete every other label.

    refs: the short ids, such as "t12", of the summarised calls in label order.
    tool_names: their tools, in the same order.

    Fenced code stays as it is. The result has no label outside fences and is its own result. A line counts as a
    fence by what it is once its labels are gone, so that deleting one cannot turn a fence inside out.
    """
    if "[[" not in text:
        return text
    lines = text.split("\n")
    written = [_substitute_line(line, refs, tool_names) for line in lines]
    marks = mark_fences([fence_kind(line) for line in written])
    return "\n".join(line if mark == INSIDE else done for line, done, mark in zip(lines, written, marks, strict=True))


def _substitute_line(line: str, refs: Sequence[str], tool_names: Sequence[str]) -> str:
    if "[[" not in line:
        return line
    found = read_label(line, tool_names[: len(refs)])
    if found is None:
        return strip_labels(line)
    if found.position is None:
        return strip_labels(found.prefix + found.rest)
    return strip_labels(f"{found.prefix}`{refs[found.position]}` {found.rest}")


def _same_name(echoed: str, tool_name: str) -> bool:
    return echoed.strip().casefold() == label_name(tool_name).strip().casefold()
