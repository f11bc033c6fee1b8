"""Gemini CLI: one JSON document a chat."""

import json
from collections.abc import Iterator
from typing import Any

from afterturn.replay.importers.assembly import Assembly, SessionAssembly, say, think
from afterturn.replay.importers.fields import epoch_ms, obj, objects, optional, text
from afterturn.replay.json_members import members
from afterturn.replay.source import Source
from afterturn.replay.stream import Call, Event

HARNESS = "gemini-cli"
_MESSAGES = frozenset(("messages",))


def recognises(value: Any) -> bool:
    chat = obj(value)
    return "sessionId" in chat and ("projectHash" in chat or "messages" in chat) and "type" not in chat


def read(source: Source) -> Iterator[Event]:
    """The session of one file. A turn is one `gemini` message; each of its tool calls carries its own result."""
    assembly = Assembly(HARNESS, lambda: source.position)
    chat: dict[str, Any] = {}
    for member in members(source, _MESSAGES, assembly.skip):
        if member.name != "messages":
            chat[member.name] = optional(member.value)
            continue
        session = assembly.session(optional(chat.get("sessionId")) or source.name(HARNESS))
        session.start.started = epoch_ms(chat.get("startTime"))
        _message(session, obj(member.value))
        yield from assembly.ready()
    yield from assembly.finish()


def _message(session: SessionAssembly, message: dict[str, Any]) -> None:
    stamp = epoch_ms(message.get("timestamp"))
    if message.get("type") == "user":
        session.user(_words(message.get("content")), stamp)
    elif message.get("type") == "gemini":
        session.start.model = session.start.model or optional(message.get("model"))
        turn = session.turn(stamp)
        say(turn, _words(message.get("content")))
        for thought in objects(message.get("thoughts")):
            lines = (text(thought.get("subject")), text(thought.get("description")))
            think(turn, "\n".join(line for line in lines if line))
        for call in objects(message.get("toolCalls")):
            turn.calls.append(_call(call))


def _call(call: dict[str, Any]) -> Call:
    made = Call(text(call.get("id")), text(call.get("name")), call.get("args"))
    made.is_error = call.get("status") in ("error", "cancelled")
    answers = [obj(part.get("functionResponse")) for part in objects(call.get("result")) if "functionResponse" in part]
    if answers:
        made.result = "\n".join(_answer(obj(answer.get("response"))) for answer in answers)
        made.result_timestamp = epoch_ms(call.get("timestamp"))
    return made


def _answer(response: dict[str, Any]) -> str:
    said = response.get("output", response.get("error"))
    return said if isinstance(said, str) else json.dumps(response, ensure_ascii=False)


def _words(content: object) -> str:
    """The text of a content; its parts have no type here."""
    if isinstance(content, str):
        return content
    return "\n".join(text(part.get("text")) for part in objects(content))
