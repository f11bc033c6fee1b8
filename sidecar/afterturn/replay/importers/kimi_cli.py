"""Kimi CLI: JSON lines of its wire log, the older one of wire messages and the newer one of context changes."""

from collections.abc import Iterator
from typing import Any

from afterturn.replay.heads import first_values
from afterturn.replay.importers.assembly import Assembly, SessionAssembly, say, think
from afterturn.replay.importers.fields import epoch_ms, obj, objects, optional, parsed, prose, text
from afterturn.replay.json_values import values
from afterturn.replay.source import Source
from afterturn.replay.stream import Call, Event, Turn

HARNESS = "kimi-cli"
_MESSAGES = frozenset(("TurnBegin", "StepBegin", "ContentPart", "ToolCall", "ToolResult", "StatusUpdate", "TurnEnd"))


def recognises(value: Any) -> bool:
    line = obj(value)
    kind = text(line.get("type"))
    return (
        (kind == "metadata" and "protocol_version" in line)
        or kind in ("context.append_message", "context.append_loop_event")
        or text(obj(line.get("message")).get("type")) in _MESSAGES
    )


def read(source: Source) -> Iterator[Event]:
    """The session of one file; sub-agents have files of their own beside it. A turn is one step."""
    assembly = Assembly(HARNESS, lambda: source.position)
    session = assembly.session(_name(source))
    changes, messages = _Changes(session), _Messages(session)
    for item in values(source, assembly.skip):
        line = obj(item.value)
        if "message" in line and "type" not in line:
            stamp = line.get("timestamp")
            seconds = stamp if isinstance(stamp, int | float) and not isinstance(stamp, bool) else 0
            message = obj(line.get("message"))
            messages.take(text(message.get("type")), obj(message.get("payload")), epoch_ms(seconds * 1000))
        else:
            changes.take(line)
        yield from assembly.ready()
    messages.join()
    yield from assembly.finish()


def _name(source: Source) -> str:
    """The log has no name of its own, but the newer one says when it was begun."""
    for value in first_values(source.head()):
        created = obj(value).get("created_at")
        if isinstance(created, int):
            return f"{HARNESS} {created}"
    return source.name(HARNESS)


class _Changes:
    """The newer form: messages appended to the context, and the events of the loop, each with its step."""

    __slots__ = ("_session",)

    def __init__(self, session: SessionAssembly) -> None:
        self._session = session

    def take(self, line: dict[str, Any]) -> None:
        stamp = epoch_ms(line.get("time"))
        kind = text(line.get("type"))
        start = self._session.start
        if kind == "metadata":
            start.started = epoch_ms(line.get("created_at"))
        elif kind == "config.update":
            start.cwd = start.cwd or optional(line.get("cwd"))
            start.model = start.model or optional(line.get("modelAlias"))
        elif kind == "context.append_message" and obj(line.get("message")).get("role") == "user":
            self._session.user(prose(obj(line.get("message")).get("content")), stamp)
        elif kind == "context.append_loop_event":
            self._event(obj(line.get("event")), stamp)
        elif kind.startswith("context.") and "compact" in kind:
            self._session.compaction(stamp, None)

    def _event(self, event: dict[str, Any], stamp: int | None) -> None:
        kind = event.get("type")
        if kind == "step.begin":
            self._session.turn(stamp, _step(event))
        elif kind == "content.part":
            part = obj(event.get("part"))
            if part.get("type") == "text":
                say(self._turn(event, stamp), text(part.get("text")))
            elif part.get("type") == "think":
                think(self._turn(event, stamp), text(part.get("think")))
        elif kind == "tool.call":
            call = Call(text(event.get("toolCallId")), text(event.get("name")), event.get("args"))
            self._session.call(self._turn(event, stamp), call)
        elif kind == "tool.result":
            result = obj(event.get("result"))
            call_id = text(event.get("toolCallId"))
            self._session.result(call_id, _output(result), is_error=bool(result.get("isError")), timestamp=stamp)

    def _turn(self, event: dict[str, Any], stamp: int | None) -> Turn:
        key = _step(event)
        return self._session.held(key) or self._session.turn(stamp, key)


def _step(event: dict[str, Any]) -> str:
    return f"{event.get('turnId')}.{event.get('step')}"


class _Messages:
    """The older form: what is said between `StepBegin` and the next one belongs to one step."""

    __slots__ = ("_last", "_parts", "_session", "_turn")

    def __init__(self, session: SessionAssembly) -> None:
        self._session = session
        self._turn: Turn | None = None
        self._last: Call | None = None
        self._parts: list[str] = []

    def join(self) -> None:
        """The arguments of a call come in parts, maybe thousands; whatever comes next, they are complete."""
        parts, self._parts = "".join(self._parts), []
        if parts and self._last is not None:
            given = self._last.args if isinstance(self._last.args, str) else ""
            self._last.args = parsed(given + parts)

    def take(self, kind: str, payload: dict[str, Any], stamp: int | None) -> None:
        if kind == "ToolCallPart":
            self._parts.append(text(payload.get("arguments_part")))
            return
        self.join()
        start = self._session.start
        start.started = start.started or stamp
        if kind == "TurnBegin":
            self._turn = None
            self._session.user(prose(payload.get("user_input")), stamp)
        elif kind == "StepBegin":
            self._turn = self._session.turn(stamp)
        elif kind == "ContentPart":
            say(self._current(stamp), text(payload.get("text")))
            think(self._current(stamp), text(payload.get("think")))
        elif kind == "ToolCall":
            function = obj(payload.get("function"))
            self._last = Call(text(payload.get("id")), text(function.get("name")), parsed(function.get("arguments")))
            self._session.call(self._current(stamp), self._last)
        elif kind == "ToolResult":
            returned = obj(payload.get("return_value") or payload.get("result"))
            call_id = text(payload.get("tool_call_id"))
            self._session.result(call_id, _output(returned), is_error=bool(returned.get("is_error")), timestamp=stamp)
        elif kind == "CompactionBegin":
            self._turn = None
            self._session.compaction(stamp, None)

    def _current(self, stamp: int | None) -> Turn:
        if self._turn is None:
            self._turn = self._session.turn(stamp)
        return self._turn


def _output(returned: dict[str, Any]) -> str | list[dict[str, Any]]:
    return objects(returned.get("output")) or prose(returned.get("output")) or text(returned.get("message"))
