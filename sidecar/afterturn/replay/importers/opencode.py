"""opencode: session, message and part objects, as an export (one document or one object after another) or as events."""

from collections.abc import Iterator
from typing import Any

from afterturn.replay.heads import first_values
from afterturn.replay.importers.assembly import Assembly, SessionAssembly, say, think
from afterturn.replay.importers.fields import epoch_ms, obj, objects, optional, text
from afterturn.replay.importers.opencode_index import Index, Message, Part, Place, delta_of, describe, items
from afterturn.replay.json_members import members
from afterturn.replay.json_values import decoded_values
from afterturn.replay.source import Source
from afterturn.replay.stream import Call, Event, Turn

HARNESS = "opencode"
_MESSAGES = frozenset(("messages",))
LOOSE = "a part of a message that is not in the file"


def recognises(value: Any) -> bool:
    if _is_document(obj(value)):
        return True
    return any("sessionID" in item or _is_session(item) for item in items(value))


def read(source: Source) -> Iterator[Event]:
    """The sessions of one file, by their id. A turn is one assistant message; call and result share a part."""
    if any(_is_document(obj(value)) for value in first_values(source.head())[:1]):
        yield from _document(source)
        return
    source.plan(2)
    assembly = Assembly(HARNESS)
    index = Index(source, assembly.skip)
    parts = _Parts(source)
    for message in index.in_order():
        if not message.role:
            for _ in message.parts:
                assembly.skip(LOOSE)
            continue
        session = assembly.session(message.session_id)
        _describe(session, index.sessions.get(message.session_id, {}))
        _message(session, message, [parts.load(part) for _, part in sorted(message.parts.items())])
        yield from assembly.ready()
    yield from assembly.finish()


def _is_document(value: dict[str, Any]) -> bool:
    return _is_session(obj(value.get("info"))) and ("messages" in value or len(value) == 1)


def _is_session(item: dict[str, Any]) -> bool:
    return text(item.get("id")).startswith("ses_")


def _document(source: Source) -> Iterator[Event]:
    """A session exported as `{info, messages: [{info, parts}]}`, its messages in order."""
    assembly = Assembly(HARNESS, lambda: source.position)
    about: dict[str, Any] = {}
    for member in members(source, _MESSAGES, assembly.skip):
        if member.name == "info":
            about = obj(member.value)
        elif member.name == "messages":
            info = obj(obj(member.value).get("info"))
            message = Message(text(info.get("id")), "", "")
            describe(message, info)
            session = assembly.session(optional(about.get("id")) or message.session_id)
            _describe(session, about)
            _message(session, message, objects(obj(member.value).get("parts")))
        yield from assembly.ready()
    yield from assembly.finish()


def _describe(session: SessionAssembly, about: dict[str, Any]) -> None:
    start = session.start
    start.title = optional(about.get("title"))
    start.cwd = optional(about.get("directory"))
    start.parent_id = optional(about.get("parentID"))
    start.started = epoch_ms(obj(about.get("time")).get("created"))


class _Parts:
    """Parts read again from their places. What was decoded last is kept: all parts may stand in one list."""

    __slots__ = ("_at", "_items", "_source")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._at = (-1, 0)
        self._items: list[dict[str, Any]] = []

    def load(self, part: Part) -> dict[str, Any]:
        found = dict(self._item(part.place))
        for place in part.deltas:
            delta = delta_of(self._item(place))
            if delta is not None:
                found[delta[1]] = text(found.get(delta[1])) + delta[2]
        return found

    def _item(self, place: Place) -> dict[str, Any]:
        begin, size, number = place
        if self._at != (begin, size):
            self._at = begin, size
            self._items = [item for value in decoded_values(self._source.at(begin, size)) for item in items(value)]
        # Fewer than before where the file was written anew meanwhile.
        return self._items[number] if number < len(self._items) else {}


def _message(session: SessionAssembly, message: Message, parts: list[dict[str, Any]]) -> None:
    session.start.model = session.start.model or message.model
    if message.role == "user":
        for part in parts:
            if part.get("type") == "text" and not part.get("synthetic"):
                session.user(text(part.get("text")), message.created or None)
    elif message.is_summary:
        session.compaction(message.created or None, None)
    else:
        turn = session.turn(message.created)
        for part in parts:
            _part(turn, part)
        turn.failed = message.failed and turn.assistant_text is None and not turn.calls
        turn.aborted = turn.failed and message.aborted


def _part(turn: Turn, part: dict[str, Any]) -> None:
    kind = part.get("type")
    if kind == "text":
        say(turn, text(part.get("text")))
    elif kind == "reasoning":
        think(turn, text(part.get("text")))
    elif kind == "tool":
        turn.calls.append(_call(part))


def _call(part: dict[str, Any]) -> Call:
    state = obj(part.get("state"))
    call = Call(text(part.get("callID")), text(part.get("tool")), state.get("input"))
    if state.get("status") in ("completed", "error"):
        call.is_error = state.get("status") == "error"
        call.result = text(state.get("error") if call.is_error else state.get("output"))
        call.result_timestamp = epoch_ms(obj(state.get("time")).get("end"))
    return call
