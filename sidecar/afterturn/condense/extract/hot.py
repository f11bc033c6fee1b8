"""Lines of an output that say how it went: errors, failures, totals.

Whole-text searches for a few words find the lines worth looking at; patterns run on those lines only. That keeps the
cost at about 2 ms for 100 KB, whatever the output is.
"""

from bisect import bisect_right
from itertools import accumulate

from afterturn.condense.extract.weights import error_weight, is_total

# In lower case. A word that begins with a line feed is looked for at the start of a line.
_ERROR_WORDS = (
    *(
        "error",
        "fail",
        "exception",
        "panic",
        "fatal",
        "traceback",
        "assert",
        "denied",
        "not found",
        "no such",
        "cannot",
    ),
    *(
        "can't",
        "could not",
        "unable to",
        "timed out",
        "killed",
        "undefined",
        "unused",
        "unresolved",
        "refused",
        "reject",
    ),
    *("conflict", "expected", "invalid", "abort", "applied", "not ok", "segmentation", "multiple def", "not exist"),
    *("missing", "mismatch", "unsupported", "unrecognized", "overflow", "corrupt", "not allowed", "not permitted"),
    *("out of memory", "no rule to", "illegal", "exceeds"),
    *("\u00d7 ", "\u2717", "\u2716", "\u2715", "\u25cf "),
    *("\u9519\u8bef", "\u5931\u8d25", "\u5f02\u5e38", "\u30a8\u30e9\u30fc", "\u5931\u6557", "\uc624\ub958"),
)
_TOTAL_WORDS = (
    *("pass", " tests", "tests:", "tests ", "ran ", "test result", "changed", "\nok", "skipped", "found ", "problem"),
    *(
        "vulnerabilit",
        "build ",
        "successfully",
        "\nadded ",
        "up to date",
        "installed",
        "warning",
        "# test",
        "\u2139 test",
    ),
)
_MAX_HOT = 600


class Lines:
    """An output as lines, with what those that matter are found to be.

    `errors`: (index, weight) of lines that report something wrong, see `error_weight`. `totals`: indexes of lines that
    sum up a run. Of very many only the first and the last are looked at.
    """

    __slots__ = ("_errors", "_held", "_low", "_starts", "_totals", "all")

    def __init__(self, text: str) -> None:
        self.all = text.split("\n")
        self._low = ""
        self._starts: list[int] = []
        self._errors: list[tuple[int, int]] | None = None
        self._totals: list[int] | None = None
        self._held: list[int] | None = None

    @property
    def errors(self) -> list[tuple[int, int]]:
        if self._errors is None:
            weighed = [(index, error_weight(self.all[index])) for index in self.suspects]
            self._errors = [(index, weight) for index, weight in weighed if weight]
        return self._errors

    @property
    def totals(self) -> list[int]:
        if self._totals is None:
            indexes = sorted({*self.holding(_TOTAL_WORDS), *self.suspects})
            self._totals = [index for index in indexes if is_total(self.all[index])]
        return self._totals

    @property
    def suspects(self) -> list[int]:
        """Indexes of lines with a word that errors and failures are told with."""
        if self._held is None:
            self._held = self.holding(_ERROR_WORDS)
        return self._held

    @property
    def low(self) -> str:
        """The whole text in lower case, with a line feed before and after."""
        if not self._starts:
            low = [line.lower() for line in self.all]  # a line may change its length
            self._starts = list(accumulate((len(line) + 1 for line in low), initial=1))
            self._low = "\n" + "\n".join(low) + "\n"
        return self._low

    def holding(self, words: tuple[str, ...]) -> list[int]:
        """Indexes, in order, of lines that hold one of the words (lower case); of very many, the two ends."""
        text = self.low
        found: set[int] = set()
        for word in words:
            at = text.find(word)
            while at >= 0:
                index = bisect_right(self._starts, at + (word[0] == "\n")) - 1
                found.add(index)
                at = text.find(word, self._starts[index + 1] - 1)
        ordered = sorted(found)
        return ordered if len(ordered) <= _MAX_HOT else ordered[: _MAX_HOT // 2] + ordered[-_MAX_HOT // 2 :]
