"""Assignments: `NAME=value`, `"name": "value"`, `name: value`, `--name value`, `<name>value</name>` and their kin.

`assigned` is called where a name that may say secret, token, password or key was found.
"""

import re

from msgspec import Struct

from afterturn.redact import names
from afterturn.redact.span import BY_NAME, Span
from afterturn.redact.values import Setting, is_secret

# What can stand between a name and its value; each part is bounded, so a miss costs a bounded look.
_QUOTE = r"\\{0,7}[\"'`]"
_LINK = re.compile(
    rf"(?:(?P<close>{_QUOTE})[\])]{{0,2}})?"
    r"(?:[ \t]{0,32}+(?P<op>:=|={1,3}>?|!==?|:|%3[dD])[ \t]{0,32}+"
    rf"(?:(?:\\[rn]|\r?\n)[ \t]{{0,64}}+(?={_QUOTE}))?"
    r"|[ \t]{0,8}+(?P<tag>>)"
    r"|(?:\s|\\[rn]){0,64}+(?:,(?:\s|\\[rn]){0,64}+)?\\{0,7}[\"']?[vV]alue\\{0,7}[\"']?\s{0,4}+[:=]\s{0,32}+"
    rf"|(?P<pair>[ \t]{{0,8}}+,[ \t]{{0,16}}+(?=\\{{0,7}}[\"']))"
    r"|(?P<flag>[ \t]{1,8}+(?=[^-\s])))"
)
_OPEN = re.compile(r"(?:[rRbBuUfF]{1,2}|[@$])?(?P<quote>\\{0,7}(?:\"\"\"|'''|[\"'`]))")
_DEFAULT = re.compile(r"[A-Za-z_][\w.\[\], |<>?]{0,64}+\t?=[ \t]?(?=[rRbBuUfF]{0,2}[\"'])")
_QUOTED = {
    '"': re.compile(r'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'),
    "'": re.compile(r"[^'\\\n]*+(?:\\.[^'\\\n]*+)*+"),
    "`": re.compile(r"[^`\\\n]*+(?:\\.[^`\\\n]*+)*+"),
}
_LINE = re.compile(r"[^\n]*+")
# Unquoted values; a template such as `${NAME}` or `{name!r}` is taken whole.
_TEMPLATE = r"|\$?\{[^{}\n]{0,120}\}|\{"
_AFTER_COLON = re.compile(rf"(?:[^\s\"'`,)\]{{}}>\\<]++{_TEMPLATE})*+")
_AFTER_EQUALS = re.compile(rf"(?:[^\s\"'`,;)\]{{}}>&|\\<]++{_TEMPLATE})*+")
_IN_QUERY = re.compile(rf"(?:[^\s\"'`,;)\]{{}}>&|\\<#]++{_TEMPLATE})*+")
_ENCODED = re.compile(r"(?:[^\s\"'&%]++|%(?!26))*+")
_WHOLE_LINE = re.compile(r"([^\s\"'`\\]++)[ \t]*(?=[\r\n]|\\[rn]|\Z)")
_LINE_START = re.compile(
    r"(?:\A|\n|\\n)(?P<indent>[ \t]{0,24})(?:\d{1,6}[\t:\u2192|] ?)?(?:[+>-] ?)?(?:export |set |ENV |ARG |- )?[\"']?\Z"
)
_ENDS_LINE = re.compile(r"[ \t]*(?:[\r\n]|\\[rn]|\Z)")
_TAGGED = re.compile(r"[^<\n]*+")
_FIRST_WORD = re.compile(r"([A-Za-z]{2,16})[ .]\Z")
_BEFORE = 40
# Chars of a value that are looked at before it is known to be a secret.
_LOOK = 512


class Name(Struct, frozen=True):
    """A name as found. start, end: chars. type: what `secret_type` says."""

    start: int
    end: int
    text: str
    type: str


def two_word_type(text: str, start: int, end: int) -> str | None:
    """The type of a name whose last word is the `key` at `text[start:end]`: `API key`, `secret key`, `?key=`."""
    if text[start - 1 : start] in ("?", "&"):
        return names.API_KEY
    before = _FIRST_WORD.search(text, max(0, start - 17), start)
    return names.secret_type(f"{before[1]}_key") if before else None


def assigned(text: str, name: Name) -> Span | None:
    """The secret that the name at that place is given, or None."""
    link = _LINK.match(text, name.end)
    if not link:
        return None
    at = link.end()
    before = text[name.start - 1 : name.start]
    if link["tag"] is not None and before != "<":
        return None
    if link["flag"] is not None and not (name.text.startswith("-") and not link["close"]):
        return None
    if link["pair"] is not None and not link["close"]:
        return None
    if link["op"] == ":" and (default := _DEFAULT.match(text, at)):
        at = default.end()
    opened = _OPEN.match(text, at)
    if opened and not link["close"] and before and opened["quote"][-1] == before:
        return None  # the quote that ends the string in which the name stands
    value = _Value(text, name, link, opened, opened.end() if opened else at)
    end = value.end(at + _LOOK)
    setting = Setting(
        type=name.type,
        name=name.text.strip("-"),
        quoted=bool(opened) or link["tag"] is not None,
        compared=_is_compared(name, link),
        bare=_is_bare(text, name, link, end),
        alone=bool(_ENDS_LINE.match(text, end) and _line_start(text, name)),
    )
    if link["tag"] is not None and text[end : end + 1] != "<":
        return None
    if not is_secret(text[value.start : end], setting):
        return None
    if end >= at + _LOOK:
        end = value.end(len(text))
    return Span(value.start, end, BY_NAME, name.type)


class _Value:
    """Where a value ends; asked for with a limit first, so that a value that is no secret costs a bounded look."""

    def __init__(self, text: str, name: Name, link: re.Match[str], opened: re.Match[str] | None, start: int) -> None:
        self.text = text
        self.start = start
        self.quote = opened["quote"] if opened else ""
        self.tagged = link["tag"] is not None
        self.unquoted = _unquoted(text, name, link)
        self.whole_line = link["op"] == "=" and link.end() == name.end + 1 and bool(_line_start(text, name))

    def end(self, limit: int) -> int:
        if not self.quote:
            return self.tagged_end(limit) if self.tagged else self.unquoted_end(limit)
        if len(self.quote) == 1:
            return _end(_QUOTED[self.quote], self.text, self.start, limit)
        if self.quote[0] == "\\":
            limit = _end(_LINE, self.text, self.start, limit)
        at = self.text.find(self.quote, self.start, limit)
        while at > 0 and self.text[at - 1] == "\\":  # more backslashes than the opening quote has: inside the value
            at = self.text.find(self.quote, at + 1, limit)
        return at if at >= 0 else min(limit, len(self.text))

    def tagged_end(self, limit: int) -> int:
        return _end(_TAGGED, self.text, self.start, limit)

    def unquoted_end(self, limit: int) -> int:
        if self.whole_line:
            whole = _WHOLE_LINE.match(self.text, self.start, limit)
            if whole and not whole[1].endswith((",", ";", ")")):
                return whole.end(1)
        end = _end(self.unquoted, self.text, self.start, limit)
        while end > self.start and self.text[end - 1] in ".,:;!":
            end -= 1
        return end


def _is_compared(name: Name, link: re.Match[str]) -> bool:
    if link["pair"] is not None:
        return not name.text.startswith("-")
    return link["op"] in ("==", "===", "!=", "!==")


def _unquoted(text: str, name: Name, link: re.Match[str]) -> re.Pattern[str]:
    if link["op"] in ("%3D", "%3d"):
        return _ENCODED
    if text[name.start - 1 : name.start] in ("?", "&"):
        return _IN_QUERY
    return _AFTER_COLON if link["op"] == ":" else _AFTER_EQUALS


def _line_start(text: str, name: Name) -> re.Match[str] | None:
    return _LINE_START.search(text, max(0, name.start - _BEFORE), name.start)


def _is_bare(text: str, name: Name, link: re.Match[str], end: int) -> bool:
    if link["op"] in ("%3D", "%3d"):
        return True
    if link["op"] != "=" or link.end() != name.end + 1 or link["close"]:
        return False
    if text[name.start - 1 : name.start] in ("?", "&"):
        return True
    line = _line_start(text, name)
    if not name.text.isupper() and not (line and not line["indent"]):
        return False
    return text[end : end + 1] not in (",", ")", "]", "}")


def _end(pattern: re.Pattern[str], text: str, at: int, limit: int) -> int:
    found = pattern.match(text, at, limit)
    return found.end() if found else at
