"""Lines of an output that say what went wrong, each once, the plainest first."""

import re
from collections.abc import Sequence

from afterturn.condense.extract.hot import Lines
from afterturn.condense.extract.safe import is_instruction, quoted
from afterturn.condense.extract.weights import is_summary, is_value, says_again
from afterturn.condense.extract.words import holds_any
from afterturn.text import cut_words

_LINE_CHARS = 220
_VALUE_CHARS = 50
_OTHERS_CHARS = 240
# A message told so many times is worth being told in its own words.
_OFTEN = 3
_BEGINNING = 2
# Two messages alike in so many chars are one: terminals wrap the rest of a long one at different places.
_SHAPE_CHARS = 48
_DIGITS = re.compile(r"\d{4,}")
_HEX = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{7,40}\b")
_HEX_RUN = re.compile(r"[0-9a-f]{7}")
# `path:1:2: `, `path(1,2): ` before a message: the places group says where, the message says what.
_LOCATED = re.compile(r"(?:[^\s:(]{1,240}?(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))):?\s+(?:-\s+)?(?=\S)")
# Messages that differ in what they quote are all told in full while they take no more than this together.
_IN_FULL_CHARS = 200
_PART_CHARS = 70
_PARTS_CHARS = 100
_WORDS_BEFORE = re.compile(r"(?:\S{1,20} ){1,2}$")
# A heading before a message: the place, the rule it breaks or the job that failed, and a line across the screen.
_ABOVE_CHARS = 400
_HEADING = re.compile(r"(\S{1,240}?)(:\d+:\d+)? (\S{1,80})(?: +[A-Z]+)* +\u2501{3}")
_QUOTED = re.compile(r"'[^'\n]{1,80}'|\"[^\"\n]{1,80}\"|`[^`\n]{1,80}`")


class Message:
    """One message with its weight (see `error_weight`) and what its near repeats quote instead.

    `again`: it tells no more than that something failed, see `says_again`.
    """

    __slots__ = ("_times", "again", "weight")

    def __init__(self, weight: int, text: str, *, again: bool = False) -> None:
        self.weight = weight
        self.again = again
        self._times = {text: 1}

    def add(self, text: str, weight: int) -> None:
        self.weight = max(self.weight, weight)
        self._times[text] = self._times.get(text, 0) + 1

    def without(self, text: str) -> "Message":
        """The message of one of its near repeats, which then is none of this one's; itself if that is the first."""
        if text == self.text:
            return self
        alone = Message(self.weight, text)
        alone._times[text] = self._times.pop(text)
        return alone

    @property
    def text(self) -> str:
        """The first of its near repeats."""
        return next(iter(self._times))

    @property
    def variants(self) -> int:
        """How many different messages this one stands for, as far as they are told."""
        return 1 + len(self._others())

    def _others(self) -> dict[str, None]:
        """What the others quote and this one does not."""
        others: dict[str, None] = {}
        if len(self._times) == 1:
            return others
        told = self.text
        room = _OTHERS_CHARS
        for text in self._times:
            for quote in _QUOTED.findall(text):
                if quote not in told and quote not in others and len(quote) < room:
                    others[quote] = None
                    room -= len(quote)
        return others

    @property
    def often(self) -> str:
        """The one of the near repeats that is told most often, if that is often; else the first."""
        told = max(self._times, key=self._times.__getitem__)
        return told if self._times[told] >= _OFTEN else self.text

    @property
    def is_frequent(self) -> bool:
        return sum(self._times.values()) >= _OFTEN

    def written(self) -> list[str]:
        """The first of the near repeats with what is other in the others, in as many words as there is room for:
        all of each, what it quotes with the words before, or what it quotes.
        """
        others = self._others()
        if not others:
            return [self.text]
        if sum(map(len, self._times)) <= _IN_FULL_CHARS:
            return list(self._times)
        parts = dict.fromkeys(part for text in self._times if (part := _other_part(text, self.text)))
        if sum(map(len, parts)) <= _PARTS_CHARS:
            return [f"{self.text} (also {', '.join(parts)})"]
        return [f"{self.text} (also {', '.join(others)})"]


def _other_part(text: str, told: str) -> str:
    """What `text` quotes and `told` does not, from the first such quote on, with a few words before it."""
    quotes = [match for match in _QUOTED.finditer(text) if match[0] not in told]
    if not quotes:
        return ""
    before = _WORDS_BEFORE.search(text, 0, quotes[0].start())
    return cut_words(text[before.start() if before else 0 : quotes[-1].end()], _PART_CHARS)


def error_lines(lines: Lines, told: Sequence[str] = ()) -> list[Message]:
    """Lines that report something wrong with their weight, the plainest first.

    Near repeats are left out, and lines with something in them that `told` already says. Messages that differ only in
    what they quote are one, with the other quotes after it.
    """
    found: dict[str, Message] = {}
    last = ("", "")
    weights = dict(lines.errors) | dict.fromkeys(lines.raised, 4)
    sums = set(lines.totals)
    seen: set[str] = set()
    every = lines.all
    for index in sorted(weights):
        line = every[index].strip()
        weight = weights[index]
        if line in seen:
            continue
        seen.add(line)
        if (index in sums and is_summary(line)) or holds_any(line, told):
            continue
        limit = _VALUE_CHARS if is_value(line) else _LINE_CHARS
        text = cut_words(without_place(line), limit) + _heading(lines, index)
        if is_instruction(text):
            if weight < 4:
                continue
            text = quoted(text, _LINE_CHARS)
        shape = _shape(text)
        if shape in found:
            found[shape].add(text, weight)
        else:
            found[shape] = Message(weight, text, again=says_again(line))
        if weight == 4 and not found[shape].again:
            last = (shape, text)
    messages = list(found.values())
    # Of equals the last one comes first: of a chain of failures it names the cause that stopped the run.
    if last[1]:
        cause = found[last[0]].without(last[1])
        messages = [cause, *(message for message in messages if message is not cause)]
    # What failed is told early, in its words.
    again = next((message for message in messages[_BEGINNING:] if message.again), None)
    if again is not None:
        messages = [*messages[:1], again, *(message for message in messages[1:] if message is not again)]
    # What is told again and again comes before what is told once, but not before how it began.
    rest = sorted(messages[_BEGINNING:], key=lambda message: not message.is_frequent)
    return sorted([*messages[:_BEGINNING], *rest], key=lambda message: -message.weight)


def _shape(text: str) -> str:
    """What near repeats of a message have in common: its beginning without what it quotes and counts."""
    text = _QUOTED.sub("", text)
    # Most messages hold nothing of the kind, which is found out much faster without asking where a word begins.
    if "0x" in text or _HEX_RUN.search(text) is not None:
        text = _HEX.sub("", text)
    return _DIGITS.sub("0", text)[:_SHAPE_CHARS]


def without_place(line: str) -> str:
    """A message without the place in a file that it begins with."""
    match = _LOCATED.match(line)
    return line if match is None else line[match.end() :]


def _heading(lines: Lines, index: int) -> str:
    """What the heading over a message says and the places do not: its rule, and the file if it gives no line there."""
    if "\u2501" not in lines.text:
        return ""
    above = next((line for line in reversed(lines.all[max(0, index - 2) : index]) if line.strip()), "")
    match = _HEADING.match(above[:_ABOVE_CHARS])
    if match is None:
        return ""
    return f" ({match[3]})" if match[2] else f" ({match[1]} {match[3]})"
