"""Search results: which lines of which files, in every spelling that search tools have."""

import re
from functools import partial

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.lenses import code, plain
from afterturn.condense.extract.names import rank_names
from afterturn.condense.extract.places import spans
from afterturn.condense.extract.safe import is_instruction
from afterturn.condense.extract.shape import shape_of
from afterturn.condense.extract.sight import Sight
from afterturn.text import cut_words

# path:12:text, path:12-text (context), path:text
_PATH_LINE = re.compile(r"((?:[A-Za-z]:)?[^\s:*?\"<>|][^:*?\"<>|\n]{0,240}?):(\d{1,7})([:-])")
_PATH_TEXT = re.compile(r"((?:\.{0,2}/)?[\w.@+~-]+(?:/[\w.@+~ -]+)*\.\w{1,8}):")
# 12:text, `Line 12: text`, `L12: text`, 12-text (context), 12→text
_LINE = re.compile(r"\s{0,4}(?:Line |L)?(\d{1,7})(:|-|\u2192|\||\t)")
# What may stand before and after a file's name that heads its hits.
_FILE_MARKS = ("File: ", "## ", "> ")
_FILE_COUNT = re.compile(r" \(\d{1,7} match(?:es)?\):?$")
_MAX_LINES = 20_000


class Hits:
    """Line numbers by file, joined (`path:12`) or beside it, and the texts of the hits."""

    __slots__ = ("bare", "files", "joined", "texts")

    def __init__(self) -> None:
        self.files: dict[str, dict[str, None]] = {}
        self.joined: set[str] = set()
        self.bare: dict[str, None] = {}
        self.texts: list[str] = []


def hits_in(lines: list[str]) -> Hits:
    """Read the hits off the lines, in whatever spelling each of them has."""
    hits = Hits()
    current = ""
    for line in lines[:_MAX_LINES]:
        head = line[:400]
        if _joined_hit(hits, head):
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
    return ("/" in text or "." in text or "\\" in text) and not text.isspace() and any(char.isalpha() for char in text)


def read(view: Sight, digest: Digest) -> None:
    """Add the places as facts, and what the matching lines name."""
    hits = hits_in(view.lines.all)
    count = len(hits.texts)
    if len(hits.bare) * 2 < count:
        hits.bare = {}
    if not hits.files and not hits.bare:
        (code if shape_of(view.text) == "code" else plain).read(view, digest)
        return
    digest.count_lines(hits.texts)
    places = [_written(path, list(numbers), path in hits.joined) for path, numbers in hits.files.items()]
    if hits.bare:
        places.insert(0, "lines " + ", ".join(spans(list(hits.bare))))
    digest.problems += min(len(places), 12)
    if places:
        digest.facts.append(Group("at", places, "; ", cut=True))
    text = "\n".join(hits.texts)
    names = partial(rank_names, text, wanted=view.wanted, known=view.known)
    digest.names.append(Group("names", names, " ", bare=True, share=65))
    shown = [
        cut_words(line.strip(), 120)
        for line in hits.texts[:40]
        if len(line.strip()) > 8 and not is_instruction(line.strip())
    ]
    if shown:
        digest.names.append(Group("lines", shown, " | ", cut=True))


def _written(path: str, numbers: list[str], joined: bool) -> str:
    if not numbers:
        return path
    return path + (":" if joined else ": ") + ", ".join(spans(numbers)[:60])
