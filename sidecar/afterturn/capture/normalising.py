"""Cutting and cleaning of steps (capture.md, 'Normalise'). Lengths are chars."""

import json
from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from afterturn.capture.notes import Notes
from afterturn.capture.steps import Step
from afterturn.text import cut
from afterturn_protocol.settings import CaptureSettings
from afterturn_protocol.traces import ToolCallDTO

MARKER = "\n\n[… left out …]\n\n"
_HEAD_PERCENT = 55
_SHORTEST_LEAF = 40
_plain = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def json_text(value: Any) -> str:
    """A JSON value as compact text; a string is itself and None is nothing."""
    if value is None or isinstance(value, str):
        return value or ""
    return _plain(value)


def capped(text: str, limit: int) -> str:
    """`text` in at most `limit` chars: 55 % of the room for its head, the rest for its tail, a marker in between."""
    if len(text) <= limit:
        return text
    room = limit - len(MARKER)
    if room < 2:
        return cut(text, limit)
    head = room * _HEAD_PERCENT // 100
    return text[:head] + MARKER + text[len(text) - (room - head) :]


def normalised(steps: Sequence[Step], settings: CaptureSettings, notes: Notes) -> list[tuple[Step, Step]]:
    """The steps that stay, each cut to its limits and as it was before the cut.

    Empty steps go, and so does a step that repeats the one before it; a reflection that only the second has stays.
    """
    kept: list[Step] = []
    empty = repeated = 0
    for step in steps:
        if _is_empty(step):
            empty += 1
        elif kept and _repeats(step, kept[-1]):
            repeated += 1
            if kept[-1].given is None and step.given is not None:
                kept[-1] = replace(kept[-1], given=step.given)
        else:
            kept.append(step)
    notes.add("normalize", "empty_step", empty)
    notes.add("normalize", "repeated_step", repeated)
    return [(_cut_step(step, settings), step) for step in kept]


def _is_empty(step: Step) -> bool:
    texts = (step.user_text, step.agent_text, step.thinking, step.given)
    return not step.calls and not any(text and text.strip() for text in texts)


def _repeats(step: Step, before: Step) -> bool:
    if (step.user_text, step.agent_text, step.thinking) != (before.user_text, before.agent_text, before.thinking):
        return False
    if len(step.calls) != len(before.calls):
        return False
    return all(_same(one, other) for one, other in zip(step.calls, before.calls, strict=True))


def _same(one: ToolCallDTO, other: ToolCallDTO) -> bool:
    if (one.name, one.error_code) != (other.name, other.error_code):
        return False
    # Plain equality first, because it is quick; but to Python 1 and true are equal.
    if one.input != other.input or one.output != other.output:
        return False
    return _plain([one.input, one.output]) == _plain([other.input, other.output])


def _is_short(value: Any, limit: int) -> bool:
    """Whether a JSON value has at most `limit` chars as compact text."""
    try:
        if len(msgspec.json.encode(value)) <= limit:
            return True
    except UnicodeEncodeError:  # lone surrogates
        pass
    return len(_plain(value)) <= limit


class _Cutter(Struct):
    """Cuts texts and remembers whether it had to."""

    text_limit: int
    output_limit: int
    has_cut: bool = False

    def text(self, text: str, limit: int) -> str:
        short = capped(text, limit)
        self.has_cut = self.has_cut or short is not text
        return short

    def maybe(self, text: str | None) -> str | None:
        return None if text is None else self.text(text, self.text_limit)

    def input(self, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, str):
            return self.text(value, self.text_limit)
        if isinstance(value, bool | int | float) or _is_short(value, self.text_limit):
            return value
        text = _plain(value)
        self.has_cut = True
        limit = self.text_limit
        # Shorter strings first, so that an edit keeps its path and loses the middle of its text.
        while limit >= _SHORTEST_LEAF:
            limit //= 2
            short = _leaves_capped(value, limit)
            if len(_plain(short)) <= self.text_limit:
                return short
        return capped(text, self.text_limit)

    def call(self, call: ToolCallDTO) -> ToolCallDTO:
        output = call.output if call.output is None else self.text(json_text(call.output), self.output_limit)
        input = self.input(call.input)
        code = self.maybe(call.error_code)
        thought, said = self.maybe(call.thinking_before), self.maybe(call.assistant_text_before)
        if input is call.input and output is call.output and not self.has_cut:
            return call
        return replace(
            call, input=input, output=output, error_code=code, thinking_before=thought, assistant_text_before=said
        )


def _cut_step(step: Step, settings: CaptureSettings) -> Step:
    cutter = _Cutter(settings.max_text_chars, settings.max_tool_output_chars)
    user_text, agent_text = (
        cutter.text(step.user_text, cutter.text_limit),
        cutter.text(step.agent_text, cutter.text_limit),
    )
    thinking = cutter.maybe(step.thinking)
    calls = tuple([cutter.call(call) for call in step.calls])
    return replace(
        step, user_text=user_text, agent_text=agent_text, thinking=thinking, calls=calls, truncated=cutter.has_cut
    )


def _leaves_capped(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return capped(value, limit)
    if isinstance(value, list | tuple):
        return [_leaves_capped(item, limit) for item in cast("Sequence[Any]", value)]
    if isinstance(value, dict):
        return {key: _leaves_capped(item, limit) for key, item in cast("dict[str, Any]", value).items()}
    return value
