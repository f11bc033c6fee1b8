"""`file:line` locations in an output, by file, in the spelling of the output."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from afterturn.condense.extract.words import by_first_char, words

# The position part is looked for first, since it is rare and quick to find by its first char; the path is read back
# from it.
_AFTER_COLON = re.compile(r":\d{1,7}(?:[:,]\d{1,5})?")
_IN_PARENTHESES = re.compile(r"\(\d{1,7}(?:[:,]\d{1,5})?\)")
_PATH_BACKWARDS = re.compile(r"[\w./\\@+~-]+")
# `File "a.py", line 3`, `a.sh: line 3`, `in a.php on line 3`, `at a.pl line 3`: the path stands before the match.
_NAMED_LINE = re.compile(r" line (\d{1,7})")
_BEFORE_LINE = (",", ":", " on", " at")
# A path as most are, on its own.
_USUAL_PATH = re.compile(r"\w(?:[\w./\\@+~-]*[\w\\@+~-])?\.[A-Za-z][A-Za-z0-9_+-]{0,9}")
_SUFFIX = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,9}")
# With "(12)" and no column, only these suffixes make a place of what is otherwise a call: `self.evalf(2)`.
_CODE_SUFFIX = words("ts tsx js jsx mjs cs vb fs c cc cpp cxx h hpp py java kt go rs rb php swift scala pas vue")
_VENDORED = re.compile(
    by_first_char(
        *("site-packages/", "node_modules/", r"/lib/python\d", "/miniconda", "<frozen", "/usr/(?:lib|include|bin)/"),
        *("/deps/", r"/\.cargo/registry", "/go/pkg/mod/", "/rustc/", "internal/"),
    )
)
_MAX_PLACES = 200
_MAX_LOOKED_AT = 5000
_LONGEST_PATH = 240
_RUN = 4
_MOST_COLUMNS = 3
_LONG_INSTALLED = 50
_INSTALLED = re.compile(r".*(?:site-packages|node_modules|/lib/python\d[\d.]*)/")
_LINE = re.compile(r"\d+")


class Place:
    """One file with its positions: `joined` are written right after the path (":12:5", "(3,4)"), `lines` are bare."""

    __slots__ = ("joined", "lines", "path", "vendored")

    def __init__(self, path: str) -> None:
        self.path = path
        self.vendored = is_vendored(path)
        self.joined: dict[str, None] = {}
        self.lines: dict[str, None] = {}

    def written(self, limit: int = 40) -> str:
        """The path with its positions, the path only once: `a.py:12, 40:3`, `a.ts(3,4), (9,1)`, `a.py line 7, 9`.

        Of many positions only the lines are told: `a.ts line 3, 9, 12, 40`; of a long path into what is installed only
        the part in its package.
        """
        path = self.path
        if self.vendored and len(path) > _LONG_INSTALLED:
            path = _INSTALLED.sub("", path)
        if len(self.joined) == 1 and not self.lines:
            return path + next(iter(self.joined))
        if len(self.joined) > _MOST_COLUMNS:
            lines = {_LINE.findall(position)[0]: None for position in self.joined} | self.lines
            return f"{path} line {', '.join(list(lines)[:limit])}"
        text = path
        if self.joined:
            positions = list(self.joined)[:limit]
            text += positions[0] + "".join(", " + position.lstrip(":") for position in positions[1:])
        if self.lines:
            text += (" and" if self.joined else "") + " line " + ", ".join(list(self.lines)[:limit])
        return text


def is_vendored(path: str) -> bool:
    """Whether a path lies in what is installed rather than worked on."""
    return _VENDORED.search(path) is not None or path.startswith("node:")


def are_safe(text: str) -> bool:
    """Whether no place in `text` can have anything in it that could be taken for syntax or for an order."""
    return text.isascii() and "~~~" not in text


def own_first(paths: Iterable[str]) -> Iterator[str]:
    """The paths, those of what is worked on before those of what is installed; each is looked at when asked for."""
    vendored: list[str] = []
    for path in paths:
        if is_vendored(path):
            vendored.append(path)
        else:
            yield path
    yield from vendored


def spans(numbers: list[str]) -> list[str]:
    """Line numbers with runs of four and more as `first-last`."""
    if len(numbers) < _RUN:
        return numbers
    written: list[str] = []
    at = 0
    while at < len(numbers):
        end = at
        while (
            end + 1 < len(numbers)
            and numbers[end + 1].isdigit()
            and numbers[end].isdigit()
            and int(numbers[end + 1]) == int(numbers[end]) + 1
        ):
            end += 1
        if end - at + 1 >= _RUN:
            written.append(f"{numbers[at]}-{numbers[end]}")
            at = end + 1
        else:
            written.append(numbers[at])
            at += 1
    return written


def places_in(text: str, room: int = 4000) -> dict[str, Place]:
    """Locations in `text` by path, in order of appearance; when so many chars have been found, no more are looked for.

    What is installed is free, since it is told last.
    """
    places: dict[str, Place] = {}
    left = room
    for match in islice(_NAMED_LINE.finditer(text), _MAX_LOOKED_AT) if " line " in text else ():
        path = _path_before(text, _end_before(text, match.start()))
        if path is None:
            continue
        place = places.get(path)
        if place is None:
            place = places[path] = Place(path)
            left -= len(path)
        place.lines[match[1]] = None
        left -= len(match[1])
        if left < 0 or len(places) >= _MAX_PLACES:
            break
    for match in _positions(text):
        path = _path_before(text, match.start())
        if path is None:
            continue
        position = match[0]
        if position[0] == "(" and "," not in position and path.rpartition(".")[2] not in _CODE_SUFFIX:
            continue
        place = places.get(path)
        if place is None:
            place = places[path] = Place(path)
            if len(places) > _MAX_PLACES:
                break
        if position not in place.joined:
            place.joined[position] = None
            if not place.vendored:
                room -= len(position) + (2 if len(place.joined) > 1 else len(path))
                if room < 0:
                    break
    return places


def _end_before(text: str, at: int) -> int:
    """Where what stands before ` line 3` at `at` ends, without a quotation mark and the like."""
    for word in _BEFORE_LINE:
        if text.endswith(word, max(0, at - 3), at):
            at -= len(word)
            break
    return at - 1 if text[at - 1 : at] in ('"', "'") else at


def _positions(text: str) -> Iterable[re.Match[str]]:
    """`:12:5`, `(3,4)` and the like, in order."""
    colons = islice(_AFTER_COLON.finditer(text), _MAX_LOOKED_AT)
    others = list(islice(_IN_PARENTHESES.finditer(text), _MAX_LOOKED_AT))
    return sorted([*colons, *others], key=lambda match: match.start()) if others else colons


def _path_before(text: str, end: int) -> str | None:
    least = max(0, end - _LONGEST_PATH)
    start = text.rfind("\n", least, end) + 1 or least
    start = text.rfind(" ", start, end) + 1 or start
    if start > least and _USUAL_PATH.fullmatch(text, start, end) is not None:
        return text[start:end]
    match = _PATH_BACKWARDS.match(text[start:end][::-1])
    if match is None:
        return None
    whole = match[0][::-1]
    path = whole.lstrip("-+@") if whole[0] in "-+@" else whole
    while path.startswith("..."):
        path = path.lstrip(".")
    stem, dot, suffix = path.rpartition(".")
    if not dot or "/" in suffix or stem[-1:] in ("", "/") or _SUFFIX.fullmatch(suffix) is None:
        return None
    if path.startswith("//") or not stem.rpartition("/")[2].strip("."):
        return None
    at = end - len(path)
    before = text[at - 1] if at else ""
    return None if before == ":" or (before == "/" and text[max(0, at - 2) : at] == ":/") else path
