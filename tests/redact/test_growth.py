"""The work grows with the length of the text, whatever it is made of.

Counted in calls, which shows a look at the same place again and again; a pattern that runs over the same chars again
and again inside one call shows as a hang, which the time limit ends.
"""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from afterturn.redact import Redactor
from tests.redact.fakes import ALNUM, made, pem

REDACTOR = Redactor()
UNITS = [
    "a clean line of prose. ", "x", "\n", "é", "key=", 'password="', "password='", 'password=\\"', 'secret="a\\\\',
    "token=", "token: ", "token ", "--token ", '"token", ', "password value", "<token>", "@", "://a:",
    "mysql://a:b/", "u:p@", "u:p@tcp(", "Cookie: ", "Cookie: a=b; ", "Set-Cookie: Secure; ", "Authorization: ",
    "Authorization: Basic ", "Bearer ", "curl ", "curl -u a:b ", "-u a:b ", "sk-", "ghp_", "eyJ",
    "eyJaaaaaaaaaaaaaaaaaaaa.", "SG.", "T3BlbkFJ", "-us12", "1234567890:AA", ".atlasv1.", "8Q~", "/services/T",
    "sig=", "_auth=", "-----", "-----BEGIN PRIVATE " + "KEY-----",
    "-----BEGIN PRIVATE " + "KEY-----\nMIIEabcdefghijklmnop\n", "-----END PRIVATE " + "KEY-----",
    "PuTTY-User-Key-File-2: x\n", "PRIVATE KEY ", "sshpass -p ", "\\n", "\\", "${", "{", "%3D", "password%3D",
    "password:\n", "password: a.b.c(", "name: PASSWORD\n value: ", "[REDACTED:token]", "a=b; ", "\ud83d",
    "0123456789abcdef", "mysql -p", "mysql -pab1 ", "docker login -p ", "redis-cli -a ", "redis-cli -a ab1; ",
    "password: |\n  ", "password: |\n", "a: |\n  b\n", "machine h login l password ", "ENV TOKEN ", "set -x TOKEN ",
    "kind: Secret\n", "kind: Secret\ndata:\n  a: ", "data:\n", "data:\n  a: b1\n", '"kind": "Secret", "data": {',
    "密码", "密码：", "密码：ab1 ", "パスワードは「", "password：", "&amp;token=", "&sig=", "&sig=ab%1234567 ",
    "User=u;Password=", 'variable "token" {', 'variable "token" {\n', ":thin:u/p", ":thin:u/p@",
    "identified by '", "-passin pass:",
    "net use \\\\a ", "net use \\\\a /user:b ", "net use \\\\a /user:b c1 ", "/user:b ",
    "htpasswd -b ", "htpasswd -b a b c1 ", "htpasswd -bn -C 1 ", "openssl enc -k ", "openssl enc -k a1 ",
    "gh secret set A --body ", "gh secret set -b a1 ", "smbclient -U a%", "smbclient -U a%b1 ", "vault login s.",
    "vault login password=",
    "<token a=\"b\" ", "<token><![CDATA[", "a.b.password=", "X-Api-Key: ",
]  # fmt: skip


def calls(work: Callable[[], Any]) -> int:
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def repeated(unit: str, length: int) -> str:
    return unit * (length // len(unit))


@pytest.mark.parametrize("unit", UNITS, ids=range(len(UNITS)))
def test_four_times_the_text_is_four_times_the_calls(unit: str) -> None:
    REDACTOR.redact(repeated(unit, 1000))
    one = calls(lambda: REDACTOR.redact(repeated(unit, 8_000)))
    four = calls(lambda: REDACTOR.redact(repeated(unit, 32_000)))
    assert four <= 4.5 * one + 200


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        *(repeated(unit, 200_000) for unit in UNITS),
        made("", 1_000_000, ALNUM + "+/"),
        pem(rows=4000).rsplit("\n", 1)[0],
        pem(rows=4000).replace("\n", "").removesuffix("-"),
        'password="' + "a" * 500_000,
        "token='" * 20_000 + 'token="' * 20_000,
    ],
    ids=lambda text: repr(text[:16]),
)
def test_no_text_takes_for_ever(text: str) -> None:
    REDACTOR.redact(text)
