"""Text that nobody said: this program's recalled text and what a host put in (capture.md, 'Normalise').

A host marks it in one of three ways: between `<afterturn-recall>` and `</afterturn-recall>`, by a content block with
`"injected": true` or an `origin` other than "user", or by one of the tags that harnesses use for it. A tag counts
where it begins a line outside fenced code and is closed; other text stays, whatever it says (cases M01, M02).
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache

from afterturn.fences import OUTSIDE, fence_kind, mark_fences
from afterturn_protocol.blocks import Block

RECALL_TAG = "afterturn-recall"
"""What text that this program recalled stands in when it is put into a conversation."""

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


def without_recalled(text: str) -> tuple[str, int]:
    """`text` without this program's recalled text, and how many pieces that were."""
    return _stripped(text, (RECALL_TAG,))


def without_injected(text: str) -> tuple[str, int]:
    """The text of a user turn without what was put into it, and how many pieces that were."""
    return _stripped(text, (RECALL_TAG, *HOST_TAGS))


def own_blocks(content: Sequence[Block]) -> tuple[list[Block], int]:
    """The blocks that nobody put in, and how many others there were."""
    kept = [block for block in content if not _is_put_in(block)]
    return kept, len(content) - len(kept)


def is_no_answer(text: str) -> bool:
    """Whether an agent says only that it has nothing to say."""
    return text.strip().strip("*`._ \n").upper() in NO_ANSWERS


def _is_put_in(block: Block) -> bool:
    origin = block.get("origin")
    return block.get("injected") is True or (isinstance(origin, str) and origin != "user")


@cache
def _tags(names: tuple[str, ...]) -> re.Pattern[str]:
    listed = "|".join(re.escape(name) for name in names)
    return re.compile(rf"(?P<open>^[ \t]*<(?P<name>{listed})(?:\s[^<>\n]*)?>)|</(?P<end>{listed})>", re.MULTILINE)


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
        if not waiting.get(tag["end"]):
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
