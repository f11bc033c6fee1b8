"""Assignments: `NAME=value`, `"name": "value"`, `name: value`, `--name value`, `<name>value</name>`,
`the password is value`, `setPassword("value")` and their kin.

`assigned` is called where a name that may say secret, token, password or key was found.
"""

import re

from msgspec import Struct

from afterturn.redact import blocks, names
from afterturn.redact.quotes import CLOSE, OPEN, end_of, quoted_end
from afterturn.redact.span import BY_NAME, MARKER, Span
from afterturn.redact.values import Setting, is_secret

# What can stand between a name and its value; each part is bounded, so a miss costs a bounded look.
_LINK = re.compile(
    rf"(?:(?P<close>{CLOSE})[\])]{{0,2}}|\*\*)?"
    r"(?:[ \t]{0,32}+(?P<op>:=|={1,3}>?|!==?|[:\uff1a\uff1d]|%3[dD]|(?(close)%3[aA]|(?!)))(?:\*\*)?[ \t]{0,32}+"
    rf"(?:(?:\\[rn]|\r?\n)[ \t]{{0,64}}+(?={CLOSE}))?"
    r"|(?P<call>\((?=\\{0,7}[\"'`]))"
    r"|(?P<told>[ \t]{1,4}+(?:(?:is|was)(?: now| set to)?|(?:set )?to)[ \t]?(?::[ \t]|(?<=[ \t]))[ \t]{0,4}+)"
    r"|(?:[ \t]{1,4}[\w:-]{1,32}=\"[^\"<>\n]{0,40}\"){0,3}[ \t]{0,8}+(?P<tag>>)(?:<!\[CDATA\[)?"
    r"|(?:\s|\\[rn]){0,64}+(?:,(?:\s|\\[rn]){0,64}+)?\\{0,7}[\"']?[vV]alue\\{0,7}[\"']?\s{0,4}+[:=]\s{0,32}+"
    rf"|(?P<pair>[ \t]{{0,8}}+,[ \t]{{0,16}}+(?=\\{{0,7}}[\"']))"
    r"|(?P<flag>[ \t]{1,8}+(?=[^-\s])))"
)
_DEFAULT = re.compile(
    r"(?:&(?:'\w{1,16} )?(?:mut )?)?[A-Za-z_][\w.\[\], |<>?]{0,64}+\t?=[ \t]?(?=[rRbBuUfF]{0,2}[\"'])"
)
# What a secret is wrapped in: `SecretStr("…")`, `String::from("…")`.
_WRAPPED = re.compile(
    r"(?:new )?(?:[A-Za-z_]{1,24}(?:::|\.))?(?:Secret[A-Za-z]{0,12}|Password|String|Buffer|str|bytes)"
    r"(?:(?:::|\.)(?:new|from|of|valueOf))?\((?=[rRbBuU]{0,2}[\"'])"
)
# Unquoted values; a template such as `${NAME}` or `{name!r}` is taken whole.
_TEMPLATE = r"|\$?\{[^{}\n]{0,120}\}|\{"
_AFTER_COLON = re.compile(rf"(?:[^\s\"'`,)\]{{}}>\\<]++{_TEMPLATE})*+")
_AFTER_EQUALS = re.compile(rf"(?:[^\s\"'`,;)\]{{}}>&|\\<]++{_TEMPLATE})*+")
_AFTER_IS = re.compile(r"[^\s\"'`\\<>()]*+")
# A value of a connection string ends at its semicolon alone.
_PART = re.compile(r"[^;\n\"'<>]*+")
_IN_QUERY = re.compile(rf"(?:[^\s\"'`,;)\]{{}}>&|\\<#]++{_TEMPLATE})*+")
_ENCODED = re.compile(r"(?:[^\s\"'&%]++|%(?!26))*+")
_WHOLE_LINE = re.compile(r"([^\s\"'`\\]++)[ \t]*(?=[\r\n]|\\[rn]|\Z)")
_LINE_START = re.compile(
    r"(?:\A|\n|\\n)(?P<indent>[ \t]{0,24})(?:\d{1,6}[\t:\u2192|] ?)?(?:[+>-] ?)?(?:export |set |ENV |ARG |- )?[\"']?\Z"
)
_ENDS_LINE = re.compile(r"[ \t]{0,64}+(?:[\r\n]|\\[rn]|\Z)")
_ENDS_CLAUSE = re.compile(r"[.,;!]{0,2}(?:(?<=[.,;!]) |[ \t]{0,64}+(?:[\r\n]|\\[rn]|\Z))")
_TAGGED = re.compile(r"[^<\n\]]*+")
_TAG_END = re.compile(r"(?:\]\]>)?</")
_TAG_BEFORE = re.compile(r"(?:<|<[\w-]{1,24}:|<[\w-]{1,24} [^<>\n]{0,24}(?:name|key|id)=\"[\w.-]{0,40})\Z")
# What a name stands behind whose value follows after a blank.
_SET_BEFORE = re.compile(
    r"(?:(?:\bENV|\#define|\bsetx|\bsetenv|\bset -[gux]{1,3}|\bconfigure set(?: [\w.-]{1,24}\.)?|\bsecret set)[ \t.]"
    r"|\bconfig set (?://[\w.:/@-]{1,120}/:)?)\Z"
)
_SQL_BEFORE = re.compile(r"\b(?:with|encrypted|(?:user|role) [\w\"]{1,24})\s{1,4}\Z", re.IGNORECASE)
_LOGIN_BEFORE = re.compile(
    r"(?:\bmachine\s{1,4}(?P<host>\S{1,80}+)|\bdefault)(?P<gap>\s{1,16})login\s{1,4}\S{1,80}+\s{1,16}"
    r"(?:account\s{1,4}\S{1,40}+\s{1,16})?\Z"
)
# What gives a value to a name that stands in quotes, as an argument beside it.
_PAIR_BEFORE = re.compile(r"\b(?:define|putenv|setenv|setdefault)\(\s{0,4}[\"']\Z")
# Methods that are given the secret, and those of builders that are so named.
_SETTER = re.compile(r"(?:set|with|update|change)(?=[A-Z_])")
_BUILDER = re.compile(
    r"(?:user|client|access|auth|api|secret|bearer|db)?_?(?:password|passphrase|secret|token|key)", re.IGNORECASE
)
# What a `NAME=value` stands behind as the argument of a command, and as a part of a connection string.
_ARGUMENT_BEFORE = re.compile(
    r"(?:\s-e|--env|--build-arg|--from-literal|--set(?:-string)?|\bvault login(?: [^\s\"',;|&]{1,40}){0,3})"
    r"[ =]?[\"']?(?:[\w-]{1,24}\.){0,4}\Z"
)
_PART_BEFORE = re.compile(
    r"\b(?:user(?:name| ?id)?|uid|server|source|host|database|catalog)[ ]?=[^;=\n\"']{1,64};[ ]?\Z", re.IGNORECASE
)
_DOTTED_BEFORE = re.compile(r"(?:\A|\n)[ \t]{0,4}(?:[a-z][a-z0-9_-]{1,24}\.){1,5}\Z")
_QUERY = ("?", "&", "#")
_COLONS = (":", "\uff1a")
_WITH_MARKS = re.compile(r"(?=[^\s]*[a-zA-Z])[^\s]*[\d!@#$%^&*]")
_FIRST_WORD = re.compile(r"([A-Za-z]{2,16})[ .]\Z")
# A value that an earlier pass took, a quick look.
_MARKED = re.compile(rf"[\"'`]?[ \t]{{0,4}}[:=>][ \t]{{0,4}}[\"'`]?{MARKER}(?=[\s\"'`&<)}}]|\Z)")
_BEFORE = 40
_USER_BEFORE = 120
# Chars of a value that are looked at before it is known to be a secret.
_LOOK = 512


class Name(Struct, frozen=True):
    """A name as found. start, end: chars. type: what `secret_type` says."""

    start: int
    end: int
    text: str
    type: str


def two_words(text: str, start: int, end: int) -> str | None:
    """The name whose last word is the `key` at `text[start:end]`, `API key`, `secret key`, as one: `API_key`."""
    before = text[start - 1 : start]
    if before in _QUERY and text[end : end + 1] == "=":
        return "api_key"
    word = _FIRST_WORD.search(text, max(0, start - 17), start) if before in (" ", ".") else None
    return f"{word[1]}_key" if word else None


def assigned(text: str, name: Name) -> Span | None:
    """The secret that the name at that place is given, or None."""
    if _MARKED.match(text, name.end):
        return None
    link = _LINK.match(text, name.end)
    if not link or (link["flag"] is not None and link["close"]):
        return _variable(text, name)
    if not _links(text, name, link):
        return None
    at = link.end()
    if link["op"] == ":":
        if block := blocks.yaml_block(text, name.start, at):
            return _block(text, name, *block)
        if default := _DEFAULT.match(text, at):
            at = default.end()
    if link["op"] and (wrapped := _WRAPPED.match(text, at)):
        at = wrapped.end()
    opened = OPEN.match(text, at)
    if opened and not link["close"] and not link["call"] and _ends_string(text, name, opened):
        return None
    value = _Value(text, name, link, opened, opened.end() if opened else at)
    end = value.end(at + _LOOK)
    setting = Setting(
        type=name.type,
        name=name.text.strip("-"),
        quoted=bool(opened) or link["tag"] is not None,
        header=link["op"] == ":" and not link["close"] and name.text[:2] in ("X-", "x-"),
        compared=_is_compared(text, name, link),
        told=link["told"] is not None,
        bare=_is_bare(text, name, link, end),
        alone=_is_alone(text, name, link, end),
    )
    if link["tag"] is not None and not _TAG_END.match(text, end):
        return None
    if not is_secret(text[value.start : end], setting):
        return None
    if end >= at + _LOOK:
        end = value.end(len(text))
    return Span(value.start, end, BY_NAME, name.type)


def beside_user(text: str, start: int, end: int) -> Span | None:
    """The secret that the name `pass` is given, which is one where a user stands before: `{user: "x", pass: "y"}`."""
    if text.find("user", max(0, start - _USER_BEFORE), start) < 0:
        return None
    span = assigned(text, Name(start, end, text[start:end], names.PASSWORD))
    is_sure = span and (text[span.start - 1] in "\"'`" or text[start - 1 : start] in _QUERY)
    return span if is_sure else None


def _links(text: str, name: Name, link: re.Match[str]) -> bool:
    """Whether what stands behind the name gives it a value, by what the name stands in."""
    if link["tag"] is not None:
        return bool(_TAG_BEFORE.search(text, max(0, name.start - 72), name.start))
    if link["flag"] is not None:
        return _takes_next(text, name, link.end())
    if link["call"] is not None:
        return _is_setter(text, name)
    return link["pair"] is None or bool(link["close"])


def _takes_next(text: str, name: Name, at: int) -> bool:
    """Whether the next word, at `at`, is the value of the name: after an option, and in a few kinds of line."""
    if name.text.startswith("-"):
        return True
    before = max(0, name.start - 200)
    if _SET_BEFORE.search(text, max(0, name.start - 140), name.start):
        return True
    if text[at : at + 1] in ("'", '"') and name.text.lower() == "password":
        return bool(_SQL_BEFORE.search(text, max(0, name.start - 40), name.start))
    if name.text == "requirepass":
        return text[name.start - 1 : name.start] in ("", "\n")
    login = _LOGIN_BEFORE.search(text, before, name.start) if name.text == "password" else None
    if not login:
        return False
    # In prose too there are machines, logins and passwords.
    return "\n" in login["gap"] or "." in (login["host"] or "") or bool(_WITH_MARKS.match(text, at))


def _block(text: str, name: Name, start: int, end: int) -> Span | None:
    setting = Setting(type=name.type, name=name.text, quoted=True)
    if not is_secret(text[start:end].strip(), setting):
        return None
    return Span(start, blocks.block_end(text, start), BY_NAME, name.type)


def _variable(text: str, name: Name) -> Span | None:
    if text[name.start - 10 : name.start] != 'variable "':
        return None
    at = blocks.variable_default(text, name.end)
    if at is None:
        return None
    end = quoted_end(text, '"', at, at + _LOOK)
    setting = Setting(type=name.type, name=name.text, quoted=True)
    return Span(at, end, BY_NAME, name.type) if is_secret(text[at:end], setting) else None


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
        if self.quote:
            return quoted_end(self.text, self.quote, self.start, limit)
        return end_of(_TAGGED, self.text, self.start, limit) if self.tagged else self.unquoted_end(limit)

    def unquoted_end(self, limit: int) -> int:
        if self.whole_line:
            whole = _WHOLE_LINE.match(self.text, self.start, limit)
            if whole and not whole[1].endswith((",", ";", ")")):
                return whole.end(1)
        end = end_of(self.unquoted, self.text, self.start, limit)
        while end > self.start and self.text[end - 1] in ".,:;!":
            end -= 1
        return end


def _is_alone(text: str, name: Name, link: re.Match[str], end: int) -> bool:
    if link["told"] is not None:
        return bool(_ENDS_CLAUSE.match(text, end))
    return bool(_ENDS_LINE.match(text, end) and (_line_start(text, name) or _is_dotted(text, name)))


def _is_compared(text: str, name: Name, link: re.Match[str]) -> bool:
    if link["pair"] is not None:
        return not name.text.startswith("-") and not _PAIR_BEFORE.search(text, max(0, name.start - 24), name.start)
    if link["call"] is not None:
        return name.type != names.PASSWORD
    return link["op"] in ("==", "===", "!=", "!==")


def _ends_string(text: str, name: Name, opened: re.Match[str]) -> bool:
    """Whether the quote behind the name ends the string in which the name stands: `input("password:")`."""
    quote = opened["quote"][-1]
    if text[name.start - 1 : name.start] == quote:
        return True
    if text[opened.end() : opened.end() + 1] not in (")", "]", ",", ";"):
        return False
    line = max(0, name.start - _BEFORE, text.rfind("\n", max(0, name.start - _BEFORE), name.start))
    return text.count(quote, line, name.start) % 2 == 1


def _is_setter(text: str, name: Name) -> bool:
    if _SETTER.match(name.text):
        return True
    return text[name.start - 1 : name.start] == "." and bool(_BUILDER.fullmatch(name.text))


def _unquoted(text: str, name: Name, link: re.Match[str]) -> re.Pattern[str]:
    if link["op"] and link["op"][0] == "%":
        return _ENCODED
    if link["told"] is not None:
        return _AFTER_IS
    if _in_query(text, name):
        return _IN_QUERY
    if link["op"] == "=" and _is_part(text, name):
        return _PART
    return _AFTER_COLON if link["op"] in _COLONS else _AFTER_EQUALS


def _in_query(text: str, name: Name) -> bool:
    before = text[name.start - 1 : name.start]
    return before in _QUERY or (before == ";" and text.endswith("&amp;", 0, name.start)) if before else False


def _is_part(text: str, name: Name) -> bool:
    """Whether the name stands in a connection string behind the user: `User Id=sa;Password=…;`."""
    if name.type != names.PASSWORD or text[name.start - 1 : name.start] not in (";", " "):
        return False
    return bool(_PART_BEFORE.search(text, max(0, name.start - 90), name.start))


def _line_start(text: str, name: Name) -> re.Match[str] | None:
    return _LINE_START.search(text, max(0, name.start - _BEFORE), name.start)


def _is_bare(text: str, name: Name, link: re.Match[str], end: int) -> bool:
    if link["op"] in ("%3D", "%3d") or (link["flag"] is not None and not name.text.startswith("-")):
        return True
    if link["op"] != "=" or link.end() != name.end + 1 or link["close"]:
        return False
    if _in_query(text, name) or _is_part(text, name):
        return True
    if text[end : end + 1] == "&" and text[name.start - 1 : name.start] in ("'", '"'):  # a form
        return True
    if not name.text.isupper():
        line = _line_start(text, name)
        if not (line and not line["indent"]) and not _is_argument(text, name, end):
            return False
    return text[end : end + 1] not in (",", ")", "]", "}")


def _is_argument(text: str, name: Name, end: int) -> bool:
    if _ARGUMENT_BEFORE.search(text, max(0, name.start - 64), name.start):
        return True
    return end - name.end > 6 and bool(_ENDS_LINE.match(text, end)) and _is_dotted(text, name)


def _is_dotted(text: str, name: Name) -> bool:
    """Whether the name is the last part of a property, `spring.datasource.password`."""
    if text[name.start - 1 : name.start] != ".":
        return False
    return bool(_DOTTED_BEFORE.search(text, max(0, name.start - 80), name.start))
