"""Web pages, Markdown and prose: title, headings, links, names."""

import re

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.names import paths_in, rank_names
from afterturn.condense.extract.safe import is_instruction
from afterturn.condense.extract.sight import Sight
from afterturn.condense.extract.tail import first_lines, last_lines
from afterturn.text import cut_words, one_line

_TITLE = re.compile(r"<title[^>]{0,100}>([^<]{1,300})", re.IGNORECASE)
_HTML_HEADING = re.compile(r"<h[1-6][^>]{0,300}>([^<]{1,200})", re.IGNORECASE)
_HREF = re.compile(r"(?:href|src)=[\"']([^\"'\s]{4,300})", re.IGNORECASE)
_URL = re.compile(r"https?://[^\s\"'<>)\]}`,|]{4,300}")
_HEADING = re.compile(r"^ {0,3}#{1,6} +(\S.{0,160})", re.MULTILINE)
_BOLD = re.compile(r"^\s*(?:[-*] |\d+\. )?\*\*([^*\n]{3,100})\*\*", re.MULTILINE)
_CODE = re.compile(r"`([^`\n]{3,100})`")
# Issue numbers and versions.
_REFERENCE = re.compile(r"#\d{2,6}\b|\bv?\d+\.\d+\.\d+\b")
_MAX_CHARS = 300_000


def read(view: Sight, digest: Digest) -> None:
    """Add what leads back to the parts of a page: its title, headings, code words and addresses."""
    text = view.text[:_MAX_CHARS]
    digest.outcome.append(f"({len(view.lines.all)} lines)")
    headings = _clean_all([*_TITLE.findall(text), *_HTML_HEADING.findall(text), *_HEADING.findall(text), *_BOLD.findall(text)])
    urls = dict.fromkeys(url.rstrip(".;:") for url in _URL.findall(text))
    urls.update(dict.fromkeys(link for link in _HREF.findall(text) if "/" in link))
    code = _clean_all(_CODE.findall(text))
    files = [word for word in code if "/" in word and " " not in word and "." in word]
    if files:
        digest.names.append(Group("paths", files, share=40))
    if headings:
        digest.names.append(Group("headings", headings, " | ", share=45))
    else:
        lines = [cut_words(line, 160) for line in first_lines(view.lines.all, 2)]
        digest.names.append(Group("begins", lines, " | ", share=40, cut=True))
    if code:
        digest.names.append(Group("code", code, share=50))
    if urls:
        digest.names.append(Group("links", list(urls), " ", share=50))
    paths = [path for path in paths_in(view.lines.all[:3000]) if not any(path in url for url in urls)]
    if paths:
        digest.names.append(Group("paths", paths[:100], share=50))
    numbers = list(dict.fromkeys(_REFERENCE.findall(text)))
    if numbers:
        digest.names.append(Group("", numbers, " ", share=25))
    names = rank_names(text, wanted=view.wanted, known=view.known)
    if names:
        digest.names.append(Group("names", names, " ", share=80))
    ends = last_lines(view.lines.all, 1)
    if ends:
        digest.names.append(Group("ends", [cut_words(line, 160) for line in ends], " | ", cut=True))


def _clean_all(found: list[str]) -> list[str]:
    texts = (one_line(text).rstrip(" #:") for text in found)
    return list(dict.fromkeys(text for text in texts if text and not is_instruction(text)))
