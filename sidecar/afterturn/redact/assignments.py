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
    rf"(?P<close>{_QUOTE})?"
    r"(?:[\])]{0,2}[ \t]{0,32}(?P<op>:=|={1,3}>?|!==?|:|%3[dD])[ \t]{0,32}"
    rf"(?:(?:\\[rn]|\r?\n)[ \t]{{0,64}}(?={_QUOTE}))?"
    r"|[ \t]{0,8}(?P<tag>>)"
    r"|(?:\s|\\[rn]){0,64},?(?:\s|\\[rn]){0,64}\\{0,7}[\"']?[vV]alue\\{0,7}[\"']?\s{0,4}[:=]\s{0,32}"
    rf"|(?P<pair>\s{{0,8}},\s{{0,64}}(?={_QUOTE}))"
    r"|(?P<flag>[ \t]{1,8}(?=[^-\s])))"
)
_OPEN = re.compile(r"(?:[rRbBuUfF]{1,2}|[@$])?(?P<quote>\\{0,7}(?:\"\"\"|'''|[\"'`]))")
_DEFAULT = re.compile(r"[A-Za-z_][\w.\[\], |<>?]{0,64}?[ \t]?=[ \t]?(?=[rRbBuUfF]{0,2}[\"'])")
_QUOTED = {
    '"': re.compile(r'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'),
    "'": re.compile(r"[^'\\\n]*+(?:\\.[^'\\\n]*+)*+"),
    "`": re.compile(r"[^`\\\n]*+(?:\\.[^`\\\n]*+)*+"),
}
_LINE = re.compile(r"[^\n]*+")
_UNQUOTED = re.compile(r"[^\s\"'`,;)\]}>&|\\<]*+")
_WHOLE_LINE = re.compile(r"([^\s\"'`\\]++)[ \t]*(?=[\r\n]|\\[rn]|\Z)")
_LINE_START = re.compile(
    r"(?:\A|\n|\\n)(?P<indent>[ \t]{0,24})(?:\d{1,6}[\t:\u2192|] ?)?(?:[+>-] ?)?(?:export |set |ENV |ARG |- )?[\"']?\Z"
)
_ENDS_LINE = re.compile(r"[ \t]*(?:[\r\n]|\\[rn]|\Z)")
_TAGGED = re.compile(r"[^<\n]*+")
_FIRST_WORD = re.compile(r"([A-Za-z]{2,16})[ .]\Z")
_BEFORE = 40


class Name(Struct, frozen=True):
    """A name as found. start, end: chars. type: what `secret_type` says."""

    start: int
    end: int
    text: str
    type: str


def two_word_name(text: str, start: int, end: int) -> str | None:
    """The type of a name in two words of which `text[start:end]` is the last: `API key`, `secret key`, `?key=`."""
    word = text[start:end]
    if word.lower() not in ("key", "keys"):
        return None
    if text[start - 1 : start] in ("?", "&"):
        return names.API_KEY
    before = _FIRST_WORD.search(text, max(0, start - 17), start)
    return names.secret_type(f"{before[1]}_{word}") if before else None


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
    if opened:
        start, end = _quoted(text, opened)
    elif link["tag"] is not None:
        start, end = at, _end(_TAGGED, text, at)
    else:
        start, end = at, _unquoted_end(text, name, link, at)
    setting = Setting(
        type=name.type,
        name=name.text.strip("-"),
        quoted=bool(opened) or link["tag"] is not None,
        compared=_is_compared(name, link),
        bare=_is_bare(text, name, link, end),
        alone=bool(_ENDS_LINE.match(text, end) and _line_start(text, name)),
    )
    return Span(start, end, BY_NAME, name.type) if is_secret(text[start:end], setting) else None


def _is_compared(name: Name, link: re.Match[str]) -> bool:
    if link["pair"] is not None:
        return not name.text.startswith("-")
    return link["op"] in ("==", "===", "!=", "!==")


def _quoted(text: str, opened: re.Match[str]) -> tuple[int, int]:
    quote, start = opened["quote"], opened.end()
    if len(quote) == 1:
        return start, _end(_QUOTED[quote], text, start)
    if quote[0] != "\\":
        closed = text.find(quote, start)
        return start, closed if closed >= 0 else len(text)
    line = _end(_LINE, text, start)
    at = text.find(quote, start, line)
    while at > 0 and text[at - 1] == "\\":  # more backslashes than the opening quote has: a quote inside the value
        at = text.find(quote, at + 1, line)
    return start, at if at >= 0 else line


def _unquoted_end(text: str, name: Name, link: re.Match[str], at: int) -> int:
    if link["op"] == "=" and link.end() == name.end + 1 and _line_start(text, name):
        whole = _WHOLE_LINE.match(text, at)
        if whole and not whole[1].endswith((",", ";", ")")):
            return whole.end(1)
    end = _end(_UNQUOTED, text, at)
    while end > at and text[end - 1] in ".,:!":
        end -= 1
    return end


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
    return (name.text.isupper() or bool(line and not line["indent"])) and text[end : end + 1] not in (",", ")", "]", "}")


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
