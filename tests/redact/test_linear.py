"""The time grows with the length of the text for repeats of what starts a look, and for runs of chars behind them.

A guard against hangs, not a benchmark: it passes at up to twice the growth of a linear scan and ends what explodes.
"""

import time

import pytest

from afterturn.redact import Redactor

REDACTOR = Redactor()
LENGTH = 16_000
TRIGGERS = [
    "token=", "password: ", "Bearer ", "-----BEGIN", "-----BEGIN PRIVATE " + "KEY-----", "://", "postgres://a:", "eyJ",
    "sk-", "ghp_", "Cookie: a=", "Cookie%3Aa=$X;", "Authorization: ", "Authorization: Digest ",
    "Authorization:Bearer+your-key-", "curl; -b=a=$X", "curl -u ", '"', "'", "`", "\\", "[", "{", "(", "a", "A", " ",
    "\n", '"password": "', 'password\\":\\"', "api key ", "--token ", "<password>", "=a:@tcp(", "token=${", "_auth=",
    "mysql -p", "password: |\n  ", "kind: Secret\ndata:\n  a: ", "data:\n", "密码：", "ENV TOKEN ",
    'variable "token" {', "machine h login l password ", "User=u;Password=", "<token ", "identified by '",
    "a.b.password=", "echo a | ", "printf a | ", "sudo -S <<< a", "<<<a ", "BasicAuth(", '{"name": "Cookie", "value": ',
    "net use \\\\a /user:b ", "htpasswd -b ", "htpasswd -bC 1 ", "openssl enc -k ", "gh secret set -b ",
    "smbclient -U a%", "vault login s.", "config set //a/:token ",
    "\x1b[31m", "\x1b]8;;", "\u200b", "\x1b[1mtoken\x1b[m=", "\\u001b[1m",
]  # fmt: skip
RUNS = ["aB3", "-", " ", "\n", "\\", '"', "{", "a."]


def seconds(text: str) -> float:
    begin = time.process_time()
    REDACTOR.redact(text)
    return time.process_time() - begin


def repeated(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("trigger", TRIGGERS, ids=range(len(TRIGGERS)))
def test_four_times_the_text_takes_about_four_times_as_long(trigger: str) -> None:
    for unit in (trigger, *(trigger + repeated(run, 500) for run in RUNS)):
        one, four = repeated(unit, LENGTH), repeated(unit, 4 * LENGTH)
        # The best of a few: others may take the processor's caches meanwhile.
        assert any(seconds(four) <= 8 * seconds(one) + 0.05 for _ in range(3)), unit[:40]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("trigger", TRIGGERS, ids=range(len(TRIGGERS)))
def test_a_long_run_behind_a_trigger_takes_about_as_long_as_it_is(trigger: str) -> None:
    for run in RUNS:
        one, four = trigger + repeated(run, LENGTH), trigger + repeated(run, 4 * LENGTH)
        assert any(seconds(four) <= 8 * seconds(one) + 0.05 for _ in range(3)), run
