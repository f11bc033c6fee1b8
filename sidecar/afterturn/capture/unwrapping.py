"""Tool calls as hosts write them, brought to one form (capture.md, 'Steps').

A call can come as a tool turn's meta, as JSON in a tool turn's content, or wrapped in a shell that is itself named
`unknown_tool`. What cannot be named keeps that name and its text.
"""

import json
from typing import Any, cast

from msgspec.structs import replace

from afterturn_protocol.capture import TurnMeta
from afterturn_protocol.traces import ToolCallDTO

UNKNOWN = "unknown_tool"
_DEEPEST = 4
_MAX_JSON_CHARS = 1_000_000
_NAMES = ("name", "tool", "toolName", "tool_name")
_INPUTS = ("input", "args", "arguments", "parameters")
_OUTPUTS = ("output", "result", "content")


def calls_of_turn(meta: TurnMeta | None, text: str) -> list[ToolCallDTO]:
    """The calls that a tool turn tells of, mostly one. `text` is its content and wins over an output in the meta."""
    meta = meta or TurnMeta()
    name = meta.name or ""
    if not name.strip():
        name = meta.tool or ""
    call = ToolCallDTO(
        name=name if name.strip() else UNKNOWN,
        input=meta.input if meta.input is not None else meta.args,
        output=text or (meta.output if meta.output is not None else meta.result),
        error_code=meta.error_code,
        tool_call_id=meta.tool_call_id,
        started_at=meta.started_at,
        ended_at=meta.ended_at,
        thinking_before=meta.thinking_before,
        assistant_text_before=meta.assistant_text_before,
    )
    if call.name != UNKNOWN:
        return [call]
    nested = [each for each in meta.tool_calls or () if each.name.strip()]
    if nested:
        named = [inner for each in nested for inner in unwrapped(each)]
        # A text of the turn is the output of the only call that has none of its own.
        if len(named) == 1 and named[0].output is None:
            named[0] = replace(named[0], output=call.output)
        return [_with_rest(inner, call) for inner in named]
    return unwrapped(call)


def unwrapped(call: ToolCallDTO, depth: int = 0) -> list[ToolCallDTO]:
    """The calls inside a shell without a name of its own; any other call is itself."""
    if call.name.strip() and call.name != UNKNOWN:
        return [call]
    found = _named(call.output) or _named(call.input)
    if not found:
        return [replace(call, name=UNKNOWN)]
    inner = [deepest for each in found for deepest in (unwrapped(each, depth + 1) if depth < _DEEPEST else [each])]
    return [_with_rest(each, call) for each in inner]


def is_from_text(name: str, calls: list[ToolCallDTO]) -> bool:
    """Whether unwrapping took `calls` out of one that is named so, so that what was text has become structure."""
    return not (len(calls) == 1 and calls[0].name == name)


def _with_rest(inner: ToolCallDTO, shell: ToolCallDTO) -> ToolCallDTO:
    """What the call itself does not say, its shell may."""
    return replace(
        inner,
        error_code=inner.error_code or shell.error_code,
        tool_call_id=inner.tool_call_id or shell.tool_call_id,
        started_at=shell.started_at if inner.started_at is None else inner.started_at,
        ended_at=shell.ended_at if inner.ended_at is None else inner.ended_at,
        thinking_before=inner.thinking_before or shell.thinking_before,
        assistant_text_before=inner.assistant_text_before or shell.assistant_text_before,
    )


def _named(value: Any) -> list[ToolCallDTO]:
    """The calls that a JSON value, or a text of JSON, lists; [] unless all of it is calls."""
    if isinstance(value, str):
        value = _parsed(value)
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    calls = [_call(item) for item in items]
    known = [call for call in calls if call is not None]
    return known if known and len(known) == len(calls) else []


def _parsed(text: str) -> Any:
    text = text.strip()
    if not text.startswith(("{", "[")) or len(text) > _MAX_JSON_CHARS:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _call(item: Any) -> ToolCallDTO | None:
    if not isinstance(item, dict):
        return None
    fields = cast("dict[str, Any]", item)
    function = fields.get("function")
    if isinstance(function, dict):
        fields = {**fields, **cast("dict[str, Any]", function)}
    name = next((fields[key] for key in _NAMES if _is_text(fields.get(key))), None)
    # A name alone is no call: many a JSON text has one.
    if name is None or not any(key in fields for key in (*_INPUTS, *_OUTPUTS)):
        return None
    code, call_id = fields.get("errorCode"), fields.get("toolCallId", fields.get("id"))
    return ToolCallDTO(
        name=name,
        input=_input(next((fields[key] for key in _INPUTS if key in fields), None)),
        output=next((fields[key] for key in _OUTPUTS if key in fields), None),
        error_code=code if isinstance(code, str) else None,
        tool_call_id=call_id if isinstance(call_id, str) else None,
        started_at=_millis(fields.get("startedAt")),
        ended_at=_millis(fields.get("endedAt")),
        thinking_before=_text(fields.get("thinkingBefore")),
        assistant_text_before=_text(fields.get("assistantTextBefore")),
    )


def _input(value: Any) -> Any:
    """Arguments; providers send them as a text of JSON."""
    parsed = _parsed(value) if isinstance(value, str) else None
    return value if parsed is None else parsed


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _millis(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else None
