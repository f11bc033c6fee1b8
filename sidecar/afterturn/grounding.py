"""Whether what a model's text names really occurs in what it was given (condense.md, 'Checking a reply'; recap.md,
'Output'; case C05).

Checked are the literals that get lost or invented: paths, `file:line`, hashes, numbers of three or more digits,
quoted strings. The source is the text that was prompted, no more.
"""

import re
from collections.abc import Callable, Iterator

_ESCAPES = re.compile(r'\\(["\\/nrt])')
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_QUOTED = re.compile(r"\"([^\"\n]{2,})\"|\u201c([^\u201d\n]{2,})\u201d|(?<!\w)'([^'\n]{2,})'(?!\w)|`([^`\s]{2,})`")
# Each begins only where no char of its own comes before, so that a long run is read once and not from each char.
_FILE_LINE = re.compile(r"(?<![\w@~+./\\-])([\w@~+./\\-]+\.[A-Za-z]\w{0,11}):(\d+)")
_PATH = re.compile(r"(?<![\w@~+./\\-])(?:[A-Za-z]:)?[\w@~+.-]*(?:[/\\]+[\w@~+.-]+)+[/\\]?")
_FILE = re.compile(
    r"(?<![\w+./\\-])[\w+-][\w+.-]*\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|json|jsonl|md|rst|rs|go|c|h|cc|cpp|hpp|java|kt|rb"
    r"|php|sh|bash|ya?ml|toml|lock|txt|cfg|ini|conf|html?|css|scss|sql|xml|csv|tsv|log|ipynb|swift|cs|lua|vim|proto"
    r"|gradle|env|patch|diff|png|jpe?g|svg|gif|pdf)(?![\w/\\])"
)
_HASH = re.compile(r"(?<!\w)(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}(?!\w)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<!\d)\d{3,}(?!\d)")
_GROUPED = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")
_ELLIPSIS = re.compile(r"\.{3}|\u2026")
_PROSE_PAIRS = (
    "and/or either/or his/her he/she yes/no true/false on/off read/write input/output pass/fail success/failure "
    "client/server request/response start/stop before/after tcp/ip i/o n/a w/o key/value get/set start/end"
)


class Source:
    """What one call, or a whole batch, was prompted with: the text that literals are looked up in."""

    __slots__ = ("_plain", "_text")

    def __init__(self, *texts: str) -> None:
        self._text = "\n".join(texts)
        self._plain: str | None = None

    def holds(self, literal: str) -> bool:
        """Whether `literal` occurs as a whole: no word goes on before or after it."""
        return _occurs(self._text, literal, _word) or ("\\" in self._text and _occurs(self._unescaped, literal, _word))

    def holds_part(self, literal: str) -> bool:
        """Whether `literal` occurs anywhere."""
        return literal in self._text or ("\\" in self._text and literal in self._unescaped)

    def holds_start(self, literal: str) -> bool:
        """Whether something that is no longer word before it begins with `literal` (a shortened hash)."""
        return _occurs(self._text, literal, _word, end=False)

    def holds_number(self, digits: str) -> bool:
        """Whether `digits` occur as a whole number, grouped by thousands or not."""
        return _occurs(self._text, digits, str.isdigit) or _occurs(_GROUPED.sub("", self._text), digits, str.isdigit)

    def line_holds(self, path: str, digits: str) -> bool:
        """Whether `path` and the number `digits` stand on one line."""
        return any(
            path in line and _occurs(line, digits, str.isdigit) for line in self._text.split("\n") if digits in line
        )

    def numbers_lines_of(self, path: str) -> bool:
        """Whether the source itself writes `path:line`."""
        at = self._text.find(path + ":")
        while at >= 0:
            after = at + len(path) + 1
            if self._text[after : after + 1].isdigit():
                return True
            at = self._text.find(path + ":", after)
        return False

    @property
    def _unescaped(self) -> str:
        if self._plain is None:
            self._plain = _ESCAPES.sub(lambda found: _ESCAPED.get(found[1], found[1]), self._text)
        return self._plain


def is_grounded(bullet: str, source: Source) -> bool:
    """Whether every literal of `bullet` that can be checked occurs in `source`."""
    return next(ungrounded(bullet, source), None) is None


def ungrounded(bullet: str, source: Source) -> Iterator[str]:
    """The literals of `bullet` that do not occur in `source`."""
    for quoted in _QUOTED.finditer(bullet):
        literal = quoted[quoted.lastindex or 0]
        if not _quote_holds(literal, source):
            yield literal
    for found in _FILE_LINE.finditer(bullet):
        path, line = _bare(found[1]), found[2]
        literal = f"{path}:{line}"
        if not (source.holds(literal) or source.line_holds(path, line) or _in_named_file(path, line, source)):
            yield literal
    for found in (*_PATH.finditer(bullet), *_FILE.finditer(bullet)):
        literal = _bare(found[0])
        if literal and not _path_holds(literal, source):
            yield literal
    for found in _HASH.finditer(bullet):
        if not (source.holds_start(found[0]) or source.holds_start(found[0].lower())):
            yield found[0]
    numbers = _HASH.sub(" ", bullet)
    if not _numbers_hold(numbers, source):
        yield from (digits for digits in _NUMBER.findall(_GROUPED.sub("", numbers)) if not source.holds_number(digits))


def _numbers_hold(text: str, source: Source) -> bool:
    """A comma between digits may group thousands or part a list; either reading will do."""
    return any(
        all(source.holds_number(digits) for digits in _NUMBER.findall(reading))
        for reading in (text, _GROUPED.sub("", text))
    )


def _quote_holds(literal: str, source: Source) -> bool:
    return all(source.holds_part(piece.strip()) for piece in _ELLIPSIS.split(literal.rstrip(".,;:!?")) if piece.strip())


def _path_holds(literal: str, source: Source) -> bool:
    if source.holds(literal):
        return True
    parts = literal.split("/")
    if len(parts) == 2 and all(part.isalpha() for part in parts):
        # Two plain words with a slash are more often prose than a path.
        return literal.lower() in _PROSE_PAIRS.split() or all(source.holds(part) for part in parts)
    # Fractions and dates are numbers, checked as such.
    return all(part.isdigit() for part in parts)


def _in_named_file(path: str, line: str, source: Source) -> bool:
    """Tools that read one file number its lines without repeating its name."""
    return source.holds(path) and not source.numbers_lines_of(path) and source.holds_number(line)


def _bare(path: str) -> str:
    path = path.removeprefix("./").rstrip(".,;:")
    return path[:-1] if len(path) > 1 and path[-1] in "/\\" else path


def _word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _occurs(text: str, literal: str, goes_on: Callable[[str], bool], *, end: bool = True) -> bool:
    at = text.find(literal)
    while at >= 0:
        after = at + len(literal)
        starts = at == 0 or not (goes_on(text[at - 1]) and goes_on(literal[0]))
        ends = not end or after == len(text) or not (goes_on(text[after]) and goes_on(literal[-1]))
        if starts and ends:
            return True
        at = text.find(literal, at + 1)
    return False
