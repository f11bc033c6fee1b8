"""OpenHands: evaluation output (history in each line), the export of the web app (one list), and SDK events."""

from collections.abc import Iterator
from typing import Any, cast

from afterturn.replay.heads import first_values
from afterturn.replay.importers.assembly import Assembly, SessionAssembly, say
from afterturn.replay.importers.fields import epoch_ms, obj, objects, optional, parsed, prose, text
from afterturn.replay.importers.openhands_sdk import is_sdk, read_sdk
from afterturn.replay.json_members import members
from afterturn.replay.source import Source
from afterturn.replay.stream import Call, Event

HARNESS = "openhands"
_ARRAYS = frozenset(("history", "trajectory"))
_RAN = frozenset(
    ("run", "run_ipython", "read", "write", "edit", "browse", "browse_interactive", "call_tool_mcp", "delegate")
)
"""Actions that do something, by their names in the text-only agents that call no tools."""
_SEEN = frozenset(("run", "run_ipython", "read", "write", "edit", "browse", "mcp", "delegate", "error"))


def recognises(value: Any) -> bool:
    document = obj(value)
    if isinstance(value, list):
        return any(_is_event(event) for event in _flat(cast("list[Any]", value)))
    if is_sdk(document):
        return True
    if "instance_id" in document and {"history", "test_result", "metadata"} & document.keys():
        return True
    return any(_is_event(event) for name in _ARRAYS for event in _flat(document.get(name)))


def read(source: Source) -> Iterator[Event]:
    """The sessions of one file, whichever of the forms it has: one for each document."""
    if any(is_sdk(obj(value)) for value in first_values(source.head())):
        yield from read_sdk(HARNESS, source)
        return
    assembly = Assembly(HARNESS, lambda: source.position)
    document = -1
    instance: str | None = None
    events: _Events | None = None
    for member in members(source, _ARRAYS, assembly.skip):
        if member.document != document:
            document, instance, events = member.document, None, None
        if member.name == "instance_id":
            instance = optional(member.value)
        if member.name in _ARRAYS or member.name == "":
            if events is None:
                session = assembly.next_session(source.name(instance or HARNESS))
                session.start.title = instance
                events = _Events(session)
            for event in _flat([member.value]):
                events.take(event)
        yield from assembly.ready()
    yield from assembly.finish()


def _is_event(event: dict[str, Any]) -> bool:
    return "source" in event and ("action" in event or "observation" in event)


def _flat(value: object) -> Iterator[dict[str, Any]]:
    """The events of a list; the oldest histories have each action and its observation in a pair."""
    for item in cast("list[object]", value) if isinstance(value, list) else []:
        yield from objects(cast("object", item)) if isinstance(item, list) else objects([item])


class _Events:
    """Actions of the agent, each answered by the observation that names it as its cause, or that comes next.

    `cause` and not `tool_call_id`, because the latter is numbered anew and repeats.
    """

    __slots__ = ("_number", "_session")

    def __init__(self, session: SessionAssembly) -> None:
        self._session = session
        self._number = 0

    def take(self, event: dict[str, Any]) -> None:
        made_by = obj(event.get("tool_call_metadata"))
        stamp = epoch_ms(event.get("timestamp"))
        action = text(event.get("action"))
        self._session.start.started = self._session.start.started or stamp
        if action == "message":
            said = text(obj(event.get("args")).get("content"))
            if event.get("source") == "user":
                self._session.user(said, stamp)
            else:
                say(self._session.turn(stamp), said)
        elif "action" in event and made_by:
            self._called(event, made_by, stamp)
        elif action in _RAN and event.get("source") == "agent":
            self._ran(event, stamp)
        elif "observation" in event and (made_by or text(event.get("observation")) in _SEEN):
            self._observed(event, stamp)

    def _called(self, event: dict[str, Any], made_by: dict[str, Any], stamp: int | None) -> None:
        response = obj(made_by.get("model_response"))
        choices = objects(response.get("choices"))
        message = obj(choices[0].get("message")) if choices else {}
        self._session.start.model = self._session.start.model or optional(response.get("model"))
        key = text(response.get("id"))
        turn = self._session.held(key) if key else None
        if turn is None:
            turn = self._session.turn(stamp, key or None)
            say(turn, prose(message.get("content")))
        self._session.call(turn, _declared(event, made_by, message), _id(event.get("id")))

    def _ran(self, event: dict[str, Any], stamp: int | None) -> None:
        self._number += 1
        args = dict(obj(event.get("args")))
        turn = self._session.turn(stamp)
        say(turn, text(args.pop("thought", "")))
        call = Call(f"action-{self._number}", text(event.get("action")), args)
        self._session.call(turn, call, _id(event.get("id")))

    def _observed(self, event: dict[str, Any], stamp: int | None) -> None:
        content = text(event.get("content"))
        metadata = obj(obj(event.get("extras")).get("metadata"))
        # The agent is shown the suffix, which says the exit code, with the output; -1 stands for "still running".
        shown = f"{text(metadata.get('prefix'))}{content}{text(metadata.get('suffix'))}"
        failed = metadata.get("exit_code") not in (None, 0, -1) or content.startswith("ERROR")
        failed = failed or event.get("observation") == "error"
        self._session.result(_id(event.get("cause")), shown, is_error=failed, timestamp=stamp)


def _id(value: object) -> str:
    """What a call waits under: the number of its event, or "" where events have none."""
    return str(value) if isinstance(value, int | str) else ""


def _declared(event: dict[str, Any], made_by: dict[str, Any], message: dict[str, Any]) -> Call:
    call_id = text(made_by.get("tool_call_id"))
    for declared in objects(message.get("tool_calls")):
        if declared.get("id") == call_id:
            function = obj(declared.get("function"))
            return Call(call_id, text(function.get("name")), parsed(function.get("arguments")))
    return Call(call_id, text(made_by.get("function_name")), event.get("args"))
