"""Literals in a bullet must occur in its call (condense.md, 'Checking a reply'; case C05)."""

import pytest

from afterturn.grounding import Source, is_grounded, ungrounded

LOG = (
    "src/auth/jwt.ts:142 - error TS2345: Argument of type 'string' is not assignable\n"
    'File "pkg/mod.py", line 57, in load\n'
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8\n"
    "12,345 rows in 1500 ms, exit 137\n"
    "C:\\work\\a.txt\n"
)
ARGS = '{"path":"/repo/lib/core.go","say":"a \\"quoted\\" word"}'


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
        "- 345, 137",
        "",
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
        ("- src/auth/jwt.js fails", "src/auth/jwt.js"),
        ("- error TS2354", "2354"),
        ("- exit 139", "139"),
        ("- 1,234 rows", "1234"),
        ("- at 9fceb03", "9fceb03"),
        ("- at fceb02d", "fceb02d"),
        ('- says "not allowed"', "not allowed"),
        ("- `makeToken` is gone", "makeToken"),
        ("- /etc/passwd was read", "/etc/passwd"),
        ("- lib/core.rs was read", "lib/core.rs"),
        ("- core.rs was read", "core.rs"),
    ],
)
def test_ungrounded(bullet: str, literal: str) -> None:
    assert literal in literals(bullet)
    assert not is_grounded(bullet, Source("bash", ARGS, LOG))
