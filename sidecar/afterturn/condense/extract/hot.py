"""Lines of an output that say how it went: errors, failures, totals, places.

Whole-text searches for a few words find the lines worth looking at; patterns run on those lines only. That keeps the
cost at about 1.5 ms for 100 KB, whatever the output is.
"""

import re
from bisect import bisect_right
from itertools import accumulate

_WORDS = (
    *("error", "fail", "exception", "panic", "fatal", "traceback", "assert", "denied", "not found", "no such", "cannot"),
    *("unable to", "not been", "not applied", "timed out", "killed", "segmentation", "undefined", "unresolved", "multiple def", "refused", "conflict", "unexpected"),
    *("rejected", "abort", "not ok", "invalid", "critical", "could not", "unknown ", "warning", "is not ", "are unused"),
    *("passed", "passing", " tests", "tests:", "tests run", "ran ", "test result", " files changed", "file changed"),
    *("\nok", "skipped", "checks passed", "found ", "problem", "vulnerabilit", "build ", "successfully", "added ", "up to date", "installed", "\u00d7 ", "\u2717", "\u2716", "\u2715", "\u25cf ", "expected"),
    *("\u9519\u8bef", "\u5931\u8d25", "\u5f02\u5e38", "\u30a8\u30e9\u30fc", "\u5931\u6557", "\uc624\ub958", "oshibka"),
)
_MAX_HOT = 600


class Lines:
    """An output as lines, with the indexes of those that may matter."""

    __slots__ = ("_hot", "all")

    def __init__(self, text: str) -> None:
        self.all = text.split("\n")
        self._hot: list[int] | None = None

    def hot(self) -> list[int]:
        """Indexes, in order, of lines with a word that makes them worth reading; the two ends of very many."""
        if self._hot is None:
            found = _hot_indexes("\n".join(self.all))
            self._hot = found if len(found) <= _MAX_HOT else found[: _MAX_HOT // 2] + found[-_MAX_HOT // 2 :]
        return self._hot


def _hot_indexes(text: str) -> list[int]:
    low = text.lower()  # lengths may differ from `text`'s, line counts do not
    starts = list(accumulate((len(line) + 1 for line in low.split("\n")), initial=0))
    found: set[int] = set()
    for word in _WORDS:
        at = low.find(word)
        while at >= 0:
            index = bisect_right(starts, at + (word[0] == "\n")) - 1
            found.add(index)
            at = low.find(word, starts[index + 1])
    return sorted(found)


# Strong words for something gone wrong, and the shapes that test runners and compilers mark failures with.
_ERROR = re.compile(
    r"(?<![\w/.-])(?:errors?|fatal|panic|exception|traceback|failure|failed|fails|denied|refused|rejected|conflict|cannot|could not"
    r"|can't|unable to|timed out|killed|aborted|segmentation fault|core dumped|not found|no such file|undefined (?:reference|symbol"
    r"|name|variable)|unresolved|unexpected|invalid|expected|assertion|unused|multiple definition|not been applied|not applied)(?![\w/-]|\.\w)|\bFAIL\b|(?-i:Error\b|Exception\b)|^not ok\b"
    r"|^[\u00d7\u2717\u2716\u2715\u25cf]|\u9519\u8bef|\u5931\u8d25|\u5f02\u5e38|\u30a8\u30e9\u30fc|\u5931\u6557|\uc624\ub958|\u00d7 ",
    re.IGNORECASE,
)
_SHOUTED = re.compile(
    r"^(?:E\s{2,}\S|\[?(?:ERROR|FATAL|CRITICAL|SEVERE|FAILED|FAIL|PANIC)\b|(?:npm )?(?:error|fatal|panic)\b|Traceback|\S+Error\b"
    r"|--- FAIL|not ok\b|[\u00d7\u2717\u2716\u2715\u25cf])"
    r"|\b(?:fatal |internal )?error(?:\[\w+\])?:|\berror [A-Z]{1,5}\d+|\b[A-Z]\w*(?:Error|Exception)\b|\bpanicked at\b"
    r"|: (?:command )?not found$|No such file or directory|Permission denied|\bFAILED\b|\bFAIL\b|AddressSanitizer"
    r"|undefined reference|Segmentation fault|core dumped",
)
# Nothing went wrong: the word stands with a zero or a "no".
_NONE_WRONG = re.compile(
    r"\b(?:0|no|zero|without)\s+(?:\w+\s+){0,2}(?:errors?|failures?|failed|exceptions?|problems?|warnings?|conflicts?|issues?)\b"
    r"|\b(?:errors?|failures?|failed|exceptions?|skipped)\s*[:=]\s*0\b|\(0 failed\)|--no-fail|fail-?fast|error-?prone|on-?error",
    re.IGNORECASE,
)
# True but worth little: what package managers print under every failure.
_CHAFF = re.compile(
    r"npm (?:error|ERR!) (?:path|location|command|A complete|This is|node |npm |cwd|errno|syscall|enoent|Exit status|\s)|npm (?:error|ERR!)\s*$"
    r"|error Command failed|info Visit|(?:ERRORS?|[Ee]rrors?):? ?$|Traceback \(most recent|The above exception was|During handling of|[.sxFEfX]{5,}"
)
# The exit code in other words, and whose it was.
_SAYS_AGAIN = ("npm error code ", "npm ERR! code ", "npm error workspace ", "npm ERR! workspace ")
# Code in a traceback, a frame or a listing: it raises errors, but reports none.
_CODE = re.compile(r">?\s*\d*\s*(?:\d+\s*)?[\u2502|]|(?:raise|except|throw|catch|return|if|elif|assert|print|console|logger|log|def|class|import|from|\}|//|#(?! \d)|\*)\b(?![^(]*: )|\} catch|.*\.with_traceback\(")
_QUESTION = re.compile(r"\?\s*[(\[]?[yYnN](?:es|o)?(?:/[yYnN](?:es|o)?)?[)\]]?:?$")
_TOTAL = re.compile(
    r"\b\d+\s+(?:[a-z]+\s+)?(?:tests?|doctests?|passed|passing|failed|failing|failures?|errors?|warnings?|problems?|examples?|assertions?"
    r"|skipped|pending|exceptions?|specs?|suites?|files? changed|vulnerabilit\w+|infos?|diagnostics?|deselected|todo)\b"
    r"|Tests run:|test result:|^\s*(?:Tests|Test Suites|Test Files|Suites|Specs)\b:?\s+\d|^[#\u2139] (?:tests|pass|fail)\b|\bRan \d+|BUILD (?:SUCCESS|FAIL)"
    r"|^(?:OK|FAILED|PASSED)\b(?: \(.*\))?\W*$|^=+ .*\b(?:passed|failed|error)\b.* =+$|^(?:ok|FAIL|PASS)\s+\S+|tests finished|\bFound \d+ \w+"
    r"|\d+% tests passed|[Aa]ll [\w -]{0,30}(?:checks|tests) passed|no issues found|Successfully (?:installed|built|uninstalled)|^added \d+|^up to date|^Installed \d+|Diagnostics not shown: \d+",
)


def is_total(line: str) -> bool:
    """Whether a line sums up a run: tests, problems found, files changed."""
    return _TOTAL.search(line[:300]) is not None


_SUMMARY = re.compile(
    r"^\W*(?:FAILED|OK|PASSED|ERRORS?)\W*(?:\(.*\))?\W*$|^\W*(?:Tests|Test Suites|Test Files|Tests run|test result|Found \d+|Ran \d+|tests finished|\d+ (?:\w+ )?(?:passed|failed|errors?|warnings?|problems?|tests))\b"
)


def is_summary(line: str) -> bool:
    """Whether a line is nothing but a total, so that it need not be told among the errors too."""
    return is_total(line) and _SUMMARY.match(line[:300]) is not None


def error_weight(line: str) -> int:
    """0 for a line that reports nothing wrong, up to 4 for one that plainly does."""
    line = line[:400].strip()
    if _ERROR.search(line) is None or _CODE.match(line) is not None or line.endswith(" [FAIL]"):
        return 0
    if _CHAFF.match(line) is not None:
        return 1
    shouted = _SHOUTED.search(line) is not None
    if not shouted and _QUESTION.search(line) is not None:
        return 0
    if line.startswith(_SAYS_AGAIN):
        return 2
    if _NONE_WRONG.search(line) is not None:
        return 1 if shouted else 0
    return 4 if shouted else 2
