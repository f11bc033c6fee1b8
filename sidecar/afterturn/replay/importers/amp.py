"""Amp: one JSON document a thread."""

import json
from collections.abc import Iterator
from typing import Any

from afterturn.replay.importers.assembly import Assembly, SessionAssembly
from afterturn.replay.importers.blocks import take_reply
from afterturn.replay.importers.fields import epoch_ms, obj, objects, optional, text
from afterturn.replay.json_members import members
from afterturn.replay.source import Source
from afterturn.replay.stream import Event

HARNESS = "amp"
_MESSAGES = frozenset(("messages",))
_FAILED = frozenset(("error", "cancelled", "rejected-by-user"))


def recognises(value: Any) -> bool:
    thread = obj(value)
    return "messages" in thread and "v" in thread and "id" in thread


def read(source: Source) -> Iterator[Event]:
    """The session of one thread. A turn is one assistant message; results come in user messages."""
    assembly = Assembly(HARNESS, lambda: source.position)
    thread: dict[str, Any] = {}
    for member in members(source, _MESSAGES, assembly.skip):
        if member.name != "messages":
            thread[member.name] = member.value if isinstance(member.value, str | int) else None
            continue
        session = assembly.session(optional(thread.get("id")) or source.name(HARNESS))
        session.start.title = optional(thread.get("title"))
        session.start.started = epoch_ms(thread.get("created"))
        message = obj(member.value)
        if message.get("role") == "assistant":
            _assistant(session, message)
        elif message.get("role") == "user":
            _user(session, message)
        yield from assembly.ready()
    yield from assembly.finish()


def _assistant(session: SessionAssembly, message: dict[str, Any]) -> None:
    usage = obj(message.get("usage"))
    session.start.model = session.start.model or optional(usage.get("model"))
    turn = session.turn(epoch_ms(usage.get("timestamp")))
    take_reply(session, turn, objects(message.get("content")))


def _user(session: SessionAssembly, message: dict[str, Any]) -> None:
    sent = epoch_ms(obj(message.get("meta")).get("sentAt"))
    for block in objects(message.get("content")):
        if block.get("type") == "text":
            session.user(text(block.get("text")), sent)
        elif block.get("type") == "tool_result":
            run = obj(block.get("run"))
            failed = text(run.get("status")) in _FAILED
            result = _shown(run.get("error") or run.get("reason") if failed else run.get("result"))
            session.result(text(block.get("toolUseID")), result, is_error=failed, timestamp=None)


def _shown(result: Any) -> str:
    if result is None:  # refused or stopped by the user
        return ""
    if isinstance(result, str):
        return result
    fields = obj(result)
    for name in ("content", "output", "message"):
        if isinstance(fields.get(name), str):
            return fields[name]
    return json.dumps(result, ensure_ascii=False)
