"""Lines of an output that say what went wrong, each once, the plainest first."""

import re
from collections.abc import Sequence

from afterturn.condense.extract.hot import Lines
from afterturn.condense.extract.safe import is_instruction, quoted
from afterturn.condense.extract.weights import is_summary
from afterturn.text import cut_words

_LINE_CHARS = 220
_OTHERS_CHARS = 240
# A message told so many times is worth being told in its own words.
_OFTEN = 3
_BEGINNING = 2
# Two messages alike in so many chars are one: terminals wrap the rest of a long one at different places.
_SHAPE_CHARS = 48
_DIGITS = re.compile(r"\d{4,}")
_HEX = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{7,40}\b")
# `path:1:2: `, `path(1,2): ` before a message: the places group says where, the message says what.
_LOCATED = re.compile(r"^(?:[^\s:(]{1,240}?(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))):?\s+(?:-\s+)?(?=\S)")
_QUOTED = re.compile(r"'[^'\n]{1,80}'|\"[^\"\n]{1,80}\"|`[^`\n]{1,80}`")


class Message:
    """One message with its weight (see `error_weight`) and what its near repeats quote instead."""

    __slots__ = ("_times", "weight")

    def __init__(self, weight: int, text: str) -> None:
        self.weight = weight
        self._times = {text: 1}

    def add(self, text: str) -> None:
        self._times[text] = self._times.get(text, 0) + 1

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
        told = self.text
        others: dict[str, None] = {}
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

    def written(self) -> str:
        others = self._others()
        return f"{self.text} (also {', '.join(others)})" if others else self.text


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
    for index in sorted(weights):
        line = lines.all[index].strip()
        weight = weights[index]
        if line in seen:
            continue
        seen.add(line)
        if (index in sums and is_summary(line)) or any(name in line for name in told):
            continue
        text = cut_words(_message(line), _LINE_CHARS)
        if is_instruction(text):
            if weight < 4:
                continue
            text = quoted(text, _LINE_CHARS)
        shape = _DIGITS.sub("0", _HEX.sub("", _QUOTED.sub("", text)))[:_SHAPE_CHARS]
        if shape in found:
            found[shape].add(text)
        else:
            found[shape] = Message(weight, text)
        if weight == 4:
            last = (shape, text)
    messages = list(found.values())
    # Of equals the last one comes first: of a chain of failures it names the cause that stopped the run.
    if last[1]:
        cause = found[last[0]]
        cause = cause if cause.text == last[1] else Message(4, last[1])
        messages = [cause, *(message for message in messages if message is not cause)]
    # What is told again and again comes before what is told once, but not before how it began.
    rest = sorted(messages[_BEGINNING:], key=lambda message: not message.is_frequent)
    return sorted([*messages[:_BEGINNING], *rest], key=lambda message: -message.weight)


def _message(line: str) -> str:
    return _LOCATED.sub("", line)
