"""Extra patterns and JSON values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.redact import PatternError, Redactor
from tests.redact.fakes import KEYS, b64, jwt

REDACTOR = Redactor()
GITHUB = KEYS["github-token"][0]


def check(value: Any, wanted: Any, **counts: int) -> None:
    got, found = REDACTOR.redact_json(value)
    assert got == wanted
    assert found == {kind.replace("_", "-"): count for kind, count in counts.items()}
    assert REDACTOR.redact_json(got) == (got, {})


@pytest.mark.parametrize(
    ("value", "wanted", "counts"),
    [
        ({"password": "hunter2"}, {"password": "[REDACTED:password]"}, {"password": 1}),
        ({"password": "swordfish"}, {"password": "[REDACTED:password]"}, {"password": 1}),
        ({"password": 12345}, {"password": "[REDACTED:password]"}, {"password": 1}),
        ({"password": None, "a": 1.5, "b": True}, {"password": None, "a": 1.5, "b": True}, {}),
        ({"password": "", "token": "${TOKEN}"}, {"password": "", "token": "${TOKEN}"}, {}),
        ({"max_tokens": 4096, "token_count": "12"}, {"max_tokens": 4096, "token_count": "12"}, {}),
        ({"a": {"b": [{"apiKey": "a1b2c3d4"}]}}, {"a": {"b": [{"apiKey": "[REDACTED:api-key]"}]}}, {"api_key": 1}),
        ({"passwords": ["a1", "b2"]}, {"passwords": ["[REDACTED:password]"] * 2}, {"password": 2}),
        ({"token": GITHUB}, {"token": "[REDACTED:github-token]"}, {"github_token": 1}),
        ({"x": f"run {GITHUB} now"}, {"x": "run [REDACTED:github-token] now"}, {"github_token": 1}),
        ({GITHUB: 1}, {"[REDACTED:github-token]": 1}, {"github_token": 1}),
        (
            {GITHUB: 1, KEYS["github-token"][1]: 2},
            {"[REDACTED:github-token]": 1, "[REDACTED:github-token] 2": 2},
            {"github_token": 2},
        ),
        (
            {"Authorization": "Bearer abcdef"},
            {"Authorization": "Bearer [REDACTED:bearer-token]"},
            {"bearer_token": 1},
        ),
        (
            {"authorization": "Basic " + b64("a:b")},
            {"authorization": "Basic [REDACTED:basic-auth]"},
            {"basic_auth": 1},
        ),
        ({"authorization": jwt()}, {"authorization": "[REDACTED:jwt]"}, {"jwt": 1}),
        (
            {"Cookie": "a=1; b=2", "Set-Cookie": ["sid=x1; Path=/"]},
            {"Cookie": "a=[REDACTED:cookie]; b=[REDACTED:cookie]", "Set-Cookie": ["sid=[REDACTED:cookie]; Path=/"]},
            {"cookie": 3},
        ),
        ({"cookies": {"sid": "abc123"}}, {"cookies": {"sid": "[REDACTED:cookie]"}}, {"cookie": 1}),
        (
            [{"name": "DB_PASSWORD", "value": "x"}, {"name": "HOME", "value": "/x"}],
            [{"name": "DB_PASSWORD", "value": "[REDACTED:password]"}, {"name": "HOME", "value": "/x"}],
            {"password": 1},
        ),
        (
            {"db_password": {"type": "string", "value": "hunter2"}, "port": {"type": "number", "value": 5432}},
            {
                "db_password": {"type": "string", "value": "[REDACTED:password]"},
                "port": {"type": "number", "value": 5432},
            },
            {"password": 1},
        ),
        (
            ["curl", "-u", "me:hunter2", "-d", "a b"],
            ["curl", "-u", "me:[REDACTED:basic-auth]", "-d", "a b"],
            {"basic-auth": 1},
        ),
        (
            ["sudo", "/bin/docker", "login", "-p", "hunter2"],
            ["sudo", "/bin/docker", "login", "-p", "[REDACTED:password]"],
            {"password": 1},
        ),
        (["grep", "-p", "hunter2"], ["grep", "-p", "hunter2"], {}),
        (["mysql", "--password", "hunter2"], ["mysql", "--password", "[REDACTED:password]"], {"password": 1}),
        ({"command": "mysql -psecret"}, {"command": "mysql -psecret"}, {}),
        ({"env": {"API_TOKEN": "abc"}}, {"env": {"API_TOKEN": "abc"}}, {}),
        ("plain", "plain", {}),
        (None, None, {}),
        ([], [], {}),
    ],
    ids=range(28),
)
def test_a_json_value(value: Any, wanted: Any, counts: dict[str, int]) -> None:
    check(value, wanted, **counts)


def test_nesting_of_any_depth() -> None:
    value: Any = {"password": "hunter2"}
    for _ in range(100_000):
        value = [value]
    got, counts = REDACTOR.redact_json(value)
    assert counts == {"password": 1}
    while isinstance(got, list):
        got = got[0]
    assert got == {"password": "[REDACTED:password]"}


def test_the_given_value_is_left_alone() -> None:
    value = {"password": "hunter2", "list": ["a"]}
    REDACTOR.redact_json(value)
    assert value == {"password": "hunter2", "list": ["a"]}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just(GITHUB),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    )
)
def test_no_planted_key_survives_in_a_value(value: Any) -> None:
    got, _ = REDACTOR.redact_json(value)
    assert GITHUB not in str(got)
    assert REDACTOR.redact_json(got)[0] == got


@pytest.mark.parametrize(
    ("patterns", "text", "wanted", "count"),
    [
        (["ACME-[0-9]+"], "id ACME-123, ACME-4", "id [REDACTED:custom], [REDACTED:custom]", 2),
        (["(?i)codename \\w+", "x+"], "Codename Blue xx", "[REDACTED:custom] [REDACTED:custom]", 2),
        (["custom|[A-Z]+"], "ABC custom", "[REDACTED:custom] [REDACTED:custom]", 2),
        (["z*"], "abc", "abc", 0),
        (["^secret line$"], "a\nsecret line\nb", "a\nsecret line\nb", 0),
        (["(?m)^secret line$"], "a\nsecret line\nb", "a\n[REDACTED:custom]\nb", 1),
        (["(a)(b)\\2"], "xabbx", "x[REDACTED:custom]x", 1),
        (["\ud83d"], "a\ud83db", "a[REDACTED:custom]b", 1),
    ],
    ids=range(8),
)
def test_extra_patterns(patterns: list[str], text: str, wanted: str, count: int) -> None:
    redactor = Redactor(patterns)
    assert redactor.redact(text) == (wanted, {"custom": count} if count else {})
    assert redactor.redact(wanted) == (wanted, {})


def test_an_extra_match_across_the_edge_of_a_piece() -> None:
    text = "-" * (65_536 - 5) + "ACME-123456" + "-" * 100
    assert Redactor(["ACME-[0-9]+"]).redact(text)[1] == {"custom": 1}


def test_many_matches_beside_many_markers() -> None:
    text = ("[REDACTED:token]" + "x" * 16) * 2000
    wanted = ("[REDACTED:token]" + "[REDACTED:custom]" * 16) * 2000
    assert Redactor(["x"]).redact(text) == (wanted, {"custom": 32_000})


def test_many_keys_that_become_the_same() -> None:
    got, counts = REDACTOR.redact_json({f"{GITHUB}{number}": number for number in range(3000)})
    assert list(got.values()) == list(range(3000))
    assert counts == {"github-token": 3000}


def test_a_known_form_names_what_an_extra_pattern_finds_too() -> None:
    assert Redactor(["gh.*"]).redact(f"x {GITHUB}") == ("x [REDACTED:github-token]", {"github-token": 1})


@pytest.mark.parametrize("bad", ["(", "[a", "*x", "(?P<n>a)(?P<n>b)", "a{99999999999999999999}"])
def test_a_bad_pattern_is_named(bad: str) -> None:
    with pytest.raises(PatternError, match=r"redaction\.extraPatterns\[1\] is no regular expression") as caught:
        Redactor(["ok", bad])
    assert caught.value.index == 1
    assert caught.value.pattern == bad
    assert caught.value.problem
