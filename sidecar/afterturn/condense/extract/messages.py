"""Lines of an output that say what went wrong, each once, the plainest first."""

import re
from collections.abc import Sequence

from afterturn.condense.extract.hot import Lines
from afterturn.condense.extract.safe import is_instruction, quoted
from afterturn.condense.extract.weights import is_summary
from afterturn.text import cut_words

_LINE_CHARS = 220
# Two messages alike in so many chars are one: terminals wrap the rest of a long one at different places.
_SHAPE_CHARS = 48
_DIGITS = re.compile(r"\d{4,}")
_HEX = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{7,40}\b")
# `path:1:2: `, `path(1,2): ` before a message: the places group says where, the message says what.
_LOCATED = re.compile(r"^(?:[^\s:(]{1,240}?(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))):?\s+(?:-\s+)?(?=\S)")
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?:: .*)?$")
_QUOTED = re.compile(r"'[^'\n]{1,80}'|\"[^\"\n]{1,80}\"|`[^`\n]{1,80}`")


class Message:
    """One message with its weight (see `error_weight`) and what its near repeats quote instead."""

    __slots__ = ("_others", "_room", "text", "weight")

    def __init__(self, weight: int, text: str) -> None:
        self.weight = weight
        self.text = text
        self._others: dict[str, None] = {}
        self._room = 240

    def add(self, text: str) -> None:
        for quote in _QUOTED.findall(text):
            if quote not in self.text and quote not in self._others and len(quote) < self._room:
                self._others[quote] = None
                self._room -= len(quote)

    @property
    def variants(self) -> int:
        """How many different messages this one stands for."""
        return 1 + len(self._others)

    def written(self) -> str:
        return f"{self.text} (also {', '.join(self._others)})" if self._others else self.text


def exception_lines(lines: Lines) -> set[int]:
    """Indexes of the lines that end Python tracebacks: they name what was raised, in any words."""
    found: set[int] = set()
    if 'file "' not in lines.low:
        return found
    frame = -1
    for index, line in enumerate(lines.all):
        text = line.lstrip()
        if text.startswith('File "'):
            frame = len(line) - len(text)
        elif frame >= 0 and text and len(line) - len(text) < frame:
            if _RAISED.match(text) is not None:
                found.add(index)
            frame = -1
    return found


def error_lines(lines: Lines, told: Sequence[str] = ()) -> list[Message]:
    """Lines that report something wrong with their weight, the plainest first.

    Near repeats are left out, and lines with something in them that `told` already says. Messages that differ only in
    what they quote are one, with the other quotes after it.
    """
    found: dict[str, Message] = {}
    last: Message | None = None
    raised = exception_lines(lines)
    weights = dict(lines.errors) | dict.fromkeys(raised, 4)
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
            last = found[shape] if found[shape].text == text else Message(weight, text)
    messages = list(found.values())
    # Of equals the last one comes first: of a chain of failures it names the cause that stopped the run.
    if last is not None:
        messages = [last, *(message for message in messages if message.text != last.text)]
    messages.sort(key=lambda message: -message.weight)
    return messages


def _message(line: str) -> str:
    return _LOCATED.sub("", line)
