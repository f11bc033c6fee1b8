"""Commands that prove something: tests, builds, commits; and what their output says (recap.md, 'Output'; case R03)."""

import re
from collections.abc import Iterator
from functools import cache

from afterturn.text import one_line

RUN_KINDS = frozenset(("test", "build", "lint"))
_READ = 4000
_LOOKS = frozenset(
    [
        *"ls cat head tail grep rg find fd wc pwd cd echo which tree stat file less nl awk cut sort".split(),
        *("uniq", "true", "test"),
        *("git status", "git diff", "git log", "git show", "git branch", "sed -n"),
    ]
)


def kinds_of(command: str) -> Iterator[str]:
    """What a command line does: "test", "build", "lint", "commit", "push", "merge", "deploy", "request", "install"."""
    for kind, pattern in _kinds():
        if pattern.search(command) is not None:
            yield kind


@cache
def _kinds() -> tuple[tuple[str, re.Pattern[str]], ...]:
    start = (
        r"(?:^|[;&|\n(]|\b(?:run|exec|npx|uv|poetry|timeout \d+\w?|sudo|env|time)\s|\s-m\s)"
        r"\s*(?:\S*/)?(?:[A-Z_]+=\S+\s+)*"
    )
    package = (
        r"(?:npm|pnpm|yarn|bun|deno|mix|make|just|cargo|go|dotnet|gradle|(?:\./)?gradlew|mvn|rake|task|composer|swift)"
    )
    lines = {
        "test": start + r"(?:pytest|py\.test|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|ctest|unittest|playwright"
        r"|runtests(?:\.py)?|bats|nose2?|behave|" + package + r"\s(?:[\w:=./-]+\s){0,4}(?:run\s)?[\w:-]*test[\w:-]*)",
        "build": start
        + r"(?:tsc|gcc|g\+\+|clang(?:\+\+)?|cmake|make|ninja|javac|rustc|xcodebuild|webpack|vite\sbuild|docker\sbuild|"
        + package
        + r"\s(?:[\w:=./-]+\s){0,3}(?:run\s)?(?:build|compile|check|package)\b)",
        "lint": start + r"(?:ruff|eslint|biome|mypy|pyright|flake8|pylint|black|prettier|clippy|golangci-lint|rubocop"
        r"|credo|dialyzer|shellcheck|tsgo|" + package + r"\s(?:run\s)?[\w:-]*(?:lint|format|check|credo|clippy|vet)\b)",
        "commit": r"\bgit\s(?:-\S+\s\S+\s)?commit\b",
        "push": r"\bgit\s(?:-\S+\s\S+\s)?push\b",
        "merge": r"\bgit\s(?:merge|rebase|cherry-pick|pull)\b|\bgh\spr\smerge\b|\bglab\smr\smerge\b",
        "deploy": r"\b(?:deploy|publish|release|(?:kubectl|terraform)\sapply|helm\s(?:install|upgrade)"
        r"|twine\supload)\b",
        "request": r"\bgh\spr\screate\b|\bglab\smr\screate\b",
        "install": r"\b(?:npm|pnpm|yarn|bun|pip3?|uv|poetry|cargo|brew|apt|apt-get|gem|go|mix|conda|composer)\s"
        r"(?:\S+\s)?(?:install|add|i|ci|get|deps\.get|create|sync)\b",
    }
    return tuple((kind, re.compile(pattern)) for kind, pattern in lines.items())


def only_looks(command: str) -> bool:
    """Whether every program of a command line only shows what is there, so that its success proves nothing."""
    parts = (part.split() for part in re.split(r"&&|\|\||[|;\n]", command))
    return all(" ".join(words[:2]) in _LOOKS or words[0] in _LOOKS for words in parts if words)


def run_failed(output: str) -> bool:
    """Whether the output of a test, build or lint run says that something failed, whatever its exit code was."""
    return any(_failure().search(line) is not None for line in _edges(output))


def shows_pass(output: str) -> bool:
    """Whether the output says that tests passed, and none failed."""
    return any(_pass().search(line) is not None for line in _edges(output)) and not run_failed(output)


def summary_line(output: str) -> str | None:
    """The last line of the output that sums a run up, such as "2 failed, 31 passed", at most 100 chars; or None."""
    for line in reversed(_edges(output)):
        if _total().search(line) is not None and len(line) < 200:
            return _bare(line)
    return None


def error_line(output: str) -> str | None:
    """The line that best says what went wrong, at most 160 chars, or None."""
    lines = _edges(output)
    best: tuple[int, str] | None = None
    for line in lines:
        weight = _weight(line)
        # The last of equals: tracebacks and compilers end with the point.
        if weight and (best is None or weight >= best[0]):
            best = (weight, line)
    if best is None:
        return None
    return _bare(best[1])[:160]


def _weight(line: str) -> int:
    if len(line) > 400 or not line.strip() or "(none)" in line[:20]:
        return 0
    if _exception().match(line.strip()) is not None:
        return 4
    if _error().search(line) is not None:
        return 3
    return 1 if _failure().search(line) is not None else 0


def _edges(output: str) -> list[str]:
    from afterturn.text import clean

    if len(output) <= 2 * _READ:
        return clean(output).split("\n")
    # The lines at the cut are halves.
    return [*clean(output[:_READ]).split("\n")[:-1], *clean(output[-_READ:]).split("\n")[1:]]


def _bare(line: str) -> str:
    return one_line(line.strip().strip("=-*_ ").strip())


@cache
def _failure() -> re.Pattern[str]:
    return re.compile(
        r"\b[1-9]\d*\s+(?:tests?\s+)?(?:failed|failing|failures?|errors?\b(?!s? reported))|\bfailures?\s*[=:]\s*[1-9]"
        r"|\berrors?\s*[=:]\s*[1-9]|^FAILED\b|^FAIL\b|^\s*FAIL\s|\bBUILD FAILED\b|\btest result: FAILED|^not ok \d"
        r"|\berror(?:\[\w+\]|\sTS\d+)?: |\bTraceback \(most recent call last\)|npm ERR!|ELIFECYCLE"
        r"|^\s*[\u2716\u2717\u00d7] "
        r"|\bFound [1-9]\d* errors?\b|\bcommand not found\b|\bNo such file or directory\b"
    )


@cache
def _pass() -> re.Pattern[str]:
    return re.compile(
        r"\b[1-9]\d*\s+(?:tests?\s+|examples?\s+|specs?\s+)?(?:passed|passing|pass\b)|\bpass(?:ed)?\s*[=:]?\s+[1-9]"
        r"|\b0 (?:failures|failed)\b|^OK\b|^ok\s+\S+|\btest result: ok\b|\ball (?:\d+ )?tests? pass|BUILD SUCCESS"
        r"|\b100% tests passed\b|^PASS\b|\bAll checks passed\b|\u2713|\u2714",
        re.IGNORECASE,
    )


@cache
def _total() -> re.Pattern[str]:
    return re.compile(
        r"\b\d+\s+(?:tests?|examples?|specs?)?,?\s*(?:passed|failed|passing|failing|failures?|errors?|problems?)\b"
        r"|\bfailures\s*[=:]\s*\d|^FAILED \(|^OK(?: \(|$)|\btest result: |\b100% tests passed|^Tests?:? +\d"
        r"|\bAll checks passed\b|\bRan \d+ tests?\b|\bFound \d+ errors?\b",
        re.IGNORECASE,
    )


@cache
def _exception() -> re.Pattern[str]:
    return re.compile(r"(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Failure|Panic)\b(?:: .*| \(.*|)$")


@cache
def _error() -> re.Pattern[str]:
    return re.compile(
        r"\berror(?:\[\w+\]|\s?TS\d+|\s\w+)?:\s|\bfatal: |\bpanic: |\bcannot find\b|\bcommand not found\b"
        r"|\bNo such file or directory\b|\bPermission denied\b|\bundefined reference\b|\bnot found\b|npm ERR! [^ A]",
        re.IGNORECASE,
    )
