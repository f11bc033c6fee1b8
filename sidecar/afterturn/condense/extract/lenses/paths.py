"""Listings: ls, find, tree, glob and file lists of any tool."""

import re
from collections.abc import Iterator
from itertools import chain, islice

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.sight import Sight

_LONG = re.compile(r"[-dlbcps][rwxsStT-]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+\S+\s+\S+\s+\S+\s+(?:\S+\s+)?(.+)$")
_TREE = re.compile(r"[\s\u2502\u251c\u2514\u2500|`+\\-]*(?:\[\w+\]\s*|- )?")
_VENDORED = re.compile(
    r"(?:^|/)(?:node_modules|\.git|__pycache__|\.venv|venv|site-packages|vendor|deps|dist|build|target"
    r"|_build|\.cache)/"
)
_BLANKS = re.compile(r"\s{2,}|\t+")
_MAX = 20_000
_MAX_NAMES = 1000


def entries_in(lines: list[str]) -> list[str]:
    """The entries of a listing, in order."""
    entries: dict[str, None] = {}
    for line in lines[:_MAX]:
        text = line.rstrip()
        if not text or text.startswith("total ") or (text[-1] == ":" and " " in text):
            continue
        match = _LONG.match(text)
        if match is not None:
            name = match[1].partition(" -> ")[0]
            if name not in (".", ".."):
                entries.setdefault(name)
            continue
        branch = _TREE.match(text)
        text = text if branch is None else text[branch.end() :]
        if "  " in text or "\t" in text:
            for name in _BLANKS.split(text):
                if name:
                    entries.setdefault(name)
        elif text and len(text) < 400:
            entries.setdefault(text)
    return list(entries)


def read(view: Sight, digest: Digest) -> None:
    """Add the entries: own ones before vendored, wanted ones first; the rest by their last names."""
    entries = entries_in(view.lines.all)
    digest.count_lines(entries)
    wanted = [entry for entry in entries if _is_wanted(entry, view.wanted)] if view.wanted else []
    first = set(wanted)
    rest = [entry for entry in entries if entry not in first] if wanted else entries
    digest.facts.append(Group("", lambda: chain(wanted, _own_first(rest)), share=80))

    def others() -> list[str]:
        best = islice(chain(wanted, _own_first(rest)), _MAX_NAMES)
        names = list(dict.fromkeys(entry.rstrip("/").rpartition("/")[2] for entry in best if "/" in entry.rstrip("/")))
        return names[::-1] if len(names) < 4 else names[len(names) // 8 :]

    digest.names.append(Group("also", others, " "))


def _own_first(entries: list[str]) -> Iterator[str]:
    """Own entries before those of what is installed or built; each is looked at when asked for."""
    vendored: list[str] = []
    for entry in entries:
        if _VENDORED.search(entry) is None:
            yield entry
        else:
            vendored.append(entry)
    yield from vendored


def _is_wanted(entry: str, wanted: frozenset[str]) -> bool:
    return bool(wanted) and entry.rstrip("/").rpartition("/")[2].partition(".")[0] in wanted
