"""Lines of an output that say how it went: errors, failures, totals.

The words of the whole text are collected once; lines are looked up only for those of our words that occur, and
patterns run on those lines only. That keeps the cost below a millisecond for 100 KB, whatever the output is.
"""

import re
from collections.abc import Iterable, Mapping

from afterturn.condense.extract.names import count_tokens
from afterturn.condense.extract.numbering import Numbered, split_numbers
from afterturn.condense.extract.weights import error_weight, is_total
from afterturn.condense.extract.words import words

# Word chars in lower case, everything else a blank. Beside a digit, "_", "/" or "-" a word is part of a name.
_WORD_CHARS = bytes(
    ord(chr(code).lower()) if code < 128 and (chr(code).isalnum() or chr(code) in "_/-") else 32 for code in range(256)
)


def _needles(single: str, phrases: Mapping[str, str | tuple[str, ...]]) -> dict[bytes, tuple[str, ...]]:
    """`single`: words that are looked for themselves. `phrases`: what is looked for where its word is."""
    found = {word.encode(): (word,) for word in words(single)}
    return found | {word.encode(): (told,) if isinstance(told, str) else told for word, told in phrases.items()}


# What to look for, in lower case, by a word that tells that it may be there.
_ERRORS = _needles(
    "panic panicked fatal traceback assert assertion denied cannot killed undefined unused unresolved refused"
    " reject rejected conflict conflicts expected unexpected invalid abort aborted segmentation missing mismatch"
    " unsupported unrecognized overflow corrupt corrupted illegal exceeds incompatible ambiguous malformed unterminated"
    " undeclared unhandled uncaught unreachable unavailable unauthorized forbidden interrupted incorrect insufficient"
    " unknown duplicate",
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
        "allowed": " allowed",
        "permitted": "not permitted",
        "memory": "out of memory",
        "rule": "no rule to",
        "status": "exit status",
        "ignored": "are ignored by",
        "code": ("exit code", "code: '", "code: assert"),
        "exited": "exited with code",
        "did": "did not",
        "would": "would reformat",
        "exactly": "must exactly",
        "defined": "not defined",
        "enough": "not enough",
        "too": "too ",
        "tests": "no tests",
        # What was and what should have been, under a failed assertion.
        "received": "received: ",
        "left": "left: ",
        "right": "right: ",
        "want": "want ",
        "actual": "actual: ",
    },
)
# Parts of longer words too: TypeError, FAILED.
_ERROR_PARTS = (b"error", b"exception", b"fail", b"warn")
_ERROR_MARKS = (
    *("\u00d7 ", "\u2717", "\u2716", "\u2715", "\u25cf ", "\u26a0"),
    *("\u9519\u8bef", "\u5931\u8d25", "\u5f02\u5e38", "\u30a8\u30e9\u30fc", "\u5931\u6557", "\uc624\ub958"),
)
# The ends of lines in capitals, and what Elixir has before every exception.
_SHOUTS = ("!\n", "** (")
_TOTALS = _needles(
    "passed passing tests skipped problem problems vulnerability vulnerabilities successfully installed warning"
    " warnings checked changed offense offenses reformatted",
    {
        "pass": "pass",
        "ran": "ran ",
        "found": "found ",
        "build": "build ",
        "applied": "applied successfully",
        "added": "\nadded ",
        "date": "up to date",
        "ok": "\nok",
        "test": "# test",
        "built": "built in ",
        "compiled": "compiled ",
        "finished": "finished `",
        "modules": "modules transformed",
    },
)
_TOTAL_MARKS = ("\u2139 test", "\u2705 ")
CHANGED_WORDS = frozenset(
    b"applied created updated deleted wrote modified removed moved renamed reformatted rewrote".split()
)
"""Words that lines about changed files have."""

_LOOKED_FOR = CHANGED_WORDS | _ERRORS.keys() | _TOTALS.keys() | {b"file"}
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?:: .*)?$")
_MAX_HOT = 600
_EACH_END = _MAX_HOT // 2


class Lines:
    """An output as lines, with what those that matter are found to be. Of very many only both ends are looked at.

    `errors`: (index, weight) of lines that report something wrong, see `error_weight`. `totals`: indexes of lines that
    sum up a run. `suspects`: indexes of lines with a word that errors are told with. Each is made when first asked for.
    """

    __slots__ = (
        "_all",
        "_bytes",
        "_counts",
        "_errors",
        "_low",
        "_numbered",
        "_raised",
        "_suspects",
        "_totals",
        "_words",
        "text",
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self._all: list[str] | None = None
        self._low = ""
        self._bytes = b""
        self._numbered: Numbered | None = None
        self._raised: list[int] | None = None
        self._counts: dict[str, int] | None = None
        self._words: frozenset[bytes] | None = None
        self._errors: list[tuple[int, int]] | None = None
        self._suspects: list[int] | None = None
        self._totals: list[int] | None = None

    @property
    def all(self) -> list[str]:
        if self._all is None:
            self._all = self.text.split("\n")
        return self._all

    @property
    def numbered(self) -> Numbered:
        """The lines without the numbers that a tool printed before them."""
        if self._numbered is None:
            self._numbered = split_numbers(self.all)
        return self._numbered

    @property
    def counts(self) -> dict[str, int]:
        """Tokens with how often they occur, see `count_tokens`."""
        if self._counts is None:
            self._counts = count_tokens(self.text)
        return self._counts

    @property
    def errors(self) -> list[tuple[int, int]]:
        if self._errors is None:
            # What is printed again and again is weighed once.
            every = self.all
            lines = [every[index] for index in self.suspects]
            weights = {line: error_weight(line) for line in dict.fromkeys(lines)}
            weighed = zip(self.suspects, lines, strict=True)
            self._errors = [(index, weights[line]) for index, line in weighed if weights[line]]
        return self._errors

    @property
    def totals(self) -> list[int]:
        if self._totals is None:
            found = self.holding(self._present(_TOTALS, _TOTAL_MARKS))
            every = self.all
            candidates = sorted({*found, *self.suspects})
            sums = {line: is_total(line) for line in dict.fromkeys([every[index] for index in candidates])}
            self._totals = [index for index in candidates if sums[every[index]]]
        return self._totals

    @property
    def suspects(self) -> list[int]:
        if self._suspects is None:
            parts = [part.decode() for part in _ERROR_PARTS if part in self._lowered]
            # One char is found much faster than two.
            shouts = [shout for shout in _SHOUTS if shout[0] in self.text]
            self._suspects = self.holding((*parts, *self._present(_ERRORS, _ERROR_MARKS), *shouts))
        return self._suspects

    @property
    def low(self) -> str:
        """The whole text in lower case, with a line feed before and after."""
        if not self._low:
            self._low = f"\n{self.text.lower()}\n"
        return self._low

    def _present(self, needles: Mapping[bytes, tuple[str, ...]], marks: tuple[str, ...]) -> Iterable[str]:
        """What is worth looking for; the marks only where there is more than ASCII."""
        marked = () if self.text.isascii() else marks
        return (*[told for word in needles.keys() & self.words for told in needles[word]], *marked)

    @property
    def words(self) -> frozenset[bytes]:
        """Which of the words that something is looked for by stand in the text, in lower case."""
        if self._words is None:
            self._words = _LOOKED_FOR.intersection(self._lowered.split())
        return self._words

    @property
    def _lowered(self) -> bytes:
        """The text in lower case, blanks for all but what a word or a path is made of."""
        if not self._bytes:
            self._bytes = self.text.encode("utf-8", "surrogatepass").translate(_WORD_CHARS)
        return self._bytes

    @property
    def raised(self) -> list[int]:
        """Indexes of the lines that end Python tracebacks: they name what was raised, in any words."""
        if self._raised is None:
            self._raised = _both_ends(_raised(self.all)) if b"file" in self.words and 'file "' in self.low else []
        return self._raised

    def holding(self, needles: Iterable[str]) -> list[int]:
        """Indexes, in order, of lines that hold one of these (lower case); of very many, the two ends.

        A needle that begins with a line feed is looked for at the start of a line.
        """
        found: set[int] = set()
        for needle in needles:
            at = self.low.find(needle)
            if at >= 0:
                found.update(_lines_with(self.low, needle, at))
        return _both_ends(sorted(found))


def _both_ends(indexes: list[int]) -> list[int]:
    return indexes if len(indexes) <= _MAX_HOT else indexes[:_EACH_END] + indexes[-_EACH_END:]


def _lines_with(low: str, needle: str, first: int) -> list[int]:
    """Indexes of the first lines that hold `needle`, which is at `first`, and of the last ones.

    `low` has a line feed before and after. Counting line feeds is quicker than a table of where lines begin.
    """
    shift = needle[0] == "\n"
    at = first + shift
    index = low.count("\n", 1, at)
    found = [index]
    while len(found) < _EACH_END:
        after = low.find(needle, low.find("\n", at))
        if after < 0:
            return found
        index += low.count("\n", at, after + shift)
        at = after + shift
        found.append(index)
    start = low.find("\n", at)
    end = len(low)
    last: list[int] = []
    while len(last) < _EACH_END:
        back = low.rfind(needle, start, end)
        if back < 0:
            break
        index = last[-1] - low.count("\n", back + shift, end) if last else low.count("\n", 1, back + shift)
        last.append(index)
        end = low.rfind("\n", 0, back + shift) + 1
    return found + last


def _raised(lines: list[str]) -> list[int]:
    found: list[int] = []
    frame = -1
    for index, line in enumerate(lines):
        text = line.lstrip()
        if text.startswith('File "'):
            frame = len(line) - len(text)
        elif frame >= 0 and text and len(line) - len(text) < frame:
            if _RAISED.match(text) is not None:
                found.append(index)
            frame = -1
    return found
