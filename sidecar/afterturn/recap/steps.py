"""Tool steps: a call with its result, and how it ended (recap.md, 'Input'; case R03)."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from msgspec import Struct

from afterturn.edges import ending, exit_code
from afterturn.recap.window import is_result, is_visible
from afterturn_protocol.base import Message, ToolUse
from afterturn_protocol.blocks import content_text

OK = "ok"
ERROR = "error"
DENIED = "denied"
NOT_RUN = "not run"

_EDGE = 800
_MAX_COMMAND = 4000
# A longer result was not refused, whatever words it begins with.
_SHORT = 1500
_SKIPPED = re.compile(
    r"(?:tool (?:call|use|execution) |command |call )?(?:was )?(?:skipped|not (?:run|executed)|cancell?ed before"
    r"|never ran)\b",
    re.IGNORECASE,
)
_FAILED_HEAD = re.compile(
    r"(?:<tool_use_error>|(?:tool )?error[:!]|error executing|traceback \(most recent call last\)|fatal: "
    r"|(?:ba|z|da)?sh: |command failed|invalid (?:arguments|parameters|tool)|exit code:? [1-9]|failed to )",
    re.IGNORECASE,
)


class Step(Struct, frozen=True):
    """A call and what came of it.

    place: of the calling message in its list. call: as it came. result: its answer, or None. status: OK, ERROR,
    DENIED or NOT_RUN.
    """

    place: int
    call: ToolUse
    result: Message | None
    status: str

    @property
    def output(self) -> str:
        """The result's text, "" where there is none."""
        return "" if self.result is None else content_text(self.result.content)


def status_of(result: Message | None) -> str:
    """How a step with this result ended. The host's `isError` counts, and what the text itself says of its end."""
    if result is None:
        return NOT_RUN
    text = content_text(result.content)
    head, tail = text[:_EDGE], text[-_EDGE:]
    if len(text) < _SHORT:
        if ending(head, tail) == "denied":
            return DENIED
        if len(text) < 200 and _SKIPPED.match(text.lstrip()) is not None:
            return NOT_RUN
    if result.is_error:
        return ERROR
    code = exit_code(head, tail)
    if code is not None:
        return OK if int(code) == 0 else ERROR
    return ERROR if _FAILED_HEAD.match(head.lstrip()) is not None else OK


def steps_of(messages: Sequence[Message], start: int = 0, most: int = 1000) -> list[Step]:
    """The steps of `messages` from the place `start` on, in order; of more than `most`, the last ones.

    Results without a call and second results are passed over. Linear in the number of messages.
    """
    calls: list[tuple[int, ToolUse]] = []
    waiting: dict[str, list[int]] = {}
    results: dict[int, Message] = {}
    for place in range(start, len(messages)):
        message = messages[place]
        if not is_visible(message):
            continue
        if is_result(message):
            open_calls = waiting.get(message.tool_call_id or "")
            if open_calls:
                results[open_calls.pop(0)] = message
        for call in message.tool_calls or ():
            waiting.setdefault(call.id, []).append(len(calls))
            calls.append((place, call))
    return list(_steps(calls, results, max(len(calls) - most, 0)))


def _steps(calls: list[tuple[int, ToolUse]], results: dict[int, Message], first: int) -> Iterator[Step]:
    for number in range(first, len(calls)):
        place, call = calls[number]
        result = results.get(number)
        yield Step(place, call, result, status_of(result))


_COMMAND_KEYS = ("command", "cmd", "script", "code", "input")
_SHELLS = ("bash", "shell", "exec", "terminal", "run", "command", "sh", "powershell", "zsh")


def arguments(call: ToolUse) -> dict[str, Any]:
    """The call's named arguments; {} where it has none."""
    given: Any = call.input
    return cast("dict[str, Any]", given) if isinstance(given, dict) else {}


def command_of(call: ToolUse) -> str | None:
    """The command line that a call runs, or None for a tool that runs none; at most 4,000 chars."""
    name = call.name.lower()
    if not any(word in name for word in _SHELLS):
        return None
    named = arguments(call)
    value: Any = next((named[key] for key in _COMMAND_KEYS if key in named), None) if named else call.input
    if isinstance(value, list):
        words = [each for each in cast("list[Any]", value)[:50] if isinstance(each, str)]
        value = words[-1] if words[1:2] in (["-c"], ["-lc"]) else " ".join(words)
    return value[:_MAX_COMMAND].strip() or None if isinstance(value, str) else None
