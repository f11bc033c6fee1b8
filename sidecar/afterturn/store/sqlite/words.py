"""Text as the words that the full-text index holds and that a query asks for (store.md, 'Search').

An identifier is one word and also its parts: `read_file`, `readFile`, `src/app.py`. What is written without blanks
between words (Chinese, Japanese; Thai too) becomes pairs of neighbouring characters, and its last character alone:
so a word of two characters is found, which trigrams cannot do, and one character is found as the start of a pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

MAX_WORD_CHARS = 64
"""Longer ones are encoded data, which nobody asks for and which would fill the index."""

_STOP_WORDS = frozenset(
    "a an and are as at be but by did do does for from had has have how i if in into is it its me my no not of on or"
    " our so than that the their then there these they this to up us was we were what when where which who why will"
    " with you your".split()
)


class Words:
    """Turns texts into words; remembers what the pieces of a text became, since texts repeat themselves."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def line(self, text: str) -> str:
        """The words of a text, with a blank between."""
        known = self._known
        found: list[str] = []
        for chunk in _chunks().findall(text):
            words = known.get(chunk)
            if words is None:
                words = known[chunk] = " ".join(_words_of(chunk))
            if words:
                found.append(words)
        return " ".join(found)


def query_words(text: str, limit: int) -> list[str]:
    """What to ask the index for: the different words of a query, at most `limit`, the longest of too many.

    Words that stand in every text are left out, unless there are no others.
    """
    found = list(dict.fromkeys(Words().line(text).split()))
    telling = [word for word in found if word not in _STOP_WORDS] or found
    if len(telling) > limit:
        kept = set(sorted(telling, key=len, reverse=True)[:limit])
        telling = [word for word in telling if word in kept]
    return telling


def is_single_pair_character(word: str) -> bool:
    """Whether a word is one character of a script without blanks, so that it is to be found as the start of pairs."""
    return len(word) == 1 and _unspaced().fullmatch(word) is not None


def _words_of(chunk: str) -> Iterator[str]:
    if not chunk.isascii():
        import unicodedata

        chunk = unicodedata.normalize("NFKC", chunk)
        if _unspaced().search(chunk) is not None:
            for run in _unspaced_runs().findall(chunk):
                yield from _pairs(run) if _unspaced().match(run) else _words_of(run)
            return
    whole = _folded(chunk)
    parts = [_folded(part) for part in (_cased_parts() if chunk.isascii() else _joined_parts()).findall(chunk)]
    if len(whole) <= MAX_WORD_CHARS:
        yield whole
    if len(parts) > 1:
        yield from (part for part in parts if len(part) <= MAX_WORD_CHARS)
        name = whole.rpartition("/")[2]
        if name != whole and "." in name and len(name) <= MAX_WORD_CHARS:
            yield name


def _folded(word: str) -> str:
    return word.lower() if word.isascii() else word.casefold()


def _pairs(run: str) -> Iterator[str]:
    for index in range(len(run) - 1):
        yield run[index : index + 2]
    yield run[-1]


@cache
def _chunks() -> re.Pattern[str]:
    """Letters and digits, with what joins the parts of an identifier between them."""
    return re.compile(r"[^\W_]+(?:[_./\\:@#+-]{1,3}[^\W_]+)*")


@cache
def _cased_parts() -> re.Pattern[str]:
    """Parts of an identifier: between joints, and where its case says so."""
    return re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z0-9]+|[A-Z]")


@cache
def _joined_parts() -> re.Pattern[str]:
    """Parts of an identifier in other letters: between joints only."""
    return re.compile(r"[^\W_]+")


_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


@cache
def _unspaced_runs() -> re.Pattern[str]:
    return re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:[_./\\:@#+-]+[^\W_{_UNSPACED}]+)*")
