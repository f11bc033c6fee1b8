"""Passwords that no name stands before: piped into a command, given to a function that takes a login."""

import re

from afterturn.redact import names
from afterturn.redact.span import BY_PLACE, Span
from afterturn.redact.values import Setting, is_secret

# What reads a password, or lines of users with theirs, from its input.
_READER = (
    r"(?:sudo (?:-\w{1,4} ){0,3}-\w{0,3}S\b|--password-stdin|--with-token|passwd --stdin|--passphrase-fd[ =]0\b"
    r"|(?P<users>chpasswd\b))"
)
_WORD = r"(?P<quote>[\"']?)(?P<password>[^\"'\s|$`\\<>]{1,256})(?P=quote)"
# The end of `echo` or `printf`, and `password | sudo -S`, `password | docker login --password-stdin`.
_PIPED = re.compile(
    rf"o? (?:-[neE]{{1,3}} )?(?:[\"']?%s(?:\\n)?[\"']? )?{_WORD} {{0,4}}\| {{0,4}}[^\n|;&]{{0,120}}?{_READER}"
)
# `docker login --password-stdin <<< password`.
_HERE = re.compile(rf"<<< {{0,4}}{_WORD}")
_READS = re.compile(rf"{_READER}[^\n|;&]{{0,120}}\Z")
_READER_CHARS = 160
_SECURE_STRING = re.compile(
    r"ConvertTo-SecureString(?: -(?:String|AsPlainText|Force)){0,3} "
    r"(?P<quote>[\"'])(?P<password>[^\"'\n]{1,256})(?P=quote)",
    re.IGNORECASE,
)
# Behind `auth`, `HTTPBasicAuth`, `basic_auth`: `=("user", "password")`, `("user", "password")`.
_LOGIN = re.compile(
    r"(?:=| = )?\(\s{0,4}(?P<user>\\{0,7}[\"'])[^\"'\n]{1,64}(?P=user),\s{0,4}(?:Some\()?"
    r"(?P<quote>\\{0,7}[\"'])(?P<password>[^\"'\n]{1,256})(?P=quote)\s{0,4}\)"
)


def echoed_password(text: str, at: int) -> Span | None:
    """The password of the `echo` or `printf` whose end is at `at`, where it is piped into a command that reads one."""
    found = _PIPED.match(text, at)
    return _password(found, found["users"]) if found else None


def here_password(text: str, at: int) -> Span | None:
    """The password of the `<<< password` at `at`, where the command before it reads one."""
    found = _HERE.match(text, at)
    if not found:
        return None
    reader = _READS.search(text, max(0, at - _READER_CHARS), at)
    return _password(found, reader["users"]) if reader else None


def secure_string(text: str, at: int) -> Span | None:
    """The password of `ConvertTo-SecureString "password"` at `at`."""
    found = _SECURE_STRING.match(text, at)
    return _password(found) if found else None


def login_password(text: str, at: int) -> Span | None:
    """The password of the login that stands at `at`, behind `auth` and its kin."""
    found = _LOGIN.match(text, at)
    return _password(found) if found else None


def _password(found: re.Match[str], users: str | None = None) -> Span | None:
    """users: what reads it, where that is `user:password`."""
    start, password = found.start("password"), found["password"]
    if users:
        user, _, password = password.partition(":")
        start += len(user) + 1
    setting = Setting(type=names.PASSWORD, name="password", quoted=True)
    if not is_secret(password, setting):
        return None
    return Span(start, found.end("password"), BY_PLACE, names.PASSWORD)
