"""What holds for every text: planted secrets go, neighbours stay, a second pass or other pieces change nothing."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.redact import Redactor, redactor
from tests.redact.fakes import KEYS, made, pem

REDACTOR = Redactor()
# Letters that make no name, prefix or scheme; marks, line ends, wide chars and halves of surrogate pairs.
NEUTRAL = st.text(st.sampled_from("abdxz 019.,;()[]<>\n\t\r漢é\ud83d\udc00"), max_size=80)
GLUED = ["github-token", "anthropic-key", "aws-access-key", "google-api-key", "slack-token", "stripe-key", "npm-token"]
BITS = [
    *(keys[0] for keys in KEYS.values()),
    "password", "token", "api_key", "Authorization", "Cookie", "secret", "key", "API key", "AWS_SECRET_ACCESS_KEY",
    "hunter2", "abc123def", "Bearer ", "Basic ", "sid=1", "; ", "=", ": ", ":", " = ", '"', "'", "`", '\\"', "\\n",
    "\n", " ", ",", "://", "u:p@", "@", "@tcp(", "curl -u ", "--password ", "?key=", "&token=", "<password>",
    "</password>", "value", "\\", "%3D", "${X}", "{x}", "[REDACTED:token]", "[REDACTED:", "]", "***", "null", "é",
    "\ud83d", "eyJ", "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----", made("", 64),
    made("", 20, "0123456789abcdef"), "sk-", "ghp_", "_auth=", "postgres", "(", ")", "[", "{", "}", "#", "str",
    "export ", "- ", "\t", "mysql", " -p", "docker login", "redis-cli", " -a ", "kind: ", "Secret", "\ndata:\n",
    "  a: ", "|\n", "    ", "machine h.x login l ", "ENV ", "set -x ", "密码", "：", "是", "「", "」", "&amp;", ";",
    "&sig=", "User=u;", "variable ", "default = ", " {", ":thin:u/p", "identified by ", "-passin ", "pass",
    "<![CDATA[", "]]>", "a.b.", "X-", "is ", "to ", "hunter2!x", "setPassword(", ".password(", "&quot;", "%22",
    "\\u0022", "\u201c", "\u201d", "SecretStr(", "define('", "user", "echo ", " | sudo -S ls", "auth=(", "**", "curl ",
    "\x1b[31m", "\x1b[m\x1b[K", "\x1b]8;;", "\x07", "\x1b", "\x9b1m", "\u200b", "\x00", "\\u001b[1m", "\\u200b", "<<< ",
    "printf ", "BasicAuth(", "/:_authToken ", " -b ", "ssh-keygen -N ", "a=b; ", "xox", "\n---\n", "Private-Lines: 8\n",
    "kind: Secret\ndata:\n  a: x1y2\n", "net use X: \\\\srv\\s ", " /user:bob ", "htpasswd -b f bob ", " -k ",
    "smbclient -U bob%", "openssl enc", "gh secret set A --body ", "vault login ",
]  # fmt: skip
MIXED = st.lists(st.sampled_from(BITS), max_size=30).map("".join)
NAMES = st.sampled_from(["password", "token", "Cookie", "Authorization", "cookies", "name", "value", "--password", "x"])
JSON = st.recursive(
    MIXED | st.integers(),
    lambda inner: st.lists(inner | NAMES, max_size=4) | st.dictionaries(NAMES | MIXED, inner, max_size=4),
    max_leaves=6,
)
MARKER = re.compile(r"\[REDACTED:[a-z0-9-]{1,40}\]")


@given(before=NEUTRAL, key=st.sampled_from([key for keys in KEYS.values() for key in keys]), after=NEUTRAL)
def test_a_key_goes_and_its_neighbours_stay(before: str, key: str, after: str) -> None:
    text, counts = REDACTOR.redact(f"{before} {key} {after}")
    kind = next(kind for kind, keys in KEYS.items() if key in keys)
    assert text == f"{before} [REDACTED:{kind}] {after}"
    assert counts == {kind: 1}


@given(before=st.text(max_size=60), kind=st.sampled_from(GLUED), after=st.text(max_size=60))
def test_a_distinct_key_survives_in_no_surrounding(before: str, kind: str, after: str) -> None:
    assert KEYS[kind][0] not in REDACTOR.redact(before + KEYS[kind][0] + after)[0]


@given(before=MIXED, kind=st.sampled_from(GLUED), after=MIXED)
def test_a_distinct_key_survives_in_no_syntax(before: str, kind: str, after: str) -> None:
    assert KEYS[kind][0] not in REDACTOR.redact(before + KEYS[kind][0] + after)[0]


@given(
    key=st.sampled_from([KEYS[kind][0] for kind in GLUED]),
    places=st.lists(st.integers(0, 200), min_size=1, max_size=5),
    unseen=st.sampled_from(
        ["\x1b[31m", "\x1b[m\x1b[K", "\x1b]8;;http://x\x07", "\u200b", "\x00", "\\u001b[0;1m", "\x9b1m"]
    ),
)
def test_a_key_with_something_unseen_in_it_goes_too(key: str, places: list[int], unseen: str) -> None:
    parted = key
    for place in sorted({place % len(key) for place in places}, reverse=True):
        parted = parted[:place] + unseen + parted[place:]
    assert key not in REDACTOR.redact(f"a {parted} b")[0].replace(unseen, "")


@given(before=NEUTRAL, after=NEUTRAL)
def test_a_private_key_goes_and_its_neighbours_stay(before: str, after: str) -> None:
    assert REDACTOR.redact(f"{before}\n{pem()}\n# {after}")[0] == f"{before}\n[REDACTED:private-key]\n# {after}"


@given(st.one_of(MIXED, st.text(max_size=200)))
def test_a_second_pass_changes_nothing(text: str) -> None:
    once, _ = REDACTOR.redact(text)
    assert REDACTOR.redact(once) == (once, {})


@given(MIXED)
def test_the_counts_are_those_of_the_markers(text: str) -> None:
    got, counts = REDACTOR.redact(text.replace("[REDACTED:", ""))
    assert sum(counts.values()) == len(MARKER.findall(got)) == got.count("[REDACTED:")


@given(text=MIXED, pattern=st.sampled_from(["x.*", "[A-Z]+", "o+", ".", "\\w+ ", "E"]))
def test_the_markers_in_a_text_stay(text: str, pattern: str) -> None:
    for one in (REDACTOR, Redactor([pattern])):
        got, counts = one.redact(text)
        markers = iter(MARKER.findall(got))
        assert all(marker in markers for marker in MARKER.findall(text))
        assert len(MARKER.findall(got)) == len(MARKER.findall(text)) + sum(counts.values())


@given(JSON)
def test_a_second_pass_over_a_value_changes_nothing(value: Any) -> None:
    once, _ = REDACTOR.redact_json(value)
    assert REDACTOR.redact_json(once) == (once, {})


@given(text=MIXED, size=st.integers(1, 80))
def test_the_size_of_the_pieces_changes_nothing(text: str, size: int) -> None:
    whole = REDACTOR.redact(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redactor, "PIECE", size)
        assert REDACTOR.redact(text) == whole


@given(st.lists(st.sampled_from(BITS), max_size=4).map("".join))
def test_the_quick_look_at_a_short_text_misses_nothing(text: str) -> None:
    short = REDACTOR.redact(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redactor, "SHORT", 0)
        assert REDACTOR.redact(text) == short


@given(st.text(st.characters(codec=None), max_size=300))
def test_any_text_is_taken(text: str) -> None:
    REDACTOR.redact(text)


@given(NEUTRAL)
def test_a_clean_text_comes_back_itself(text: str) -> None:
    got, counts = REDACTOR.redact(text)
    assert got is text
    assert counts == {}
