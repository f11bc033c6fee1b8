"""Finding a reflection in what an agent wrote (seed core-capture, section 5; capture.md, 'Reflection').

In this order: a section under a heading, `<reflection>` tags, a paragraph that begins with a label, and the phrases
with which Chinese answers explain themselves. None of them counts in fenced code; a body keeps the code that stands
in it. Lengths are chars.
"""

import re
from collections.abc import Iterator, Sequence

from afterturn.fences import in_code
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
_LABEL = re.compile(rf"^[ \t]*(Reflection|Reasoning|Rationale)[ \t]*({_COLON})(.*)$", re.IGNORECASE)
_KEY = re.compile(r"^[ \t]*[\w-]+[ \t]*:[ \t]")
_SMALL_KEY = re.compile(r"^[ \t]*[a-z][\w-]*[ \t]*:[ \t]")
_EXPLAINS = re.compile(r"\b(?:I|we|my|because|since|so that|in order to)\b")
_CHINESE = re.compile(
    rf"我(?:这么|这样)做(?:是)?(?:因为|的?(?:原因|理由)(?:是|在于|(?={_COLON})))"
    rf"|思考过程如下|^[ \t]*思考过程(?={_COLON})",
)
# Every form holds one of these.
_TELLTALES = ("reason", "rational", "why", "reflection", "思考", "理由", "样做", "么做")
_LEAD = ":\uff1a,\uff0c \t\n"


def extracted(agent_text: str) -> str | None:
    """The reflection in a text, at most MAX_CHARS, or None. Takes the text as it was before any cut."""
    lower = agent_text.lower()
    if not any(map(lower.__contains__, _TELLTALES)):
        return None
    for found in _candidates(_Lines(agent_text.replace("\r\n", "\n"))):
        return cut(found, MAX_CHARS)
    return None


class _Lines:
    """The lines of a text. prose: those with blanks in place of fenced code, so that places in both are the same."""

    __slots__ = ("lines", "prose")

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.prose = self.lines if "```" not in text and "~~~" not in text else _without_fences(self.lines)

    def body(self, index: int, start: int = 0) -> tuple[str, str]:
        """What stands from a place of a line up to the next heading, and what of it is prose."""
        end = index + 1
        while end < len(self.prose) and not _is_heading(self.prose[end]):
            end += 1
        return _body(self.lines, index, start, end), _body(self.prose, index, start, end)


def _without_fences(lines: Sequence[str]) -> list[str]:
    return [" " * len(line) if code else line for line, code in zip(lines, in_code(lines), strict=True)]


def _candidates(text: _Lines) -> Iterator[str]:
    for index, line in enumerate(text.prose):
        start = _section(line)
        if start is not None:
            body, prose = text.body(index, start)
            if width(prose) >= _SHORTEST_SECTION_COLUMNS:
                yield body
    for body, prose in _tagged(text):
        if width(prose) >= _SHORTEST_SECTION_COLUMNS:
            yield body
    for index, line in enumerate(text.prose):
        label = _LABEL.match(line)
        if label is not None and not (label[2] == ":" and _is_key(label[1], label[3], text.prose, index)):
            body, prose = text.body(index, label.start(3))
            if len(prose) >= _SHORTEST_LABELLED:
                yield body
    for index, line in enumerate(text.prose):
        for phrase in _CHINESE.finditer(line):
            body, prose = text.body(index, phrase.end())
            if len(prose.lstrip(_LEAD)) >= _SHORTEST_CHINESE:
                yield body.lstrip(_LEAD)


def _tagged(text: _Lines) -> Iterator[tuple[str, str]]:
    whole, prose = "\n".join(text.lines), "\n".join(text.prose)
    lower = prose.lower()
    # A few letters have a lower case of two chars; places would not fit.
    if len(lower) != len(prose):
        lower = prose
    start = lower.find(_OPEN)
    while start >= 0:
        end = lower.find(_CLOSE, start)
        if end < 0:
            return
        inner = slice(start + len(_OPEN), end)
        yield whole[inner].strip(), prose[inner].strip()
        start = lower.find(_OPEN, end)


def _section(line: str) -> int | None:
    """Where the body begins on the line of a heading that announces a reflection; None for other lines."""
    if _HASHES.match(line):
        return len(line)
    bold = _BOLD.match(line)
    if bold is None:
        return None
    # Without a colon, words behind the bold part make it emphasis in a sentence.
    if bold["rest"].strip() and not (bold["colon"] or bold["after"]):
        return None
    return bold.start("rest")


def _is_heading(line: str) -> bool:
    return _ANY_HEADING.match(line) is not None or _BOLD.match(line) is not None


def _body(lines: Sequence[str], index: int, start: int, end: int) -> str:
    rows = [lines[index][start:], *lines[index + 1 : end]]
    return "\n".join(row.rstrip() for row in rows).strip()


def _is_key(label: str, rest: str, lines: Sequence[str], index: int) -> bool:
    """Whether a label is a key of settings rather than the start of an explanation."""
    around = [lines[place] for place in (index - 1, index + 1) if 0 <= place < len(lines)]
    explains = _EXPLAINS.search(rest) is not None
    if not label.islower():
        return not explains and len(around) == 2 and all(_SMALL_KEY.match(line) for line in around)
    return any(_KEY.match(line) for line in around) or not explains
