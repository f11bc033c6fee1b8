"""Long texts: secrets across the edge of a piece, and secrets longer than one."""

import pytest

from afterturn.redact import Redactor
from afterturn.redact.redactor import PIECE
from tests.redact.fakes import KEYS, pem

REDACTOR = Redactor()
LINE = "a line of a log without anything in it, 2024-05-01 12:00:03 ok\n"
AT_THE_EDGE = {
    "github-token": KEYS["github-token"][0],
    "jwt": KEYS["jwt"][0],
    "private-key": pem(),
    "password": None,
    "url-password": None,
    "bearer-token": None,
    "cookie": None,
    "basic-auth": None,
}
WRAPPED = {
    "password": ('DB_PASSWORD="', "hunter2", '"'),
    "url-password": ("postgres://user:", "p" * 180, "@host/db"),
    "bearer-token": ("Authorization: Bearer ", "abcdef", ""),
    "cookie": ("Cookie: sid=", "abc123", ""),
    "basic-auth": ("curl -s -u admin:", "hunter2", " https://x"),
}


def filler(length: int) -> str:
    return (LINE * (length // len(LINE) + 1))[: length - 1] + "\n"


@pytest.mark.parametrize("kind", AT_THE_EDGE)
@pytest.mark.parametrize("pieces", [1, 2])
def test_a_secret_across_the_edge_of_a_piece_is_found(kind: str, pieces: int) -> None:
    before, secret, after = WRAPPED.get(kind) or ("", AT_THE_EDGE[kind] or "", "")
    whole = before + secret + after
    for shift in {*range(0, len(whole), max(1, len(whole) // 40)), 1, len(before), len(whole)}:
        lead = filler(pieces * PIECE - shift)
        got, counts = REDACTOR.redact(lead + whole + "\n" + LINE)
        assert got == f"{lead}{before}[REDACTED:{kind}]{after}\n{LINE}", shift
        assert counts == {kind: 1}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('x password="' + "ab1" * 100_000 + '" y', 'x password="[REDACTED:password]" y'),
        ("x PASSWORD=" + "ab1" * 100_000 + "\ny", "x PASSWORD=[REDACTED:password]\ny"),
        ("x " + "gh" + "p_" + "ab1" * 100_000 + " y", "x [REDACTED:github-token] y"),
        ("x " + pem(rows=4000).rsplit("\n", 1)[0] + "\n# y", "x [REDACTED:private-key]\n# y"),
        ("x " + pem(rows=4000).replace("\n", "\\n") + " y", "x [REDACTED:private-key] y"),
        ("x Authorization: Bearer " + "ab1" * 100_000 + " y", "x Authorization: Bearer [REDACTED:bearer-token] y"),
        ('{"secret": "' + "a\\n1" * 60_000 + '"}', '{"secret": "[REDACTED:secret]"}'),
    ],
    ids=range(7),
)
def test_a_secret_longer_than_a_piece_goes_whole(text: str, wanted: str) -> None:
    assert REDACTOR.redact(text)[0] == wanted


def test_many_secrets_in_one_piece() -> None:
    text, counts = REDACTOR.redact("password='hunter2' " * 20_000)
    assert text == "password='[REDACTED:password]' " * 20_000
    assert counts == {"password": 20_000}
