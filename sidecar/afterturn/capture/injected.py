"""Text that nobody said: what this program wrote and what a host put in (capture.md, 'Normalise').

A host marks it in one of three ways: between `<afterturn-recall>` and `</afterturn-recall>`, by a content block with
`"injected": true` or an `origin` other than "user", or by one of the tags that harnesses use for it. A tag counts
where it begins a line outside fenced code and is closed. A summary of condense is known by its footer. Other text
stays, whatever it says (cases M01, M02; spec/capture.md, 'What is left out', tells it to hosts).
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

from afterturn.fences import OUTSIDE, fence_kind, mark_fences
from afterturn.ref_footer import ENDING, LEAD, RULE
from afterturn_protocol.blocks import Block

RECALL_TAG = "afterturn-recall"
"""What text that this program recalled stands in when it is put into a conversation."""

_RECALL_END = f"</{RECALL_TAG}>"

HOST_TAGS = (
    "system-reminder",
    "environment_context",
    "user_instructions",
    "relevant-memories",
    "relevant_memories",
    "memory-context",
    "memory_context",
    "recalled-memories",
    "supermemory-context",
    "claude-mem-context",
    "local-command-caveat",
    "local-command-stdout",
    "ide_opened_file",
    "ide_selection",
    "git-context",
    "task-notification",
    "heartbeat",
)
"""Tags that harnesses wrap around what they put into a user turn."""

NO_ANSWERS = ("HEARTBEAT_OK", "NO_REPLY")
"""What agents answer to a turn that nobody wrote, and nothing else beside it."""


Strip = Callable[[str], tuple[str, int]]
"""A text without some of what nobody said, and how many pieces that were."""


def is_plain(text: str) -> bool:
    """Whether a text holds nothing that any of these could strip: for most of them, so it is cheap."""
    return "<" not in text and LEAD not in text


def without_recalled(text: str) -> tuple[str, int]:
    """`text` without this program's recalled text, and how many pieces that were."""
    return _stripped(text, (RECALL_TAG,))


def without_own(text: str) -> tuple[str, int]:
    """An agent's text without what this program wrote, and how many pieces that were."""
    return _without_both(text, (RECALL_TAG,))


def without_injected(text: str) -> tuple[str, int]:
    """The text of a user turn without what was put into it, and how many pieces that were."""
    return _without_both(text, (RECALL_TAG, *HOST_TAGS))


def value_without_recalled(value: Any) -> tuple[Any, int]:
    """A JSON value without recalled text in its strings, and how many pieces that were.

    The value is at most `reading.MOST_LEVELS` deep, as every stored one is.
    """
    return _value_stripped(value) if _may_recall(value) else (value, 0)


def own_blocks(content: Sequence[Block], strip: Strip) -> tuple[list[Block], int]:
    """The blocks that nobody put in, each stripped, and how many pieces the rest was.

    strip: for each text by itself, since a summary reaches back no further than the block that it stands in.
    """
    kept: list[Block] = []
    pieces = 0
    for block in content:
        text = block.get("text")
        if _is_put_in(block):
            pieces += 1
        elif block.get("type") == "text" and isinstance(text, str) and not is_plain(text):
            left, stripped = strip(text)
            pieces += stripped
            kept.append({**block, "text": left} if stripped else block)
        else:
            kept.append(block)
    return kept, pieces


def is_no_answer(text: str) -> bool:
    """Whether an agent says only that it has nothing to say."""
    return text.strip().strip("*`._ \n").upper() in NO_ANSWERS


def asks_for_none(text: str) -> bool:
    """Whether the text of a user turn names the answer that says nothing, as the prompts of heartbeats do."""
    return any(answer in text for answer in NO_ANSWERS)


def _may_recall(value: Any) -> bool:
    if isinstance(value, str):
        return _RECALL_END in value
    if isinstance(value, dict):
        return any(map(_may_recall, cast("dict[str, Any]", value).values()))
    return isinstance(value, list | tuple) and any(map(_may_recall, cast("Sequence[Any]", value)))


def _value_stripped(value: Any) -> tuple[Any, int]:
    if isinstance(value, str):
        return without_recalled(value)
    if isinstance(value, dict):
        pairs = {name: _value_stripped(item) for name, item in cast("dict[str, Any]", value).items()}
        return {name: item for name, (item, _) in pairs.items()}, sum(pieces for _, pieces in pairs.values())
    if not isinstance(value, list | tuple):
        return value, 0
    items = [_value_stripped(item) for item in cast("Sequence[Any]", value)]
    return [item for item, _ in items], sum(pieces for _, pieces in items)


def _is_put_in(block: Block) -> bool:
    origin = block.get("origin")
    return block.get("injected") is True or (isinstance(origin, str) and origin != "user")


@cache
def _tags(names: tuple[str, ...]) -> re.Pattern[str]:
    listed = "|".join(re.escape(name) for name in names)
    return re.compile(rf"(?P<open>^[ \t]*<(?P<name>{listed})(?:\s[^<>\n]*)?>)|(?<!`)</(?P<end>{listed})>", re.MULTILINE)


def _without_both(text: str, names: tuple[str, ...]) -> tuple[str, int]:
    """Tags first: a summary can stand in recalled text."""
    text, tags = _stripped(text, names)
    text, summaries = _without_summaries(text)
    return text, tags + summaries


def _stripped(text: str, names: tuple[str, ...]) -> tuple[str, int]:
    if "</" not in text:
        return text, 0
    tags = list(_tags(names).finditer(text))
    if not tags:
        return text, 0
    spans = _spans(tags, _FencedLines(text))
    if not spans:
        return text, 0
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts.append(text[done:start])
        done = end
    parts.append(text[done:])
    return "".join(parts).strip(), len(spans)


def _spans(tags: Sequence[re.Match[str]], fenced: "_FencedLines") -> list[tuple[int, int]]:
    """Where the outermost closed tags begin and end, in order."""
    spans: list[tuple[int, int]] = []
    stack: list[tuple[str, int]] = []
    waiting: dict[str, int] = {}
    for tag in tags:
        if tag["open"] is not None:
            if not fenced.holds(tag.start()):
                stack.append((tag["name"], tag.start()))
                waiting[tag["name"]] = waiting.get(tag["name"], 0) + 1
            continue
        if not waiting.get(tag["end"]) or fenced.holds(tag.start()):
            continue
        start = -1
        name = ""
        while name != tag["end"]:
            name, start = stack.pop()
            waiting[name] -= 1
        while spans and spans[-1][0] > start:
            spans.pop()
        spans.append((start, tag.end()))
    return spans


class _FencedLines:
    """Which places of a text are in fenced code."""

    __slots__ = ("_marks", "_starts")

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        self._marks = mark_fences([fence_kind(line) for line in lines])
        self._starts: list[int] = []
        at = 0
        for line in lines:
            self._starts.append(at)
            at += len(line) + 1

    def holds(self, place: int) -> bool:
        return self._marks[bisect_right(self._starts, place) - 1] != OUTSIDE


_REFS = re.compile(re.escape(LEAD) + r"`\w+`(?:, `\w+`)*\s*$")
_RECOVERY = re.compile(rf"Use `[^`]*` {re.escape(ENDING)}\s*$")
_REF = re.compile(r"`[tb][0-9]+`")
_BULLET = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)]|#{1,6})\s")


def _without_summaries(text: str) -> tuple[str, int]:
    """`text` without summaries of condense, and how many those were."""
    if LEAD not in text:
        return text, 0
    lines = text.split("\n")
    marks = mark_fences([fence_kind(line) for line in lines])
    kept: list[str] = []
    count = done = 0
    for index in range(1, len(lines) - 1):
        if marks[index] == OUTSIDE and index > done and _is_footer(lines, index):
            kept.append("\n".join(lines[done : _first_of_summary(lines, marks, done, index - 1)]).strip())
            done = index + 2
            count += 1
    if not count:
        return text, 0
    kept.append("\n".join(lines[done:]).strip())
    return "\n\n".join(filter(None, kept)), count


def _is_footer(lines: Sequence[str], index: int) -> bool:
    """Whether a line lists the refs of a summary, between the lines that come with it."""
    if _REFS.match(lines[index]) is None or lines[index - 1].strip() != RULE:
        return False
    return _RECOVERY.match(lines[index + 1]) is not None


def _first_of_summary(lines: Sequence[str], marks: Sequence[int], start: int, rule: int) -> int:
    """Where the summary above a footer begins: the bullets above it, and above those what names refs as bullets do.

    Somebody's words above a summary stay, even where a summary could have such words.
    """
    first = rule
    for index in reversed(range(start, rule)):
        begins = index == start or (not lines[index - 1].strip() and marks[index - 1] == OUTSIDE)
        if begins and lines[index].strip():
            if _BULLET.match(lines[index]) is None:
                break
            if first < rule and not any(_REF.search(line) for line in lines[index:first]):
                break
            first = index
    return first
