"""The numbers that a text states, each as one literal (condense.md, 'Checking a reply').

Part of a longer number or of an identifier is no number: `TS2345` does not state 2345, nor 45.61 state 45.6. A unit
behind it does no harm (`1500ms`), nor do the few letters that mark a number as one (`L142`, `v2`).
"""

import re

from msgspec import Struct

from afterturn.text import clean

_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_LETTERS_BEFORE = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z]{1,6}\Z")
_UNIT = re.compile(r"(?:[A-Za-z]{1,4})?(?![A-Za-z0-9_])|[xX]\d")
# What a comma between digits means: here it groups thousands, elsewhere it may as well part a list.
_GROUPED_PROSE = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?= ?(?:%|[A-Za-z]{2}))")
_GROUPED = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")
_MARKS = frozenset("l line lines row col n p r v x pid port exit rc http step pr".split())
_WORD = re.compile(r"[A-Za-z_\d]+")
_LONG = re.compile(r"\d{3}")
_DECIMAL = re.compile(r"(?<![\d.])\d+(?:\.\d+)+")
_WITH_UNIT = re.compile(r"(\d+)[A-Za-z]{0,4}")
_MARKED = re.compile(r"([A-Za-z]+)(\d+)")
# Of a version; what has more of them is told whole or not at all.
_MOST_PARTS = 6


class Numerals(Struct, frozen=True):
    """whole: whole numbers. dotted: decimals and versions, a version also without its last parts."""

    whole: frozenset[str]
    dotted: frozenset[str]


def numerals_of(*texts: str) -> Numerals:
    """The numbers that these texts state. A comma or underscore between digits is read in every way it may be meant."""
    whole: set[str] = set()
    dotted: set[str] = set()
    for text in texts:
        plain = ungrouped_prose(clean(text))
        for reading in {plain, _GROUPED.sub("", plain)}:
            _read(reading, whole, dotted)
    return Numerals(frozenset(whole), frozenset(dotted))


def _read(text: str, whole: set[str], dotted: set[str]) -> None:
    for found in _NUMBER.finditer(text):
        literal = found[0]
        first, _, rest = literal.partition(".")
        if rest:
            dotted.add(literal)
            if "." in rest:
                parts = literal.split(".", _MOST_PARTS)
                dotted.update(".".join(parts[:count]) for count in range(2, min(len(parts), _MOST_PARTS + 1)))
                whole.add(first)
        elif _UNIT.match(text, found.end()) and _begins(text, found.start()):
            whole.add(literal)


def _begins(text: str, at: int) -> bool:
    """Whether a number and no identifier goes on at `at`."""
    before = text[max(at - 8, 0) : at]
    if not before or not (before[-1] == "_" or (before[-1].isascii() and before[-1].isalpha())):
        return True
    letters = _LETTERS_BEFORE.search(before)
    # In `1920x1080` there are two.
    return (letters is not None and letters[0].lower() in _MARKS) or (before[-1] in "xX" and before[-2:-1].isdigit())


def ungrouped_prose(text: str) -> str:
    """`text` without the commas of numbers that surely are one: `1,234 ms`."""
    return _GROUPED_PROSE.sub(lambda found: found[0].replace(",", ""), text) if "," in text else text


def readings(text: str) -> tuple[str, ...]:
    """`text` with the commas between digits as they stand, and as grouping thousands."""
    plain = ungrouped_prose(text)
    grouped = _GROUPED.sub("", plain)
    return (plain,) if grouped == plain else (plain, grouped)


def decimals(text: str) -> list[str]:
    """The decimals and versions of `text`, without what is before and behind."""
    return _DECIMAL.findall(text)


def numbered_words(text: str) -> list[tuple[str, str, bool]]:
    """The words of `text`, decimals aside, that hold a number of three or more digits.

    Each with that number where it is one, perhaps with a unit or a mark, else with ""; and whether it is cut short.
    """
    words: list[tuple[str, str, bool]] = []
    bare = _DECIMAL.sub(lambda found: " " * len(found[0]), text)
    for found in _WORD.finditer(bare):
        if _LONG.search(found[0]) is None:
            continue
        number = _WITH_UNIT.fullmatch(found[0])
        marked = _MARKED.fullmatch(found[0])
        digits = number[1] if number else marked[2] if marked and marked[1].lower() in _MARKS else ""
        words.append((found[0], digits, bare.startswith(("\u2026", "..."), found.end())))
    return words
