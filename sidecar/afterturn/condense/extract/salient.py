"""Cutting one long result to a budget without losing the lines that matter.

This is the sampling of condense.md, 'What the summariser is given': head, tail, and between them the lines that say how
it went, with a marker wherever something is left out.
"""

from bisect import bisect_right
from itertools import accumulate

from afterturn.condense.extract.hot import Lines
from afterturn.text import clean, cut

_HEAD_PERCENT = 40
_TAIL_PERCENT = 35
_LINE_CHARS = 300
_MAX_LINES = 80


def salient(text: str, budget_chars: int) -> str:
    """`text`, cleaned (`afterturn.text.clean`), in at most `budget_chars` chars.

    Every gap is marked with the number of chars left out there; the numbers and the chars that are kept add up to the
    cleaned text. A budget too small for a marker gives the beginning only.
    """
    text = clean(text)
    if len(text) <= budget_chars:
        return text
    gap = len(_marker(len(text))) + 2
    if budget_chars < 3 * gap:
        return cut(text, budget_chars)
    room = budget_chars - gap
    head = _head_end(text, room * _HEAD_PERCENT // 100)
    tail = _tail_start(text, max(head, len(text) - room * _TAIL_PERCENT // 100))
    spans = [(0, head), (tail, len(text))]
    spans += _between(text, head, tail, room - head - (len(text) - tail), gap)
    return _joined(text, sorted(spans))


def _marker(chars: int) -> str:
    return f"[\u2026 {chars} chars left out \u2026]"


def _head_end(text: str, limit: int) -> int:
    end = text.rfind("\n", 0, limit)
    return end + 1 if end >= limit // 2 else limit


def _tail_start(text: str, start: int) -> int:
    line = text.find("\n", start - 1)
    return line + 1 if 0 <= line < (start + len(text)) // 2 else start


def _between(text: str, head: int, tail: int, room: int, gap: int) -> list[tuple[int, int]]:
    """Spans of the lines that matter from `head` to `tail`, the weightiest first, in `room` with a marker each."""
    lines = Lines(text)
    starts = list(accumulate((len(line) + 1 for line in lines.all), initial=0))
    weights = dict(lines.errors) | dict.fromkeys(lines.raised, 4) | dict.fromkeys(lines.totals, 3)
    first, last = bisect_right(starts, head - 1), bisect_right(starts, tail) - 1
    inside = [index for index in weights if first <= index < last]
    inside.sort(key=lambda index: (-weights[index], index))
    spans: list[tuple[int, int]] = []
    told = set(lines.all[:first])
    for index in inside[:_MAX_LINES]:
        if lines.all[index] in told:
            continue
        told.add(lines.all[index])
        length = len(lines.all[index])
        size = length + 1 if length <= _LINE_CHARS else _LINE_CHARS
        if size + gap <= room:
            spans.append((starts[index], starts[index] + size))
            room -= size + gap
    return spans


def _joined(text: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in spans:
        if start > at:
            parts += ("" if not parts or parts[-1].endswith("\n") else "\n", _marker(start - at), "\n")
        parts.append(text[start:end])
        at = end
    return "".join(parts)
