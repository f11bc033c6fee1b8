"""Search results: which lines of which files, in every spelling that search tools have."""

import re
from collections.abc import Iterator

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.lenses import code, plain
from afterturn.condense.extract.names import chains_of, names_of
from afterturn.condense.extract.places import spans
from afterturn.condense.extract.render import room_for
from afterturn.condense.extract.safe import is_instruction
from afterturn.condense.extract.shape import shape_of
from afterturn.condense.extract.sight import Sight
from afterturn.text import cut_words

# path:12:text, path:12-text (context), path:text
_PATH_LINE = re.compile(r"((?:[A-Za-z]:)?[^\s:*?\"<>|][^:*?\"<>|\n]{0,240}?):(\d{1,7})([:-])")
_PATH_TEXT = re.compile(r"((?:\.{0,2}/)?[\w.@+~-]+(?:/[\w.@+~ -]+)*\.\w{1,8}):")
# Paths as most are, on lines of their own; and what no path has in it.
_SIMPLE_PATHS = re.compile(r"[\w./+\n-]*", re.ASCII)
_NOT_IN_PATHS = '*?"<>|'
# 12:text, `Line 12: text`, `L12: text`, 12-text (context), 12→text
_LINE = re.compile(r"\s{0,4}(?:Line |L)?(\d{1,7})(:|-|\u2192|\||\t)")
# What may stand before and after a file's name that heads its hits.
_FILE_MARKS = ("File: ", "## ", "> ")
_FILE_COUNT = re.compile(r" \(\d{1,7} match(?:es)?\):?$")
_MAX_LINES = 20_000
_MAX_DIGITS = 7
_LONGEST_PATH = 240
_SUBJECT_CHARS = 120
_LINE_CHARS = 400
_SMALL = 320
_MOST_NUMBERS = 60
# What a number and a path take with what parts them, about.
_NUMBER_CHARS = 6
_AROUND = 4
_FEWER_NUMBERS = (8, 5, 3, 2)
_A_FEW_FILES = 3
_FIRST_HITS = 12
_LONG_FOLDER = 12
_NO_LETTERS = "0123456789 _./\\@~+-"


class Hits:
    """Line numbers by file, joined (`path:12`) or beside it, and the texts of the hits.

    `simple`: the files are known to have nothing in their names but letters and the usual signs.
    """

    __slots__ = ("bare", "files", "joined", "simple", "texts")

    def __init__(self) -> None:
        self.files: dict[str, dict[str, None]] = {}
        self.joined: set[str] = set()
        self.bare: dict[str, None] = {}
        self.texts: list[str] = []
        self.simple = False


def hits_in(lines: list[str]) -> Hits:
    """Read the hits off the lines, in whatever spelling each of them has."""
    lines = lines[:_MAX_LINES]
    plain_hits = every_joined(lines)
    if plain_hits is not None:
        return plain_hits
    hits = Hits()
    current = ""
    for line in lines:
        head = line[:_LINE_CHARS]
        if ":" in head and _joined_hit(hits, head):
            continue
        match = _LINE.match(head)
        if match is not None:
            if match[2] != "-":
                (hits.files.setdefault(current, {}) if current else hits.bare).setdefault(match[1])
                hits.texts.append(head[match.end() :])
            continue
        match = _PATH_TEXT.match(head)
        if match is not None and len(head) > match.end():
            hits.files.setdefault(match[1], {})
            hits.texts.append(head[match.end() :])
            continue
        name = _file_name(head.strip())
        if name:
            current = name
            hits.files.setdefault(current, {})
        elif head and not head.isspace() and not head.startswith("--"):
            hits.texts.append(head)
    return hits


def every_joined(lines: list[str]) -> Hits | None:
    """The hits of lines that all have one as `path:12:text`; None if one has not."""
    lines = lines[:_MAX_LINES]
    hits = Hits()
    files, texts = hits.files, hits.texts
    for line in lines if lines[-1] else lines[:-1]:
        parts = line.split(":", 2)
        if len(parts) < 3:
            return None
        path, number, rest = parts
        if not number.isdecimal() or len(number) > _MAX_DIGITS:
            return None
        if path in files:
            files[path][number] = None
        elif ("/" in path and path[0].isalpha()) or _is_path(path):
            files[path] = {number: None}
        else:
            return None
        texts.append(rest)
    every = "\n".join(files)
    hits.simple = _SIMPLE_PATHS.fullmatch(every) is not None
    if not hits.simple and (any(char in every for char in _NOT_IN_PATHS) or any(path[0].isspace() for path in files)):
        return None
    if not files or max(map(len, files)) > _LONGEST_PATH:
        return None
    hits.joined.update(files)
    return hits


def _joined_hit(hits: Hits, head: str) -> bool:
    """Read `path:12:text`; `path-12-text` is context and counts for nothing."""
    match = _PATH_LINE.match(head)
    if match is None or not _is_path(match[1]):
        return False
    if match[3] == ":":
        hits.files.setdefault(match[1], {}).setdefault(match[2])
        hits.joined.add(match[1])
        hits.texts.append(head[match.end() :])
    return True


def _file_name(text: str) -> str:
    """The file that a line names and nothing else, or ""."""
    for mark in _FILE_MARKS:
        text = text.removeprefix(mark)
    text = _FILE_COUNT.sub("", text).removesuffix(":")
    return text if text and " " not in text and text[-1].isalnum() and _is_path(text) else ""


def _is_path(text: str) -> bool:
    return ("/" in text or "." in text or "\\" in text) and text.strip(_NO_LETTERS) != ""


def read(view: Sight, digest: Digest) -> None:
    """Add the places as facts, and what the matching lines name."""
    tell(hits_in(view.lines.all), view, digest)


def tell(hits: Hits, view: Sight, digest: Digest) -> None:
    """Add what the hits of a text say; read the text in another way if there are none."""
    count = len(hits.texts)
    if len(hits.bare) * 2 < count:
        hits.bare = {}
    if not hits.files and not hits.bare:
        (code if shape_of(view.text) == "code" else plain).read(view, digest)
        return
    digest.count_lines(hits.texts)
    digest.problems += min(len(hits.files) + bool(hits.bare), 12)

    def places() -> Iterator[str]:
        # The first line of the bullets, with the subject, takes of the same room; a small result is told whole.
        chars = view.call.output.chars
        first = min(len(digest.subject), _SUBJECT_CHARS) + sum(len(phrase) + 2 for phrase in digest.outcome) + 20
        return _places(hits, max(room_for(chars, digest.problems).facts - first, min(chars, _SMALL)))

    digest.facts.append(Group("at", places, "; ", cut=True, safe=hits.simple))

    def names() -> Iterator[str]:
        return names_of("\n".join([text[:_LINE_CHARS] for text in hits.texts]), view.wanted, view.known)

    def searched() -> Iterator[str]:
        return iter(dict.fromkeys(chains_of(hits.texts[:_FIRST_HITS], view.known)))

    if view.known:
        digest.names.append(Group("as", searched, " ", bare=True, share=30))
    digest.names.append(Group("names", names, " ", bare=True, share=65))
    shown = (line.strip() for line in hits.texts[:40])
    told = (cut_words(line, 120) for line in shown if len(line) > 8 and not is_instruction(line))
    digest.names.append(Group("lines", lambda: told, " | ", cut=True))


def _places(hits: Hits, room: int) -> Iterator[str]:
    """Places by file. Where not all fit in `room`, the folder that all files share stands on the first one only, and
    each file has fewer of its places, so that more files are named.
    """
    if hits.bare:
        yield "lines " + ", ".join(spans(list(hits.bare)))
    counts = [len(numbers) for numbers in hits.files.values()]
    paths = sum(map(len, hits.files)) + _AROUND * len(counts)
    shared, most = 0, _MOST_NUMBERS
    if paths + _NUMBER_CHARS * sum(counts) > room:
        shared = _shared_folder(list(hits.files))
        left = room - paths + shared * (len(counts) - 1)
        few = (few for few in _FEWER_NUMBERS if left >= _NUMBER_CHARS * sum(min(count, few) for count in counts))
        most = _FEWER_NUMBERS[-1] if left < 0 else next(few, _FEWER_NUMBERS[-1])
    for at, (path, numbers) in enumerate(hits.files.items()):
        name = path[shared:] if at else path
        colon = ":" if path in hits.joined else ": "
        if len(numbers) == 1:
            yield f"{name}{colon}{next(iter(numbers))}"
        else:
            yield name + colon + ", ".join(spans(list(numbers))[:most]) if numbers else name


def _shared_folder(paths: list[str]) -> int:
    """How many chars at the start of all paths are the same folder; 0 if that saves next to nothing."""
    if len(paths) < _A_FEW_FILES:
        return 0
    first, last = min(paths), max(paths)
    same = next((at for at, char in enumerate(first) if char != last[at]), len(first))
    folder = first.rfind("/", 0, same) + 1
    return folder if folder >= _LONG_FOLDER else 0
