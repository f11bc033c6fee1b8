"""Literals in a bullet must occur in its call (condense.md, 'Checking a reply'; case C05)."""

import pytest

from afterturn.grounding import Source, is_grounded, ungrounded
from afterturn.numerals import numerals_of

LOG = (
    "src/auth/jwt.ts:142 - error TS2345: Argument of type 'string' is not assignable\n"
    'File "pkg/mod.py", line 57, in load\n'
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8\n"
    "12,345 rows in 1500 ms, exit 137\n"
    "C:\\work\\a.txt\n"
    "45.6% of 98765 bytes, 0.00123 s, 2500ms, at 10:00:01.500, L512 of 1920x1080\n"
    "Python 3.11.7, foo v2.4.0, map 0x7F3A, counts [100,200,300], 1_000_000 in all, git add /srv/app, rm a.txt\n"
    "\x1b[31msrc/\x1b[1mred.py\x1b[0m failed \x1b[31m404\x1b[0m times\n"
    "src/auth/index.ts(17,5): error, src/auth/keys.ts#L21, see src/auth/all.ts at line 22\n"
    "saw PROJ_7788 and E4001, \u63a5\u7d9a\u3057\u307e\u3057\u305f\n"
)
ARGS = (
    '{"path":"/repo/lib/core.go","say":"a \\"quoted\\" word","command":"npm  run build && make \\"all targets\\"",'
    '"argv":["git","push","--force"],"note":"first\\n777 rows"}'
)


def literals(bullet: str) -> list[str]:
    return list(ungrounded(bullet, Source("bash", ARGS, LOG)))


@pytest.mark.parametrize(
    "bullet",
    [
        "- `src/auth/jwt.ts:142` fails with TS2345, exit 137",
        "- error in src/auth/jwt.ts",
        "- auth/jwt.ts is the file",
        "- see jwt.ts.",
        "- pkg/mod.py:57 raised",
        "- src/auth/index.ts:17 and src/auth/keys.ts:21 and src/auth/all.ts:22",
        "- lib/core.go:57 was read",
        "- ./src/auth/jwt.ts is bad",
        "- at commit 9fceb02",
        "- at commit 9FCEB02D0AE",
        "- 12345 rows",
        "- 12,345 rows",
        "- took 1500ms",
        '- says "is not assignable"',
        '- says "Argument of type ... not assignable".',
        "- the word \"quoted\" and 'string'",
        '- a "quoted" word',
        "- `TS2345`",
        "- C:\\work\\a.txt was written",
        "- /repo/lib/ was listed",
        "- read/write and yes/no",
        "- 3/4 done, 12 lines, 42 of 99",
        "- nothing to check here",
        "- don't and won't aren't quotes",
        "- 12345, 137",
        "",
        # a command however it is spaced, quoted, listed or shortened
        "- `npm run build` ran",
        "- `npm run build && make 'all targets'` ran",
        "- `git push --force` ran",
        "- `git add /srv/app` and `rm a.txt`",
        "- `npm \u2026 && make ...` ran",
        "- `$ npm run build`.",
        "- `load()` raised",
        # every sort of quotes
        "- \u2018not assignable\u2019 and \u201cnot assignable\u201d",
        "- \u00ab not assignable \u00bb, \u201enot assignable\u201c, \u2039not assignable\u203a",
        "- \u300c\u63a5\u7d9a\u300d and \u300e\u63a5\u7d9a\u300f",
        # numbers: grouped or not, with a unit or not, decimals and versions
        "- 45.6%, 45.6 %, 45.6percent",
        "- 98,765 bytes, 98_765, 98765B",
        "- 0.00123s",
        "- 2500 ms, 1500 ms",
        "- 1,000,000 in all, or 1000000",
        "- 100, 200 and 300; 100,200,300",
        "- v2.4.0 on Python 3.11.7, or 3.11",
        "- line 512, L512, L142",
        "- 1920 by 1080",
        "- 777 rows",
        "- 0x7f3a and 0x7F3A",
        "- ts2345 again",
        "- E4001 and PROJ_7788",
        "- TS23\u2026 and 987\u2026",
        # colours in the source, another script around a literal, a path that is cut
        "- src/red.py failed 404 times",
        "- \u5728src/auth/jwt.ts\u4e2d\u6709TS2345\u9519\u8bef",
        "- /repo/lib/co\u2026",
        "- c:\\WORK\\a.txt",
    ],
)
def test_grounded(bullet: str) -> None:
    assert literals(bullet) == []


@pytest.mark.parametrize(
    ("bullet", "literal"),
    [
        ("- `src/auth/jwt.js:124`", "src/auth/jwt.js:124"),
        ("- src/auth/jwt.ts:124 fails", "src/auth/jwt.ts:124"),
        ("- src/auth/jwt.ts:14 fails", "src/auth/jwt.ts:14"),
        # the number is elsewhere, and the lines of these files are named
        ("- src/auth/index.ts:57 fails", "src/auth/index.ts:57"),
        ("- src/auth/keys.ts:57 fails", "src/auth/keys.ts:57"),
        ("- pkg/mod.py:17 raised", "pkg/mod.py:17"),
        ("- src/auth/jwt.js fails", "src/auth/jwt.js"),
        ("- error TS2354", "TS2354"),
        ("- exit 139", "139"),
        ("- 1,234 rows", "1234"),
        ("- at 9fceb03", "9fceb03"),
        ("- at fceb02d", "fceb02d"),
        ('- says "not allowed"', "not allowed"),
        ("- `makeToken` is gone", "makeToken"),
        ("- /etc/passwd was read", "/etc/passwd"),
        ("- lib/core.rs was read", "lib/core.rs"),
        ("- core.rs was read", "core.rs"),
        # commands and quotes
        ("- `rm -rf /` was run", "rm -rf /"),
        ("- `make deploy` succeeded", "make deploy"),
        ("- `npm run bui`", "npm run bui"),
        ("- `git push --for`", "git push --for"),
        ("- `git add /`", "git add /"),
        ("- `git add /srv`", "git add /srv"),
        ("- `rm a`", "rm a"),
        ("- `npm build run`", "npm build run"),
        ("- `npm run \u2026 --watch`", "npm run \u2026 --watch"),
        ("- \u2018Connection reset\u2019", "Connection reset"),
        ("- \u201cConnection reset\u201d", "Connection reset"),
        ("- \u00ab Connection reset \u00bb", "Connection reset"),
        ("- \u2039Connection reset\u203a", "Connection reset"),
        ("- \u201eConnection reset\u201c", "Connection reset"),
        ("- \u300c\u5207\u65ad\u300d", "\u5207\u65ad"),
        ("- \u300e\u5207\u65ad\u300f", "\u5207\u65ad"),
        # decimals and versions: rounding is invention
        ("- 45.7%", "45.7"),
        ("- 45.61%", "45.61"),
        ("- 5.6%", "5.6"),
        ("- 45.6.1", "45.6.1"),
        ("- 0.0012 s", "0.0012"),
        ("- 3.11.8", "3.11.8"),
        ("- Python 3.1", "3.1"),
        ("- v2.4.1", "2.4.1"),
        ("- 11.7", "11.7"),
        # part of an identifier or of a longer number
        ("- 2345 errors", "2345"),
        ("- 4001 errors", "4001"),
        ("- 7788 rows", "7788"),
        ("- 345 rows", "345"),
        ("- 123 s", "123"),
        ("- 2,137 rows", "2137"),
        ("- E137", "E137"),
        ("- TS234", "TS234"),
        # hashes
        ("- commit deadbeef", "deadbeef"),
        ("- Commit `deadbeefcafe`", "deadbeefcafe"),
        ("- at sha: abcdefa", "abcdefa"),
        ("- 0x7f3b", "0x7f3b"),
        ("- 0x7f3", "0x7f3"),
        ("- C:\\work\\b.txt", "C:\\work\\b.txt"),
        ("- \u5728src/auth/jwt.js\u4e2d", "\u5728src/auth/jwt.js\u4e2d"),
    ],
)
def test_ungrounded(bullet: str, literal: str) -> None:
    assert literal in literals(bullet)
    assert not is_grounded(bullet, Source("bash", ARGS, LOG))


@pytest.mark.parametrize("bullet", ["- it is defaced", "- commit of the facade", "- a ` alone", "- 1. one 22 two"])
def test_what_is_no_literal(bullet: str) -> None:
    assert literals(bullet) == []


def test_a_dotted_number_of_many_parts_is_kept_once() -> None:
    """A version may lose its last parts; of what is no version not every beginning is remembered."""
    assert numerals_of("3.11.7 and 1.2").dotted == {"3.11.7", "3.11", "1.2"}
    assert len(numerals_of("1." * 20_000 + "1").dotted) <= 8


@pytest.mark.timeout(20)
def test_a_long_literal_has_to_stand_as_it_is() -> None:
    source = Source("bash", "{}", "a " * 500_000 + "c")
    assert not source.holds_words("a " * 2_000 + "b")
    assert source.holds_words("a " * 2_000 + "c")
    assert source.holds_words("a  a c")
