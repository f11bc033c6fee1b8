"""Web pages, Markdown and prose: title, headings, links, names."""

import re
from collections.abc import Iterable
from functools import partial

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.names import names_of, paths_in
from afterturn.condense.extract.safe import is_instruction
from afterturn.condense.extract.sight import Sight
from afterturn.condense.extract.tail import first_lines, last_lines
from afterturn.text import cut_words, one_line

_TITLE = re.compile(r"<(?:title|TITLE)[^>]{0,100}>([^<]{1,300})")
_HTML_HEADING = re.compile(r"<[hH][1-6][^>]{0,300}>([^<]{1,200})")
_HREF = re.compile(r"(?:href|src|HREF|SRC)=[\"']([^\"'\s]{4,300})")
_URL = re.compile(r"https?://[^\s\"'<>)\]}`,|]{4,300}")
# After a line feed: a search skips from one to the next, but would stop at every char to ask whether a line begins.
_HEADING = re.compile(r"\n {0,3}#{1,6} +(\S.{0,160})")
_BOLD = re.compile(r"\n[ \t]{0,8}(?:[-*] |\d+\. )?\*\*([^*\n]{3,100})\*\*")
_CODE = re.compile(r"`([^`\n]{3,100})`")
# Issue numbers and versions.
_REFERENCE = re.compile(r"#\d{2,6}\b|\bv?\d+\.\d+\.\d+\b")
_MAX_CHARS = 300_000
_MAX_FOUND = 300


def read(view: Sight, digest: Digest) -> None:
    """Add what leads back to the parts of a page: its files, title, headings, code words and addresses."""
    text = view.text[:_MAX_CHARS]
    lines = view.lines.all
    digest.count_lines(lines)
    code = _clean_all(_CODE.findall(text))
    headings = _headings(text)
    urls = _urls(text)
    digest.names += [
        Group("paths", [word for word in code if "/" in word and " " not in word and "." in word], share=40),
        Group("headings", headings, " | ", share=45)
        if headings
        else Group("begins", [cut_words(line, 160) for line in first_lines(lines, 2)], " | ", share=40, cut=True),
        Group("code", code, share=50),
        Group("links", urls, " ", share=50),
        Group("paths", lambda: _paths(text, urls), share=50),
        Group("", lambda: _references(text), " ", share=25),
        Group("names", partial(names_of, text, view.wanted, view.known), " ", bare=True, share=80),
        Group("ends", lambda: [cut_words(line, 160) for line in last_lines(lines, 1)], " | ", cut=True),
    ]


def _headings(text: str) -> list[str]:
    lines = "\n" + text
    found = [*_HEADING.findall(lines), *(_BOLD.findall(lines) if "**" in text else ())]
    if "</" in text:
        found = [*_TITLE.findall(text), *_HTML_HEADING.findall(text), *found]
    return _clean_all(found)


def _urls(text: str) -> list[str]:
    urls = dict.fromkeys(url.rstrip(".;:") for url in _URL.findall(text))
    if "</" in text:
        urls.update(dict.fromkeys(link for link in _HREF.findall(text) if "/" in link))
    return list(urls)[:_MAX_FOUND]


def _paths(text: str, urls: list[str]) -> Iterable[str]:
    known = " ".join(urls)
    return (path for path in paths_in(text) if path not in known)


def _references(text: str) -> list[str]:
    # The pattern is slow, and few lines can hold one.
    lines = (line for line in text.split("\n") if "#" in line or line.count(".") > 1)
    return list(dict.fromkeys(reference for line in lines for reference in _REFERENCE.findall(line)))


def _clean_all(found: list[str]) -> list[str]:
    texts = (one_line(text).rstrip(" #:") for text in found[:_MAX_FOUND])
    return list(dict.fromkeys(text for text in texts if text and not is_instruction(text)))
