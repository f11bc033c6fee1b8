"""How much a line says about how a run went."""

import re

from afterturn.condense.extract.words import by_first_char, holds_any

# Strong words for something gone wrong, in lower case. No assertion stands before them, so that the search can skip to
# their first letters; what may stand beside them is checked after.
_ERROR = re.compile(
    by_first_char(
        *("errors?", "fatal", "panicked", "panic", "exception", "traceback", "failures?", "failed", "fails", "fail"),
        *("denied", "refused", "rejected", "conflict", "cannot", "could not", "can't", "unable to", "timed out"),
        *("killed", "aborted", "segmentation fault", "core dumped", "not found", "no such file"),
        *(r"undefined (?:reference|symbol|name|variable)", "undefined:", "unresolved", "unexpected", "invalid"),
        *("expected", "assertion", "unused", "multiple definition", "not been applied", "not applied"),
        *("does not exist", "doesn't exist", "missing", "mismatch", "unsupported", "unrecognized", "illegal"),
        *("overflow", "corrupted", "corrupt", "not allowed", r"only \d+ \w+ allowed", "not permitted", "out of memory"),
        *("no rule to make", "exceeds", "did not", "would reformat", "must exactly", "not defined", "not enough"),
        *("incompatible", "ambiguous", "malformed", "unterminated", "undeclared", "unhandled", "uncaught"),
        *("unreachable", "unavailable", "unauthorized", "forbidden", "interrupted", "incorrect", "insufficient"),
        *("unknown", "duplicate", "too (?:many|long|large|short|old|few)", "no tests", "code: '[a-z_0-9]{3,40}'"),
        *("exit(?:ed with)? (?:status|code):? [1-9]", "are ignored by", "not ok", "\u00d7 "),
        *("\u9519\u8bef", "\u5931\u8d25", "\u5f02\u5e38", "\u30a8\u30e9\u30fc", "\u5931\u6557", "\uc624\ub958"),
    )
)
# So much of a line says what it is.
_LOOKED_AT = 400
# A part of a name or a path, not the word.
_BESIDE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_/-")
_FAIL_MARKS = ("\u00d7", "\u2717", "\u2716", "\u2715", "\u25cf")
_NAMED = re.compile(r"(?:Error|Exception)\b|FAIL\b")
_SHOUTED_START = re.compile(
    r"E\s{2,}\S|\[?(?:ERROR|FATAL|CRITICAL|SEVERE|FAILED|FAIL|PANIC|CONFLICT)\b|(?:npm )?(?:error|fatal"
    r"|panic)\b|Traceback|\S+Error\b"
    r"|--- FAIL|not ok\b|[\u00d7\u2717\u2716\u2715\u25cf]"
)
_SHOUTED = re.compile(r"error(?:\[\w+\])?:|error [A-Z]{1,5}\d+|panicked at\b|FAIL(?:ED)?\b")
_SHOUTED_NAME = re.compile(r"[A-Za-z](?:Error|Exception)\b")
_SHOUTED_PHRASES = (
    *(
        "No such file or directory",
        "Permission denied",
        "AddressSanitizer",
        "undefined reference",
        "Segmentation fault",
    ),
    *("core dumped", "command not found"),
)
# Nothing went wrong: the word stands with a zero or a "no".
_OF_THESE = r"\s+(?:\w+\s+){0,2}(?:errors?|failures?|failed|exceptions?|problems?|warnings?|conflicts?|issues?)\b"
_ARE_ZERO = r"\s*[:=]\s*0\b"
_NONE_WRONG = re.compile(
    by_first_char(
        *(word + _OF_THESE for word in ("0", "no", "zero", "without")),
        *(word + _ARE_ZERO for word in ("errors?", "failures?", "failed", "exceptions?", "skipped")),
        *("--no-fail", "fail-?fast", "error-?prone", "on-?error"),
    )
    + r"|\(0 failed\)"
)
_NONE_WORDS = ("0", "no ", "no-", "zero", "without", "fail-fast", "failfast", "prone", "on-error", "onerror")
# True but worth little: what package managers print under every failure.
_CHAFF = re.compile(
    r"npm (?:error|ERR!) (?:path|location|command|A complete|This is|node |npm |cwd|errno|syscall|enoent"
    r"|Exit status|\s)|npm (?:error|ERR!)\s*$"
    r"|error Command failed|info Visit|(?:ERRORS?|[Ee]rrors?):? ?$|Traceback \(most recent"
    r"|The above exception was|During handling of|[.sxFEfX]{5,}"
)
# Advice beside an error, in the spelling of linters and git.
_ADVICE = ("i ", "\u2139 ", "hint:", "note:", "help:", "= note", "= help", "Tip:")
# The exit code in other words, and whose it was.
_WHOSE = ("npm error code ", "npm ERR! code ", "npm error workspace ", "npm ERR! workspace ")
# That something failed, in the words of what ran it: why is told by other lines.
_SAYS_AGAIN = re.compile(
    r"npm (?:error|ERR!) Lifecycle |\W*Some (?:errors were emitted|[Tt]ests [Ff]ailed)"
    r"|collect2: error: ld returned|error: (?:script|could not compile|aborting due to)\b|ERROR conda\.cli"
    r"|\W*(?:error )?Command failed|\W*ELIFECYCLE\b"
)
_ENDED_BADLY = re.compile(r"\berrors? occurred\W?$|\bexited with (?:exit )?(?:code|status)\b")
# Code in a traceback, a frame or a listing: it raises errors, but reports none.
_CODE = re.compile(
    r">?\s{0,8}\d{0,6}\s{0,8}(?:\d{1,6}\s{0,8})?[\u2502|]|(?:raise|except|throw|catch|return|if|elif|assert|print|console"
    r"|logger|log|def|class|import|from|let|const|var|\}|//|#(?! \d)|\*)\b(?![^(]*: )|\} catch"
    r"|.*\.with_traceback\("
)
# A warning is worth telling where there is nothing worse; compilers' have their place before them.
_WARNING = re.compile(r"(?:\W{0,4}|.*[:\])] )(?:WARN(?:ING)?|[Ww]arn(?:ing)?|\w+Warning)\b[:\])]? \S|\s*\u26a0")
_VALUE = re.compile(r"(?:left|right|[Rr]eceived|[Aa]ctual): +\S(?:.*[^;,])?$|code: +assert\b")
_GOT_AND_WANT = re.compile(r".{0,200}\bgot\b.{1,100}\bwant ")
# A verdict in capitals: DO NOT COMMIT!
_SHOUTED_NO = re.compile(r"[A-Z *]*\b(?:NOT|NO|NEVER|CANNOT|DON'T)\b[A-Z *']*!+")
_QUESTION = re.compile(r"\?\s*[(\[]?[yYnN](?:es|o)?(?:/[yYnN](?:es|o)?)?[)\]]?:?$")
_COUNTED = re.compile(
    r"\d\s{1,4}(?:[a-z]{1,20}\s{1,4})?(?:tests?|doctests?|passed|passing|failed|failing|failures?|errors?|warnings?"
    r"|problems?|examples?|assertions?"
    r"|skipped|pending|exceptions?|specs?|suites?|offenses?"
    r"|files? (?:changed|inspected|reformatted|would be)|vulnerabilit\w+|infos?|diagnostics?"
    r"|deselected|todo)\b"
)
_TOTAL_LINE = re.compile(
    r"\s*(?:Tests|Test Suites|Test Files|Suites|Specs)\b:?\s+\d|[#\u2139] (?:tests|pass|fail)\b|(?:OK"
    r"|FAILED|PASSED)\b(?: \(.*\))?\W*$"
    r"|=+ .*\b(?:passed|failed|error)\b.* =+$|(?:ok|FAIL|PASS)\s+\S+|added \d+|up to date|Installed \d+"
    r"|[^\w]{0,4}[Aa]ll [\w -]{0,30}(?:checks|tests) passed|\u2705 "
)
_TOTAL_PHRASES = (
    *(
        "Tests run:",
        "test result:",
        "tests finished",
        "BUILD SUCCESS",
        "BUILD FAIL",
        "% tests passed",
        "no issues found",
    ),
    *(
        "applied successfully",
        "Successfully installed",
        "Successfully built",
        "Successfully uninstalled",
        "Diagnostics not shown:",
        "built in ",
        "ompiled successfully",
        "ompiled with",
        "Finished `",
        "modules transformed",
    ),
)
_RAN = re.compile(r"\b(?:Ran|Found|Checked) \d+ ?\w*")


def is_total(line: str) -> bool:
    """Whether a line sums up a run: tests, problems found, files changed."""
    line = line[:300]
    return (
        _COUNTED.search(line) is not None
        or _TOTAL_LINE.match(line) is not None
        or holds_any(line, _TOTAL_PHRASES)
        or (("Ran " in line or "Found " in line or "Checked " in line) and _RAN.search(line) is not None)
    )


_SUMMARY = re.compile(
    r"^\W*(?:FAILED|OK|PASSED|ERRORS?)\W*(?:\(.*\))?\W*$|^\W*(?:Tests|Test Suites|Test Files|Tests run"
    r"|test result|Found \d+|Ran \d+|tests finished|\d+ (?:\w+ )?(?:passed|failed|errors?|warnings?"
    r"|problems?|tests))\b"
)


def is_summary(line: str) -> bool:
    """Whether a line is nothing but a total, so that it need not be told among the errors too."""
    return _SUMMARY.match(line[:300]) is not None and is_total(line)


def error_weight(line: str) -> int:
    """0 for a line that reports nothing wrong, up to 4 for one that plainly does."""
    line = line[:_LOOKED_AT].strip()
    low = line.lower()
    if line.startswith(_ADVICE):
        return 0
    if line[-1:] == "!" and _SHOUTED_NO.fullmatch(line) is not None:
        return 4
    if line.startswith("** ("):
        return 4
    if is_value(line):
        return 2
    if not _tells_of_error(low) and not _names_error(line):
        return 1 if is_warning(line) else 0
    if _CODE.match(line) is not None or line.endswith(" [FAIL]"):
        return 0
    if _CHAFF.match(line) is not None:
        return 1
    shouted = _is_shouted(line)
    if not shouted and _QUESTION.search(line) is not None:
        return 0
    if line.startswith(_WHOSE):
        return 2
    if holds_any(low, _NONE_WORDS) and _says_none(low):
        return 1 if shouted else 0
    return 4 if shouted else 2


def is_value(line: str) -> bool:
    """Whether a line tells one side of an assertion that failed, or the assertion."""
    line = line[:_LOOKED_AT]
    return _VALUE.match(line) is not None or ("want " in line and _GOT_AND_WANT.match(line) is not None)


def is_warning(line: str) -> bool:
    """Whether a line warns, and says so."""
    line = line[:_LOOKED_AT]
    return ("arn" in line or "WARN" in line or "\u26a0" in line) and _WARNING.match(line) is not None


def says_again(line: str) -> bool:
    """Whether an error is no more than that something failed for which other lines tell why."""
    line = line[:_LOOKED_AT]
    return (
        _SAYS_AGAIN.match(line) is not None
        or (("occurred" in line or "exited with" in line) and _ENDED_BADLY.search(line) is not None)
        or _SHOUTED_NO.fullmatch(line) is not None
    )


def _tells_of_error(low: str) -> bool:
    if low.startswith(_FAIL_MARKS):
        return True
    for match in _ERROR.finditer(low):
        start, end = match.span()
        if not low[start].isascii():
            return True
        before, after = low[start - 1 : start], low[end : end + 2]
        if (
            before not in _BESIDE
            and before != "."
            and after[:1] not in _BESIDE
            and not (after[:1] == "." and after[1:].isalnum())
        ):
            return True
    return False


def _names_error(line: str) -> bool:
    """Whether a name in a line ends as those of errors do: NotFoundError."""
    # The pattern is slow, and few lines need it.
    return ("Error" in line or "Exception" in line or "FAIL" in line) and _NAMED.search(line) is not None


def _is_shouted(line: str) -> bool:
    return (
        _SHOUTED_START.match(line) is not None
        or _SHOUTED.search(line) is not None
        or (("Error" in line or "Exception" in line) and _SHOUTED_NAME.search(line) is not None)
        or line.endswith(": not found")
        or holds_any(line, _SHOUTED_PHRASES)
    )


def _says_none(low: str) -> bool:
    return any(not low[at - 1 : at].isalnum() for at in (match.start() for match in _NONE_WRONG.finditer(low)))
