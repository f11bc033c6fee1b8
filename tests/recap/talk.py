"""Conversations in one line each, for the tests of recaps."""

from typing import Any

from afterturn.recap.prompting import RecapInput, build_input
from afterturn_protocol.base import Message, ToolUse
from afterturn_protocol.context import RecapContext
from afterturn_protocol.settings import RecapSettings


def user(text: Any, **more: Any) -> Message:
    return Message(role="user", content=text, **more)


def said(text: Any, *calls: ToolUse, **more: Any) -> Message:
    return Message(role="assistant", content=text, tool_calls=list(calls) or None, **more)


def call(name: str, number: Any = 1, **arguments: Any) -> ToolUse:
    return ToolUse(id=f"c{number}", name=name, input=arguments)


def result(text: Any, number: Any = 1, **more: Any) -> Message:
    return Message(role="tool", content=text, tool_call_id=f"c{number}", **more)


def ran(command: str, output: str, number: Any = 1, **more: Any) -> list[Message]:
    """A shell step: the call and its result."""
    return [said("", call("bash", number, command=command)), result(output, number, **more)]


def wrote(path: str, number: Any = 1) -> list[Message]:
    return [said("", call("write", number, path=path, content="x")), result("ok", number)]


def built(*messages: Message, redact: Any = lambda text: text, away: int | None = None, **more: Any) -> RecapInput:
    settings = {key: more.pop(key) for key in ("max_chars", "max_prompt_chars") if key in more}
    return build_input(RecapContext(messages=list(messages), **more), RecapSettings(**settings), redact, away)


def prompt(*messages: Message, **more: Any) -> str:
    made = built(*messages, **more)
    assert [each.role for each in made.messages] == ["user"]
    return made.messages[0].content
