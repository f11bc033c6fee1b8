"""Lines of an output that say how it went: errors, failures, totals.

The words of the whole text are collected once; lines are looked up only for those of our words that occur, and
patterns run on those lines only. That keeps the cost at 2 or 3 ms for 100 KB, whatever the output is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate

from afterturn.condense.extract.weights import error_weight, is_total
from afterturn.condense.extract.words import words

_WORD = re.compile(r"[a-z]{3,}")


def _needles(single: str, phrases: Mapping[str, str]) -> dict[str, str]:
    return {word: word for word in words(single)} | dict(phrases)


# What to look for, in lower case, by a word that tells that it may be there.
_ERRORS = _needles(
    "panic panicked fatal traceback assert assertion denied cannot killed undefined unused unresolved refused"
    " reject rejected conflict conflicts expected unexpected invalid abort aborted segmentation missing mismatch"
    " unsupported unrecognized overflow corrupt corrupted illegal exceeds",
    {
        "found": "not found",
        "such": "no such",
        "can": "can't",
        "could": "could not",
        "unable": "unable to",
        "timed": "timed out",
        "applied": "applied",
        "not": "not ok",
        "multiple": "multiple def",
        "exist": "not exist",
        "allowed": "not allowed",
        "permitted": "not permitted",
        "memory": "out of memory",
        "rule": "no rule to",
    },
)
# Parts of longer words too: TypeError, FAILED.
_ERROR_PARTS = ("error", "exception", "fail")
_ERROR_MARKS = (
    *("\u00d7 ", "\u2717", "\u2716", "\u2715", "\u25cf "),
    *("\u9519\u8bef", "\u5931\u8d25", "\u5f02\u5e38", "\u30a8\u30e9\u30fc", "\u5931\u6557", "\uc624\ub958"),
)
_TOTALS = _needles(
    "passed passing tests skipped problem problems vulnerability vulnerabilities successfully installed warning"
    " warnings checked changed",
    {"pass": "pass", "ran": "ran ", "found": "found ", "build": "build ", "added": "\nadded ", "date": "up to date"},
)
_TOTAL_PARTS = ("\nok", "# test")
_TOTAL_MARKS = ("\u2139 test",)
_MAX_HOT = 600


class Lines:
    """An output as lines, with what those that matter are found to be. Of very many only both ends are looked at.

    `errors`: (index, weight) of lines that report something wrong, see `error_weight`. `totals`: indexes of lines that
    sum up a run. `suspects`: indexes of lines with a word that errors are told with.
    """

    __slots__ = ("_errors", "_low", "_starts", "_suspects", "_totals", "_words", "all")

    def __init__(self, text: str) -> None:
        self.all = text.split("\n")
        self._low = ""
        self._starts: list[int] = []
        self._words: frozenset[str] = frozenset()
        self._errors: list[tuple[int, int]] | None = None
        self._suspects: list[int] | None = None
        self._totals: list[int] | None = None

    @property
    def errors(self) -> list[tuple[int, int]]:
        if self._errors is None:
            weighed = [(index, error_weight(self.all[index])) for index in self.suspects]
            self._errors = [(index, weight) for index, weight in weighed if weight]
        return self._errors

    @property
    def totals(self) -> list[int]:
        if self._totals is None:
            found = self.holding((*_TOTAL_PARTS, *self._present(_TOTALS, _TOTAL_MARKS)))
            self._totals = [index for index in sorted({*found, *self.suspects}) if is_total(self.all[index])]
        return self._totals

    @property
    def suspects(self) -> list[int]:
        if self._suspects is None:
            self._suspects = self.holding((*_ERROR_PARTS, *self._present(_ERRORS, _ERROR_MARKS)))
        return self._suspects

    @property
    def low(self) -> str:
        """The whole text in lower case, with a line feed before and after."""
        if not self._starts:
            low = [line.lower() for line in self.all]  # a line may change its length
            self._starts = list(accumulate((len(line) + 1 for line in low), initial=1))
            self._low = "\n" + "\n".join(low) + "\n"
            self._words = frozenset(_WORD.findall(self._low))
        return self._low

    def _present(self, needles: Mapping[str, str], marks: tuple[str, ...]) -> Iterable[str]:
        """What is worth looking for; the marks only where there is more than ASCII."""
        marked = () if self.low.isascii() else marks
        return (*(needles[word] for word in needles.keys() & self._words), *marked)

    def holding(self, needles: Iterable[str]) -> list[int]:
        """Indexes, in order, of lines that hold one of these (lower case); of very many, the two ends.

        A needle that begins with a line feed is looked for at the start of a line.
        """
        text = self.low
        found: set[int] = set()
        for needle in needles:
            at = text.find(needle)
            while at >= 0:
                index = bisect_right(self._starts, at + (needle[0] == "\n")) - 1
                found.add(index)
                at = text.find(needle, self._starts[index + 1] - 1)
        ordered = sorted(found)
        return ordered if len(ordered) <= _MAX_HOT else ordered[: _MAX_HOT // 2] + ordered[-_MAX_HOT // 2 :]
