"""From a digest to bullets: how many chars a call may have, and what they are spent on."""

import re

import msgspec

from afterturn.condense.extract.call import Call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.names import tokens
from afterturn.condense.extract.safe import is_instruction, is_simple, plain, quoted
from afterturn.text import ELLIPSIS, one_line

# A replacement also names its ref and the recovery tool, which costs about this much beside the bullets.
REF_CHARS = 60

_BIG = 3200
_LINE_CHARS = 120
# Facts of so small a result are worth more than what leaving them out would save.
_FULLY_TOLD = 320
# With less room than this it is not worth looking for another piece of a group, or for the pieces of another group.
_LEAST = 4
_WORTH_LOOKING = 16
# The same where the whole of a big text is read for them.
_WORTH_READING = 48
_SUBJECT_CHARS = 150
_LONGEST_PATH = 240
# What is longer is cut in any case.
_LONGEST_PIECE = 4000
# So many pieces that do not fit, and the rest is not looked at.
_MOST_MISSES = 6
# Of the best pieces the one that does not fit is cut, if so many chars of it can be told.
_BEST = 3
_WORTH_CUTTING = 90
# A piece gets no shorter than this by being made plain.
_SHRINKS = 12
# `so' in the messages of older tools.
_GNU_QUOTES = re.compile(r"`([^`'\n]{1,80})'")
_MARK = re.compile(r"[\"`']")
_QUOTES = '"\u201c'


class Room(msgspec.Struct, frozen=True):
    """Chars a call's bullets may take: `total` as a rule, `facts` when there are that many facts."""

    total: int
    facts: int


def room_for(chars: int, problems: int = 0) -> Room:
    """The budget for a result of `chars` chars (evaluation.md, 'kept size': 10 % of big batches, refs included).

    Batches below 3,200 chars cost a context little, so what is that small may keep more of itself. `problems`: how
    much it reports, see `Digest`. Each of the first five is worth 0.6 percent more for facts, each after that 1.2.
    """
    small = _descent(chars, 2100, _BIG)
    least = 200 + 350 * small // 1000
    much = max(chars * 55 // 100, min(chars * 9 // 10, 100), 40)
    total = min(max(chars * 88 // 1000 - REF_CHARS, min(much, least)), 2600)
    share = 61 + 9 * min(problems, 5) + 12 * max(0, min(problems, 20) - 5)
    share += max(0, 500 - share) * _descent(chars, 2100, _BIG * 3 // 2) // 1000
    share += (1000 - share) * _descent(chars, 600, 2100) // 1000
    return Room(total, max(total, min(chars * share // 1000, 3600)))


def _descent(value: int, start: int, end: int) -> int:
    """1000 up to `start`, 0 from `end` on, a straight line between them."""
    if value >= end:
        return 0
    return 1000 if value <= start else 1000 * (end - value) // (end - start)


def most_chars(chars: int) -> int:
    """The most that all bullets of a result of `chars` chars can take together, line starts included."""
    room = room_for(chars, 20)
    return room.facts + room.total + _LONGEST_PATH + 120


def render(call: Call, digest: Digest) -> list[str]:
    """One to three lines, each beginning with "- ", with as much of the digest as the call's budget holds."""
    room = room_for(call.output.chars, digest.problems)
    lines = [_first_line(call, digest, room.total)]
    page = _Page(lines[0], call.output.chars)
    facts = page.pack(digest.facts, max(room.facts - len(lines[0]), min(call.output.chars + 24, _FULLY_TOLD)))
    # What stands alone on its line must not read as spoken to the agent (case C09).
    if facts and not is_instruction(facts):
        lines.append("- " + facts)
    names = page.pack(digest.names, room.total - len(lines[0]) - len(facts))
    if names and not is_instruction(names):
        lines.append("- " + names)
    return lines


def _first_line(call: Call, digest: Digest, total: int) -> str:
    line = f"- {call.tool}"
    subject = plain(digest.subject).removeprefix(call.tool + " ").strip()
    subject = _whole_words(subject, min(max(total * 2 // 5, 50), _SUBJECT_CHARS))
    if subject:
        # A name and an argument must not read as an order either.
        line += " " + (subject if not is_instruction(line[2:] + " " + subject) else quoted(subject, _SUBJECT_CHARS))
    separator = " -> "
    for phrase in digest.outcome:
        text = plain(phrase)
        if (
            text
            and len(text) <= _LONGEST_PATH
            and (separator == " -> " or len(line) + len(text) <= max(total, _LINE_CHARS, len(line) + 30))
        ):
            line += separator + text
            separator = "; "
    return line


class _Page:
    """What has been written so far of a result of `chars` chars, so that nothing is written twice."""

    __slots__ = ("_least_to_read", "_new", "_told", "_words", "text")

    def __init__(self, text: str, chars: int) -> None:
        self.text = self._new = text
        self._words: set[str] = set()
        self._told: dict[str, str] = {}
        self._least_to_read = _WORTH_READING if chars > _BIG else _WORTH_LOOKING

    @property
    def words(self) -> set[str]:
        if self._new:
            self._words.update(tokens(self._new))
            self._new = ""
        return self._words

    def _write(self, text: str) -> None:
        self.text += "\n" + text
        self._new += "\n" + text

    def pack(self, groups: list[Group], room: int) -> str:
        """Groups in turn, each with the best of its pieces that fit and are not there yet."""
        parts: list[str] = []
        used = 0
        for group in groups:
            left = room - used - len(group.heading) - 2
            if left < _WORTH_LOOKING:
                break
            share = 100 if room <= _FULLY_TOLD else group.share
            most = left * share // 100
            if left < self._least_to_read and callable(group.pieces):
                continue
            chosen = self._choose_names(group, most) if group.bare else self._choose(group, most, left)
            if chosen:
                text = (f"{group.heading}: " if group.heading else "") + group.separator.join(chosen)
                if group.bare and is_instruction(text):
                    continue
                parts.append(text)
                used += len(text) + 2
                self._write(text)
        return "; ".join(parts)

    def _choose(self, group: Group, room: int, most: int) -> list[str]:
        """The best pieces in `room`; if not even the first one fits there, that one in `most`."""
        chosen: list[tuple[int, str]] = []
        seen: set[str] = set()
        misses = 0
        between = len(group.separator)
        for at, piece in enumerate(group.found()):
            best = at < _BEST and group.cut
            if len(piece) > room + _SHRINKS and not best and (chosen or misses):
                if not self._has(piece):
                    misses += 1
                    if misses > _MOST_MISSES:
                        break
                continue
            text = piece if group.safe else self._as_told(piece)
            if not text or text in seen or self._has(text):
                continue
            seen.add(text)
            if len(text) > room:
                if not chosen and misses == 0:
                    if len(text) > most and group.cut and most >= 30:
                        text = _whole_words(text, max(room, most * 3 // 4))
                    if text and len(text) <= most:
                        chosen.append((at, text))
                        break
                misses += 1
                if best and not group.order and room >= _WORTH_CUTTING and (part := _whole_words(text, room)):
                    text = part
                elif misses > _MOST_MISSES:
                    break
                else:
                    continue
            room -= len(text) + between
            chosen.append((group.order[at] if group.order else at, text))
            if room < _LEAST:
                break
        if group.order:
            chosen.sort()
        return [text for _, text in chosen]

    def _as_told(self, piece: str) -> str:
        """`piece` as it may stand in a bullet; "" for an order that is not in quotes, and for nothing."""
        text = self._told.get(piece)
        if text is None:
            if is_simple(piece):
                text = "" if " " in piece and is_instruction(piece) else piece
            else:
                text = _balanced(plain(piece[:_LONGEST_PIECE]))
                if text and text[0] not in _QUOTES and is_instruction(text):
                    text = ""
            self._told[piece] = text
        return text

    def _choose_names(self, group: Group, room: int) -> list[str]:
        """The best identifiers in `room`, in their order."""
        chosen: list[str] = []
        misses = 0
        words = self.words
        for name in group.found():
            if name in words:
                continue
            if len(name) <= room:
                room -= len(name) + 1
                chosen.append(name)
                continue
            misses += 1
            if misses > _MOST_MISSES or room < _LEAST:
                break
        return chosen

    def _has(self, text: str) -> bool:
        if len(text) > 12:
            return text in self.text
        return len(text) > 3 and text in self.words and not text[0].isdigit()


def _whole_words(text: str, limit: int) -> str:
    """`text` cut after a word, so that no path or number is left in part; a first word that is too long is kept."""
    if len(text) <= limit:
        return _balanced(text)
    end = text.rfind(" ", 0, limit)
    if end <= 0:
        end = text.find(" ")
        end = len(text) if end < 0 else end
        if end > _LONGEST_PATH:
            return ""
    kept = _balanced(text[:end].rstrip(" ,;:|&-(")).rstrip()
    return kept if end == len(text) else kept + ELLIPSIS


def _balanced(text: str) -> str:
    """`text` without quotation marks that have no partner, or one with hardly anything before it.

    The last of them would pair up with a mark of the next piece, and make words of ours look like a quotation. One that
    is followed by such a pair is let stand: `"is" where "a word" follows`.
    """
    if '"' not in text and "'" not in text and "`" not in text:
        return text
    if "`" in text and text.count("`") % 2:
        text = _GNU_QUOTES.sub(r"'\1'", text)
    drop: list[int] = []
    short: dict[str, list[int]] = {}
    end = 0
    for match in _MARK.finditer(text):
        at, mark = match.start(), match[0]
        if at < end or (mark == "'" and at and text[at - 1].isalnum()):
            continue
        close = text.find(mark, at + 1)
        while mark == "'" and 0 <= close < len(text) - 1 and text[close + 1].isalnum():
            close = text.find(mark, close + 1)
        if close < 0:
            drop += [at, *short.pop(mark, ())]
        elif close - at < 4 and (mark != "'" or not text[close - 1].isalnum()):
            short.setdefault(mark, []).append(at)
            close = at
        else:
            short.pop(mark, None)
        end = max(close, at) + 1
    if not drop:
        return text
    dropped = set(drop)
    return one_line("".join(char for at, char in enumerate(text) if at not in dropped))
