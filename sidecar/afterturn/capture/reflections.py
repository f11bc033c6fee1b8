"""Finding a reflection in what an agent wrote (seed core-capture, section 5; capture.md, 'Reflection').

In this order: a section under a heading, `<reflection>` tags, a paragraph that begins with a label, and the phrases
with which Chinese answers explain themselves. Fenced code never counts. Lengths are chars.
"""

import re
from collections.abc import Iterator, Sequence

from afterturn.fences import OUTSIDE, fence_kind, mark_fences
from afterturn.text import cut, width

MAX_CHARS = 1500
_SHORTEST_SECTION_COLUMNS = 10
_SHORTEST_LABELLED = 20
_SHORTEST_CHINESE = 10

_TITLE = r"(?:reasoning|rationale|why|reflection|思考过程如下|思考过程|思考|我的理由)"
_COLON = r"[:\uff1a]"
_HASHES = re.compile(
    rf"^ {{0,3}}#{{1,4}}[ \t]+[*_]{{0,2}}{_TITLE}[*_]{{0,2}}[ \t]*(?:{_COLON}|[?\uff1f])?[*_]{{0,2}}[ \t]*#*[ \t]*$",
    re.IGNORECASE,
)
_BOLD = re.compile(
    rf"^ {{0,3}}(?:\*\*|__)[ \t]*{_TITLE}[ \t]*"
    rf"(?:(?P<colon>{_COLON})[ \t]*(?:\*\*|__)|[?\uff1f]?(?:\*\*|__)[ \t]*(?P<after>{_COLON})?)(?P<rest>.*)$",
    re.IGNORECASE,
)
_ANY_HEADING = re.compile(rf"^ {{0,3}}(?:#{{1,6}}[ \t]+\S|(?:\*\*|__)[^*_\n]{{1,60}}(?:\*\*|__)[ \t]*{_COLON}?[ \t]*$)")
_OPEN, _CLOSE = "<reflection>", "</reflection>"
_LABEL = re.compile(rf"^[ \t]*(Reflection|Reasoning|Rationale)[ \t]*{_COLON}(.*)$", re.IGNORECASE)
_KEY = re.compile(r"^[ \t]*[\w-]+[ \t]*:[ \t]")
_EXPLAINS = re.compile(r"\b(?:I|we|my|because|since|so that|in order to)\b")
_CHINESE = re.compile(
    rf"我(?:这么|这样)做(?:是)?(?:因为|的?(?:原因|理由)(?:是|在于|(?={_COLON})))|^[ \t]*思考过程(?:如下|(?={_COLON}))",
)
# Every form holds one of these.
_TELLTALES = ("reason", "rational", "why", "reflection", "思考", "理由", "样做", "么做")
_LEAD = ":\uff1a,\uff0c \t\n"


def extracted(agent_text: str) -> str | None:
    """The reflection in a text, at most MAX_CHARS, or None. Takes the text as it was before any cut."""
    lower = agent_text.lower()
    if not any(map(lower.__contains__, _TELLTALES)):
        return None
    prose = _without_fences(agent_text)
    lines = prose.split("\n")
    for found in _candidates(prose, lines):
        return cut(found, MAX_CHARS)
    return None


def _without_fences(text: str) -> str:
    if "```" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    marks = mark_fences([fence_kind(line) for line in lines])
    return "\n".join(line if mark == OUTSIDE else "" for line, mark in zip(lines, marks, strict=True))


def _candidates(prose: str, lines: Sequence[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        body = _section(line, lines, index)
        if body is not None and width(body) >= _SHORTEST_SECTION_COLUMNS:
            yield body
    for body in _tagged(prose):
        if width(body) >= _SHORTEST_SECTION_COLUMNS:
            yield body
    for index, line in enumerate(lines):
        label = _LABEL.match(line)
        if label is not None and not _is_key(label[1], label[2], lines, index):
            body = _body([label[2], *_until_heading(lines, index + 1)])
            if len(body) >= _SHORTEST_LABELLED:
                yield body
    for index, line in enumerate(lines):
        for phrase in _CHINESE.finditer(line):
            body = _body([line[phrase.end() :], *_until_heading(lines, index + 1)]).lstrip(_LEAD)
            if len(body) >= _SHORTEST_CHINESE:
                yield body


def _tagged(prose: str) -> Iterator[str]:
    lower = prose.lower()
    # A few letters have a lower case of two chars; places would not fit.
    if len(lower) != len(prose):
        lower = prose
    start = lower.find(_OPEN)
    while start >= 0:
        end = lower.find(_CLOSE, start)
        if end < 0:
            return
        yield prose[start + len(_OPEN) : end].strip()
        start = lower.find(_OPEN, end)


def _section(line: str, lines: Sequence[str], index: int) -> str | None:
    """What stands under a heading that announces a reflection, or behind it on its line; None for other lines."""
    if _HASHES.match(line):
        return _body(_until_heading(lines, index + 1))
    bold = _BOLD.match(line)
    if bold is None:
        return None
    rest = bold["rest"]
    # Without a colon, words behind the bold part make it emphasis in a sentence.
    if rest.strip() and not (bold["colon"] or bold["after"]):
        return None
    return _body([rest, *_until_heading(lines, index + 1)])


def _until_heading(lines: Sequence[str], start: int) -> list[str]:
    end = start
    while end < len(lines) and not (_ANY_HEADING.match(lines[end]) or _BOLD.match(lines[end])):
        end += 1
    return list(lines[start:end])


def _body(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).strip()


def _is_key(label: str, rest: str, lines: Sequence[str], index: int) -> bool:
    """Whether a label is a key of settings rather than the start of an explanation."""
    if not label.islower():
        return False
    around = [lines[place] for place in (index - 1, index + 1) if 0 <= place < len(lines)]
    return any(_KEY.match(line) for line in around) or not _EXPLAINS.search(rest)
