"""Connection strings: the password of `scheme://user:password@host`, and of commands that take `user:password`."""

import re

from afterturn.redact import names
from afterturn.redact.span import BY_PLACE, MARKER, Span
from afterturn.redact.values import is_stand_in

# The @ of a connection string stands at most so many chars behind its `://`.
AT_WITHIN = 400
# A user may be a marker, which holds a colon of its own.
_USER = rf"://(?:{MARKER}|[^\s:/?#@\"'<>`\\\[]{{0,128}}+):"
_URL = re.compile(rf"{_USER}(?P<password>(?!\d{{1,5}}[/?#])[^\s/\"'<>`\\]{{1,256}})@(?!sha\d)")
# Drivers of databases take a password with slashes as it is; the scheme tells them from a path with an @.
_DATABASE = re.compile(
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|srv|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse|pymysql|psycopg2?|asyncpg)\Z",
    re.IGNORECASE,
)
_DATABASE_URL = re.compile(rf"{_USER}(?P<password>(?!\d{{1,5}}/)[^\s\"'<>`\\@]{{1,256}})@")
_DSN = re.compile(r"(?:\A|[\s\"'`=])[\w.-]{1,64}:(?P<password>[^\s\"'`]{1,128})\Z")
_DSN_BEFORE = 200
# Options of curl: `-u user:password`, and where the cookies given with `-b` begin.
USER_OPTION = (
    r"(?<=\s)(?:-[uU]|--(?:proxy-)?user)(?:[ =]{1,4}|(?=[\"'\w]))\\{0,3}[\"']?"
    rf"(?:{MARKER}|[^\s:\"'\\/\[]{{1,128}}+):"
    r"(?P<user>[^\s\"'\\]{1,256})"
)
COOKIE_OPTION = r"(?P<cookie>(?<=\s)(?:-b|--cookie)[ =]{0,4}\\{0,3}(?=[\"'\w])[\"']?)"
_SSHPASS = re.compile(
    r"\s{1,8}-p\s{0,4}(?:'(?=[^'\n]{1,256}')|\"(?=[^\"\n]{1,256}\")|)"
    r"(?P<password>(?<=')[^'\n]+|(?<=\")[^\"\n]+|[^\s\"'\\]{1,256})"
)
_ORACLE = re.compile(r":(?i:thin):[^\s/@:\"']{1,64}/(?P<password>[^\s@\"'/]{1,128})@")
_SIGNATURE = re.compile(r"[?&;](?i:sig)=(?P<password>(?=[A-Za-z+/=_-]{0,60}[\d%])[A-Za-z0-9%+/=_-]{8,4096}+)")
_IDENTIFIED = re.compile(
    r"identified(?: with [\w'\"]{1,40})? (?:by|as) (?P<quote>['\"])(?P<password>[^'\"\n\\]{1,256})(?P=quote)",
    re.IGNORECASE,
)
_OPENSSL = re.compile(r"-pass(?:in|out)?[ \t]{1,4}[\"']?\Z")
_OPENSSL_VALUE = re.compile(r":(?P<password>[^\s\"'\\]{1,256})")


def url_password(text: str, colon: int) -> Span | None:
    """The password of the URL whose `://` is at `colon`."""
    found = _URL.match(text, colon)
    if not found and _DATABASE.search(text, max(0, colon - 16), colon):
        found = _DATABASE_URL.match(text, colon)
    return _span(found)


def dsn_password(text: str, at: int, floor: int) -> Span | None:
    """The password of `user:password@tcp(host)`, whose @ is at `at`; it begins behind `floor`."""
    return _span(_DSN.search(text, max(floor, at - _DSN_BEFORE), at))


def sshpass_password(text: str, end: int) -> Span | None:
    """The password of `sshpass -p password`, the command's name ending at `end`."""
    return _span(_SSHPASS.match(text, end), names.PASSWORD)


def oracle_password(text: str, at: int) -> Span | None:
    """The password of `jdbc:oracle:thin:user/password@host`, whose `:thin:` is at `at`."""
    return _span(_ORACLE.match(text, at))


def signature(text: str, at: int) -> Span | None:
    """The signature of a signed URL, whose `?sig=` or `&sig=` is at `at`."""
    return _span(_SIGNATURE.match(text, at), "signature")


def sql_password(text: str, at: int) -> Span | None:
    """The password of `IDENTIFIED BY 'password'`, which begins at `at`."""
    found = _IDENTIFIED.match(text, at)
    return _span(found, names.PASSWORD) if found and found["password"].lower() != names.PASSWORD else None


def openssl_password(text: str, start: int, end: int) -> Span | None:
    """The password of `-passin pass:password`, whose second `pass` is at `start`."""
    given = _OPENSSL.search(text, max(0, start - 16), start)
    return _span(_OPENSSL_VALUE.match(text, end), names.PASSWORD) if given else None


def _span(found: re.Match[str] | None, type: str = "url-password") -> Span | None:
    if not found or is_stand_in(found["password"]):
        return None
    return Span(found.start("password"), found.end("password"), BY_PLACE, type)
