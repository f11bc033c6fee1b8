"""All steps of an episode scored with one call (seed core-capture, section 6a; capture.md, 'batch')."""

from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct

from afterturn.capture.alpha import Score, UnreadableReplyError, objects, score_of, weighed
from afterturn.capture.grounds import Grounds
from afterturn.capture.judging import nothing
from afterturn.capture.material import batch_limits, described, prompt_json
from afterturn.capture.steps import Step
from afterturn.capture.synthesis import read_reflection, written
from afterturn.replies import whole_number
from afterturn_protocol.traces import Reflection

INDEX = "idx"
_REPLY_BASE = 768
_REPLY_GRADED = 160
_REPLY_WRITTEN = 360
_REPLY_MOST = 32_000


class Entry(Struct, frozen=True):
    """A model's verdict on one step. text: the reflection that it wrote, "" for none."""

    text: str
    score: Score


def step_lines(steps: Sequence[Step], reflections: Sequence[Reflection], outcome_chars: int) -> list[str]:
    """The steps as JSON objects, numbered from 0."""
    limits = batch_limits(steps, outcome_chars)
    return [
        prompt_json({INDEX: index, **described(step, reflection.text, limits)})
        for index, (step, reflection) in enumerate(zip(steps, reflections, strict=True))
    ]


def reply_tokens(reflections: Sequence[Reflection], *, write: bool) -> int:
    """The reply's cap in tokens; it grows with the number of steps, so that a long one is not cut."""
    written = sum(reflection.text is None for reflection in reflections) if write else 0
    size = _REPLY_BASE + _REPLY_GRADED * (len(reflections) - written) + _REPLY_WRITTEN * written
    return min(size, _REPLY_MOST)


def read_batch(reply: str, count: int) -> list[Entry]:
    """One entry for each of `count` steps, in their order. Raises UnreadableReplyError unless the reply is complete."""
    problem = UnreadableReplyError("it holds no JSON object")
    for fields in objects(reply):
        try:
            return _entries(fields.get("scores"), count)
        except UnreadableReplyError as wrong:
            problem = wrong
    raise problem


def _entries(scores: Any, count: int) -> list[Entry]:
    if not isinstance(scores, list):
        raise UnreadableReplyError("scores is no list")
    items = cast("list[Any]", scores)
    if len(items) != count:
        raise UnreadableReplyError(f"scores has {len(items)} entries for {count} steps")
    found: dict[int, Entry] = {}
    for item in items:
        if not isinstance(item, dict):
            raise UnreadableReplyError("an entry is no object")
        fields = cast("dict[str, Any]", item)
        index = _index(fields.get(INDEX), count)
        if index in found:
            raise UnreadableReplyError(f"step {index} occurs twice")
        text = fields.get("reflection_text")
        if text is not None and not isinstance(text, str):
            raise UnreadableReplyError("reflection_text is no string")
        found[index] = Entry(text or "", score_of(fields))
    return [found[index] for index in range(count)]


def _index(value: Any, count: int) -> int:
    index = whole_number(value)
    if index is None or not 0 <= index < count:
        raise UnreadableReplyError("a step has a number that is none of theirs")
    return index


def judged(
    reflection: Reflection, entry: Entry, grounds: Grounds, *, write: bool, score: bool, model: str, version: str
) -> Reflection:
    """What an accepted entry makes of a step's reflection: given text stays word for word."""
    if reflection.text is None:
        if not write:
            return reflection
        reflection = written(read_reflection(entry.text), grounds, model=model, version=version)
        if reflection.text is None:
            reason = reflection.reason if entry.text.strip() else entry.score.reason or reflection.reason
            return nothing(reason, model=model, version=version)
    if not score:
        return reflection
    return weighed(reflection, entry.score, model=model, version=version)
