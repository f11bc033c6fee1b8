"""How quick redaction is: ordinary text, short strings, real sessions, and the shapes that cost most.

`python -m bench.redact` prints ms per million chars, worst first; `python -m bench.redact --counts` what it replaces
in the transcripts (see bench.transcripts).
"""

import argparse
import itertools
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from afterturn.redact import Redactor
from bench.speed.floors import batch
from bench.transcripts import files, read

SIZE = 50_000
SHORT = [
    "src/module_12/part.py:12: def handler(request): return render(request, 'page.html') and so on to a hundr",
    "src/afterturn/condense/service.py",
    "bash",
    '{"path": "src/file_1.py", "limit": 200}',
    "cd repo && python -m pytest tests/unit -q --maxfail=1 2>&1 | tail -20",
    "a clean sentence of prose that says what was done and why, with nothing in it, about a hundred chars",
]
_PRIVATE = "PRIVATE " + "KEY-----"
STARTS = [
    "key=", 'password="', "password='", "password:", 'password=\\"', "secret='a\\\\", "token=", "token: ", "token ",
    "--token ", '"token", ', "password value", "<token>", "<password>", "@", "://", "://a:", "mysql://a:b/", "u:p@",
    "u:p@tcp(", "Cookie: ", "Cookie: a=b; ", "Cookie: a=$X;", "Set-Cookie: Secure; ", "Authorization: ",
    "Authorization: Basic ", "Authorization: Digest ", "Bearer ", "curl ", "curl -u a:b ", "curl -b a=b ", "-u a:b ",
    "sk-", "ghp_", "AKIA", "eyJ", "eyJaaaaaaaaaaaaaaaaaaaa.", "SG.", "T3BlbkFJ", "-us12", "1234567890:AA", ".atlasv1.",
    "8Q~", "/services/T", "sig=", "_auth=", '"auth":"', "-----", "-----BEGIN " + _PRIVATE, "-----END " + _PRIVATE,
    "-----BEGIN " + _PRIVATE + "\nMIIEabcdefghijklmnop\n", "PuTTY-User-Key-File-2: x\n", _PRIVATE, "sshpass -p ",
    "mysql -p", "password: |\n  ", "password: >\n", "machine h login l password ", "ENV TOKEN ", "export TOKEN=",
    "set TOKEN ", "kind: Secret\ndata:\n  a: ", "data:\n", "密码：", "パスワード", "password：", '\\"token\\":\\"',
    '\\\\\\"token\\\\\\":', "?token=", "&sig=", "[REDACTED:token]", "API key: ", "password%3D", "${", "Password=a;",
    "IDENTIFIED BY '", "-p ", "docker login -p ", "redis-cli -a ", "pass:", 'setPassword("', "a=1;", "\\n", "\\",
    '"', "'", "`", "=", ":", "%3D", "{", "[", "(", "<", "\n", " ", "é", "x", "aB3", "- ", "k", "ke", "pass", "cre",
    "password is ", "the token is a1b2", "password&quot;:&quot;", "\\u0022token\\u0022:", "%22token%22%3A%22",
    'password="“', '.password("', "token=SecretStr(", "define('TOKEN','", "user pass: '", "echo a | sudo -S ",
    "auth=('a','b", "**token:** ",
]  # fmt: skip
FILLS = [
    "", "aB3" * 12, "a" * 30, " " * 20, "\n", "\\" * 9, '"', "{", "a.", "-", "=", ":", "&", ";", ",", "'", "${X}", "A",
]  # fmt: skip


def seconds(work: Callable[[], Any], times: int = 3) -> float:
    """The least CPU time of so many runs."""
    best = float("inf")
    for _ in range(times):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def repeated(unit: str, size: int = SIZE) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def shapes() -> Iterator[tuple[str, str]]:
    """Name and text: what starts a look, again and again, with fills between, before a run of them, and with others."""
    for start, fill in itertools.product(STARTS, FILLS):
        yield f"({start + fill[:12]!r})*", repeated(start + fill)
        if fill:
            yield f"{start!r} ({fill[:12]!r})*", start + repeated(fill)
    chosen = random.Random(5)
    for _ in range(600):
        unit = "".join(chosen.choices(STARTS, k=chosen.choice([2, 3])))
        yield f"({unit!r})*", repeated(unit)


def results() -> list[str]:
    """The tool results of the transcripts."""
    calls = [call for file in files() for session in read(file) for call in session.calls]
    return [text for call in calls if (text := text_of(call.result))]


def text_of(result: Any) -> str:
    if isinstance(result, list):
        return "".join(str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in result)
    return result or ""


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


def usual(redactor: Redactor) -> None:
    lines = "some words of a log line, 2024-05-01 12:00:03 ok, and no more\n"
    texts: dict[str, list[str]] = {
        "bench.speed batches": [call["resultText"] for number in range(10) for call in batch(number)["toolCalls"]],
        "tool results": results(),
        "transcripts as they are": [file.path.read_text("utf-8") for file in files()],
        "a log": [repeated(lines, 1_000_000)],
        "one line of JSON": [repeated('{"a": "some words", "path": "src/x.py", "n": 1234},', 1_000_000)],
        "one line of letters": ["x" * 1_000_000],
        "one line of base64": ["".join(random.Random(1).choices("abcdefgXYZABC0123456789+/", k=1_000_000))],
        "one line of chinese": [repeated("没有任何秘密的一行文字，", 1_000_000)],
    }
    for name, several in texts.items():
        size = sum(map(len, several))
        if size:
            spent = seconds(lambda several=several: [redactor.redact(text) for text in several])
            say(f"{name}: {spent / size * 1e9:.1f} ms per million chars, {size / spent / 1e6:.0f} MB/s")
    for text in SHORT:
        spent = seconds(lambda text=text: [redactor.redact(text) for _ in range(5000)])
        say(f"{len(text)} chars: {spent / 5000 * 1e6:.2f} us")


def worst(redactor: Redactor, count: int) -> None:
    spent: list[tuple[float, str]] = []
    for name, text in shapes():
        spent.append((seconds(lambda text=text: redactor.redact(text), 1) / len(text) * 1e9, name))
    spent.sort(reverse=True)
    for cost, name in spent[:count]:
        say(f"{cost:8.1f} ms per million chars  {name[:100]}")
    over = ", ".join(f"{sum(cost > limit for cost, _ in spent)} over {limit} ms" for limit in (100, 150, 300, 1000))
    say(f"{len(spent)} shapes: {over}")


def counts(redactor: Redactor) -> None:
    total: Counter[str] = Counter()
    for text in results():
        total.update(redactor.redact(text)[1])
    for kind, count in total.most_common():
        say(f"{count:6} {kind}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--counts", action="store_true")
    options.add_argument("--worst", type=int, default=40, help="how many shapes to list; 0 to time none")
    chosen = options.parse_args()
    redactor = Redactor()
    if chosen.counts:
        counts(redactor)
        return
    usual(redactor)
    if chosen.worst:
        worst(redactor, chosen.worst)


if __name__ == "__main__":
    main()
