"""Arguments: passwords that a command takes by their place, `htpasswd -b file user …`, `net use … /user:… …`."""

import re
from functools import cache

from afterturn.redact import names
from afterturn.redact.span import BY_PLACE, Span
from afterturn.redact.values import Setting, is_secret

_BLANKS = r"[ \t]{1,4}"
_ARGUMENT = r"(?:\\{0,3}\"[^\"\n]{1,128}\"|'[^'\n]{1,128}'|[^\s\"';|&<>-][^\s\"';|&<>]{0,127}+)"
_PASSWORD = (
    r"(?:\\{0,3}\"(?P<double>[^\"\n\\]{1,256})\\{0,3}\"|'(?P<single>[^'\n\\]{1,256})'"
    r"|(?P<bare>(?![/*(-])(?:[^\s\"'\\;|&<>)]|\)(?=[^\s\"'\\;|&<>)])){1,256}+))"
)
_USER = rf"{_BLANKS}/u(?:ser)?:{_ARGUMENT}"
_SWITCHES = rf"(?:{_BLANKS}/(?!u(?:ser)?:)[^\s\"']{{1,64}}){{0,4}}"
_SHARE = r"(?:\\{0,3}\"\\{2,8}[^\"\n]{1,200}\"|\\{2,8}[^\s\"'\\][^\s\"']{0,199}+)"


# Most texts have neither command, and each pattern takes over a ms to compile.
@cache
def _htpasswd() -> re.Pattern[str]:
    # With -b the password is the last argument, with -n no file is named; some options have a number behind them.
    option = rf"(?:(?P<given>b)|(?P<printed>n)|[Cr](?:{_BLANKS}\d{{1,9}}(?=\s))?|(?![bnCr])[A-Za-z0-9])"
    file = rf"(?(given)|(?!))(?(printed)|{_BLANKS}{_ARGUMENT})"
    return re.compile(rf"(?:{_BLANKS}-{option}{{1,6}}(?=\s)){{1,6}}{file}{_BLANKS}{_ARGUMENT}{_BLANKS}{_PASSWORD}")


@cache
def _net_use() -> re.Pattern[str]:
    # Without a user, a word behind the share may as well be one of a sentence.
    begin = rf"net use{_BLANKS}(?:[\w*]{{1,5}}:?{_BLANKS})?{_SHARE}{_SWITCHES}(?P<user>{_USER}{_SWITCHES})?"
    end = rf"{_SWITCHES}(?:\s{{0,4}}(?:[\r\n;|&<>()\"'`\\]|\d>|\Z))"
    return re.compile(
        rf"{begin}{_BLANKS}{_PASSWORD}(?(user)(?={end})|(?={_SWITCHES}{_USER}))",
        re.IGNORECASE,
    )


def htpasswd_password(text: str, end: int) -> Span | None:
    """The password of `htpasswd -b file user password`, the command's name ending at `end`."""
    return _span(_htpasswd().match(text, end))


def share_password(text: str, at: int) -> Span | None:
    r"""The password of the `net use \\host\share` at `at`, before or behind its `/user:name`."""
    return _span(_net_use().match(text, at))


def _span(found: re.Match[str] | None) -> Span | None:
    kind = found.lastgroup if found else None
    if not found or not kind:
        return None
    if not is_secret(found[kind], Setting(type=names.PASSWORD, name="password", quoted=True)):
        return None
    return Span(found.start(kind), found.end(kind), BY_PLACE, names.PASSWORD)
