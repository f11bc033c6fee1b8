"""Passwords that no name stands before: piped into a command, given to a function that takes a login."""

import re

from afterturn.redact import names
from afterturn.redact.span import BY_PLACE, Span
from afterturn.redact.values import Setting, is_secret

# `echo password | sudo -S`, `echo password | docker login --password-stdin`.
_ECHO = re.compile(
    r"echo (?:-[neE]{1,3} )?(?P<quote>[\"']?)(?P<password>[^\"'\s|$`\\]{1,256})(?P=quote) {0,4}\| {0,4}"
    r"(?:sudo (?:-\w{1,4} ){0,3}-\w{0,3}S\b|[^\n|]{1,120}--password-stdin|[^\n|]{1,40}--with-token"
    r"|(?:sudo )?passwd --stdin)"
)
_SECURE_STRING = re.compile(
    r"ConvertTo-SecureString(?: -(?:String|AsPlainText|Force)){0,3} "
    r"(?P<quote>[\"'])(?P<password>[^\"'\n]{1,256})(?P=quote)",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"auth(?:=| = )\(\s{0,4}(?P<user>\\{0,7}[\"'])[^\"'\n]{1,64}(?P=user),\s{0,4}"
    r"(?P<quote>\\{0,7}[\"'])(?P<password>[^\"'\n]{1,256})(?P=quote)\s{0,4}\)"
)


def echoed_password(text: str, at: int) -> Span | None:
    """The password of the `echo` at `at`, where it is piped into a command that reads one."""
    return _password(_ECHO.match(text, at))


def secure_string(text: str, at: int) -> Span | None:
    """The password of `ConvertTo-SecureString "password"` at `at`."""
    return _password(_SECURE_STRING.match(text, at))


def login_password(text: str, at: int) -> Span | None:
    """The password of `auth=("user", "password")`, whose `auth` is at `at`."""
    return _password(_LOGIN.match(text, at))


def _password(found: re.Match[str] | None) -> Span | None:
    setting = Setting(type=names.PASSWORD, name="password", quoted=True)
    if not found or not is_secret(found["password"], setting):
        return None
    return Span(found.start("password"), found.end("password"), BY_PLACE, names.PASSWORD)
