"""Sentences and words of prose in any script, and cuts that fall between them."""

import re
from collections.abc import Iterator
from functools import cache

from afterturn.recap.gate import is_unspaced
from afterturn.text import ELLIPSIS, cut_words


def sentences(text: str) -> list[str]:
    """The sentences of a text of one line, trimmed, in order; joined by blanks they give the text back, blanks aside.

    A full stop inside a name or number ends nothing; one after which a lower-case word follows ends nothing either.
    """
    found: list[str] = []
    start = 0
    for end in _ends(text):
        piece = text[start:end].strip()
        if piece:
            found.append(piece)
        start = end
    rest = text[start:].strip()
    return [*found, rest] if rest else found


def joined(parts: list[str]) -> str:
    """Sentences as one text again: a blank between them, none after a full-width stop."""
    text = ""
    for part in parts:
        text += part if not text or text[-1] in "\u3002\uff01\uff1f\uff1b" else " " + part
    return text


def closed(text: str) -> str:
    """`text` with a full stop where a semicolon leads to nothing any more."""
    return text[:-1] + _CLOSED_WITH[text[-1]] if text[-1:] in _CLOSED_WITH else text


def cut_sentences(text: str, limit: int) -> str:
    """`text` in at most `limit` chars, cut after a sentence if one ends in the second half of it, else at a word."""
    if len(text) <= limit:
        return text
    last = 0
    for end in _ends(text):
        if len(text[:end].rstrip()) > limit:
            break
        last = end
    if last < limit // 2:
        # Better than a word: a stop that people write before a lower-case word.
        last = max((found.end() for found in _soft_stop().finditer(text, 0, limit)), default=0)
    if last >= limit // 2:
        return text[:last].rstrip()
    return cut_words(text, limit, ELLIPSIS)


def content_words(text: str) -> set[str]:
    """The words that carry meaning, in lower case; of scripts without blanks, every pair of neighbours."""
    words = {
        word for word in _word().findall(text.lower()) if len(word) > 2 and word not in _STOP and not word.isdigit()
    }
    unspaced = "".join(char if is_unspaced(char) else " " for char in text)
    for run in unspaced.split():
        words.update(run[at : at + 2] for at in range(max(len(run) - 1, 1)))
    return {word for word in words if not all(map(is_unspaced, word)) or len(word) <= 2}


def other_script(text: str, asked: str) -> bool:
    """Whether `text` is written in another script than `asked`, so that it cannot be in the same language.

    Latin letters are in texts of every language, as names; they count only where there is nothing else.
    """
    said, wanted = _scripts(text), _scripts(asked)
    if not said:
        return bool(wanted) and sum(wanted.values()) * 4 >= sum(map(str.isalpha, asked))
    return not said.keys() & wanted.keys() and sum(said.values()) * 4 >= sum(map(str.isalpha, text))


def _scripts(text: str) -> dict[str, int]:
    """How many letters of each script there are, Latin aside; kana and Han are one."""
    import unicodedata

    found: dict[str, int] = {}
    for char in text:
        if char > "\u024f" and char.isalpha():
            name = "HAN" if is_unspaced(char) and not char >= "\uac00" else unicodedata.name(char, "").partition(" ")[0]
            found[name] = found.get(name, 0) + 1
    return found


def is_chinese(text: str) -> bool:
    """Whether `text` is mainly Chinese: Han among its letters, and no kana or hangul."""
    han = sum("\u4e00" <= char <= "\u9fff" or "\u3400" <= char <= "\u4dbf" for char in text)
    if han < 2 or any("\u3040" <= char <= "\u30ff" or "\uac00" <= char <= "\ud7a3" for char in text):
        return False
    # A Chinese sentence says in one character what takes an English one four letters.
    return han * 4 >= sum(char.isascii() and char.isalpha() for char in text)


def _ends(text: str) -> Iterator[int]:
    for match in _stop().finditer(text):
        yield match.end()


@cache
def _stop() -> re.Pattern[str]:
    return re.compile(
        r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<!\bcf)[.!?]+[\"')\]\u201d\u2019`*]*(?=\s+(?:[^\sa-z]|[a-z][\w-]*[./_(]\w|$)|\s*$)\s*"
        r"|[\u3002\uff01\uff1f]+[\"')\]\u201d\u2019\u300d\u300f]*\s*|[;\uff1b]\s*|\n+"
    )


@cache
def _soft_stop() -> re.Pattern[str]:
    return re.compile(r"(?<=\w\w\w)[.!?](?=\s)")


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[^\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+")


_CLOSED_WITH = {";": ".", "\uff1b": "\u3002"}
_STOP = frozenset(
    "the and for you are that this with have has had was were not but all can will would should could from into then"
    " than there here they them their its our your his her what when where which who why how did does done doing been"
    " being just also now let lets please want need needs make sure see get got use using some any more most very"
    " really about out over under again after before while because ok okay yes yeah one two too only like via".split()
)
