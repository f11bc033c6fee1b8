"""Private key blocks: PEM, OpenSSH, PGP and PuTTY; over several lines, on one, escaped, cut at either end.

Certificates and public keys are no secrets and stay.
"""

import re

from afterturn.redact.span import BY_FORM, Span

TYPE = "private-key"

_LABEL = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_BEGIN = re.compile(rf"-{{4,5}} ?BEGIN {_LABEL}")
_END = re.compile(rf"-{{4,5}} ?END {_LABEL}")
# What can stand between two lines of a block: line ends as they are or escaped, the quotes and joins of source code,
# line numbers, diff and quote marks.
_BETWEEN = (
    r"(?:\\{1,7}[nrt]|\\{1,7}u000[aAdD]|%0[aAdD]|&\#1[03];|<br ?/?>|\d{1,6}(?=[\t:|\u2192])|[\s\"'`+,|>\\:.\u2192-])"
)
_FIELDS = re.compile(rf"(?:{_BETWEEN}{{0,32}}+[A-Z][A-Za-z0-9-]{{2,24}}: [^\n\\]{{1,200}}){{1,6}}")
_ROW = re.compile(rf"{_BETWEEN}{{0,64}}+[A-Za-z0-9+/=_]{{16,}}+")
_LAST_ROW = re.compile(rf"{_BETWEEN}{{0,64}}+[A-Za-z0-9+/=]{{1,64}}+(?=[ \t\"',;\\)]{{0,8}}(?:[\r\n\\]|\Z))")
_TO_END = re.compile(rf"{_BETWEEN}{{0,64}}+[A-Za-z0-9+/=]{{0,15}}+{_BETWEEN}{{0,64}}+{_END.pattern}")
_WORD = re.compile(r"[A-Za-z]?[a-z]+|[a-z]+|[A-Z]+")
# The same rows read backwards from an END line.
_BACK_ROW = re.compile(r"(?:[nrt]\\{1,7}|[\s\"'`+,|>\\:.\u2192-]|(?<=[\t:|\u2192])\d{1,6}){0,64}+([A-Za-z0-9+/=_]++)")
_BACK = 8192
_SHORT_BLOCK = 4096
_PUTTY = re.compile(r"Private-Lines: \d{1,4}(?=\s|\\)")


def block(text: str, key: int, floor: int) -> Span | None:
    """The private key whose BEGIN or END line has its word KEY at `key`; nothing before `floor` is touched."""
    if text[key - 8 : key].upper() != "PRIVATE ":
        return None
    dashes = text.rfind("----", max(floor, key - 64), key)
    if dashes > floor and text[dashes - 1] == "-":  # five of them; one more is the mark of a removed line
        dashes -= 1
    if dashes < 0:
        return None
    if begin := _BEGIN.match(text, dashes):
        return _from_begin(text, begin)
    if end := _END.match(text, dashes):
        return _to_end(text, end, floor)
    return None


def putty(text: str, at: int) -> Span | None:
    """The private lines of a PuTTY key file whose first line is at `at`."""
    found = _PUTTY.search(text, at, at + _SHORT_BLOCK)
    if not found:
        return None
    end = _rows(text, found.end())
    return Span(found.end(), end, BY_FORM, TYPE) if end > found.end() else None


def _from_begin(text: str, begin: re.Match[str]) -> Span | None:
    fields = _FIELDS.match(text, begin.end())
    at = fields.end() if fields else begin.end()
    end = _rows(text, at)
    if closing := _TO_END.match(text, end):
        return Span(begin.start(), closing.end(), BY_FORM, TYPE)
    # The next BEGIN bounds the search, so that many of them cost no more than their text.
    following = text.find("BEGIN ", end, end + _SHORT_BLOCK)
    closing = _END.search(text, end, following if following >= 0 else end + _SHORT_BLOCK)
    if closing:
        return Span(begin.start(), closing.end(), BY_FORM, TYPE)
    last = _LAST_ROW.match(text, end)
    if last and not _is_word(last[0]):
        end = last.end()
    return Span(begin.start(), end, BY_FORM, TYPE) if end > at else None


def _rows(text: str, at: int) -> int:
    while row := _ROW.match(text, at):
        at = row.end()
    return at


def _is_word(row: str) -> bool:
    letters = re.sub(r"[^A-Za-z0-9+/=]", "", row)
    return bool(_WORD.fullmatch(letters))


def _to_end(text: str, end: re.Match[str], floor: int) -> Span | None:
    start = max(floor, end.start() - _BACK)
    start = max(start, text.rfind("-----", start, end.start()))  # no body has so many
    back = text[start : end.start()][::-1]
    at = full_rows = 0
    row = _BACK_ROW.match(back)
    while row and (at == 0 or len(row[1]) >= 16):
        at = row.end()
        full_rows += len(row[1]) >= 16
        row = _BACK_ROW.match(back, at)
    return Span(end.start() - at, end.end(), BY_FORM, TYPE) if full_rows else None
