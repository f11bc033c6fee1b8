"""Steps as a model is shown them: JSON with every text in strings, cut to what a prompt holds. Lengths are chars."""

import json
import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from afterturn.capture.normalising import capped, json_text
from afterturn.capture.steps import Step
from afterturn.text import cut, one_line
from afterturn_protocol.capture import Intent
from afterturn_protocol.traces import ToolCallDTO

MAX_BATCH_CHARS = 96_000
_TASK_TEXT_CHARS = 500
_TASK_TOOLS = 12
_LEAST_SHARE = 0.1
_LEAST_CHARS = 40
_LEAST_CALLS = 3
_SURROGATE = re.compile("[\ud800-\udfff]")


class Limits(Struct, frozen=True, kw_only=True):
    """How much of each part of a step is shown; calls: how many of them, the first third and the last ones."""

    state: int = 1200
    thinking: int = 1500
    action: int = 1500
    input: int = 400
    output: int = 300
    reflection: int = 1500
    outcome: int = 600
    calls: int = 12

    def shared(self, share: float) -> "Limits":
        """The same, each at `share` of its size."""
        if share >= 1:
            return self
        sizes = {name: max(int(getattr(self, name) * share), _LEAST_CHARS) for name in self.__struct_fields__}
        return Limits(**(sizes | {"calls": max(int(self.calls * share), _LEAST_CALLS)}))


def batch_limits(steps: Sequence[Step], outcome: int) -> Limits:
    """Limits under which all steps of an episode fit into one prompt."""
    limits = Limits(outcome=outcome)
    size = sum(_size(step, limits) for step in steps)
    return limits.shared(max(MAX_BATCH_CHARS / size, _LEAST_SHARE) if size else 1)


def _size(step: Step, limits: Limits) -> int:
    calls = min(len(step.calls), limits.calls) * (limits.input + limits.output)
    texts = ((step.user_text, limits.state), (step.agent_text, limits.action), (step.thinking or "", limits.thinking))
    return calls + sum(min(len(text), limit) for text, limit in texts) + limits.outcome + limits.reflection // 4


def described(step: Step, reflection: str | None, limits: Limits) -> dict[str, Any]:
    """A step as JSON fields; parts that are empty are left out, but never the reflection."""
    fields: dict[str, Any] = {
        "state": capped(step.user_text, limits.state),
        "thinking": capped(step.thinking or "", limits.thinking),
        "action": capped(step.agent_text, limits.action),
        "tools": [_described_call(call, limits) for call in _shown(step.calls, limits.calls)],
        "outcome": outcome(step, limits.outcome),
    }
    shown = {name: value for name, value in fields.items() if value}
    if len(step.calls) > limits.calls:
        shown["tools_left_out"] = str(len(step.calls) - limits.calls)
    return {**shown, "reflection": capped(reflection or "", limits.reflection)}


def _shown(calls: Sequence[ToolCallDTO], most: int) -> list[ToolCallDTO]:
    if len(calls) <= most:
        return list(calls)
    first = most // 3
    return [*calls[:first], *calls[first - most :]]


def _described_call(call: ToolCallDTO, limits: Limits) -> dict[str, str]:
    fields = {
        "name": call.name,
        "input": capped(json_text(call.input), limits.input),
        "output": capped(json_text(call.output), limits.output),
        "error": cut(call.error_code or "", limits.output),
    }
    return {name: value for name, value in fields.items() if value}


def outcome(step: Step, limit: int) -> str:
    """What came of a step: the result of its last call; "" where it made none."""
    if not step.calls:
        return ""
    last = step.calls[-1]
    lead = f"error {last.error_code}: " if last.error_code else ""
    return cut(lead, limit) + capped(json_text(last.output), max(limit - len(lead), 0))


def task_context(steps: Sequence[Step], intent: Intent | None, limit: int) -> str:
    """What the episode was about, as JSON text of about `limit` chars; "" for a limit of 0."""
    if limit <= 0:
        return ""
    names = list(dict.fromkeys(call.name for step in steps for call in step.calls))
    fields: dict[str, str] = {
        "request": next((step.user_text for step in steps if step.user_text.strip()), ""),
        "intent": joined_intent(intent),
        "end": next((step.agent_text for step in reversed(steps) if step.agent_text.strip()), ""),
        "tools": ", ".join(names[:_TASK_TOOLS]),
    }
    shown: dict[str, str] = {}
    left = limit
    for name, value in fields.items():
        text = cut(one_line(value), min(_TASK_TEXT_CHARS, left))
        if text:
            shown[name] = text
            left -= len(text)
    return prompt_json(shown) if shown else ""


def joined_intent(intent: Intent | None) -> str:
    """The host's word for what the episode was for, and why."""
    if intent is None:
        return ""
    return f"{intent.kind}: {intent.reason}" if intent.reason else intent.kind


def prompt_json(value: Any) -> str:
    """A JSON value as text on one line, without lone surrogates, which no provider's transport can carry."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
