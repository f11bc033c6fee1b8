"""Markers: no rule cuts one or covers a part of it, whoever made it. What random texts found, a line each."""

import re
from typing import Any

import pytest

from afterturn.redact import Redactor, redactor
from tests.redact.fakes import KEYS, jwt

REDACTOR = Redactor()
MARKER = re.compile(r"\[REDACTED:[a-z0-9-]{1,40}\]")
STRIPE, OPENAI, GITHUB = KEYS["stripe-key"][0], KEYS["openai-key"][0], KEYS["github-token"][0]
SLACK, GRAFANA, FIGMA = KEYS["slack-token"][0], KEYS["grafana-token"][0], KEYS["figma-token"][0]
AWS, MAILCHIMP = KEYS["aws-access-key"][0], KEYS["mailchimp-key"][0]
END = "-----END RSA PRIVATE " + "KEY-----"


def check(text: str, wanted: str, redactor: Redactor = REDACTOR) -> None:
    got, counts = redactor.redact(text)
    assert got == wanted
    assert sum(counts.values()) == len(MARKER.findall(got)) - len(MARKER.findall(text))
    assert redactor.redact(got) == (got, {})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            f"{STRIPE}--password password={OPENAI}",
            "[REDACTED:stripe-key]--password [REDACTED:password][REDACTED:openai-key]",
        ),
        ("--password a1b2c3[REDACTED:token]", "--password [REDACTED:password][REDACTED:token]"),
        ('password="a1[REDACTED:token]b2"', 'password="[REDACTED:password][REDACTED:token][REDACTED:password]"'),
        ('password="[REDACTED:token]"', 'password="[REDACTED:token]"'),
        ('password="[REDACTED:token]!"', 'password="[REDACTED:token]!"'),
        ("curl -u a:b1[REDACTED:token] x", "curl -u a:[REDACTED:basic-auth][REDACTED:token] x"),
        ("a://b:c1[REDACTED:token]@d", "a://b:[REDACTED:url-password][REDACTED:token]@d"),
        (f"xo{SLACK}", "xo[REDACTED:slack-token]"),
        ("mysql " + "-pa1b2c3 " * 400, "mysql " + "-p[REDACTED:password] " * 400),
        ("curl " + "-b a=1 " * 400, "curl " + "-b a=[REDACTED:cookie] " * 400),
    ],
    ids=range(10),
)
def test_a_marker_stays_whole(text: str, wanted: str) -> None:
    check(text, wanted)


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        ("x.*", "x1 [REDACTED:token] y2", "[REDACTED:custom][REDACTED:token][REDACTED:custom]"),
        ("x.*", "x1 [REDACTED:token]!", "[REDACTED:custom][REDACTED:token]!"),
        ("E", "[REDACTED:token]E", "[REDACTED:token][REDACTED:custom]"),
        (".", "[REDACTED:token]", "[REDACTED:token]"),
    ],
)
def test_an_extra_pattern_leaves_markers_whole(pattern: str, text: str, wanted: str) -> None:
    check(text, wanted, Redactor([pattern]))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (f"password{OPENAI}AWS_SECRET_ACCESS_KEY://{OPENAI}", 1),
        (f"password{OPENAI}{FIGMA}--password {AWS}{OPENAI}", 1),
        (f"--password value{GRAFANA}{END}", 64),
        (f"ssh-keygen -N AKIA{jwt()}{END}", 27),
        ("ssh-keygen -N to ssh-keygen -N Private-Lines: 8\n", 17),
    ],
    ids=range(5),
)
def test_the_size_of_the_pieces_changes_nothing(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = REDACTOR.redact(text)
    monkeypatch.setattr(redactor, "PIECE", size)
    assert REDACTOR.redact(text) == whole


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"Cookie": "0=0"}, {"Cookie": "0=[REDACTED:cookie]"}),
        ({"Cookie": f"sid{GITHUB}"}, {"Cookie": "sid[REDACTED:github-token]"}),
        ({"cookies": {"sid": "c2Vzc2lvbg=="}}, {"cookies": {"sid": "[REDACTED:cookie]"}}),
        ({f"{GITHUB}:": "abc123def"}, {"[REDACTED:github-token]:": "abc123def"}),
        ({"name": GITHUB, "value": "abc123def"}, {"name": "[REDACTED:github-token]", "value": "abc123def"}),
        ({"password": f"({MAILCHIMP}a=b; "}, {"password": "[REDACTED:password]"}),
        (
            {"Authorization": ["--token ”", "ConvertTo-SecureString "]},
            {"Authorization": ["[REDACTED:authorization] ”", "ConvertTo-SecureString "]},
        ),
        ({f"{GITHUB}<password>": ["x"]}, {"[REDACTED:github-token]<password>": ["[REDACTED:password]"]}),
    ],
    ids=range(8),
)
def test_a_json_value_redacted_again_is_the_same(value: Any, wanted: Any) -> None:
    got, counts = REDACTOR.redact_json(value)
    assert got == wanted
    assert sum(counts.values()) == len(MARKER.findall(str(got)))
    assert REDACTOR.redact_json(got) == (got, {})
