"""SWE-agent: one JSON document, a trajectory of thought, action and observation, and the history of its messages."""

from collections.abc import Iterator
from typing import Any

import msgspec

from afterturn.replay.importers.assembly import Assembly, say
from afterturn.replay.importers.fields import obj, objects, optional, parsed, prose, text
from afterturn.replay.json_members import members
from afterturn.replay.source import Source
from afterturn.replay.stream import Call, Event

HARNESS = "swe-agent"
_ARRAYS = frozenset(("trajectory", "history"))
_OWN_COMMANDS = frozenset(
    ("create", "edit", "find_file", "goto", "insert", "open", "scroll_down", "scroll_up", "search_dir", "search_file")
)


def recognises(value: Any) -> bool:
    document = obj(value)
    steps = objects(document.get("trajectory"))
    return ("trajectory" in document and "history" in document) or any("observation" in step for step in steps)


def read(source: Source) -> Iterator[Event]:
    """The session of one file, read twice and beside itself: what the calls were declared as stands behind the steps.

    With function calling the call's name, id and arguments stand in `history`; else the tool is the action's first
    word where that is one of the harness's own commands, and bash otherwise. Demonstrations are left out.
    """
    source.plan(2)
    outline = _outline(source)
    declared = _declared(Source(source.path)) if outline.calls == outline.steps else iter(())
    assembly = Assembly(HARNESS, lambda: source.position)
    session = assembly.session(source.name(outline.environment or HARNESS))
    session.user(outline.asked)
    number = 0
    for member in members(source, _ARRAYS, assembly.skip):
        if member.name == "trajectory":
            step = obj(member.value)
            turn = session.turn()
            say(turn, text(step.get("thought")).strip())
            call = next(declared, None) or _typed(text(step.get("action")), number)
            call.result = text(step.get("observation"))
            turn.calls.append(call)
            number += 1
            yield from assembly.ready()
    yield from assembly.finish()


class _Outline(msgspec.Struct):
    environment: str | None = None
    asked: str = ""
    steps: int = 0
    calls: int = 0


def _outline(source: Source) -> _Outline:
    found = _Outline()
    for member in members(source, _ARRAYS, lambda _reason: None):
        if member.name == "environment":
            found.environment = optional(member.value)
        elif member.name == "trajectory":
            found.steps += 1
        elif member.name == "history":
            message = obj(member.value)
            if not message.get("is_demo"):
                found.calls += len(objects(message.get("tool_calls")))
                if message.get("role") == "user":
                    found.asked = found.asked or prose(message.get("content"))
    return found


def _declared(source: Source) -> Iterator[Call]:
    for member in members(source, _ARRAYS, lambda _reason: None):
        message = obj(member.value)
        if member.name == "history" and not message.get("is_demo"):
            for call in objects(message.get("tool_calls")):
                function = obj(call.get("function"))
                yield Call(text(call.get("id")), text(function.get("name")), parsed(function.get("arguments")))


def _typed(action: str, number: int) -> Call:
    words = action.split(maxsplit=1)
    name = words[0] if words and words[0] in _OWN_COMMANDS else "bash"
    return Call(f"step-{number}", name, {"command": action.rstrip("\n")})
