"""`file:line` locations in an output, by file, in the spelling of the output."""

import re
from itertools import islice

from afterturn.condense.extract.words import words

# The position part is looked for first, since it is rare and cheap to find; the path is read back from it.
_POSITION = re.compile(r"(:|\()(\d{1,7})(?:[:,]\d{1,5})?(\)?)")
_PATH_BACKWARDS = re.compile(r"[\w./\\@+~-]+")
# `File "a.py", line 3`, `a.sh: line 3`, `in a.php on line 3`, `at a.pl line 3`: the path stands before the match.
_NAMED_LINE = re.compile(r"[\"']?(?:,|:| on| at)? line (\d{1,7})")
_SUFFIX = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,9}")
# With "(12)" and no column, only these suffixes make a place of what is otherwise a call: `self.evalf(2)`.
_CODE_SUFFIX = words("ts tsx js jsx mjs cs vb fs c cc cpp cxx h hpp py java kt go rs rb php swift scala pas vue")
_VENDORED = re.compile(
    r"site-packages/|node_modules/|/lib/python\d|/miniconda|<frozen|^node:|/usr/(?:lib|include|bin)/"
    r"|/deps/|/\.cargo/registry|/go/pkg/mod/|/rustc/|internal/"
)
_MAX_PLACES = 400
_MAX_LOOKED_AT = 20_000


class Place:
    """One file with its positions: `joined` are written right after the path (":12:5", "(3,4)"), `lines` are bare."""

    __slots__ = ("joined", "lines", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.joined: dict[str, None] = {}
        self.lines: dict[str, None] = {}

    def written(self, limit: int = 40) -> str:
        """The path with its positions, the path only once: `a.py:12, 40:3`, `a.ts(3,4), (9,1)`, `a.py line 7, 9`."""
        text = self.path
        if self.joined:
            positions = list(self.joined)[:limit]
            text += positions[0] + "".join(", " + position.lstrip(":") for position in positions[1:])
        if self.lines:
            text += (" and" if self.joined else "") + " line " + ", ".join(list(self.lines)[:limit])
        return text


def is_vendored(path: str) -> bool:
    """Whether a path lies in what is installed rather than worked on."""
    return _VENDORED.search(path) is not None


def spans(numbers: list[str]) -> list[str]:
    """Line numbers with runs of four and more as `first-last`."""
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
        if end - at >= 3:
            written.append(f"{numbers[at]}-{numbers[end]}")
            at = end + 1
        else:
            written.append(numbers[at])
            at += 1
    return written


def places_in(text: str) -> dict[str, Place]:
    """Locations in `text` by path, in order of appearance."""
    places: dict[str, Place] = {}
    if " line " in text:
        for match in islice(_NAMED_LINE.finditer(text), _MAX_LOOKED_AT):
            path = _path_before(text, match.start())
            if path is not None and len(places) < _MAX_PLACES:
                places.setdefault(path, Place(path)).lines.setdefault(match[1])
    found = 0
    for match in islice(_POSITION.finditer(text), _MAX_LOOKED_AT):
        if match[1] == "(" and match[3] != ")":
            continue
        path = _path_before(text, match.start())
        if path is not None and (match[1] == ":" or "," in match[0] or path.rpartition(".")[2] in _CODE_SUFFIX):
            position = match[0] if match[1] == "(" else match[0].rstrip(",) ")
            places.setdefault(path, Place(path)).joined.setdefault(position)
            found += 1
            if found > _MAX_PLACES:
                break
    return places


def _path_before(text: str, end: int) -> str | None:
    before = text[max(0, end - 240) : end]
    match = _PATH_BACKWARDS.match(before[::-1])
    if match is None:
        return None
    path = match[0][::-1].lstrip("-+@")
    while path.startswith("..."):
        path = path.lstrip(".")
    name = path.rpartition("/")[2]
    if "." not in name.strip(".") or _SUFFIX.fullmatch(name.rpartition(".")[2]) is None:
        return None
    if path.startswith("//") or before[: len(before) - len(path)].endswith(("://", ":/", ":")):
        return None
    return path
