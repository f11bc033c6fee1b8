"""Quotes: what a value stands between in code, in strings inside strings, in HTML, in URLs and in print."""

import re

# A quote of HTML, of JSON that escapes its quotes by number, of a URL.
_CODED = r"&(?:quot|\#34|\#x22|apos|\#39|\#x27);|\\{1,7}u002[27]|%22"
# A quote that ends a name.
CLOSE = rf"(?:\\{{0,7}}[\"'`]|{_CODED})"
OPEN = re.compile(
    rf"(?:[rRbBuUfF]{{1,2}}|[@$])?(?P<quote>\\{{0,7}}(?:\"\"\"|'''|[\"'`])|{_CODED}|[\u201c\u201e\u00ab\u2018\u201a])"
)
_QUOTED = {
    '"': re.compile(r'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'),
    "'": re.compile(r"[^'\\\n]*+(?:\\.[^'\\\n]*+)*+"),
    "`": re.compile(r"[^`\\\n]*+(?:\\.[^`\\\n]*+)*+"),
}
# Countries disagree on which of them ends what another begins.
_PRINTED = re.compile(r"[^\u201c\u201d\u00ab\u00bb\u2018\u2019\n]*+")
_LINE = re.compile(r"[^\n]*+")


def quoted_end(text: str, quote: str, start: int, limit: int) -> int:
    """Where the value ends that begins behind `quote` at `start`; the limit where its end is not before that."""
    if len(quote) == 1:
        return end_of(_QUOTED.get(quote, _PRINTED), text, start, limit)
    if quote[0] in "\\&%":
        limit = end_of(_LINE, text, start, limit)
    at = text.find(quote, start, limit)
    while at > 0 and text[at - 1] == "\\":  # more backslashes than the opening quote has: inside the value
        at = text.find(quote, at + 1, limit)
    return at if at >= 0 else min(limit, len(text))


def end_of(pattern: re.Pattern[str], text: str, at: int, limit: int) -> int:
    """Where the pattern that begins at `at` ends; `at`, where it does not fit."""
    found = pattern.match(text, at, limit)
    return found.end() if found else at
