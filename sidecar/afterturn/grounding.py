"""Whether what a model's text names really occurs in what it was given (condense.md, 'Checking a reply'; recap.md,
'Output'; case C05).

Checked are the literals that get lost or invented: paths, `file:line`, hashes, numbers of three or more digits,
decimals, quoted strings. The source is the text that was prompted, no more.
"""

import re
from collections.abc import Callable, Iterator

from afterturn.numerals import Numerals, decimals, numbered_words, numerals_of, readings
from afterturn.text import clean

_ESCAPES = re.compile(r'\\(["\\/nrt])')
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_QUOTED = re.compile(
    r"\"([^\"\n]{2,})\"|\u201c([^\u201d\n]{2,})\u201d|\u2018([^\u2019\n]{2,})\u2019(?!\w)"
    r"|\u201e([^\u201c\u201d\n]{2,})[\u201c\u201d]|\u00ab([^\u00bb\n]{2,})\u00bb|\u2039([^\u203a\n]{2,})\u203a"
    r"|\u300c([^\u300d\n]{2,})\u300d|\u300e([^\u300f\n]{2,})\u300f"
    r"|(?<!\w)'([^'\n]{2,})'(?!\w)|`([^`\n]{2,})`"
)
# A longer literal has to stand as it is: each word more is one more to try at every place of the source.
_MOST_WORDS = 30
# What may stand between two words of a command: it is spaced and quoted in many ways, and can be a list in its args.
_BETWEEN = re.compile(r"[\s\"'`\\,\[\]]+")
# Each begins only where no char of its own comes before, so that a long run is read once and not from each char.
_FILE_LINE = re.compile(r"(?<![\w@~+./\\-])([\w@~+./\\-]+\.[A-Za-z]\w{0,11}):(\d+)")
# How a line of a file is named behind it: `a.ts:3`, `a.ts(3,5)`, `"a.py", line 3`, `a.ts#L3`.
_LINE_BEHIND = re.compile(r"(?::L?|\(|#L|[\"'`)]?,? lines? )[0-9]")
_PATH = re.compile(r"(?<![\w@~+./\\-])(?:[A-Za-z]:)?[\w@~+.-]*(?:[/\\]+[\w@~+.-]+)+[/\\]?")
_FILE = re.compile(
    r"(?<![\w+./\\-])[\w+-][\w+.-]*\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|json|jsonl|md|rst|rs|go|c|h|cc|cpp|hpp|java|kt|rb"
    r"|php|sh|bash|ya?ml|toml|lock|txt|cfg|ini|conf|html?|css|scss|sql|xml|csv|tsv|log|ipynb|swift|cs|lua|vim|proto"
    r"|gradle|env|patch|diff|png|jpe?g|svg|gif|pdf)(?![\w/\\])"
)
_HASH = re.compile(r"(?<!\w)(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}(?!\w)", re.IGNORECASE)
_NAMED_HASH = re.compile(r"\b(?:commit|sha|hash|rev|revision|head)\b\W{1,3}([0-9a-f]{7,64})(?!\w)", re.IGNORECASE)
_HEX = re.compile(r"(?<!\w)0x[0-9a-f]+(?!\w)", re.IGNORECASE)
_GROUPED = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")
_OTHER_SCRIPT = re.compile(r"(?<![/\\])[^\x00-\x7f]+(?![/\\])|^[^\x00-\x7f]+")
_ELLIPSIS = re.compile(r"\.{3}|\u2026")
_PROSE_PAIRS = (
    "and/or either/or his/her he/she yes/no true/false on/off read/write input/output pass/fail success/failure "
    "client/server request/response start/stop before/after tcp/ip i/o n/a w/o key/value get/set start/end"
)


class Source:
    """What one call, or a whole batch, was prompted with: the text that literals are looked up in."""

    __slots__ = ("_folded", "_numerals", "_plain", "_text")

    def __init__(self, *texts: str) -> None:
        text = "\n".join(texts)
        # Colours stand in the middle of paths and before numbers.
        self._text = f"{text}\n{clean(text)}" if "\x1b" in text else text
        self._plain: str | None = None
        self._folded: str | None = None
        self._numerals: Numerals | None = None

    def holds(self, literal: str) -> bool:
        """Whether `literal` occurs as a whole: no word goes on before or after it."""
        return _occurs(self._text, literal, _word) or ("\\" in self._text and _occurs(self._unescaped, literal, _word))

    def holds_part(self, literal: str) -> bool:
        """Whether `literal` occurs anywhere."""
        return literal in self._text or ("\\" in self._text and literal in self._unescaped)

    def holds_folded(self, literal: str) -> bool:
        """Whether `literal` occurs as a whole, in upper or lower case."""
        if self._folded is None:
            self._folded = f"{self._text}\n{self._unescaped}".lower()
        return _occurs(self._folded, literal.lower(), _word)

    def holds_words(self, literal: str) -> bool:
        """Whether the words of `literal` follow each other, however they are spaced, quoted or listed.

        The last one has to be whole: `rm -rf /srv` is not `rm -rf /srv/app`.
        """
        words = [word for word in _BETWEEN.split(literal) if word]
        if len(words) > _MOST_WORDS:
            return self.holds_part(literal)
        if not all(self.holds_part(word) for word in words):
            return False
        # What is before is looked at afterwards: a pattern that begins with plain text is found much faster.
        pattern = re.compile(rf"{_BETWEEN.pattern.join(map(re.escape, words))}(?![A-Za-z0-9_]|[/.-]\w)")
        return any(
            found.start() == 0 or not _joined(text[found.start() - 1], found[0][:1], _word)
            for text in (self._text, self._unescaped)
            for found in pattern.finditer(text)
        )

    def holds_start(self, literal: str) -> bool:
        """Whether something that is no longer word before it begins with `literal` (a shortened hash)."""
        return _occurs(self._text, literal, _word, end=False)

    def holds_number(self, digits: str) -> bool:
        """Whether `digits` occur with no digit before or after, grouped by thousands or not."""
        return _occurs(self._text, digits, str.isdigit) or _occurs(_GROUPED.sub("", self._text), digits, str.isdigit)

    @property
    def numerals(self) -> Numerals:
        """The numbers that it states."""
        if self._numerals is None:
            self._numerals = numerals_of(*{self._text, self._unescaped})
        return self._numerals

    def line_holds(self, path: str, digits: str) -> bool:
        """Whether `path` and the number `digits` stand on one line."""
        return any(
            path in line and _occurs(line, digits, str.isdigit) for line in self._text.split("\n") if digits in line
        )

    def numbers_lines_of(self, path: str) -> bool:
        """Whether the source itself names lines of `path`."""
        at = self._text.find(path)
        while at >= 0:
            after = at + len(path)
            if _LINE_BEHIND.match(self._text, after):
                return True
            at = self._text.find(path, after)
        return False

    @property
    def _unescaped(self) -> str:
        if self._plain is None and "\\" not in self._text:
            self._plain = self._text
        elif self._plain is None:
            self._plain = _ESCAPES.sub(lambda found: _ESCAPED.get(found[1], found[1]), self._text)
        return self._plain


def is_grounded(bullet: str, source: Source) -> bool:
    """Whether every literal of `bullet` that can be checked occurs in `source`."""
    return next(ungrounded(bullet, source), None) is None


def ungrounded(bullet: str, source: Source) -> Iterator[str]:
    """The literals of `bullet` that do not occur in `source`."""
    for quoted in _QUOTED.finditer(bullet):
        literal = quoted[quoted.lastindex or 0].strip()
        is_command = quoted[0][0] == "`" and " " in literal
        if not (_quote_holds(literal, is_command, source) or _FILE_LINE.fullmatch(literal)):
            yield literal
    for found in _FILE_LINE.finditer(bullet):
        path, line = _bare(found[1]), found[2]
        literal = f"{path}:{line}"
        if not (source.holds(literal) or source.line_holds(path, line) or _in_named_file(path, line, source)):
            yield literal
    for found in (*_PATH.finditer(bullet), *_FILE.finditer(bullet)):
        literal = _bare(found[0])
        cut_short = bullet.startswith("\u2026", found.end()) and source.holds_part(literal)
        if literal and not cut_short and not _path_holds(literal, source):
            yield literal
    for literal in (*(found[0] for found in _HASH.finditer(bullet)), *_NAMED_HASH.findall(bullet)):
        if not (source.holds_start(literal) or source.holds_start(literal.lower())):
            yield literal
    yield from (literal for literal in _HEX.findall(bullet) if not source.holds_folded(literal))
    numbers = _HEX.sub(" ", _HASH.sub(" ", bullet))
    # A comma between digits may group thousands or part a list; either reading will do.
    yield from min((_unstated(reading, source) for reading in readings(numbers)), key=len)


def _unstated(text: str, source: Source) -> list[str]:
    """The numbers of `text`, and names with numbers in them, that the source does not state."""
    stated = source.numerals
    wrong = [literal for literal in decimals(text) if literal not in stated.dotted]
    for word, digits, cut in numbered_words(text):
        named = source.holds_part(word) if cut else word != digits and source.holds_folded(word)
        if digits not in stated.whole and not named:
            wrong.append(word)
    return wrong


def _quote_holds(literal: str, is_command: bool, source: Source) -> bool:
    """A command has to be there in whole words; other quotes, and what was left out in the middle, may cut one."""
    bare = literal.rstrip(".,;:!?").removeprefix("$ ").removesuffix("()").replace("\u2019", "'")
    pieces = [piece for each in _ELLIPSIS.split(bare) if (piece := each.strip())]
    if is_command and len(pieces) == 1:
        return source.holds_words(pieces[0])
    return source.holds_part(literal) or all(source.holds_part(each) or source.holds_words(each) for each in pieces)


def _path_holds(literal: str, source: Source) -> bool:
    if source.holds(literal) or ("\\" in literal and source.holds_folded(literal)):
        return True
    # In a language without blanks the words around a path stick to it.
    stuck = [part for part in _OTHER_SCRIPT.split(literal) if part]
    if stuck != [literal] and stuck and all(source.holds(_bare(part)) for part in stuck):
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
        starts = at == 0 or not _joined(text[at - 1], literal[0], goes_on)
        ends = not end or after == len(text) or not _joined(literal[-1], text[after], goes_on)
        if starts and ends:
            return True
        at = text.find(literal, at + 1)
    return False


def _joined(one: str, other: str, goes_on: Callable[[str], bool]) -> bool:
    """Whether two neighbours are of one word. One of Latin letters ends where another script begins."""
    return goes_on(one) and goes_on(other) and one.isascii() == other.isascii()
